// Functions for devices, models, dumps and profiling that need a real card.
#include "runtime/acl/api/unsupported.hpp"
#include "runtime/acl/include/acl/acl_base_rt.h"
#include "runtime/acl/include/acl/acl_dump.h"
#include "runtime/acl/include/acl/acl_mdl.h"
#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/acl/include/acl/acl_rt.h"

extern "C" {

// Device load, peer devices, exceptions and kernels.

aclError aclrtGetDeviceUtilizationRate(int32_t, aclrtUtilizationInfo*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclrtDeviceCanAccessPeer(int32_t*, int32_t, int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclrtDeviceEnablePeerAccess(int32_t, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclrtDeviceDisablePeerAccess(int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclrtSetOpWaitTimeout(uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback) {
  MSPROF_UNSUPPORTED_ERROR;
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo*) {
  MSPROF_UNSUPPORTED(0xFFFFFFFF);
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo*) {
  MSPROF_UNSUPPORTED(0xFFFFFFFF);
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo*) {
  MSPROF_UNSUPPORTED(0xFFFFFFFF);
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo*) {
  MSPROF_UNSUPPORTED(0xFFFFFFFF);
}

aclError aclrtLaunchKernel(aclrtFuncHandle, uint32_t, const void*, size_t, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

// Shapes that host models do not have, and image pre-processing.

aclError aclmdlGetDynamicHW(const aclmdlDesc*, size_t, aclmdlHW*) {
  MSPROF_UNSUPPORTED_ERROR;
}

const char* aclmdlGetOpAttr(aclmdlDesc*, const char*, const char*) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclmdlSetDynamicHWSize(uint32_t, aclmdlDataset*, size_t, uint64_t, uint64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetInputDynamicDims(uint32_t, aclmdlDataset*, size_t, const aclmdlIODims*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclmdlAIPP* aclmdlCreateAIPP(uint64_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclmdlDestroyAIPP(const aclmdlAIPP*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetInputAIPP(uint32_t, aclmdlDataset*, size_t, const aclmdlAIPP*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlGetAippType(uint32_t, size_t, aclmdlInputAippType*, size_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPInputFormat(aclmdlAIPP*, aclAippInputFormat) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPSrcImageSize(aclmdlAIPP*, int32_t, int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPRbuvSwapSwitch(aclmdlAIPP*, int8_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPAxSwapSwitch(aclmdlAIPP*, int8_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPCropParams(aclmdlAIPP*, int8_t, int32_t, int32_t, int32_t, int32_t,
                                 uint64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPPaddingParams(aclmdlAIPP*, int8_t, int32_t, int32_t, int32_t, int32_t,
                                    uint64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPScfParams(aclmdlAIPP*, int8_t, int32_t, int32_t, int32_t, int32_t, uint64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPDtcPixelMean(aclmdlAIPP*, int16_t, int16_t, int16_t, int16_t, uint64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPDtcPixelMin(aclmdlAIPP*, float, float, float, float, uint64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPPixelVarReci(aclmdlAIPP*, float, float, float, float, uint64_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetAIPPCscParams(aclmdlAIPP*, int8_t, int16_t, int16_t, int16_t, int16_t, int16_t,
                                int16_t, int16_t, int16_t, int16_t, uint8_t, uint8_t, uint8_t,
                                uint8_t, uint8_t, uint8_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

// Dumps.

aclError aclmdlInitDump() {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlSetDump(const char*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclmdlFinalizeDump() {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopStartDumpArgs(uint32_t, const char*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclopStopDumpArgs(uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

// Recording by a card's driver.

aclError aclprofGetSupportedFeatures(size_t*, void**) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclprofGetSupportedFeaturesV2(size_t*, void**) {
  MSPROF_UNSUPPORTED_ERROR;
}

}  // extern "C"
