/* Ways in which a program marks, starts others and ends; each must be the same as without a
 * recorder. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mstx/ms_tools_ext.h"
#include "support/small_stack.h"

enum { kMarks = 1000, kChildren = 20 };

static void mark(int count) {
  int i;
  for (i = 0; i < count; ++i) mstxMarkA("mark", NULL);
}

static void mark_at_exit(void) {
  mstxMarkA("at exit", NULL);
}

static void mark_in_handler(int signal) {
  (void)signal;
  mstxMarkA("in a handler", NULL);
}

static void* use_all(void* unused) {
  mstxDomainHandle_t domain = mstxDomainCreateA("small");
  mstxRangeId range = mstxRangeStartA("range", NULL);
  mstxRangeId other = mstxDomainRangeStartA(domain, "range", NULL);
  mstxMarkA("mark", NULL);
  mstxDomainMarkA(domain, "mark", NULL);
  mstxDomainRangeEnd(domain, other);
  mstxRangeEnd(range);
  return unused;
}

static void* mark_one(void* unused) {
  mark(1);
  return unused;
}

/* More than the pages allocated at the start: a thread is started that allocates more. */
static void* mark_many(void* unused) {
  mark(kMarks);
  return unused;
}

static int on_small_stacks(void) {
  const int is_good = run_on_small_stack("a mark", mark_one) &&
                      run_on_small_stack("all calls", use_all) &&
                      run_on_small_stack("many marks", mark_many);
  return is_good ? 0 : 2;
}

static void* mark_for_ever(void* unused) {
  for (;;) {
    mark(16);
    usleep(100);
  }
  return unused;
}

/* Children that mark and exit, forked while other threads mark. */
static int with_children(const char* end) {
  pthread_t thread;
  int i, status;
  mark(1);
  if (pthread_create(&thread, NULL, mark_for_ever, NULL) != 0) return 2;
  for (i = 0; i < kChildren; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      mark(10);
      if (strcmp(end, "exec") == 0) execl("/bin/true", "true", (char*)NULL);
      if (strcmp(end, "_exit") == 0) _exit(0);
      exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0) return 3;
  }
  return 0;
}

/* Descriptors closed by the program are not closed again, and files that reuse their numbers are
 * not written to. */
static int without_descriptors(void) {
  struct stat state;
  int victims[8], i;
  mark(1);
  for (i = 3; i < 1024; ++i) close(i);
  for (i = 0; i < 8; ++i) {
    char name[32];
    snprintf(name, sizeof name, "victim%d", i);
    victims[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (write(victims[i], "victim\n", 7) != 7) return 2;
  }
  mark(100 * kMarks);
  for (i = 0; i < 8; ++i) {
    if (fstat(victims[i], &state) != 0 || state.st_size != 7) return 3;
  }
  return 0;
}

static int in_handlers(void) {
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = mark_in_handler;
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  errno = 4242;
  mark(50 * kMarks);
  setitimer(ITIMER_REAL, &never, NULL);
  return errno == 4242 ? 0 : 2;
}

/* Marks, waits until a file exists, and continues to mark. */
static int wait_for(const char* file) {
  struct stat state;
  mark(20);
  puts("marked");
  fflush(stdout);
  while (stat(file, &state) != 0) usleep(10000);
  mark(30 * kMarks);
  return 0;
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "small") == 0) return on_small_stacks();
  if (strcmp(way, "marked small") == 0) {
    mark(1);
    return on_small_stacks();
  }
  if (strncmp(way, "fork ", 5) == 0) return with_children(way + 5);
  if (strcmp(way, "close") == 0) return without_descriptors();
  if (strcmp(way, "handler") == 0) return in_handlers();
  if (strcmp(way, "wait") == 0) return wait_for(argv[2]);
  if (strcmp(way, "chdir") == 0) {
    mark(1);
    if (chdir("/") != 0) return 2;
  }
  if (strcmp(way, "atexit") == 0) atexit(mark_at_exit);
  mark(kMarks);
  if (strcmp(way, "atexit") == 0) exit(5);
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "quick_exit") == 0) quick_exit(6);
  if (strcmp(way, "_exit") == 0) _exit(7);
  if (strcmp(way, "kill") == 0) raise(SIGKILL);
  if (strcmp(way, "term") == 0) raise(SIGTERM);
  if (strcmp(way, "int") == 0) raise(SIGINT);
  if (strcmp(way, "segv") == 0) raise(SIGSEGV);
  return 0;
}
