/* A library to be preloaded: a file system without locks, as Lustre mounted without flock, or one
   of FUSE. Each call for a lock fails with the number in the variable LOCK_ERROR. */
#define _GNU_SOURCE /* NOLINT: a name of libc */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>

static int refuse(void) {
  const char* number = getenv("LOCK_ERROR");
  errno = number == NULL ? ENOSYS : atoi(number);
  return -1;
}

static int is_lock(int command) {
  return command == F_SETLK || command == F_SETLKW || command == F_GETLK ||
         command == F_OFD_SETLK || command == F_OFD_SETLKW || command == F_OFD_GETLK;
}

static int pass_on(int file, int command, va_list arguments) {
  void* argument = va_arg(arguments, void*);
  int (*next)(int, int, ...) = __extension__(int (*)(int, int, ...)) dlsym(RTLD_NEXT, "fcntl64");
  return is_lock(command) ? refuse() : next(file, command, argument);
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const int result = pass_on(file, command, arguments);
  va_end(arguments);
  return result;
}

int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const int result = pass_on(file, command, arguments);
  va_end(arguments);
  return result;
}

int flock(int file, int operation) {
  (void)file;
  (void)operation;
  return refuse();
}
