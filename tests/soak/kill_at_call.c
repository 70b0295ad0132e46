/* Preloaded library: sends SIGKILL to its process just before the n-th call that changes a
 * folder or a file, n from KILL_AT_CALL. This covers every state that a kill can leave, however
 * short-lived. A process that exits normally writes its number of such calls to the file named
 * by COUNT_CALLS_TO. */
#define _GNU_SOURCE /* NOLINT: a name of libc */
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static atomic_long calls;
static long kill_at = -1;

__attribute__((constructor)) static void begin(void) {
  const char* text = getenv("KILL_AT_CALL");
  if (text != NULL) kill_at = strtol(text, NULL, 10);
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("COUNT_CALLS_TO");
  FILE* file = path == NULL ? NULL : fopen(path, "w");
  if (file == NULL) return;
  fprintf(file, "%ld\n", atomic_load(&calls));
  fclose(file);
}

static void count(void) {
  if (atomic_fetch_add(&calls, 1) == kill_at) raise(SIGKILL);
}

#define MSPROF_NEXT(name) __extension__((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

int rename(const char* from, const char* to);
int unlink(const char* path);
int unlinkat(int folder, const char* path, int flags);
int remove(const char* path);
ssize_t write(int file, const void* bytes, size_t size);
ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset);

int rename(const char* from, const char* to) {
  count();
  return MSPROF_NEXT(rename)(from, to);
}

int unlink(const char* path) {
  count();
  return MSPROF_NEXT(unlink)(path);
}

int unlinkat(int folder, const char* path, int flags) {
  count();
  return MSPROF_NEXT(unlinkat)(folder, path, flags);
}

int remove(const char* path) {
  count();
  return MSPROF_NEXT(remove)(path);
}

ssize_t write(int file, const void* bytes, size_t size) {
  count();
  return MSPROF_NEXT(write)(file, bytes, size);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off_t offset) {
  count();
  return MSPROF_NEXT(pwrite64)(file, bytes, size, offset);
}
