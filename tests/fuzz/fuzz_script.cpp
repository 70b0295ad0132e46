// Fuzz target: a Python script of a project, and profiling_options, both untrusted. Options found
// must lie within the text, and accepted options must be accepted again.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "collect/cann/json_fault.hpp"
#include "collect/cann/profiling_options.hpp"
#include "doctor/python_source.hpp"

namespace {

using namespace msprof;

void must(bool is_so) {
  if (!is_so) std::abort();
}

void check_script(std::string_view text) {
  const PythonSource source(text);
  for (std::size_t i = 0; i < source.tokens().size(); ++i) {
    must(source.tokens()[i].at <= text.size());
    const auto found = source.text_at(i);
    if (!found) continue;
    must(found->origins.size() == found->value.size());
    for (const std::uint32_t origin : found->origins) must(origin < text.size());
    if (!found->origins.empty()) must(!source.position_text(found->origins.front()).empty());
  }
}

void check_options(std::string_view text) {
  if (const auto fault = find_json_fault(text))
    must(fault->at <= text.size() && !fault->what.empty());
  const ProfilingOptionsCheck check = check_profiling_options(text, OutputKey::added_later);
  for (const Problem& problem : check.problems) must(!problem.sentence("options", text).empty());
  must(check.problems.empty() != check.effective.empty());
  if (check.effective.empty()) return;
  must(nlohmann::json::accept(check.effective));
  must(check_profiling_options(check.effective, OutputKey::added_later).problems.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_script(text);
  check_options(text);
  return 0;
}
