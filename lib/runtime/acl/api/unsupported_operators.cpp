// Single operators by name, their compiler, matrix products.
#include "runtime/acl/api/unsupported.hpp"
#include "runtime/acl/include/acl/acl_op.h"
#include "runtime/acl/include/acl/acl_op_compiler.h"
#include "runtime/acl/include/acl/ops/acl_cblas.h"

extern "C" {

// Operators.

aclError aclopSetModelDir(const char*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopLoad(const void*, size_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclopAttr* aclopCreateAttr() {
  MSPROF_UNSUPPORTED(nullptr);
}

void aclopDestroyAttr(const aclopAttr*) {
  MSPROF_UNSUPPORTED_VOID;
}

aclError aclopSetAttrBool(aclopAttr*, const char*, uint8_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrInt(aclopAttr*, const char*, int64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrFloat(aclopAttr*, const char*, float) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrString(aclopAttr*, const char*, const char*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrDataType(aclopAttr*, const char*, aclDataType) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrListBool(aclopAttr*, const char*, int, const uint8_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrListInt(aclopAttr*, const char*, int, const int64_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrListFloat(aclopAttr*, const char*, int, const float*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrListString(aclopAttr*, const char*, int, const char**) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetAttrListListInt(aclopAttr*, const char*, int, const int*, const int64_t* const[]) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopExecute(const char*, int, const aclTensorDesc* const[], const aclDataBuffer* const[],
                      int, const aclTensorDesc* const[], aclDataBuffer* const[], const aclopAttr*,
                      aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopExecuteV2(const char*, int, aclTensorDesc*[], aclDataBuffer*[], int, aclTensorDesc*[],
                        aclDataBuffer*[], aclopAttr*, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopCreateHandle(const char*, int, const aclTensorDesc* const[], int,
                           const aclTensorDesc* const[], const aclopAttr*, aclopHandle**) {
  MSPROF_UNSUPPORTED_ERROR;
}

void aclopDestroyHandle(aclopHandle*) {
  MSPROF_UNSUPPORTED_VOID;
}

aclError aclopExecWithHandle(aclopHandle*, int, const aclDataBuffer* const[], int,
                             aclDataBuffer* const[], aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopCast(const aclTensorDesc*, const aclDataBuffer*, const aclTensorDesc*, aclDataBuffer*,
                   uint8_t, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopUpdateParams(const char*, int, const aclTensorDesc* const[], int,
                           const aclTensorDesc* const[], const aclopAttr*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopInferShape(const char*, int, aclTensorDesc*[], aclDataBuffer*[], int,
                         aclTensorDesc*[], aclopAttr*) {
  MSPROF_UNSUPPORTED_ERROR;
}

// The compiler.

aclError aclopCompile(const char*, int, const aclTensorDesc* const[], int,
                      const aclTensorDesc* const[], const aclopAttr*, aclopEngineType,
                      aclopCompileType, const char*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopCompileAndExecute(const char*, int, const aclTensorDesc* const[],
                                const aclDataBuffer* const[], int, const aclTensorDesc* const[],
                                aclDataBuffer* const[], const aclopAttr*, aclopEngineType,
                                aclopCompileType, const char*, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopCompileAndExecuteV2(const char*, int, aclTensorDesc*[], aclDataBuffer*[], int,
                                  aclTensorDesc*[], aclDataBuffer*[], aclopAttr*, aclopEngineType,
                                  aclopCompileType, const char*, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclSetCompileopt(aclCompileOpt, const char*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopSetCompileFlag(aclOpCompileFlag) {
  MSPROF_UNSUPPORTED_ERROR;
}

// Matrix products.

aclError aclblasGemvEx(aclTransType, int, int, const void*, const void*, int, aclDataType,
                       const void*, int, aclDataType, const void*, void*, int, aclDataType,
                       aclComputeType, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasCreateHandleForGemvEx(aclTransType, int, int, aclDataType, aclDataType, aclDataType,
                                      aclComputeType, aclopHandle**) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasHgemv(aclTransType, int, int, const aclFloat16*, const aclFloat16*, int,
                      const aclFloat16*, int, const aclFloat16*, aclFloat16*, int, aclComputeType,
                      aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasCreateHandleForHgemv(aclTransType, int, int, aclComputeType, aclopHandle**) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasS8gemv(aclTransType, int, int, const int32_t*, const int8_t*, int, const int8_t*,
                       int, const int32_t*, int32_t*, int, aclComputeType, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasCreateHandleForS8gemv(aclTransType, int, int, aclComputeType, aclopHandle**) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasGemmEx(aclTransType, aclTransType, aclTransType, int, int, int, const void*,
                       const void*, int, aclDataType, const void*, int, aclDataType, const void*,
                       void*, int, aclDataType, aclComputeType, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasCreateHandleForGemmEx(aclTransType, aclTransType, aclTransType, int, int, int,
                                      aclDataType, aclDataType, aclDataType, aclComputeType,
                                      aclopHandle**) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasHgemm(aclTransType, aclTransType, aclTransType, int, int, int, const aclFloat16*,
                      const aclFloat16*, int, const aclFloat16*, int, const aclFloat16*,
                      aclFloat16*, int, aclComputeType, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasCreateHandleForHgemm(aclTransType, aclTransType, aclTransType, int, int, int,
                                     aclComputeType, aclopHandle**) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasS8gemm(aclTransType, aclTransType, aclTransType, int, int, int, const int32_t*,
                       const int8_t*, int, const int8_t*, int, const int32_t*, int32_t*, int,
                       aclComputeType, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclblasCreateHandleForS8gemm(aclTransType, aclTransType, aclTransType, int, int, int,
                                      aclComputeType, aclopHandle**) {
  MSPROF_UNSUPPORTED_ERROR;
}

}  // extern "C"
