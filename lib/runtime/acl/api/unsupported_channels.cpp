// Channels and queues between host and device, which are the same machine here.
#include "runtime/acl/api/unsupported.hpp"
#include "runtime/acl/include/acl/acl_tdt.h"
#include "runtime/acl/include/acl/acl_tdt_queue.h"

extern "C" {

// Channels.

acltdtDataItem* acltdtCreateDataItem(acltdtTensorType, const int64_t*, size_t, aclDataType, void*,
                                     size_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acltdtDestroyDataItem(acltdtDataItem*) {
  MSPROF_UNSUPPORTED_ERROR;
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem*) {
  MSPROF_UNSUPPORTED(ACL_TENSOR_DATA_UNDEFINED);
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem*) {
  MSPROF_UNSUPPORTED(ACL_DT_UNDEFINED);
}

void* acltdtGetDataAddrFromItem(const acltdtDataItem*) {
  MSPROF_UNSUPPORTED(nullptr);
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem*) {
  MSPROF_UNSUPPORTED(0);
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem*) {
  MSPROF_UNSUPPORTED(0);
}

aclError acltdtGetDimsFromItem(const acltdtDataItem*, int64_t*, size_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

acltdtDataset* acltdtCreateDataset() {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acltdtDestroyDataset(acltdtDataset*) {
  MSPROF_UNSUPPORTED_ERROR;
}

acltdtDataItem* acltdtGetDataItem(const acltdtDataset*, size_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acltdtAddDataItem(acltdtDataset*, acltdtDataItem*) {
  MSPROF_UNSUPPORTED_ERROR;
}

size_t acltdtGetDatasetSize(const acltdtDataset*) {
  MSPROF_UNSUPPORTED(0);
}

const char* acltdtGetDatasetName(const acltdtDataset*) {
  MSPROF_UNSUPPORTED(nullptr);
}

acltdtChannelHandle* acltdtCreateChannel(uint32_t, const char*) {
  MSPROF_UNSUPPORTED(nullptr);
}

acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t, const char*, size_t) {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acltdtStopChannel(acltdtChannelHandle*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtDestroyChannel(acltdtChannelHandle*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtSendTensor(const acltdtChannelHandle*, const acltdtDataset*, int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtReceiveTensor(const acltdtChannelHandle*, acltdtDataset*, int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle*, size_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

// Queues.

acltdtQueueAttr* acltdtCreateQueueAttr() {
  MSPROF_UNSUPPORTED(nullptr);
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtCreateQueue(const acltdtQueueAttr*, uint32_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtDestroyQueue(uint32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtEnqueue(uint32_t, aclrtMbuf, int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtDequeue(uint32_t, aclrtMbuf*, int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtGrantQueue(uint32_t, int32_t, uint32_t, int32_t) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtAttachQueue(uint32_t, int32_t, uint32_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtAllocBuf(size_t, uint32_t, aclrtMbuf*) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtFreeBuf(aclrtMbuf) {
  MSPROF_UNSUPPORTED_ERROR;
}

aclError acltdtGetBufData(const aclrtMbuf, void**, size_t*) {
  MSPROF_UNSUPPORTED_ERROR;
}

}  // extern "C"
