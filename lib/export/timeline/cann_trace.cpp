#include "export/timeline/cann_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "export/scope/cann_rules.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kWhole = "msprof";

OutputFile shared_output_file(std::string_view topic, const std::string& time) {
  OutputFile output_file;
  output_file.stem = std::string(topic);
  if (!time.empty()) output_file.stem += "_" + time;
  output_file.slice_at = topic.size();
  output_file.is_shared = true;
  return output_file;
}

}  // namespace

TraceProcesses::TraceProcesses(const Database& db)
    : host_pid_(read_meta_integer(db, "host.pid").value_or(0)) {}

std::int64_t TraceProcesses::pid(TraceProcess process, std::int64_t device) const {
  constexpr std::uint64_t kOrderMask = 31;
  // Operator memory shares its order number with data units; its device numbers are shifted past
  // theirs.
  constexpr std::int64_t kDataUnits = 16;
  if (process == TraceProcess::operator_memory) device = (device + kDataUnits) % kHostDevice;
  const auto bits = static_cast<std::uint64_t>(host_pid_) << 10 |
                    (static_cast<std::uint64_t>(process) & kOrderMask) << 5 |
                    static_cast<std::uint64_t>(device);
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(bits));
}

void TraceProcesses::write(TraceWriter& out, TraceProcess process, std::int64_t device,
                           std::string_view name) const {
  out.process(pid(process, device), name,
              device == kHostDevice ? "CPU" : fmt::format("NPU {}", device),
              static_cast<std::int64_t>(process));
}

void TraceProcesses::write(TraceWriter& out, TraceProcess process, std::int64_t device,
                           std::string_view name, std::string_view thread,
                           const std::set<std::int64_t>& threads) const {
  if (threads.empty()) return;
  write(out, process, device, name);
  const std::int64_t pid = this->pid(process, device);
  for (const std::int64_t tid : threads) {
    out.thread({pid, tid}, fmt::format("{} {}", thread, tid), tid);
  }
}

std::vector<OutputFile> CannLayer::output_files(const Database& db) const {
  if (!has_rows(db, info().exists)) return {};
  const std::string time = time_stamp(db);
  std::vector<OutputFile> output_files{shared_output_file(kWhole, time)};
  if (!info().own_document.empty())
    output_files.push_back(shared_output_file(info().own_document, time));
  return output_files;
}

}  // namespace msprof::cann
