/* Makes each call in a separate thread with the smallest stack: small_stack MODEL OUTPUT
 * [ACL_JSON]. Prints the calls that failed. */
#include "support/small_stack.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "svp_acl.h"
#include "svp_acl_prof.h"

static const char *output, *acl_json;
static char model_bytes[1 << 20];
static size_t model_size;
static uint32_t model;
static svp_acl_mdl_desc* desc;
static svp_acl_mdl_dataset *in, *out;
static svp_acl_prof_config* config;

#define DO(call)                                                  \
  do {                                                            \
    const int code = (call);                                      \
    if (code != SVP_ACL_SUCCESS) printf("%s: %d\n", #call, code); \
  } while (0)

static void* init(void* unused) {
  DO(svp_acl_init(acl_json));
  DO(svp_acl_rt_set_device(0));
  return unused;
}

static void* start_prof(void* unused) {
  const uint32_t device = 0;
  DO(svp_acl_prof_init(output, strlen(output)));
  config = svp_acl_prof_create_config(
      &device, 1, SVP_ACL_AICORE_ARITHMETIC_UTILIZATION, NULL,
      SVP_ACL_PROF_ACL_API | SVP_ACL_PROF_TASK_TIME | SVP_ACL_PROF_AICPU_TRACE);
  DO(svp_acl_prof_start(config));
  return unused;
}

static void* load(void* unused) {
  DO(svp_acl_mdl_load_from_mem(model_bytes, model_size, &model));
  return unused;
}

static void add(svp_acl_mdl_dataset* dataset, size_t bytes) {
  DO(svp_acl_mdl_add_dataset_buffer(dataset,
                                    svp_acl_create_data_buffer(calloc(1, bytes), bytes, 0)));
}

static void* make_buffers(void* unused) {
  desc = svp_acl_mdl_create_desc();
  DO(svp_acl_mdl_get_desc(desc, model));
  in = svp_acl_mdl_create_dataset();
  out = svp_acl_mdl_create_dataset();
  add(in, svp_acl_mdl_get_input_size_by_index(desc, 0));
  add(out, svp_acl_mdl_get_output_size_by_index(desc, 0));
  return unused;
}

/* Enough for a file to grow. */
static void* execute(void* unused) {
  int i;
  for (i = 0; i < 1000; ++i) DO(svp_acl_mdl_execute(model, in, out));
  return unused;
}

static void* fail(void* unused) {
  uint32_t none = 0;
  if (svp_acl_mdl_load_from_mem("nonsense", 8, &none) == SVP_ACL_SUCCESS) puts("nonsense loaded");
  if (svp_acl_mdl_execute(12345, in, out) == SVP_ACL_SUCCESS) puts("no model executed");
  return unused;
}

static void* stop_prof(void* unused) {
  DO(svp_acl_prof_stop(config));
  DO(svp_acl_prof_finalize());
  return unused;
}

/* The ends stay open: the pipe holds what one execution sends. */
static void* subscribe(void* unused) {
  svp_acl_prof_subscribe_config* subscription;
  int ends[2];
  if (pipe(ends) != 0) return unused;
  subscription = svp_acl_prof_create_subscribe_config(1, SVP_ACL_AICORE_NONE, &ends[1]);
  DO(svp_acl_prof_model_subscribe(model, subscription));
  DO(svp_acl_mdl_execute(model, in, out));
  DO(svp_acl_prof_model_unsubscribe(model));
  DO(svp_acl_prof_destroy_subscribe_config(subscription));
  return unused;
}

static void* finish(void* unused) {
  DO(svp_acl_mdl_unload(model));
  DO(svp_acl_finalize());
  return unused;
}

int main(int argc, char** argv) {
  FILE* const file = argc > 2 ? fopen(argv[1], "rb") : NULL;
  int is_good = file != NULL;
  if (!is_good) return 2;
  model_size = fread(model_bytes, 1, sizeof model_bytes, file);
  fclose(file);
  output = argv[2];
  acl_json = argc > 3 ? argv[3] : NULL;
  is_good &= run_on_small_stack("init", init);
  if (acl_json == NULL) is_good &= run_on_small_stack("start_prof", start_prof);
  is_good &= run_on_small_stack("load", load);
  is_good &= run_on_small_stack("make_buffers", make_buffers);
  is_good &= run_on_small_stack("execute", execute);
  is_good &= run_on_small_stack("fail", fail);
  if (acl_json == NULL) {
    is_good &= run_on_small_stack("stop_prof", stop_prof);
    is_good &= run_on_small_stack("subscribe", subscribe);
  }
  is_good &= run_on_small_stack("finish", finish);
  return is_good ? 0 : 1;
}
