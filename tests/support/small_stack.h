/* Runs a function in a thread with the smallest stack that a thread can have, for programs in C and
 * C++. */
#ifndef MSPROF_TEST_SMALL_STACK_H_
#define MSPROF_TEST_SMALL_STACK_H_

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Tells on stderr and gives 0 where fewer than 4096 bytes of 16384 were left: the frames of an
 * application must have room, too. */
static int run_on_small_stack(const char* what, void* (*function)(void*)) {
  enum { kGuard = 65536, kStack = 16384, kLeft = 4096, kPaint = 0xA5 };
  pthread_attr_t attributes;
  pthread_t thread;
  int left = 0, is_good = 0;
  void* const memory = mmap(NULL, kGuard + kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned char* const stack = (unsigned char*)memory + kGuard;
  if (memory == MAP_FAILED || mprotect(stack, kStack, PROT_READ | PROT_WRITE) != 0) return 0;
  memset(stack, kPaint, kStack);
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, kStack) == 0 &&
      pthread_create(&thread, &attributes, function, NULL) == 0) {
    pthread_join(thread, NULL);
    while (left < kStack && stack[left] == kPaint) ++left;
    is_good = left >= kLeft;
    if (!is_good) fprintf(stderr, "%s left %d bytes of the stack\n", what, left);
  }
  pthread_attr_destroy(&attributes);
  munmap(memory, kGuard + kStack);
  return is_good;
}

#endif
