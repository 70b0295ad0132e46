/* The memory functions of mstx: a program's own heaps and their allocated regions. A time profiler
 * ignores them; the handles are then NULL. Included by ms_tools_ext.h.
 */
#ifndef MSPROF_MSTX_MS_TOOLS_EXT_MEM_H_
#define MSPROF_MSTX_MS_TOOLS_EXT_MEM_H_

#ifndef MSPROF_MSTX_MS_TOOLS_EXT_H_
#error "include mstx/ms_tools_ext.h, which includes this file"
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mstxMemHeap_st* mstxMemHeapHandle_t;
typedef struct mstxMemRegion_st* mstxMemRegionHandle_t;

/* Domain for calls that belong to no other domain. */
#define globalDomain NULL

typedef enum { MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 0 } mstxMemHeapUsageType;
typedef enum { MSTX_MEM_TYPE_VIRTUAL_ADDRESS = 0 } mstxMemType;
typedef enum {
  MSTX_MEM_REGION_REF_TYPE_POINTER = 0,
  MSTX_MEM_REGION_REF_TYPE_HANDLE = 1
} mstxMemRegionRefType;

/* `size` in bytes. */
typedef struct mstxMemVirtualRangeDesc_st {
  uint32_t deviceId;
  void const* ptr;
  uint64_t size;
} mstxMemVirtualRangeDesc_t;

/* typeSpecificDesc: a mstxMemVirtualRangeDesc_t for MSTX_MEM_TYPE_VIRTUAL_ADDRESS. */
typedef struct mstxMemHeapDesc_st {
  mstxMemHeapUsageType usage;
  mstxMemType type;
  void const* typeSpecificDesc;
} mstxMemHeapDesc_t;

typedef struct mstxMemRegionsRegisterBatch_st {
  mstxMemHeapHandle_t heap;
  mstxMemType regionType;
  size_t regionCount;
  void const* regionDescArray;
  mstxMemRegionHandle_t* regionHandleArrayOut;
} mstxMemRegionsRegisterBatch_t;

typedef struct mstxMemRegionRef_st {
  mstxMemRegionRefType refType;
  __extension__ union {
    void const* pointer;
    mstxMemRegionHandle_t handle;
  };
} mstxMemRegionRef_t;

typedef struct mstxMemRegionsUnregisterBatch_st {
  size_t refCount;
  mstxMemRegionRef_t const* refArray;
} mstxMemRegionsUnregisterBatch_t;

/* Bits of `flags` below; 0: no access. */
#define MSTX_MEM_PERMISSIONS_REGION_FLAGS_NONE 0x0
#define MSTX_MEM_PERMISSIONS_REGION_FLAGS_READ 0x1
#define MSTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE 0x2
#define MSTX_MEM_PERMISSIONS_REGION_FLAGS_SHARED 0x4 /* by several devices */

typedef struct mstxMemPermissionsAssignRegionsDesc_st {
  uint32_t flags;
  mstxMemRegionRef_t region;
} mstxMemPermissionsAssignRegionsDesc_t;

typedef struct mstxMemPermissionsAssignBatch_st {
  size_t regionCount;
  mstxMemPermissionsAssignRegionsDesc_t const* regionDescArray;
} mstxMemPermissionsAssignBatch_t;

MSTX_DECLSPEC mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain,
                                                      mstxMemHeapDesc_t const* desc);
MSTX_DECLSPEC void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap);
MSTX_DECLSPEC void mstxMemRegionsRegister(mstxDomainHandle_t domain,
                                          mstxMemRegionsRegisterBatch_t const* desc);
MSTX_DECLSPEC void mstxMemRegionsUnregister(mstxDomainHandle_t domain,
                                            mstxMemRegionsUnregisterBatch_t const* desc);
MSTX_DECLSPEC void mstxMemPermissionsAssign(mstxDomainHandle_t domain,
                                            mstxMemPermissionsAssignBatch_t const* desc);

#ifdef __cplusplus
}
#endif

#endif /* MSPROF_MSTX_MS_TOOLS_EXT_MEM_H_ */
