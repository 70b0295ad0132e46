/* The mstx client: sends named marks and ranges of a program to a recorder. For C and C++ programs.
 *
 * There is nothing to link (glibc before 2.34: -ldl). The first call looks for a recorder: the
 * library named by the environment variable MSTX_INJECTION_PATH, else one that is already in the
 * process (preloaded or linked). Without a recorder every call does nothing. The search is done
 * once for each executable or shared object that compiles this file.
 *
 * MSTX_NO_IMPL: declarations only, for programs that link libms_tools_ext.so, which is this client
 * as a library. MSTX_DISABLE: every call compiles to nothing.
 *
 * All functions may be called by any thread at any time. They report no errors: invalid calls are
 * not recorded.
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

/* Values of mstxGetToolId: the active recorder. */
#define MSTX_TOOL_INVALID_ID 0x0
#define MSTX_TOOL_MSPROF_ID 0x1000
#define MSTX_TOOL_MSOPPROF_ID 0x1001
#define MSTX_TOOL_MSSANITIZER_ID 0x1002
#define MSTX_TOOL_MSLEAKS_ID 0x1003

/* Id of a range, counted from 1 in each process. 0: the range is not recorded. */
typedef uint64_t mstxRangeId;
/* A group of marks and ranges. NULL: no such domain; calls with it do nothing. */
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;
/* The same type as in acl_rt.h. NULL: the mark or range concerns only the host. */
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

/* Numbers of the functions in each module. */
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
 * its own function there. */
typedef mstxFuncPointer** mstxFuncTable;
/* Returns the table of a module and its size. MSTX_FAIL if the client does not have the module or a
 * pointer is NULL. */
typedef int (*mstxGetModuleFuncTableFunc)(mstxFuncModule module, mstxFuncTable* outTable,
                                          unsigned int* outSize);
/* "InitInjectionMstx" of a recorder: fills the tables. MSTX_SUCCESS, or any other value if nothing
 * is recorded. */
typedef int (*mstxInitInjectionFunc)(mstxGetModuleFuncTableFunc getTable);

#ifdef __cplusplus
}
#endif

/* --- For programs
 * ---------------------------------------------------------------------------------------------------
 */

/* libms_tools_ext.so defines MSTX_DECLSPEC itself, to export the functions. */
#if defined(MSTX_DECLSPEC)
#elif defined(MSTX_NO_IMPL) && !defined(MSTX_DISABLE)
#define MSTX_DECLSPEC
#else
#define MSTX_DECLSPEC inline static
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Records a moment. `message`: a text of 1 to 156 bytes that does not start with = + - @. Longer
 * texts are recorded as well. */
MSTX_DECLSPEC void mstxMarkA(const char* message, aclrtStream stream);
/* Records a time range. It may end in another thread and may overlap others. */
MSTX_DECLSPEC mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream);
MSTX_DECLSPEC void mstxRangeEnd(mstxRangeId id);

/* `name`: less than 1024 bytes and not "default", which is the domain of the functions above. Each
 * name has a single handle. */
MSTX_DECLSPEC mstxDomainHandle_t mstxDomainCreateA(const char* name);
MSTX_DECLSPEC void mstxDomainDestroy(mstxDomainHandle_t domain);
MSTX_DECLSPEC void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message,
                                   aclrtStream stream);
MSTX_DECLSPEC mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message,
                                                aclrtStream stream);
MSTX_DECLSPEC void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

/* One of MSTX_TOOL_…; MSTX_TOOL_INVALID_ID if nothing is recorded. */
MSTX_DECLSPEC void mstxGetToolId(uint64_t* id);

#ifdef __cplusplus
}
#endif

#include "ms_tools_ext_mem.h"

#if defined(MSTX_DISABLE) || !defined(MSTX_NO_IMPL)
#include "mstx_detail/mstx_client.h"
#endif

#endif /* MSPROF_MSTX_MS_TOOLS_EXT_H_ */
