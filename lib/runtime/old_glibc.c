// Lets a library built with a new glibc run with glibc 2.17 or later. For each function whose
// newest version is younger, this file defines a hidden one that calls the oldest version. The
// library's own code and its static C++ library use these. For shared libraries only; README.md in
// this folder gives the reasons.
#define _GNU_SOURCE
#include <features.h>

#ifdef __GLIBC__

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

// BASE: the version of functions that exist since glibc was ported to the architecture.
// STAT_VERSION: the structure version passed to its stat functions.
#if defined(__x86_64__)
#define BASE "GLIBC_2.2.5"
#define STAT_VERSION 1
#elif defined(__aarch64__)
#define BASE "GLIBC_2.17"
#define STAT_VERSION 0
#elif defined(__arm__)
#define BASE "GLIBC_2.4"
#define STAT_VERSION 3
#endif

#ifdef BASE

// Declares `old_<name>`, the oldest version of `exported`.
#define OLD(result, name, exported, parameters) \
  result old_##name parameters;                 \
  __asm__(".symver old_" #name ", " exported "@" BASE)

// Defines `name` as a call of `old_<name>`.
#define BIND(result, name, parameters, arguments) \
  OLD(result, name, #name, parameters);           \
  result name parameters {                        \
    return old_##name arguments;                  \
  }

// Moved from libpthread to libc in 2.34, pthread_sigmask in 2.32.
BIND(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument),
     (thread, attributes, run, argument))
BIND(int, pthread_detach, (pthread_t thread), (thread))
BIND(int, pthread_join, (pthread_t thread, void** result), (thread, result))
BIND(int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
BIND(int, pthread_once, (pthread_once_t * once, void (*run)(void)), (once, run))
BIND(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
BIND(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
BIND(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock))
BIND(int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* before), (how, set, before))
int __pthread_key_create(pthread_key_t* key, void (*destroy)(void*));
BIND(int, __pthread_key_create, (pthread_key_t * key, void (*destroy)(void*)), (key, destroy))

// 2.27 added a version without matherr; the results are the same.
BIND(float, expf, (float x), (x))

// Real functions since 2.33, inline before. They use 64-bit sizes on every architecture.
#if defined(__arm__)
#define SIZED(name) name "64"
#else
#define SIZED(name) name
#endif
OLD(int, xstat, SIZED("__xstat"), (int version, const char* path, struct stat* out));
OLD(int, fxstat, SIZED("__fxstat"), (int version, int fd, struct stat* out));

int stat(const char* path, struct stat* out) {
  return old_xstat(STAT_VERSION, path, out);
}

int fstat(int fd, struct stat* out) {
  return old_fxstat(STAT_VERSION, fd, out);
}

// 2.28 added a version for locks with 64-bit offsets.
#if defined(__arm__)
OLD(int, fcntl, "fcntl", (int fd, int command, ...));

int fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return old_fcntl(fd, command, argument);
}
#endif

// New in 2.30. In older versions a condition waits on the clock set at its creation, here the
// real-time clock.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* until) {
  const int64_t second = 1000000000, most_seconds = 100000000;
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  int64_t seconds = (int64_t)until->tv_sec - now.tv_sec;
  if (seconds > most_seconds) seconds = most_seconds;
  if (seconds < -1) seconds = -1;
  const int64_t left = seconds * second + (until->tv_nsec - now.tv_nsec);
  const int64_t end = (int64_t)real.tv_sec * second + real.tv_nsec + (left > 0 ? left : 0);
  const struct timespec at = {(time_t)(end / second), (long)(end % second)};
  return pthread_cond_timedwait(condition, mutex, &at);
}

// New in 2.32: nonzero if atomic operations may be omitted.
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

// New in 2.35: finds the exception tables of the code at an address.
#ifdef DLFO_STRUCT_HAS_EH_DBASE

struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data) {
  const struct search* const wanted = data;
  struct dl_find_object* const found = wanted->found;
  (void)size;
  int inside = 0;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const segment = &object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_LOAD && wanted->address - begin < segment->p_memsz) {
      inside = 1;
      found->dlfo_map_start = (void*)begin;
      found->dlfo_map_end = (void*)(begin + segment->p_memsz);
    }
    if (segment->p_type == PT_GNU_EH_FRAME) found->dlfo_eh_frame = (void*)begin;
  }
  if (!inside) found->dlfo_eh_frame = NULL;
  return inside;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  const struct search wanted = {(uintptr_t)address, found};
  *found = (struct dl_find_object){0};
  dl_iterate_phdr(look_into, (void*)&wanted);
  return found->dlfo_eh_frame != NULL ? 0 : -1;
}

#endif
#endif
#endif
