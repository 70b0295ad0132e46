#include "import/cann/counters/proc_blocks.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kTimeStamp = "TimeStamp:";
constexpr std::string_view kProcessName = "ProcessName:";

}  // namespace

std::optional<std::string_view> ProcFrame::take(std::string_view line) {
  if (line.starts_with(kTimeStamp)) {
    std::uint64_t ns = 0;
    time_ns_.reset();
    if (!parse_u64(trim(line.substr(kTimeStamp.size())), ns)) return kNotTheForm;
    const std::int64_t time_ns = start_.of_device(ns);
    if (!is_time(session_, time_ns)) return kImpossibleTime;
    time_ns_ = time_ns;
    return std::string_view();
  }
  if (line.empty() || line.starts_with("Index:") || line.starts_with("DataLen:"))
    return std::string_view();
  return std::nullopt;
}

bool begins_block(std::string_view line) {
  return line.starts_with(kTimeStamp);
}

bool names_process(std::string_view line) {
  return line.starts_with(kProcessName);
}

std::string process_name_in(std::string_view line) {
  return printable(valid_utf8(trim(line.substr(kProcessName.size()))));
}

std::string process_subject(std::string_view name, std::int64_t pid) {
  return name.empty() ? fmt::format("Process {}", pid) : fmt::format("{} ({})", name, pid);
}

std::optional<std::int64_t> parse_pid_in_stem(std::string_view stem, std::string_view ending) {
  if (!stem.ends_with(ending)) return std::nullopt;
  return parse_i64(stem.substr(0, stem.size() - ending.size()));
}

}  // namespace msprof::cann
