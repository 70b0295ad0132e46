/* Makes each call in a separate thread with the smallest stack:
 *   acl_program_small_stack OUTPUT MODEL [ACL_JSON]
 * Profiles itself into OUTPUT, or as ACL_JSON requests. Prints what failed. */
#include "support/small_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_prof.h"

enum { kBytes = 1 << 12, kCopies = 20000 };

static const char *output, *model_file, *acl_json;
static const char* failed;
static uint32_t model;
static aclrtContext context;
static aclrtStream stream;
static aclmdlDesc* desc;
static aclmdlDataset *in, *out;
static aclprofConfig* config;
static void* memory[3];

#define DO(call)                                          \
  do {                                                    \
    if ((call) != ACL_SUCCESS && !failed) failed = #call; \
  } while (0)

static void* init(void* unused) {
  DO(aclInit(acl_json));
  return unused;
}

static void* set_device(void* unused) {
  DO(aclrtSetDevice(0));
  DO(aclrtGetCurrentContext(&context));
  DO(aclrtCreateStream(&stream));
  return unused;
}

static void* init_prof(void* unused) {
  DO(aclprofInit(output, strlen(output)));
  DO(aclprofSetConfig(ACL_PROF_HOST_SYS, "cpu,mem", 7));
  return unused;
}

static void* create_config(void* unused) {
  uint32_t device = 0;
  config = aclprofCreateConfig(&device, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
                               ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS |
                                   ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API | ACL_PROF_AICPU |
                                   ACL_PROF_L2CACHE | ACL_PROF_TASK_MEMORY);
  return unused;
}

static void* start_prof(void* unused) {
  DO(aclprofStart(config));
  return unused;
}

static void* load(void* unused) {
  DO(aclrtSetCurrentContext(context));
  DO(aclmdlLoadFromFile(model_file, &model));
  desc = aclmdlCreateDesc();
  DO(aclmdlGetDesc(desc, model));
  return unused;
}

static void add(aclmdlDataset* dataset, size_t bytes) {
  void* place = NULL;
  DO(aclrtMalloc(&place, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  DO(aclmdlAddDatasetBuffer(dataset, aclCreateDataBuffer(place, bytes)));
}

static void* make_buffers(void* unused) {
  size_t i;
  DO(aclrtSetCurrentContext(context));
  in = aclmdlCreateDataset();
  out = aclmdlCreateDataset();
  for (i = 0; i < aclmdlGetNumInputs(desc); ++i) add(in, aclmdlGetInputSizeByIndex(desc, i));
  for (i = 0; i < aclmdlGetNumOutputs(desc); ++i) add(out, aclmdlGetOutputSizeByIndex(desc, i));
  return unused;
}

static void* execute(void* unused) {
  DO(aclrtSetCurrentContext(context));
  DO(aclmdlExecute(model, in, out));
  DO(aclmdlExecuteAsync(model, in, out, stream));
  DO(aclrtSynchronizeStream(stream));
  return unused;
}

static void* copy(void* unused) {
  int i;
  DO(aclrtSetCurrentContext(context));
  DO(aclrtMalloc(&memory[0], kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  DO(aclrtMalloc(&memory[1], kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  DO(aclrtMallocHost(&memory[2], kBytes));
  DO(aclrtMemcpy(memory[0], kBytes, memory[2], kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  DO(aclrtMemset(memory[1], kBytes, 0, kBytes));
  for (i = 0; i < kCopies; ++i)
    DO(aclrtMemcpyAsync(memory[0], 64, memory[1], 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  DO(aclrtSynchronizeStream(stream));
  return unused;
}

static void* use_event(void* unused) {
  aclrtEvent event;
  DO(aclrtSetCurrentContext(context));
  DO(aclrtCreateEvent(&event));
  DO(aclrtRecordEvent(event, stream));
  DO(aclrtSynchronizeEvent(event));
  DO(aclrtDestroyEvent(event));
  return unused;
}

static void* stamp(void* unused) {
  uint32_t range = 0;
  void* const made = aclprofCreateStamp();
  DO(aclprofSetStampTraceMessage(made, "stamp", 5));
  DO(aclprofMark(made));
  DO(aclprofPush(made));
  DO(aclprofPop());
  DO(aclprofRangeStart(made, &range));
  DO(aclprofRangeStop(range));
  aclprofDestroyStamp(made);
  return unused;
}

/* These calls fail and print errors on stderr. */
static void* fail(void* unused) {
  uint32_t none = 0;
  aclrtSetDevice(99);
  aclmdlLoadFromFile("/nowhere", &none);
  aclmdlLoadFromMem("nonsense", 8, &none);
  aclmdlExecute(12345, in, out);
  aclGetRecentErrMsg();
  return unused;
}

static void* stop_prof(void* unused) {
  DO(aclprofStop(config));
  DO(aclprofFinalize());
  return unused;
}

static void* subscribe(void* unused) {
  int ends[2];
  aclprofSubscribeConfig* subscription;
  if (pipe(ends) != 0) return unused;
  subscription = aclprofCreateSubscribeConfig(1, ACL_AICORE_NONE, &ends[1]);
  DO(aclprofModelSubscribe(model, subscription));
  DO(aclprofModelUnSubscribe(model));
  aclprofDestroySubscribeConfig(subscription);
  close(ends[0]);
  return unused;
}

static void* finish(void* unused) {
  DO(aclrtSetCurrentContext(context));
  DO(aclmdlUnload(model));
  DO(aclFinalize());
  return unused;
}

static int bad;
static void run(const char* what, void* (*function)(void*)) {
  failed = NULL;
  if (!run_on_small_stack(what, function)) bad = 1;
  if (failed != NULL) printf("%s failed\n", failed);
}

int main(int argc, char** argv) {
  output = argv[1];
  model_file = argv[2];
  acl_json = argc > 3 ? argv[3] : NULL;
  run("init", init);
  run("set_device", set_device);
  if (acl_json == NULL) {
    run("init_prof", init_prof);
    run("create_config", create_config);
    run("start_prof", start_prof);
  }
  run("load", load);
  run("make_buffers", make_buffers);
  run("execute", execute);
  run("copy", copy);
  run("use_event", use_event);
  if (acl_json == NULL) run("stamp", stamp);
  run("fail", fail);
  if (acl_json == NULL) {
    run("stop_prof", stop_prof);
    run("subscribe", subscribe);
  }
  run("finish", finish);
  return bad;
}
