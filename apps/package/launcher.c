// tools/profiler/bin/msprof of the archive that runs on any Linux: starts the program with the
// archive's own loader and libraries instead of those of the machine. Static; needs no shell, no
// /proc and no files outside the archive.
//
//   bin/msprof                  link to the launcher
//   tools/profiler/bin/msprof   this launcher
//   lib/msprof/msprof           the program
//   lib/msprof/lib*.so*         its libraries
//   lib/msprof/loader/msprof    glibc's loader, named as the process is to appear
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

// Same status as a shell that cannot start a command.
enum { kCannotStart = 127 };

struct archive {
  char libraries[PATH_MAX];
  char loader[PATH_MAX];
  char program[PATH_MAX];
};

static int join(char* path, const char* folder, const char* rest) {
  const int length = snprintf(path, PATH_MAX, "%s%s", folder, rest);
  return length > 0 && length < PATH_MAX;
}

// Finds the archive whose tools/profiler/bin/ contains the file `self`, an absolute path without
// links.
static int find_archive(struct archive* found, const char* self) {
  char root[PATH_MAX];
  if (!join(root, self, "")) return 0;
  for (int level = 0; level < 4; ++level) {
    char* slash = strrchr(root, '/');
    if (slash == NULL) return 0;
    *slash = '\0';
  }
  return join(found->libraries, root, "/lib/msprof") &&
         join(found->loader, root, "/lib/msprof/loader/msprof") &&
         join(found->program, root, "/lib/msprof/msprof") && access(found->loader, X_OK) == 0 &&
         access(found->program, R_OK) == 0;
}

static int find_own_archive(struct archive* found) {
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length > 0) {
    self[length] = '\0';
    if (find_archive(found, self)) return 1;
  }
  // Without /proc, uses the path given to the kernel; getauxval() returns its address as a number.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const char* started_as = (const char*)getauxval(AT_EXECFN);
  return started_as != NULL && realpath(started_as, self) != NULL && find_archive(found, self);
}

int main(int argc, char** argv) {
  static struct archive archive;
  if (!find_own_archive(&archive)) {
    fprintf(
        stderr,
        "msprof: ../../../lib/msprof is missing next to this program: unpack the whole archive\n");
    return kCannotStart;
  }
  // The loader treats both characters as list separators.
  if (strpbrk(archive.libraries, ":;") != NULL) {
    fprintf(stderr, "msprof: cannot run from a folder with ':' or ';' in its name: %s\n",
            archive.libraries);
    return kCannotStart;
  }
  enum { kOptions = 7 };
  char** arguments = calloc((size_t)argc + kOptions + 1, sizeof *arguments);
  if (arguments == NULL) {
    fprintf(stderr, "msprof: out of memory\n");
    return kCannotStart;
  }
  char* options[kOptions] = {archive.loader,    "--inhibit-cache", "--library-path",
                             archive.libraries, "--argv0",         argc > 0 ? argv[0] : "msprof",
                             archive.program};
  memcpy(arguments, options, sizeof options);
  for (int i = 1; i < argc; ++i) arguments[kOptions + i - 1] = argv[i];
  execv(archive.loader, arguments);
  fprintf(stderr, "msprof: cannot start %s: %s\n", archive.loader, strerror(errno));
  return kCannotStart;
}
