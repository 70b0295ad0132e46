#include "runtime/acl/prof/thread_number.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/acl/prof/recording.hpp"

namespace msprof::acl {

namespace {

struct Cached {
  std::uint32_t number = 0;
  std::uint32_t generation = 0;
};
thread_local Cached cached;

}  // namespace

std::uint32_t thread_number() {
  const std::uint32_t generation = ActiveRecordings::generation();
  if (cached.number == 0 || cached.generation != generation)
    cached = {static_cast<std::uint32_t>(syscall(SYS_gettid)), generation};
  return cached.number;
}

}  // namespace msprof::acl
