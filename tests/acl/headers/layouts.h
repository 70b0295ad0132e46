/* Sizes and offsets in structures that programs access directly, for C and C++: code compiled
 * against the vendor's headers must find everything at the same offsets. */
#include <assert.h>
#include <stddef.h>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_prof.h"
#include "acl/acl_tdt.h"
#include "acl/ops/acl_cblas.h"
#include "acl/ops/acl_dvpp.h"
#include "acl/ops/acl_fv.h"
#include "aclnn/aclnn_base.h"

#define PLACE(type, member, place) \
  static_assert(offsetof(type, member) == (place), #type "::" #member)
#define SIZE(type, size) static_assert(sizeof(type) == (size), #type)

SIZE(aclmdlIODims, 1160);
PLACE(aclmdlIODims, name, 0);
PLACE(aclmdlIODims, dimCount, 128);
PLACE(aclmdlIODims, dims, 136);
SIZE(aclmdlIODimsRange, 2056);
PLACE(aclmdlIODimsRange, rangeCount, 0);
PLACE(aclmdlIODimsRange, range, 8);
SIZE(aclmdlBatch, 1032);
PLACE(aclmdlBatch, batchCount, 0);
PLACE(aclmdlBatch, batch, 8);
SIZE(aclmdlHW, 2056);
PLACE(aclmdlHW, hwCount, 0);
PLACE(aclmdlHW, hw, 8);

SIZE(aclrtStreamConfigHandle, 32);
PLACE(aclrtStreamConfigHandle, workptr, 0);
PLACE(aclrtStreamConfigHandle, workSize, 8);
PLACE(aclrtStreamConfigHandle, flag, 16);
PLACE(aclrtStreamConfigHandle, priority, 24);
SIZE(aclrtUtilizationInfo, 24);
PLACE(aclrtUtilizationInfo, cubeUtilization, 0);
PLACE(aclrtUtilizationInfo, vectorUtilization, 4);
PLACE(aclrtUtilizationInfo, aicpuUtilization, 8);
PLACE(aclrtUtilizationInfo, memoryUtilization, 12);
PLACE(aclrtUtilizationInfo, utilizationExtend, 16);

SIZE(aclprofTensor, 48);
PLACE(aclprofTensor, type, 0);
PLACE(aclprofTensor, format, 4);
PLACE(aclprofTensor, dataType, 8);
PLACE(aclprofTensor, shapeDim, 12);
PLACE(aclprofTensor, shape, 16);
SIZE(aclprofTensorInfo, 48);
PLACE(aclprofTensorInfo, opNameId, 0);
PLACE(aclprofTensorInfo, opTypeId, 8);
PLACE(aclprofTensorInfo, resv, 16);
PLACE(aclprofTensorInfo, tensorNum, 20);
PLACE(aclprofTensorInfo, kernelType, 24);
PLACE(aclprofTensorInfo, blockNums, 28);
PLACE(aclprofTensorInfo, stream, 32);
PLACE(aclprofTensorInfo, tensors, 40);
SIZE(aclprofEventAttributes, 16);
PLACE(aclprofEventAttributes, version, 0);
PLACE(aclprofEventAttributes, size, 2);
PLACE(aclprofEventAttributes, messageType, 4);
PLACE(aclprofEventAttributes, message.tensorInfo, 8);

/* Enumerations and handles as they are passed. */
SIZE(aclError, 4);
SIZE(aclnnStatus, 4);
SIZE(aclFloat16, 2);
SIZE(aclDataType, 4);
SIZE(aclFormat, 4);
SIZE(aclrtMemcpyKind, 4);
SIZE(aclprofAicoreMetrics, 4);
SIZE(aclprofConfigType, 4);
SIZE(acldvppPixelFormat, 4);
SIZE(aclrtStream, 8);
