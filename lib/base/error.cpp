#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include "base/findings.hpp"

namespace msprof {

Exit gravest(Exit a, Exit b) {
  static constexpr std::array kOrder = {Exit::internal_error,    Exit::usage,
                                        Exit::interrupted,       Exit::application_failed,
                                        Exit::board_unreachable, Exit::cannot_write,
                                        Exit::partial_data,      Exit::nothing_to_do,
                                        Exit::regression,        Exit::ok};
  const auto rank = [](Exit code) {
    return std::find(kOrder.begin(), kOrder.end(), code) - kOrder.begin();
  };
  return rank(a) <= rank(b) ? a : b;
}

Error::Error(FindingId id, const std::string& message)
    : std::runtime_error(message), code_(finding_info(id).exit), id_(id) {}

Error Error::with_context(std::string_view context) const {
  Error error(code_, std::string(context) + ": " + what());
  error.id_ = id_;
  return error;
}

std::string errno_text(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace msprof
