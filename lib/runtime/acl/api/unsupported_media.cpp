// Image processing and feature search: hardware units of a card.
#include "runtime/acl/api/unsupported.hpp"
#include "runtime/acl/include/acl/ops/acl_dvpp.h"
#include "runtime/acl/include/acl/ops/acl_fv.h"

extern "C" {

// Images.

aclError acldvppMalloc(void**, size_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppFree(void*) {
  MSPROF_UNSUPPORTED_ERROR;
}

acldvppChannelDesc* acldvppCreateChannelDesc() {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acldvppDestroyChannelDesc(acldvppChannelDesc*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppCreateChannel(acldvppChannelDesc*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppDestroyChannel(acldvppChannelDesc*) {
  MSPROF_UNSUPPORTED_ERROR;
}

acldvppPicDesc* acldvppCreatePicDesc() {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acldvppDestroyPicDesc(acldvppPicDesc*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetPicDescData(acldvppPicDesc*, void*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetPicDescSize(acldvppPicDesc*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetPicDescFormat(acldvppPicDesc*, acldvppPixelFormat) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetPicDescWidth(acldvppPicDesc*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetPicDescHeight(acldvppPicDesc*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetPicDescWidthStride(acldvppPicDesc*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetPicDescHeightStride(acldvppPicDesc*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

void* acldvppGetPicDescData(const acldvppPicDesc*) {
  MSPROF_UNSUPPORTED(nullptr);
}

uint32_t acldvppGetPicDescSize(const acldvppPicDesc*) {
  MSPROF_UNSUPPORTED(0);
}

uint32_t acldvppGetPicDescWidth(const acldvppPicDesc*) {
  MSPROF_UNSUPPORTED(0);
}

uint32_t acldvppGetPicDescHeight(const acldvppPicDesc*) {
  MSPROF_UNSUPPORTED(0);
}

uint32_t acldvppGetPicDescWidthStride(const acldvppPicDesc*) {
  MSPROF_UNSUPPORTED(0);
}

acldvppRoiConfig* acldvppCreateRoiConfig(uint32_t, uint32_t, uint32_t, uint32_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acldvppDestroyRoiConfig(acldvppRoiConfig*) {
  MSPROF_UNSUPPORTED_ERROR;
}

acldvppResizeConfig* acldvppCreateResizeConfig() {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acldvppDestroyResizeConfig(acldvppResizeConfig*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetResizeConfigInterpolation(acldvppResizeConfig*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppVpcResizeAsync(acldvppChannelDesc*, acldvppPicDesc*, acldvppPicDesc*,
                               acldvppResizeConfig*, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppVpcCropAsync(acldvppChannelDesc*, acldvppPicDesc*, acldvppPicDesc*,
                             acldvppRoiConfig*, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc*, acldvppPicDesc*, acldvppPicDesc*,
                                     acldvppRoiConfig*, acldvppRoiConfig*, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppJpegGetImageInfo(const void*, uint32_t, uint32_t*, uint32_t*, int32_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppJpegPredictDecSize(const void*, uint32_t, acldvppPixelFormat, uint32_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppJpegDecodeAsync(acldvppChannelDesc*, const void*, uint32_t, acldvppPicDesc*,
                                aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

acldvppJpegeConfig* acldvppCreateJpegeConfig() {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acldvppDestroyJpegeConfig(acldvppJpegeConfig*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppSetJpegeConfigLevel(acldvppJpegeConfig*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppJpegPredictEncSize(const acldvppPicDesc*, const acldvppJpegeConfig*, uint32_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acldvppJpegEncodeAsync(acldvppChannelDesc*, acldvppPicDesc*, const void*, uint32_t*,
                                acldvppJpegeConfig*, aclrtStream) {
  MSPROF_UNSUPPORTED_ERROR;
}

// Feature search.

aclfvInitPara* aclfvCreateInitPara(uint64_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclfvDestroyInitPara(aclfvInitPara*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvSet1NTopNum(aclfvInitPara*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvSetNMTopNum(aclfvInitPara*, uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclfvFeatureInfo* aclfvCreateFeatureInfo(uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t*,
                                         uint32_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclfvDestroyFeatureInfo(aclfvFeatureInfo*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclfvRepoRange* aclfvCreateRepoRange(uint32_t, uint32_t, uint32_t, uint32_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclfvDestroyRepoRange(aclfvRepoRange*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclfvQueryTable* aclfvCreateQueryTable(uint32_t, uint32_t, uint8_t*, uint32_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclfvDestroyQueryTable(aclfvQueryTable*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclfvSearchInput* aclfvCreateSearchInput(aclfvQueryTable*, aclfvRepoRange*, uint32_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclfvDestroySearchInput(aclfvSearchInput*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclfvSearchResult* aclfvCreateSearchResult(uint32_t, uint32_t*, uint32_t, uint32_t*, uint32_t*,
                                           uint32_t*, float*, uint32_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError aclfvDestroySearchResult(aclfvSearchResult*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvInit(aclfvInitPara*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvRelease() {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvRepoAdd(aclfvSearchType, aclfvFeatureInfo*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvRepoDel(aclfvSearchType, aclfvRepoRange*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvDel(aclfvFeatureInfo*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvModify(aclfvFeatureInfo*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError aclfvSearch(aclfvSearchType, aclfvSearchInput*, aclfvSearchResult*) {
  MSPROF_UNSUPPORTED_ERROR;
}

}  // extern "C"
