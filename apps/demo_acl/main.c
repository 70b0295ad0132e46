/* A face-mask recogniser for CANN, in C: each stage of its pipeline is a range of the profile.
 * Images are synthetic and weights are random, so the predictions mean nothing; the computation is
 * real, and main.py computes the same.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"
#include "acl/acl_prof.h"

enum { PICTURE_WIDTH = 520, PICTURE_HEIGHT = 390, INPUT_SIZE = 260, CLASSES = 2 };
enum { DONE = 0, CALL_FAILED = 1, USAGE_ERROR = 2 };

static const char* const usage =
    "usage: main [--model face_mask|face_mask_fused] [--images N] [--slow-start [SECONDS]] "
    "[--output FOLDER]\n"
    "\n"
    "  --model NAME           models/NAME.json next to this program (default face_mask)\n"
    "  --images N             images to classify (default 20)\n"
    "  --slow-start [SECONDS] sleep in the first stage (default 5), visible in the profile\n"
    "  --output FOLDER        record into FOLDER with aclprofInit and aclprofStart; without it, "
    "only\n"
    "                         the environment or acl.json decides what is recorded\n"
    "Exit codes: 0 done, 1 a call failed, 2 wrong arguments.\n";

typedef struct Options {
  const char* model;
  long images;
  double slow_start_s;
  const char* output;
} Options;

typedef struct Pipeline {
  aclrtContext context;
  aclrtStream stream;
  uint32_t model;
  int is_loaded;
  aclmdlDesc* desc;
  void* input_memory;
  void* output_memory;
  size_t input_bytes, output_bytes;
  aclmdlDataset* input;
  aclmdlDataset* output;
} Pipeline;

/* Returns false and prints the name of the call on stderr if it failed. */
static int succeeded(const char* call, aclError code) {
  if (code == ACL_SUCCESS) return 1;
  fprintf(stderr, "main: %s: error %d\n", call, (int)code);
  return 0;
}
#define TRY(call) succeeded(#call, call)

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Returns NULL if nothing is recorded; the program works the same. */
static void* begin_stage(const char* name) {
  void* const stamp = aclprofCreateStamp();
  if (stamp == NULL) return NULL;
  aclprofSetStampTraceMessage(stamp, name, (uint32_t)strlen(name));
  aclprofPush(stamp);
  return stamp;
}

static void end_stage(void* stamp) {
  if (stamp == NULL) return;
  aclprofPop();
  aclprofDestroyStamp(stamp);
}

static int make_dataset(size_t bytes, void** memory, aclmdlDataset** dataset) {
  aclDataBuffer* buffer = NULL;
  if (!TRY(aclrtMalloc(memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST))) return 0;
  *dataset = aclmdlCreateDataset();
  buffer = aclCreateDataBuffer(*memory, bytes);
  if (*dataset != NULL && buffer != NULL && TRY(aclmdlAddDatasetBuffer(*dataset, buffer))) return 1;
  if (buffer != NULL) aclDestroyDataBuffer(buffer);
  return 0;
}

/* CreateMultipleStreamsFromFile: device, stream, model and its memory. */
static int create_streams(Pipeline* pipeline, const char* path, double slow_start_s) {
  void* const stage = begin_stage("CreateMultipleStreamsFromFile");
  int good = 0;
  if (slow_start_s > 0) {
    struct timespec pause;
    pause.tv_sec = (time_t)slow_start_s;
    pause.tv_nsec = (long)((slow_start_s - (double)pause.tv_sec) * 1e9);
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR) continue;
  }
  good = TRY(aclrtSetDevice(0)) && TRY(aclrtCreateContext(&pipeline->context, 0)) &&
         TRY(aclrtCreateStream(&pipeline->stream)) &&
         TRY(aclmdlLoadFromFile(path, &pipeline->model));
  if (good) {
    pipeline->is_loaded = 1;
    pipeline->desc = aclmdlCreateDesc();
    good = TRY(aclmdlGetDesc(pipeline->desc, pipeline->model));
  }
  if (good) {
    pipeline->input_bytes = aclmdlGetInputSizeByIndex(pipeline->desc, 0);
    pipeline->output_bytes = aclmdlGetOutputSizeByIndex(pipeline->desc, 0);
    good = make_dataset(pipeline->input_bytes, &pipeline->input_memory, &pipeline->input) &&
           make_dataset(pipeline->output_bytes, &pipeline->output_memory, &pipeline->output);
  }
  if (good && (pipeline->input_bytes < 3 * INPUT_SIZE * INPUT_SIZE * sizeof(float) ||
               pipeline->output_bytes < CLASSES * sizeof(float))) {
    fprintf(stderr, "main: %s does not have the shape of a face mask model\n", path);
    good = 0;
  }
  end_stage(stage);
  return good;
}

static void destroy_dataset(aclmdlDataset* dataset) {
  if (dataset == NULL) return;
  if (aclmdlGetDatasetNumBuffers(dataset) > 0)
    aclDestroyDataBuffer(aclmdlGetDatasetBuffer(dataset, 0));
  aclmdlDestroyDataset(dataset);
}

static void destroy_streams(Pipeline* pipeline) {
  destroy_dataset(pipeline->input);
  destroy_dataset(pipeline->output);
  if (pipeline->input_memory != NULL) aclrtFree(pipeline->input_memory);
  if (pipeline->output_memory != NULL) aclrtFree(pipeline->output_memory);
  if (pipeline->desc != NULL) aclmdlDestroyDesc(pipeline->desc);
  if (pipeline->is_loaded) aclmdlUnload(pipeline->model);
  if (pipeline->stream != NULL) aclrtDestroyStream(pipeline->stream);
  if (pipeline->context != NULL) aclrtDestroyContext(pipeline->context);
  aclrtResetDevice(0);
}

/* Generates a camera image as binary PPM: a head in front of a wall, every second one with a mask.
 */
static size_t take_picture(long number, unsigned char* file) {
  const int head = sprintf((char*)file, "P6\n%d %d\n255\n", PICTURE_WIDTH, PICTURE_HEIGHT);
  unsigned char* pixel = file + head;
  const int n = (int)(number % 1000);
  int x, y;
  for (y = 0; y < PICTURE_HEIGHT; ++y) {
    for (x = 0; x < PICTURE_WIDTH; ++x, pixel += 3) {
      const int dx = x - PICTURE_WIDTH / 2 - n % 40, dy = y - PICTURE_HEIGHT / 2;
      if (dx * dx + dy * dy > 130 * 130) {
        pixel[0] = (unsigned char)(x * 3 + y * 2 + n * 17);
        pixel[1] = (unsigned char)(x + y * 5 + n * 29);
        pixel[2] = (unsigned char)(x * y / 64 + n * 11);
      } else if (dy > 0 && n % 2 == 1) {
        pixel[0] = 90, pixel[1] = 150, pixel[2] = 200;
      } else {
        pixel[0] = 220, pixel[1] = 180, pixel[2] = 150;
      }
    }
  }
  *pixel = '\0'; /* terminates the text for sscanf */
  return (size_t)(pixel - file);
}

/* Returns the interleaved RGB pixels of a binary PPM; NULL if the file is invalid. */
static const unsigned char* decode(const unsigned char* file, size_t bytes, int* width,
                                   int* height) {
  void* const stage = begin_stage("decode");
  const unsigned char* pixels = NULL;
  int most = 0, head = 0;
  if (sscanf((const char*)file, "P6 %d %d %d%n", width, height, &most, &head) == 3 && most == 255 &&
      *width > 0 && *height > 0 &&
      bytes == (size_t)head + 1 + (size_t)*width * (size_t)*height * 3) {
    pixels = file + head + 1;
  }
  end_stage(stage);
  return pixels;
}

/* Converts the image to the size and layout of the model's input: nearest pixel, planes of -1 to 1.
 */
static void preprocess(const unsigned char* pixels, int width, int height, float* planes) {
  void* const stage = begin_stage("preprocess");
  int channel, x, y;
  for (channel = 0; channel < 3; ++channel) {
    for (y = 0; y < INPUT_SIZE; ++y) {
      const unsigned char* const row =
          pixels + (size_t)(y * height / INPUT_SIZE) * (size_t)width * 3;
      for (x = 0; x < INPUT_SIZE; ++x) {
        *planes++ =
            (float)(row[(size_t)(x * width / INPUT_SIZE) * 3 + (size_t)channel] - 128) / 128.0F;
      }
    }
  }
  end_stage(stage);
}

static int infer(Pipeline* pipeline, const float* planes, float* scores) {
  void* const stage = begin_stage("infer");
  const size_t in_bytes = 3 * INPUT_SIZE * INPUT_SIZE * sizeof(float);
  const size_t out_bytes = CLASSES * sizeof(float);
  const int good = TRY(aclrtMemcpy(pipeline->input_memory, pipeline->input_bytes, planes, in_bytes,
                                   ACL_MEMCPY_HOST_TO_DEVICE)) &&
                   TRY(aclmdlExecute(pipeline->model, pipeline->input, pipeline->output)) &&
                   TRY(aclrtMemcpy(scores, out_bytes, pipeline->output_memory, out_bytes,
                                   ACL_MEMCPY_DEVICE_TO_HOST));
  end_stage(stage);
  return good;
}

/* Returns the class with the highest score and adds to the checksum. */
static int postprocess(const float* scores, double* checksum) {
  void* const stage = begin_stage("postprocess");
  int best = 0, i;
  for (i = 0; i < CLASSES; ++i) {
    if (scores[i] > scores[best]) best = i;
    *checksum += (double)scores[i] * (double)(i + 1);
  }
  end_stage(stage);
  return best;
}

static int by_size(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static int recognise(Pipeline* pipeline, const Options* options) {
  unsigned char* const file = malloc(64 + 3 * PICTURE_WIDTH * PICTURE_HEIGHT + 1);
  float* const planes = malloc(3 * INPUT_SIZE * INPUT_SIZE * sizeof(float));
  double* const took_ms = calloc((size_t)options->images, sizeof(double));
  long counts[CLASSES] = {0}, i;
  double checksum = 0;
  int good = file != NULL && planes != NULL && took_ms != NULL;
  for (i = 0; good && i < options->images; ++i) {
    float scores[CLASSES] = {0};
    int width = 0, height = 0;
    const size_t bytes = take_picture(i, file);
    const unsigned char* const pixels = decode(file, bytes, &width, &height);
    double begin_ms;
    if (pixels == NULL) {
      fprintf(stderr, "main: picture %ld is not a binary PPM file\n", i);
      good = 0;
      break;
    }
    preprocess(pixels, width, height, planes);
    begin_ms = now_ms();
    good = infer(pipeline, planes, scores);
    took_ms[i] = now_ms() - begin_ms;
    ++counts[postprocess(scores, &checksum)];
  }
  if (good) {
    qsort(took_ms, (size_t)options->images, sizeof(double), by_size);
    printf("%s: %ld pictures, class 0 in %ld, class 1 in %ld, checksum %.3f, median %.3f ms\n",
           options->model, options->images, counts[0], counts[1], checksum,
           took_ms[options->images / 2]);
  }
  free(file);
  free(planes);
  free(took_ms);
  return good;
}

static aclprofConfig* start_recording(const char* output) {
  uint32_t devices[1] = {0};
  aclprofConfig* config = NULL;
  if (!TRY(aclprofInit(output, strlen(output)))) return NULL;
  config = aclprofCreateConfig(devices, 1, ACL_AICORE_PIPE_UTILIZATION, NULL,
                               ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS |
                                   ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API);
  if (config == NULL) {
    fprintf(stderr, "main: aclprofCreateConfig failed\n");
  } else if (TRY(aclprofStart(config))) {
    return config;
  } else {
    aclprofDestroyConfig(config);
  }
  aclprofFinalize();
  return NULL;
}

static int stop_recording(const aclprofConfig* config) {
  const int good = TRY(aclprofStop(config)) && TRY(aclprofDestroyConfig(config));
  return TRY(aclprofFinalize()) && good;
}

static int model_path(const char* name, char* path, size_t size) {
  char folder[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
  int written;
  if (length <= 0) return 0;
  folder[length] = '\0';
  *strrchr(folder, '/') = '\0';
  written = snprintf(path, size, "%s/models/%s.json", folder, name);
  return written > 0 && (size_t)written < size;
}

static int run(const Options* options) {
  char path[PATH_MAX + 300];
  Pipeline pipeline = {0};
  const aclprofConfig* recording = NULL;
  int good = model_path(options->model, path, sizeof path);
  if (!good || !TRY(aclInit(NULL))) return CALL_FAILED;
  if (options->output != NULL) {
    recording = start_recording(options->output);
    good = recording != NULL;
  }
  if (good) {
    good = create_streams(&pipeline, path, options->slow_start_s) && recognise(&pipeline, options);
    if (recording != NULL) good = stop_recording(recording) && good;
    destroy_streams(&pipeline);
  }
  return TRY(aclFinalize()) && good ? DONE : CALL_FAILED;
}

static int read_number(const char* text, double least, double most, double* value) {
  char* end = NULL;
  *value = text == NULL ? 0 : strtod(text, &end);
  return end != NULL && end != text && *end == '\0' && *value >= least && *value <= most;
}

/* Returns false if an argument is invalid. */
static int read_options(int argc, char** argv, Options* options) {
  int i;
  for (i = 1; i < argc; ++i) {
    const char* const name = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : NULL;
    double number = 0;
    if (strcmp(name, "--slow-start") == 0) {
      options->slow_start_s = 5;
      if (read_number(value, 0, 3600, &number)) {
        options->slow_start_s = number;
        ++i;
      }
      continue;
    }
    if (value == NULL) return 0;
    ++i;
    if (strcmp(name, "--model") == 0) {
      options->model = value;
      if (strcmp(value, "face_mask") != 0 && strcmp(value, "face_mask_fused") != 0) return 0;
    } else if (strcmp(name, "--images") == 0) {
      if (!read_number(value, 1, 1000000, &number)) return 0;
      options->images = (long)number;
    } else if (strcmp(name, "--output") == 0) {
      options->output = value;
    } else {
      return 0;
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  Options options = {"face_mask", 20, 0, NULL};
  if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
    fputs(usage, stdout);
    return DONE;
  }
  if (!read_options(argc, argv, &options)) {
    fputs("main: invalid arguments; see --help\n", stderr);
    return USAGE_ERROR;
  }
  return run(&options);
}
