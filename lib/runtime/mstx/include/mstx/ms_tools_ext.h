/* The client of mstx: marks and ranges that a program names, for whoever records it. For programs
 * in C and C++.
 *
 * There is nothing to link (glibc before 2.34: -ldl). The first call looks for a recorder: the
 * library that the environment variable MSTX_INJECTION_PATH names, else one that is in the process
 * already (preloaded or linked). Without a recorder every call does nothing. That is decided once
 * for each executable or shared object that has this file compiled in.
 *
 * MSTX_NO_IMPL: declarations only, for those who link libms_tools_ext.so, which is this client as a
 * library. MSTX_DISABLE: every call is compiled to nothing.
 *
 * All functions may be called by any thread at any time. They report no errors: what is not
 * understood is not recorded.
 */
#ifndef MSPROF_MSTX_MS_TOOLS_EXT_H_
#define MSPROF_MSTX_MS_TOOLS_EXT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MSTX_SUCCESS 0
#define MSTX_FAIL 1

/* What mstxGetToolId gives: who records. */
#define MSTX_TOOL_INVALID_ID 0x0
#define MSTX_TOOL_MSPROF_ID 0x1000
#define MSTX_TOOL_MSOPPROF_ID 0x1001
#define MSTX_TOOL_MSSANITIZER_ID 0x1002
#define MSTX_TOOL_MSLEAKS_ID 0x1003

/* Of a range; counts from 1 in a process. 0: the range is not recorded. */
typedef uint64_t mstxRangeId;
/* Marks and ranges that belong together. NULL: there is no such domain; calls with it do nothing.
 */
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;
/* The same as in acl_rt.h. NULL: a mark or range of the host alone. */
typedef void* aclrtStream;

/* --- Between a client and a recorder
 * ------------------------------------------------------------------------------- */

typedef enum {
  MSTX_API_MODULE_INVALID = 0,
  MSTX_API_MODULE_CORE = 1,
  MSTX_API_MODULE_CORE_DOMAIN = 2,
  MSTX_API_MODULE_CORE_MEM = 3,
  MSTX_API_MODULE_SIZE = 4,
  MSTX_API_MODULE_FORCE_INT = 0x7fffffff
} mstxFuncModule;

/* Numbers of the functions of a module. */
typedef enum {
  MSTX_API_CORE_INVALID = 0,
  MSTX_API_CORE_MARK_A = 1,
  MSTX_API_CORE_RANGE_START_A = 2,
  MSTX_API_CORE_RANGE_END = 3,
  MSTX_API_CORE_GET_TOOL_ID = 4,
  MSTX_API_CORE_SIZE = 5,
  MSTX_API_CORE_FORCE_INT = 0x7fffffff
} mstxImplCoreFuncId;

typedef enum {
  MSTX_API_CORE2_INVALID = 0,
  MSTX_API_CORE2_DOMAIN_CREATE_A = 1,
  MSTX_API_CORE2_DOMAIN_DESTROY = 2,
  MSTX_API_CORE2_DOMAIN_MARK_A = 3,
  MSTX_API_CORE2_DOMAIN_RANGE_START_A = 4,
  MSTX_API_CORE2_DOMAIN_RANGE_END = 5,
  MSTX_API_CORE2_SIZE = 6,
  MSTX_API_CORE2_FORCE_INT = 0x7fffffff
} mstxImplCoreDomainFuncId;

typedef enum {
  MSTX_API_CORE_MEM_INVALID = 0,
  MSTX_API_CORE_MEMHEAP_REGISTER = 1,
  MSTX_API_CORE_MEMHEAP_UNREGISTER = 2,
  MSTX_API_CORE_MEM_REGIONS_REGISTER = 3,
  MSTX_API_CORE_MEM_REGIONS_UNREGISTER = 4,
  MSTX_API_CORE_MEM_PERMISSIONS_ASSIGN = 5,
  MSTX_API_CORE_MEM_SIZE = 6,
  MSTX_API_CORE_MEM_FORCE_INT = 0x7fffffff
} mstxImplCoreMemFuncId;

typedef void (*mstxFuncPointer)(void);
/* Element k, 1 <= k < size, is the address of the client's pointer to function k. A recorder stores
 * its own there. */
typedef mstxFuncPointer** mstxFuncTable;
/* Gives the table of a module and its size. MSTX_FAIL for a module that the client does not have,
 * and for NULL. */
typedef int (*mstxGetModuleFuncTableFunc)(mstxFuncModule module, mstxFuncTable* outTable,
                                          unsigned int* outSize);
/* "InitInjectionMstx" of a recorder: fills the tables. MSTX_SUCCESS, or any other value and nothing
 * is recorded. */
typedef int (*mstxInitInjectionFunc)(mstxGetModuleFuncTableFunc getTable);

#ifdef __cplusplus
}
#endif

/* --- For programs
 * ---------------------------------------------------------------------------------------------------
 */

/* The library libms_tools_ext.so defines MSTX_DECLSPEC itself: there the functions are exported. */
#if defined(MSTX_DECLSPEC)
#elif defined(MSTX_NO_IMPL) && !defined(MSTX_DISABLE)
#define MSTX_DECLSPEC
#else
#define MSTX_DECLSPEC inline static
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A moment. `message`: text of at most 156 bytes (longer ones are recorded as well), not empty, not
 * beginning with = + - @. */
MSTX_DECLSPEC void mstxMarkA(const char* message, aclrtStream stream);
/* A stretch of time; may end in another thread and overlap others. */
MSTX_DECLSPEC mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream);
MSTX_DECLSPEC void mstxRangeEnd(mstxRangeId id);

/* `name`: below 1024 bytes and not "default", the name of the domain of the calls above. One name,
 * one handle. */
MSTX_DECLSPEC mstxDomainHandle_t mstxDomainCreateA(const char* name);
MSTX_DECLSPEC void mstxDomainDestroy(mstxDomainHandle_t domain);
MSTX_DECLSPEC void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message,
                                   aclrtStream stream);
MSTX_DECLSPEC mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message,
                                                aclrtStream stream);
MSTX_DECLSPEC void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

/* One of MSTX_TOOL_…; INVALID_ID where nothing is recorded. */
MSTX_DECLSPEC void mstxGetToolId(uint64_t* id);

#ifdef __cplusplus
}
#endif

#include "ms_tools_ext_mem.h"

#if defined(MSTX_DISABLE) || !defined(MSTX_NO_IMPL)
#include "mstx_detail/mstx_client.h"
#endif

#endif /* MSPROF_MSTX_MS_TOOLS_EXT_H_ */
