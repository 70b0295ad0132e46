#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include "base/findings.hpp"

namespace msprof {

namespace {

// All exit codes, most severe first.
constexpr std::array kExitsByGravity = {Exit::internal_error,    Exit::usage,
                                        Exit::interrupted,       Exit::application_failed,
                                        Exit::board_unreachable, Exit::cannot_write,
                                        Exit::partial_data,      Exit::nothing_to_do,
                                        Exit::regression,        Exit::ok};

}  // namespace

Exit gravest(Exit a, Exit b) {
  const auto rank = [](Exit code) {
    return std::find(kExitsByGravity.begin(), kExitsByGravity.end(), code) -
           kExitsByGravity.begin();
  };
  return rank(a) <= rank(b) ? a : b;
}

Exit to_exit(int code) {
  const auto* const known =
      std::find_if(kExitsByGravity.begin(), kExitsByGravity.end(),
                   [code](Exit one) { return static_cast<int>(one) == code; });
  return known == kExitsByGravity.end() ? Exit::internal_error : *known;
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
