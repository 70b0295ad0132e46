#include "export/timeline/cann_trace.hpp"

#include <fmt/format.h>

#include "export/cann_rules.hpp"
#include "store/schema.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kWhole = "msprof";

Document shared_document(std::string_view topic, const std::string& time) {
  Document document;
  document.stem = std::string(topic);
  if (!time.empty()) document.stem += "_" + time;
  document.slice_at = topic.size();
  document.is_shared = true;
  return document;
}

}  // namespace

TraceProcesses::TraceProcesses(const Database& db)
    : host_pid_(read_meta_integer(db, "host.pid").value_or(0)) {}

std::int64_t TraceProcesses::pid(TraceProcess process, std::int64_t device) const {
  const auto bits = static_cast<std::uint64_t>(host_pid_) << 10 |
                    static_cast<std::uint64_t>(process) << 5 | static_cast<std::uint64_t>(device);
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(bits));
}

void TraceProcesses::write(TraceJsonWriter& out, TraceProcess process, std::int64_t device,
                           std::string_view name) const {
  out.process(pid(process, device), name,
              device == kHostDevice ? "CPU" : fmt::format("NPU {}", device),
              static_cast<std::int64_t>(process));
}

void TraceProcesses::write(TraceJsonWriter& out, TraceProcess process, std::int64_t device,
                           std::string_view name, std::string_view thread,
                           const std::set<std::int64_t>& threads) const {
  if (threads.empty()) return;
  write(out, process, device, name);
  const std::int64_t pid = this->pid(process, device);
  for (const std::int64_t tid : threads) {
    out.thread({pid, tid}, fmt::format("{} {}", thread, tid), tid);
  }
}

std::vector<Document> Layer::documents(const Database& db) const {
  if (!has_rows(db, info().exists)) return {};
  const std::string time = time_stamp(db);
  std::vector<Document> documents{shared_document(kWhole, time)};
  if (!info().own_document.empty()) documents.push_back(shared_document(info().own_document, time));
  return documents;
}

}  // namespace msprof::cann
