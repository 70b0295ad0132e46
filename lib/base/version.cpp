#include "base/version.hpp"

namespace msprof {

std::string_view version() {
  return MSPROF_VERSION;
}

}  // namespace msprof
