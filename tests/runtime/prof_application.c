/* An application that profiles itself by calls of svp_acl_prof.h: prof_application MODE MODEL
 * OUTPUT. Prints a line per call, with name and code, and a line per record that arrives through
 * the pipe. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "svp_acl.h"
#include "svp_acl_prof.h"

#define ALL_BITS                                                                 \
  (SVP_ACL_PROF_ACL_API | SVP_ACL_PROF_TASK_TIME | SVP_ACL_PROF_AICORE_METRICS | \
   SVP_ACL_PROF_AICPU_TRACE)
#define SAY(call) printf("%s %d\n", #call, call)
#define EXECUTIONS 3

static const uint32_t kDevice0 = 0, kDevice1 = 1;
static const char* output;

static long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static uint32_t load(const char* path) {
  static char bytes[1 << 20];
  uint32_t id = 0;
  FILE* const file = fopen(path, "rb");
  const size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
  if (file != NULL) fclose(file);
  if (svp_acl_mdl_load_from_mem(bytes, size, &id) != SVP_ACL_SUCCESS) exit(9);
  return id;
}

static void execute(uint32_t model, int times) {
  svp_acl_mdl_desc* const desc = svp_acl_mdl_create_desc();
  svp_acl_mdl_get_desc(desc, model);
  svp_acl_mdl_dataset* const in = svp_acl_mdl_create_dataset();
  svp_acl_mdl_dataset* const out = svp_acl_mdl_create_dataset();
  const size_t in_size = svp_acl_mdl_get_input_size_by_index(desc, 0);
  const size_t out_size = svp_acl_mdl_get_output_size_by_index(desc, 0);
  void* const in_bytes = calloc(1, in_size);
  void* const out_bytes = calloc(1, out_size);
  svp_acl_data_buffer* const in_buffer = svp_acl_create_data_buffer(in_bytes, in_size, 0);
  svp_acl_data_buffer* const out_buffer = svp_acl_create_data_buffer(out_bytes, out_size, 0);
  svp_acl_mdl_add_dataset_buffer(in, in_buffer);
  svp_acl_mdl_add_dataset_buffer(out, out_buffer);
  for (int i = 0; i < times; ++i)
    if (svp_acl_mdl_execute(model, in, out) != SVP_ACL_SUCCESS) exit(8);
  svp_acl_destroy_data_buffer(in_buffer);
  svp_acl_destroy_data_buffer(out_buffer);
  svp_acl_mdl_destroy_dataset(in);
  svp_acl_mdl_destroy_dataset(out);
  svp_acl_mdl_destroy_desc(desc);
  free(in_bytes);
  free(out_bytes);
}

static svp_acl_prof_config* make_config(uint64_t bits) {
  return svp_acl_prof_create_config(&kDevice0, 1, SVP_ACL_AICORE_ARITHMETIC_UTILIZATION, NULL,
                                    bits);
}

static void into_files(const char* path, uint64_t bits) {
  svp_acl_prof_config* const config = make_config(bits);
  SAY(svp_acl_prof_init(output, strlen(output)));
  SAY(svp_acl_prof_start(config));
  const uint32_t model = load(path);
  execute(model, EXECUTIONS);
  SAY(svp_acl_mdl_unload(model));
  SAY(svp_acl_prof_stop(config));
  SAY(svp_acl_prof_finalize());
  SAY(svp_acl_prof_destroy_config(config));
}

/* Two JOBs of a loaded model; executions between them are in neither. */
static void twice(const char* path) {
  svp_acl_prof_config* const config = make_config(SVP_ACL_PROF_TASK_TIME);
  SAY(svp_acl_prof_init(output, strlen(output)));
  const uint32_t model = load(path);
  execute(model, 1);
  for (int i = 1; i <= 2; ++i) {
    SAY(svp_acl_prof_start(config));
    execute(model, i);
    SAY(svp_acl_prof_stop(config));
    execute(model, 5);
  }
  SAY(svp_acl_prof_finalize());
}

static void* read_records(void* fd) {
  size_t size = 0;
  if (svp_acl_prof_get_op_desc_size(&size) != SVP_ACL_SUCCESS) exit(7);
  char* const bytes = malloc(size * 4);
  size_t have = 0;
  ssize_t got = 0;
  while ((got = read(*(int*)fd, bytes + have, size * 4 - have)) > 0) {
    have += (size_t)got;
    const size_t whole = have - have % size;
    uint32_t count = 0;
    if (svp_acl_prof_get_op_num(bytes, whole, &count) != SVP_ACL_SUCCESS) exit(6);
    for (uint32_t i = 0; i < count; ++i) {
      char name[SVP_ACL_PROF_MAX_OP_NAME_LEN], type[SVP_ACL_PROF_MAX_OP_TYPE_LEN];
      size_t name_size = 0, type_size = 0;
      if (svp_acl_prof_get_op_name(bytes, whole, i, name, sizeof name) != SVP_ACL_SUCCESS ||
          svp_acl_prof_get_op_type(bytes, whole, i, type, sizeof type) != SVP_ACL_SUCCESS ||
          svp_acl_prof_get_op_name_len(bytes, whole, i, &name_size) != SVP_ACL_SUCCESS ||
          svp_acl_prof_get_op_type_len(bytes, whole, i, &type_size) != SVP_ACL_SUCCESS ||
          name_size != strlen(name) + 1 || type_size != strlen(type) + 1)
        exit(5);
      printf("record %s %s %llu %llu %llu %zu\n", name, type,
             (unsigned long long)svp_acl_prof_get_op_start(bytes, whole, i),
             (unsigned long long)svp_acl_prof_get_op_end(bytes, whole, i),
             (unsigned long long)svp_acl_prof_get_op_duration(bytes, whole, i),
             svp_acl_prof_get_model_id(bytes, whole, i));
    }
    have -= whole;
    memmove(bytes, bytes + whole, have);
  }
  free(bytes);
  return NULL;
}

static void through_a_pipe(const char* path) {
  int ends[2];
  pthread_t reader;
  if (pipe(ends) != 0) exit(4);
  const uint32_t model = load(path);
  svp_acl_prof_subscribe_config* const config =
      svp_acl_prof_create_subscribe_config(1, SVP_ACL_AICORE_NONE, &ends[1]);
  SAY(svp_acl_prof_model_subscribe(model, config));
  pthread_create(&reader, NULL, read_records, &ends[0]);
  printf("begin %lld\n", now_us());
  execute(model, EXECUTIONS);
  const long long end = now_us();
  SAY(svp_acl_prof_model_unsubscribe(model));
  pthread_join(reader, NULL); /* the end of the pipe */
  printf("end %lld %u\n", end, model);
  SAY(svp_acl_prof_destroy_subscribe_config(config));
  SAY(svp_acl_mdl_unload(model));
}

/* Prints the codes for wrong arguments and a wrong order of calls. */
static void break_rules(const char* path) {
  int ends[2], closed = -1;
  size_t size = 0;
  uint32_t count = 0;
  char text[8];
  const char record[80] = {0};
  if (pipe(ends) != 0) exit(4);
  svp_acl_prof_config* const config = make_config(ALL_BITS);
  svp_acl_prof_config* const other = make_config(SVP_ACL_PROF_ACL_API);
  svp_acl_prof_config* const none = make_config(0);
  svp_acl_prof_config* const unknown = make_config(ALL_BITS | 0x10);
  svp_acl_prof_config* const idle = svp_acl_prof_create_config(&kDevice0, 1, SVP_ACL_AICORE_NONE,
                                                               NULL, SVP_ACL_PROF_AICORE_METRICS);
  const uint32_t same[] = {0, 0};
  printf("configs %d\n",
         svp_acl_prof_create_config(NULL, 1, SVP_ACL_AICORE_NONE, NULL, 1) == NULL &&
             svp_acl_prof_create_config(&kDevice0, 0, SVP_ACL_AICORE_NONE, NULL, 1) == NULL &&
             svp_acl_prof_create_config(&kDevice1, 1, SVP_ACL_AICORE_NONE, NULL, 1) == NULL &&
             svp_acl_prof_create_config(same, 2, SVP_ACL_AICORE_NONE, NULL, 1) == NULL &&
             svp_acl_prof_create_config(&kDevice0, 1, SVP_ACL_AICORE_NONE, (const void*)&size, 1) ==
                 NULL &&
             svp_acl_prof_create_subscribe_config(1, SVP_ACL_AICORE_NONE, NULL) == NULL &&
             svp_acl_prof_create_subscribe_config(1, SVP_ACL_AICORE_NONE, &closed) == NULL &&
             svp_acl_prof_create_subscribe_config(1, SVP_ACL_AICORE_ARITHMETIC_UTILIZATION,
                                                  &ends[1]) == NULL);
  SAY(svp_acl_prof_init(output, strlen(output))); /* before svp_acl_init */
  svp_acl_init(NULL);
  SAY(svp_acl_prof_start(config));
  SAY(svp_acl_prof_stop(config));
  SAY(svp_acl_prof_finalize());
  SAY(svp_acl_prof_init(NULL, 4));
  SAY(svp_acl_prof_init(output, 0));
  SAY(svp_acl_prof_init(output, strlen(output) + 1));
  SAY(svp_acl_prof_init("relative", 8));
  SAY(svp_acl_prof_init("/tmp;x", 6));
  SAY(svp_acl_prof_init(output, strlen(output)));
  SAY(svp_acl_prof_init(output, strlen(output)));
  SAY(svp_acl_prof_start(NULL));
  SAY(svp_acl_prof_start(none));
  SAY(svp_acl_prof_start(unknown));
  SAY(svp_acl_prof_start(idle));
  SAY(svp_acl_prof_stop(config));
  SAY(svp_acl_prof_start(config));
  SAY(svp_acl_prof_start(config));
  SAY(svp_acl_prof_start(other));
  SAY(svp_acl_prof_stop(NULL));
  SAY(svp_acl_prof_stop(other));
  const uint32_t model = load(path);
  svp_acl_prof_subscribe_config* const timed =
      svp_acl_prof_create_subscribe_config(1, SVP_ACL_AICORE_NONE, &ends[1]);
  svp_acl_prof_subscribe_config* const untimed =
      svp_acl_prof_create_subscribe_config(0, SVP_ACL_AICORE_NONE, &ends[1]);
  SAY(svp_acl_prof_model_subscribe(model, timed));
  SAY(svp_acl_prof_model_unsubscribe(model));
  SAY(svp_acl_prof_stop(config));
  SAY(svp_acl_prof_stop(config));
  SAY(svp_acl_prof_finalize());
  SAY(svp_acl_prof_finalize());
  SAY(svp_acl_prof_start(config));
  SAY(svp_acl_prof_model_subscribe(model, NULL));
  SAY(svp_acl_prof_model_subscribe(model + 1, timed));
  SAY(svp_acl_prof_model_subscribe(model, untimed));
  SAY(svp_acl_prof_model_unsubscribe(model));
  SAY(svp_acl_prof_model_subscribe(model, timed));
  SAY(svp_acl_prof_model_subscribe(model, timed));
  SAY(svp_acl_prof_init(output, strlen(output)));
  SAY(svp_acl_prof_start(config));
  SAY(svp_acl_prof_finalize());
  SAY(svp_acl_prof_model_unsubscribe(model));
  SAY(svp_acl_prof_model_unsubscribe(model));
  SAY(svp_acl_prof_destroy_config(config));
  SAY(svp_acl_prof_destroy_config(config));
  SAY(svp_acl_prof_destroy_config(NULL));
  SAY(svp_acl_prof_start(config));
  SAY(svp_acl_prof_destroy_subscribe_config(timed));
  SAY(svp_acl_prof_destroy_subscribe_config(timed));
  SAY(svp_acl_prof_destroy_subscribe_config(NULL));
  SAY(svp_acl_prof_get_op_desc_size(NULL));
  SAY(svp_acl_prof_get_op_num(NULL, 80, &count));
  SAY(svp_acl_prof_get_op_num(record, 79, &count));
  SAY(svp_acl_prof_get_op_num(record, 80, NULL));
  SAY(svp_acl_prof_get_op_name(record, 80, 0, text, sizeof text)); /* not signed */
  SAY(svp_acl_prof_get_op_name_len(record, 80, 1, &size));
  SAY(svp_acl_prof_get_op_type(NULL, 80, 0, text, sizeof text));
  SAY(svp_acl_prof_get_op_type_len(record, 80, 0, NULL));
  printf("zeros %d\n", svp_acl_prof_get_op_start(record, 80, 0) == 0 &&
                           svp_acl_prof_get_op_end(NULL, 80, 0) == 0 &&
                           svp_acl_prof_get_op_duration(record, 79, 0) == 0 &&
                           svp_acl_prof_get_model_id(record, 80, 1) == 0);
  SAY(svp_acl_prof_init("/nowhere/at/all", 15));
  SAY(svp_acl_prof_start(other)); /* where no folder can be made */
  SAY(svp_acl_finalize());
  SAY(svp_acl_prof_start(other)); /* forgotten by svp_acl_finalize */
}

/* The profiler of acl.json is on: it continues as if nothing had been called. */
static void beside_acl_json(const char* path) {
  int ends[2];
  size_t size = 0;
  if (pipe(ends) != 0) exit(4);
  svp_acl_prof_config* const config = make_config(ALL_BITS);
  svp_acl_prof_subscribe_config* const pipe_config =
      svp_acl_prof_create_subscribe_config(1, SVP_ACL_AICORE_NONE, &ends[1]);
  SAY(svp_acl_prof_init(output, strlen(output)));
  SAY(svp_acl_prof_start(config));
  const uint32_t model = load(path);
  SAY(svp_acl_prof_model_subscribe(model, pipe_config));
  execute(model, EXECUTIONS);
  SAY(svp_acl_prof_model_unsubscribe(model));
  SAY(svp_acl_prof_get_op_desc_size(&size));
  SAY(svp_acl_prof_stop(config));
  SAY(svp_acl_prof_finalize());
  SAY(svp_acl_prof_destroy_config(config));
}

/* A child has no profiling, and may start its own. */
static void fork_while_recording(const char* path) {
  svp_acl_prof_config* const config = make_config(ALL_BITS);
  SAY(svp_acl_prof_init(output, strlen(output)));
  SAY(svp_acl_prof_start(config));
  const uint32_t model = load(path);
  execute(model, 1);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    SAY(svp_acl_prof_stop(config));
    SAY(svp_acl_prof_init(output, strlen(output)));
    SAY(svp_acl_prof_start(config));
    execute(model, 2);
    SAY(svp_acl_prof_stop(config));
    exit(0);
  }
  waitpid(child, NULL, 0);
  execute(model, 3);
  SAY(svp_acl_finalize()); /* completes what nobody stopped */
  exit(0);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const char* const mode = argv[1];
  output = argv[3];
  if (strcmp(mode, "rules") == 0) {
    break_rules(argv[2]);
    return 0;
  }
  if (svp_acl_init(NULL) != SVP_ACL_SUCCESS) return 3;
  if (strcmp(mode, "files") == 0) into_files(argv[2], ALL_BITS);
  if (strcmp(mode, "calls") == 0) into_files(argv[2], SVP_ACL_PROF_ACL_API);
  if (strcmp(mode, "twice") == 0) twice(argv[2]);
  if (strcmp(mode, "pipe") == 0) through_a_pipe(argv[2]);
  if (strcmp(mode, "both") == 0) {
    into_files(argv[2], ALL_BITS);
    through_a_pipe(argv[2]);
  }
  if (strcmp(mode, "acl_json") == 0) beside_acl_json(argv[2]);
  if (strcmp(mode, "fork") == 0) fork_while_recording(argv[2]);
  return svp_acl_finalize();
}
