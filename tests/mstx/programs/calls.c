/* Makes every call of the mstx client once, in C. Prints the handles it was given and the
 * durations of its ranges, as lines of words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mstx/ms_tools_ext.h"

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void rest_ms(long ms) {
  const struct timespec pause = {0, ms * 1000000};
  nanosleep(&pause, NULL);
}

static void refused_messages(void) {
  const char* const messages[] = {NULL, "", "=1+1", "+1", "-1", "@SUM(1)"};
  uint64_t ids = 0;
  size_t i;
  for (i = 0; i < sizeof messages / sizeof messages[0]; ++i) {
    mstxMarkA(messages[i], NULL);
    ids |= mstxRangeStartA(messages[i], NULL);
  }
  printf("refused %" PRIu64 "\n", ids);
}

static void long_messages(void) {
  char text[401];
  size_t i;
  for (i = 0; i < sizeof text; ++i) text[i] = (char)('a' + i % 26);
  text[400] = '\0';
  mstxMarkA(text, NULL);
  text[156] = '\0';
  mstxMarkA(text, NULL);
}

static void domains(void) {
  char name[1025];
  mstxDomainHandle_t net = mstxDomainCreateA("net"), gone = mstxDomainCreateA("gone");
  mstxRangeId in_net, in_default;
  memset(name, 'n', sizeof name);
  name[1024] = '\0';
  printf("handles %d %d %d %d\n", net != NULL, net == mstxDomainCreateA("net"),
         mstxDomainCreateA("default") == NULL, mstxDomainCreateA(name) == NULL);
  mstxDomainMarkA(net, "mark in net", NULL);
  in_net = mstxDomainRangeStartA(net, "range in net", NULL);
  in_default = mstxRangeStartA("range in default", NULL);
  /* Ended in the wrong domain: both ranges continue. */
  mstxRangeEnd(in_net);
  mstxDomainRangeEnd(net, in_default);
  mstxDomainRangeEnd(net, in_net);
  mstxRangeEnd(in_default);
  mstxDomainDestroy(gone);
  mstxDomainMarkA(gone, "mark in a destroyed domain", NULL);
  mstxDomainMarkA(NULL, "mark in no domain", NULL);
  mstxDomainMarkA((mstxDomainHandle_t)(void*)name, "mark in what is no domain", NULL);
}

/* A recorder of times ignores memory. */
static void memory(void) {
  mstxMemRegionHandle_t handle = NULL;
  const mstxMemVirtualRangeDesc_t range = {0, &handle, sizeof handle};
  const mstxMemHeapDesc_t heap = {MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR,
                                  MSTX_MEM_TYPE_VIRTUAL_ADDRESS, &range};
  const mstxMemHeapHandle_t made = mstxMemHeapRegister(globalDomain, &heap);
  const mstxMemRegionsRegisterBatch_t regions = {made, MSTX_MEM_TYPE_VIRTUAL_ADDRESS, 1, &range,
                                                 &handle};
  const mstxMemRegionRef_t region = {MSTX_MEM_REGION_REF_TYPE_POINTER, {&handle}};
  const mstxMemRegionsUnregisterBatch_t all = {1, &region};
  const mstxMemPermissionsAssignRegionsDesc_t access = {
      MSTX_MEM_PERMISSIONS_REGION_FLAGS_READ | MSTX_MEM_PERMISSIONS_REGION_FLAGS_WRITE |
          MSTX_MEM_PERMISSIONS_REGION_FLAGS_SHARED,
      region};
  const mstxMemPermissionsAssignBatch_t permissions = {1, &access};
  mstxMemRegionsRegister(globalDomain, &regions);
  mstxMemPermissionsAssign(globalDomain, &permissions);
  mstxMemRegionsUnregister(globalDomain, &all);
  mstxMemHeapUnregister(globalDomain, made);
  printf("heap %d\n", made == NULL);
}

int main(void) {
  uint64_t tool = 99, before, begun, ending, after;
  mstxRangeId outer, inner;
  mstxGetToolId(&tool);
  printf("tool %" PRIu64 "\n", tool);
  mstxMarkA("a mark", NULL);
  before = now_ns();
  outer = mstxRangeStartA("outer", NULL);
  begun = now_ns();
  rest_ms(3);
  inner = mstxRangeStartA("overlapping", NULL);
  rest_ms(2);
  ending = now_ns();
  mstxRangeEnd(outer);
  after = now_ns();
  mstxRangeEnd(inner);
  mstxRangeEnd(inner);
  mstxRangeEnd(12345);
  mstxRangeEnd(0);
  printf("outer %" PRIu64 " %" PRIu64 "\n", ending - begun, after - before);
  printf("ids %" PRIu64 " %" PRIu64 "\n", outer, inner);
  mstxRangeStartA("never ended", NULL);
  refused_messages();
  long_messages();
  domains();
  memory();
  return 0;
}
