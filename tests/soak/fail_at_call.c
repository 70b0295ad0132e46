/* Preloaded library: makes the n-th call of one kind fail, counted over msprof and the msprof
 * processes that it starts. FAIL_AT_CALL is "KIND N ERROR": N counts from 0; ERROR is an errno,
 * 0 for a read or write that transfers half of the bytes, or a negative signal number: the signal
 * arrives before the call, which is made as usual. KIND is one of kKinds.
 * FAIL_REPORT_TO names an existing file of sizeof(struct report) bytes, which is updated
 * continuously. Calls made inside the C library are not intercepted. */
#define _GNU_SOURCE /* NOLINT: a name of libc */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { READDIR, OPEN, READ, WRITE, RENAME, FSYNC, MKDIR, LOCK, MMAP, THREAD, KINDS };
static const char* const kKinds[KINDS] = {"readdir", "open",  "read", "write", "rename",
                                          "fsync",   "mkdir", "lock", "mmap",  "pthread_create"};

struct report {
  atomic_long calls[KINDS]; /* of each kind, until now */
  atomic_long failed;       /* how many of them were made to fail */
  char what[4008];          /* the file of the one that failed, if it has one */
};
_Static_assert(sizeof(struct report) == 4096, "as tests/soak/fail_at_call_soak.cpp reads it");

static struct report* report; /* null: nothing fails in this process */
static int kind_to_fail = -1;
static long fail_at = -1;
static int error_to_set;

__attribute__((constructor)) static void begin(void) {
  const char* plan = getenv("FAIL_AT_CALL");
  const char* path = getenv("FAIL_REPORT_TO");
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (plan == NULL || path == NULL || length <= 0) return;
  program[length] = '\0';
  const char* name = strrchr(program, '/');
  if (name == NULL || strcmp(name + 1, "msprof") != 0) return;
  char kind[32] = "";
  if (sscanf(plan, "%31s %ld %d", kind, &fail_at, &error_to_set) != 3) abort();
  for (int i = 0; i < KINDS; ++i)
    if (strcmp(kind, kKinds[i]) == 0) kind_to_fail = i;
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (kind_to_fail < 0 || fd < 0) abort();
  const long at =
      syscall(SYS_mmap, NULL, sizeof(struct report), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
  syscall(SYS_close, fd);
  if (at == -1) abort();
  report = (struct report*)at; /* NOLINT: the address is what mmap returns */
}

static bool is_next(enum kind kind) {
  if (report == NULL) return false;
  const long call = atomic_fetch_add(&report->calls[kind], 1);
  if ((int)kind != kind_to_fail || call != fail_at) return false;
  if (error_to_set >= 0) return true;
  atomic_fetch_add(&report->failed, 1);
  raise(-error_to_set);
  return false;
}

static void note(const char* what) {
  atomic_fetch_add(&report->failed, 1);
  if (what != NULL) strncpy(report->what, what, sizeof(report->what) - 1);
}

static bool fails(enum kind kind, const char* what) {
  if (!is_next(kind)) return false;
  note(what);
  errno = error_to_set;
  return true;
}

static void note_file(int file) {
  char link[64];
  char path[PATH_MAX];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  path[length > 0 ? length : 0] = '\0';
  note(path);
}

static bool fails_on(enum kind kind, int file) {
  if (!is_next(kind)) return false;
  note_file(file);
  errno = error_to_set;
  return true;
}

/* Applies only to files, not to pipes and terminals. Returns true if the call must fail;
 * otherwise it may reduce `size`. */
static bool moves_less(enum kind kind, int file, size_t* size) {
  struct stat status;
  if (report == NULL) return false;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || !is_next(kind)) return false;
  if (error_to_set == 0 && *size < 2) return false;
  note_file(file);
  errno = error_to_set;
  if (error_to_set != 0) return true;
  *size /= 2;
  return false;
}

#define NEXT(name)                 \
  static __typeof__(&(name)) next; \
  if (next == NULL) next = __extension__((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

struct dirent;
struct __dirstream; /* NOLINT: libc's DIR */
struct dirent* readdir(struct __dirstream* folder);
struct dirent* readdir64(struct __dirstream* folder);
struct __dirstream* opendir(const char* path);
int __open_2(const char* path, int flags);                 /* NOLINT: calls of fortified code */
int __open64_2(const char* path, int flags);               /* NOLINT */
int __openat_2(int folder, const char* path, int flags);   /* NOLINT */
int __openat64_2(int folder, const char* path, int flags); /* NOLINT */
ssize_t __read_chk(int file, void* bytes, size_t size, size_t room);       /* NOLINT */
ssize_t __pread_chk(int file, void* b, size_t s, off_t at, size_t room);   /* NOLINT */
ssize_t __pread64_chk(int file, void* b, size_t s, off_t at, size_t room); /* NOLINT */
FILE* fopen64(const char* path, const char* mode);
int mkostemp64(char* path, int flags);

struct dirent* readdir(struct __dirstream* folder) {
  NEXT(readdir);
  return fails(READDIR, NULL) ? NULL : next(folder);
}

struct dirent* readdir64(struct __dirstream* folder) {
  NEXT(readdir64);
  return fails(READDIR, NULL) ? NULL : next(folder);
}

struct __dirstream* opendir(const char* path) {
  NEXT(opendir);
  return fails(OPEN, path) ? NULL : next(path);
}

#define MODE_OF(flags)                                              \
  mode_t mode = 0;                                                  \
  if (((flags)&O_CREAT) != 0 || ((flags)&O_TMPFILE) == O_TMPFILE) { \
    va_list arguments;                                              \
    va_start(arguments, flags);                                     \
    mode = va_arg(arguments, mode_t);                               \
    va_end(arguments);                                              \
  }

int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  NEXT(open);
  return fails(OPEN, path) ? -1 : next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  NEXT(open64);
  return fails(OPEN, path) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  NEXT(openat);
  return fails(OPEN, path) ? -1 : next(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  NEXT(openat64);
  return fails(OPEN, path) ? -1 : next(folder, path, flags, mode);
}

int __open_2(const char* path, int flags) {
  NEXT(__open_2);
  return fails(OPEN, path) ? -1 : next(path, flags);
}

int __open64_2(const char* path, int flags) {
  NEXT(__open64_2);
  return fails(OPEN, path) ? -1 : next(path, flags);
}

int __openat_2(int folder, const char* path, int flags) {
  NEXT(__openat_2);
  return fails(OPEN, path) ? -1 : next(folder, path, flags);
}

int __openat64_2(int folder, const char* path, int flags) {
  NEXT(__openat64_2);
  return fails(OPEN, path) ? -1 : next(folder, path, flags);
}

FILE* fopen(const char* path, const char* mode) {
  NEXT(fopen);
  return fails(OPEN, path) ? NULL : next(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  NEXT(fopen64);
  return fails(OPEN, path) ? NULL : next(path, mode);
}

int mkostemp(char* path, int flags) {
  NEXT(mkostemp);
  return fails(OPEN, path) ? -1 : next(path, flags);
}

int mkostemp64(char* path, int flags) {
  NEXT(mkostemp64);
  return fails(OPEN, path) ? -1 : next(path, flags);
}

int memfd_create(const char* name, unsigned flags) {
  NEXT(memfd_create);
  return fails(OPEN, name) ? -1 : next(name, flags);
}

ssize_t read(int file, void* bytes, size_t size) {
  NEXT(read);
  return moves_less(READ, file, &size) ? -1 : next(file, bytes, size);
}

ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  NEXT(pread);
  return moves_less(READ, file, &size) ? -1 : next(file, bytes, size, at);
}

ssize_t pread64(int file, void* bytes, size_t size, off_t at) {
  NEXT(pread64);
  return moves_less(READ, file, &size) ? -1 : next(file, bytes, size, at);
}

ssize_t __read_chk(int file, void* bytes, size_t size, size_t room) {
  NEXT(__read_chk);
  return moves_less(READ, file, &size) ? -1 : next(file, bytes, size, room);
}

ssize_t __pread_chk(int file, void* bytes, size_t size, off_t at, size_t room) {
  NEXT(__pread_chk);
  return moves_less(READ, file, &size) ? -1 : next(file, bytes, size, at, room);
}

ssize_t __pread64_chk(int file, void* bytes, size_t size, off_t at, size_t room) {
  NEXT(__pread64_chk);
  return moves_less(READ, file, &size) ? -1 : next(file, bytes, size, at, room);
}

ssize_t write(int file, const void* bytes, size_t size) {
  NEXT(write);
  return moves_less(WRITE, file, &size) ? -1 : next(file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  NEXT(pwrite);
  return moves_less(WRITE, file, &size) ? -1 : next(file, bytes, size, at);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at) {
  NEXT(pwrite64);
  return moves_less(WRITE, file, &size) ? -1 : next(file, bytes, size, at);
}

ssize_t writev(int file, const struct iovec* chunks, int count) {
  NEXT(writev);
  size_t size = 2;
  if (moves_less(WRITE, file, &size)) return -1;
  if (size == 2) return next(file, chunks, count);
  struct iovec half = chunks[0];
  half.iov_len /= 2;
  return next(file, &half, 1);
}

ssize_t copy_file_range(int from, off64_t* at, int to, off64_t* to_at, size_t size,
                        unsigned flags) {
  NEXT(copy_file_range);
  return moves_less(WRITE, to, &size) ? -1 : next(from, at, to, to_at, size, flags);
}

int ftruncate(int file, off_t size) {
  NEXT(ftruncate);
  return error_to_set != 0 && fails_on(WRITE, file) ? -1 : next(file, size);
}

int ftruncate64(int file, off64_t size) {
  NEXT(ftruncate64);
  return error_to_set != 0 && fails_on(WRITE, file) ? -1 : next(file, size);
}

int rename(const char* from, const char* to) {
  NEXT(rename);
  return fails(RENAME, to) ? -1 : next(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  NEXT(renameat);
  return fails(RENAME, to) ? -1 : next(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  NEXT(renameat2);
  return fails(RENAME, to) ? -1 : next(from_folder, from, to_folder, to, flags);
}

int link(const char* from, const char* to) {
  NEXT(link);
  return fails(RENAME, to) ? -1 : next(from, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  NEXT(linkat);
  return fails(RENAME, to) ? -1 : next(from_folder, from, to_folder, to, flags);
}

int fsync(int file) {
  NEXT(fsync);
  return fails_on(FSYNC, file) ? -1 : next(file);
}

int fdatasync(int file) {
  NEXT(fdatasync);
  return fails_on(FSYNC, file) ? -1 : next(file);
}

int syncfs(int file) {
  NEXT(syncfs);
  return fails_on(FSYNC, file) ? -1 : next(file);
}

int mkdir(const char* path, mode_t mode) {
  NEXT(mkdir);
  return fails(MKDIR, path) ? -1 : next(path, mode);
}

int mkdirat(int folder, const char* path, mode_t mode) {
  NEXT(mkdirat);
  return fails(MKDIR, path) ? -1 : next(folder, path, mode);
}

int flock(int file, int operation) {
  NEXT(flock);
  return fails_on(LOCK, file) ? -1 : next(file, operation);
}

static bool is_lock(int command) {
  return command == F_GETLK || command == F_SETLK || command == F_SETLKW ||
         command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  NEXT(fcntl);
  return is_lock(command) && fails_on(LOCK, file) ? -1 : next(file, command, argument);
}

int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  NEXT(fcntl64);
  return is_lock(command) && fails_on(LOCK, file) ? -1 : next(file, command, argument);
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) {
  NEXT(mmap);
  return file >= 0 && fails_on(MMAP, file) ? MAP_FAILED
                                           : next(at, size, protection, flags, file, offset);
}

void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) {
  NEXT(mmap64);
  return file >= 0 && fails_on(MMAP, file) ? MAP_FAILED
                                           : next(at, size, protection, flags, file, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  NEXT(pthread_create);
  return fails(THREAD, NULL) ? error_to_set : next(thread, attributes, run, argument);
}
