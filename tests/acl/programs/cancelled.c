/* A thread that waits for reports forever is cancelled: prints the results. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "acl/acl.h"

static void* wait_for_reports(void* unused) {
  (void)unused;
  for (;;) aclrtProcessReport(-1);
  return NULL;
}

int main(void) {
  aclrtStream stream = NULL;
  pthread_t thread;
  void* result = NULL;
  if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 1;
  if (pthread_create(&thread, NULL, wait_for_reports, NULL) != 0) return 1;
  if (aclrtSubscribeReport((uint64_t)thread, stream) != 0) return 1;
  usleep(150000); /* into the wait */
  pthread_cancel(thread);
  pthread_join(thread, &result);
  printf("cancelled %d\n", result == PTHREAD_CANCELED);
  printf("unsubscribed %d\n", aclrtUnSubscribeReport((uint64_t)thread, stream));
  printf("finalised %d\n", aclFinalize());
  return 0;
}
