// Fuzz target: profiling_options, which are untrusted. Accepted options must be accepted again.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "collect/cann/profiling_options.hpp"

namespace {

using namespace msprof;

void must(bool is_so) {
  if (!is_so) std::abort();
}

void check_options(std::string_view text) {
  const ProfilingOptionsCheck check = check_profiling_options(text, OutputKey::added_later);
  for (const Problem& problem : check.problems) {
    must(!problem.at || *problem.at <= text.size());
    must(!problem.sentence("options", text).empty());
  }
  must(check.problems.empty() != check.effective.empty());
  if (check.effective.empty()) return;
  must(nlohmann::json::accept(check.effective));
  must(check_profiling_options(check.effective, OutputKey::added_later).problems.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_options(text);
  return 0;
}
