// Dumps of tensors and arguments. Not supported on a host: 200001.
#pragma once

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_DUMP_API ACL_FUNC_VISIBILITY

#define ACL_OP_DUMP_OP_AICORE_ARGS 0x00000001U

// Dumps of models, configured by a JSON file, between Init and Finalize.
ACL_DUMP_API aclError aclmdlInitDump(void);
ACL_DUMP_API aclError aclmdlSetDump(const char* dumpCfgPath);
ACL_DUMP_API aclError aclmdlFinalizeDump(void);

// Dumps of the arguments of single operators.
ACL_DUMP_API aclError aclopStartDumpArgs(uint32_t dumpType, const char* path);
ACL_DUMP_API aclError aclopStopDumpArgs(uint32_t dumpType);

#ifdef __cplusplus
}
#endif
