// Dumps of tensors and of arguments, which a host does not make: 200001.
#pragma once

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_DUMP_API ACL_FUNC_VISIBILITY

#define ACL_OP_DUMP_OP_AICORE_ARGS 0x00000001U

// Of models: between Init and Finalize, as a JSON file says.
ACL_DUMP_API aclError aclmdlInitDump(void);
ACL_DUMP_API aclError aclmdlSetDump(const char* dumpCfgPath);
ACL_DUMP_API aclError aclmdlFinalizeDump(void);

// Of the arguments of single operators.
ACL_DUMP_API aclError aclopStartDumpArgs(uint32_t dumpType, const char* path);
ACL_DUMP_API aclError aclopStopDumpArgs(uint32_t dumpType);

#ifdef __cplusplus
}
#endif
