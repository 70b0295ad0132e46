/* How the client finds a recorder and calls it. Programs do not include this file directly. */
#ifndef MSPROF_MSTX_MSTX_CLIENT_H_
#define MSPROF_MSTX_MSTX_CLIENT_H_

#ifdef __cplusplus
extern "C" {
#endif

#ifdef MSTX_DISABLE

#define MSTX_FUNCTION_(module, number, type) ((type)NULL)

#else

#ifdef __cplusplus
}
#endif
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Phases of the search for a recorder: not finished, found, or not found. */
enum { MSTX_CLIENT_NEW_ = 0, MSTX_CLIENT_READY_ = 1, MSTX_CLIENT_ALONE_ = 2 };

typedef struct mstxClient_st {
  int phase;
  int process;   /* id of the process that searches or has searched */
  int* searcher; /* address of errno in the searching thread, which identifies the thread */
  mstxFuncPointer core[MSTX_API_CORE_SIZE];
  mstxFuncPointer domain[MSTX_API_CORE2_SIZE];
  mstxFuncPointer memory[MSTX_API_CORE_MEM_SIZE];
  /* Tables in which a recorder stores its functions; element 0 stays NULL. */
  mstxFuncPointer* coreTable[MSTX_API_CORE_SIZE];
  mstxFuncPointer* domainTable[MSTX_API_CORE2_SIZE];
  mstxFuncPointer* memoryTable[MSTX_API_CORE_MEM_SIZE];
} mstxClient_t;

/* Weak: shared by all files of an executable or shared object. Hidden: not shared with other
 * objects. */
__attribute__((weak, visibility("hidden"))) mstxClient_t mstxClient_;

inline static int mstxClientTable_(mstxFuncModule module, mstxFuncTable* outTable,
                                   unsigned int* outSize) {
  if (outTable == NULL || outSize == NULL) return MSTX_FAIL;
  switch (module) {
    case MSTX_API_MODULE_CORE:
      *outTable = mstxClient_.coreTable;
      *outSize = MSTX_API_CORE_SIZE;
      return MSTX_SUCCESS;
    case MSTX_API_MODULE_CORE_DOMAIN:
      *outTable = mstxClient_.domainTable;
      *outSize = MSTX_API_CORE2_SIZE;
      return MSTX_SUCCESS;
    case MSTX_API_MODULE_CORE_MEM:
      *outTable = mstxClient_.memoryTable;
      *outSize = MSTX_API_CORE_MEM_SIZE;
      return MSTX_SUCCESS;
    default:
      return MSTX_FAIL;
  }
}

inline static int mstxClientSearch_(void) {
  const char* path = getenv("MSTX_INJECTION_PATH");
  void* library = NULL;
  void* symbol = NULL;
  mstxInitInjectionFunc init = NULL;
  size_t i;
  if (path != NULL && *path != '\0') {
    library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return MSTX_CLIENT_ALONE_;
  }
  symbol = dlsym(library, "InitInjectionMstx");
  if (symbol == NULL) return MSTX_CLIENT_ALONE_;
  memcpy(&init, &symbol, sizeof init);
  for (i = 1; i < MSTX_API_CORE_SIZE; ++i) mstxClient_.coreTable[i] = &mstxClient_.core[i];
  for (i = 1; i < MSTX_API_CORE2_SIZE; ++i) mstxClient_.domainTable[i] = &mstxClient_.domain[i];
  for (i = 1; i < MSTX_API_CORE_MEM_SIZE; ++i) mstxClient_.memoryTable[i] = &mstxClient_.memory[i];
  return init(mstxClientTable_) == MSTX_SUCCESS ? MSTX_CLIENT_READY_ : MSTX_CLIENT_ALONE_;
}

/* Returns the recorder's function stored at `place`, or NULL. The first call searches for a
 * recorder and other threads wait for it. A signal handler in the searching thread and a child
 * forked meanwhile do not wait; they get NULL. */
inline static mstxFuncPointer mstxClientFunction_(const mstxFuncPointer* place) {
  int phase = __atomic_load_n(&mstxClient_.phase, __ATOMIC_ACQUIRE);
  int nobody = 0;
  if (phase == MSTX_CLIENT_NEW_ &&
      __atomic_compare_exchange_n(&mstxClient_.process, &nobody, getpid(), 0, __ATOMIC_ACQUIRE,
                                  __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&mstxClient_.searcher, &errno, __ATOMIC_RELAXED);
    phase = mstxClientSearch_();
    __atomic_store_n(&mstxClient_.phase, phase, __ATOMIC_RELEASE);
  }
  while (phase == MSTX_CLIENT_NEW_) {
    if (__atomic_load_n(&mstxClient_.searcher, __ATOMIC_RELAXED) == &errno ||
        __atomic_load_n(&mstxClient_.process, __ATOMIC_RELAXED) != getpid())
      return NULL;
    sched_yield();
    phase = __atomic_load_n(&mstxClient_.phase, __ATOMIC_ACQUIRE);
  }
  return phase == MSTX_CLIENT_READY_ ? *place : NULL;
}

#ifdef __cplusplus
#define MSTX_FUNCTION_(module, number, type) \
  reinterpret_cast<type>(mstxClientFunction_(&mstxClient_.module[number]))
#else
#define MSTX_FUNCTION_(module, number, type) \
  ((type)mstxClientFunction_(&mstxClient_.module[number]))
#endif

#endif /* MSTX_DISABLE */

typedef void (*mstxMarkFn_)(const char*, aclrtStream);
typedef mstxRangeId (*mstxRangeStartFn_)(const char*, aclrtStream);
typedef void (*mstxRangeEndFn_)(mstxRangeId);
typedef void (*mstxGetToolIdFn_)(uint64_t*);
typedef mstxDomainHandle_t (*mstxDomainCreateFn_)(const char*);
typedef void (*mstxDomainDestroyFn_)(mstxDomainHandle_t);
typedef void (*mstxDomainMarkFn_)(mstxDomainHandle_t, const char*, aclrtStream);
typedef mstxRangeId (*mstxDomainRangeStartFn_)(mstxDomainHandle_t, const char*, aclrtStream);
typedef void (*mstxDomainRangeEndFn_)(mstxDomainHandle_t, mstxRangeId);
typedef mstxMemHeapHandle_t (*mstxHeapRegisterFn_)(mstxDomainHandle_t, mstxMemHeapDesc_t const*);
typedef void (*mstxHeapUnregisterFn_)(mstxDomainHandle_t, mstxMemHeapHandle_t);
typedef void (*mstxRegionsRegisterFn_)(mstxDomainHandle_t, mstxMemRegionsRegisterBatch_t const*);
typedef void (*mstxRegionsUnregisterFn_)(mstxDomainHandle_t,
                                         mstxMemRegionsUnregisterBatch_t const*);
typedef void (*mstxPermissionsAssignFn_)(mstxDomainHandle_t,
                                         mstxMemPermissionsAssignBatch_t const*);

MSTX_DECLSPEC void mstxMarkA(const char* message, aclrtStream stream) {
  const mstxMarkFn_ mark = MSTX_FUNCTION_(core, MSTX_API_CORE_MARK_A, mstxMarkFn_);
  if (mark != NULL) mark(message, stream);
}

MSTX_DECLSPEC mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
  const mstxRangeStartFn_ start =
      MSTX_FUNCTION_(core, MSTX_API_CORE_RANGE_START_A, mstxRangeStartFn_);
  return start != NULL ? start(message, stream) : 0;
}

MSTX_DECLSPEC void mstxRangeEnd(mstxRangeId id) {
  const mstxRangeEndFn_ end = MSTX_FUNCTION_(core, MSTX_API_CORE_RANGE_END, mstxRangeEndFn_);
  if (end != NULL) end(id);
}

MSTX_DECLSPEC void mstxGetToolId(uint64_t* id) {
  const mstxGetToolIdFn_ get = MSTX_FUNCTION_(core, MSTX_API_CORE_GET_TOOL_ID, mstxGetToolIdFn_);
  if (id == NULL) return;
  *id = MSTX_TOOL_INVALID_ID;
  if (get != NULL) get(id);
}

MSTX_DECLSPEC mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  const mstxDomainCreateFn_ create =
      MSTX_FUNCTION_(domain, MSTX_API_CORE2_DOMAIN_CREATE_A, mstxDomainCreateFn_);
  return create != NULL ? create(name) : NULL;
}

MSTX_DECLSPEC void mstxDomainDestroy(mstxDomainHandle_t domain) {
  const mstxDomainDestroyFn_ destroy =
      MSTX_FUNCTION_(domain, MSTX_API_CORE2_DOMAIN_DESTROY, mstxDomainDestroyFn_);
  if (destroy != NULL) destroy(domain);
}

MSTX_DECLSPEC void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message,
                                   aclrtStream stream) {
  const mstxDomainMarkFn_ mark =
      MSTX_FUNCTION_(domain, MSTX_API_CORE2_DOMAIN_MARK_A, mstxDomainMarkFn_);
  if (mark != NULL) mark(domain, message, stream);
}

MSTX_DECLSPEC mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message,
                                                aclrtStream stream) {
  const mstxDomainRangeStartFn_ start =
      MSTX_FUNCTION_(domain, MSTX_API_CORE2_DOMAIN_RANGE_START_A, mstxDomainRangeStartFn_);
  return start != NULL ? start(domain, message, stream) : 0;
}

MSTX_DECLSPEC void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
  const mstxDomainRangeEndFn_ end =
      MSTX_FUNCTION_(domain, MSTX_API_CORE2_DOMAIN_RANGE_END, mstxDomainRangeEndFn_);
  if (end != NULL) end(domain, id);
}

MSTX_DECLSPEC mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain,
                                                      mstxMemHeapDesc_t const* desc) {
  const mstxHeapRegisterFn_ heap =
      MSTX_FUNCTION_(memory, MSTX_API_CORE_MEMHEAP_REGISTER, mstxHeapRegisterFn_);
  return heap != NULL ? heap(domain, desc) : NULL;
}

MSTX_DECLSPEC void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap) {
  const mstxHeapUnregisterFn_ end =
      MSTX_FUNCTION_(memory, MSTX_API_CORE_MEMHEAP_UNREGISTER, mstxHeapUnregisterFn_);
  if (end != NULL) end(domain, heap);
}

MSTX_DECLSPEC void mstxMemRegionsRegister(mstxDomainHandle_t domain,
                                          mstxMemRegionsRegisterBatch_t const* desc) {
  const mstxRegionsRegisterFn_ add =
      MSTX_FUNCTION_(memory, MSTX_API_CORE_MEM_REGIONS_REGISTER, mstxRegionsRegisterFn_);
  if (add != NULL) add(domain, desc);
}

MSTX_DECLSPEC void mstxMemRegionsUnregister(mstxDomainHandle_t domain,
                                            mstxMemRegionsUnregisterBatch_t const* desc) {
  const mstxRegionsUnregisterFn_ end =
      MSTX_FUNCTION_(memory, MSTX_API_CORE_MEM_REGIONS_UNREGISTER, mstxRegionsUnregisterFn_);
  if (end != NULL) end(domain, desc);
}

MSTX_DECLSPEC void mstxMemPermissionsAssign(mstxDomainHandle_t domain,
                                            mstxMemPermissionsAssignBatch_t const* desc) {
  const mstxPermissionsAssignFn_ assign =
      MSTX_FUNCTION_(memory, MSTX_API_CORE_MEM_PERMISSIONS_ASSIGN, mstxPermissionsAssignFn_);
  if (assign != NULL) assign(domain, desc);
}

#undef MSTX_FUNCTION_

#ifdef __cplusplus
}
#endif

#endif /* MSPROF_MSTX_MSTX_CLIENT_H_ */
