#include "base/random_name.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace msprof {

std::string random_name() {
  static thread_local std::random_device device;
  const std::uint64_t high = device();
  return fmt::format("{:016x}", high << 32 | device());
}

}  // namespace msprof
