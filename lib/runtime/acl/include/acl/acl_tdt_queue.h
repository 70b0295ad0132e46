// Queues of a device between processes, and their buffers. Not supported on a host: functions
// return 200001, and NULL instead of a new object.
#pragma once

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acltdtQueueAttr acltdtQueueAttr;

// Attributes and queues; timeouts in milliseconds, sizes in bytes.
ACL_FUNC_VISIBILITY acltdtQueueAttr* acltdtCreateQueueAttr(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr);
ACL_FUNC_VISIBILITY aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* qid);
ACL_FUNC_VISIBILITY aclError acltdtDestroyQueue(uint32_t qid);
ACL_FUNC_VISIBILITY aclError acltdtEnqueue(uint32_t qid, aclrtMbuf buf, int32_t timeout);
ACL_FUNC_VISIBILITY aclError acltdtDequeue(uint32_t qid, aclrtMbuf* buf, int32_t timeout);
ACL_FUNC_VISIBILITY aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission,
                                              int32_t timeout);
ACL_FUNC_VISIBILITY aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t* permission);

// Buffers of queues.
ACL_FUNC_VISIBILITY aclError acltdtAllocBuf(size_t size, uint32_t type, aclrtMbuf* buf);
ACL_FUNC_VISIBILITY aclError acltdtFreeBuf(aclrtMbuf buf);
ACL_FUNC_VISIBILITY aclError acltdtGetBufData(const aclrtMbuf buf, void** dataPtr, size_t* size);

#ifdef __cplusplus
}
#endif
