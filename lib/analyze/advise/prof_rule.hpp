// Writes prof_rule_<device>.json: tuning suggestions that older versions of CANN wrote next to
// op_summary and printed after `export summary`. Source: cann_device.md 22.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "export/exporter.hpp"

namespace msprof {

struct TuningSuggestion {
  std::string type;        // "Operator Processing"
  std::string suggestion;  // "Check and reduce the transData"
  std::vector<std::string> operators;
};

// Contents of one file.
struct TuningFile {
  std::string device;
  std::filesystem::path path;
  std::vector<TuningSuggestion> suggestions;
};

// Collects results of concurrent jobs. Thread-safe.
class TuningFiles {
 public:
  void add(TuningFile file);
  // Returns the suggestions of all devices.
  std::vector<TuningFile> take();

 private:
  std::mutex mutex_;
  std::vector<TuningFile> files_;
};

// Plans one file per device in op_summary. Rows are shared with the job that writes op_summary; if
// there is no such job, they are read separately.
class ProfRules {
 public:
  // Returns empty if op_summary has no devices or if `options` selects tables. Suggestions are
  // added to `found` (may be null).
  static std::optional<ProfRules> plan(const TraceDb& store, const std::filesystem::path& base,
                                       const SummaryOptions& options,
                                       const std::shared_ptr<TuningFiles>& found);

  // Pass to plan_summaries() before calling job().
  const std::shared_ptr<RowListener>& listener() const { return listener_; }
  ExportJob job() const;

 private:
  struct Plan;
  ProfRules(std::shared_ptr<Plan> plan, std::shared_ptr<RowListener> listener)
      : plan_(std::move(plan)), listener_(std::move(listener)) {}

  std::shared_ptr<Plan> plan_;
  std::shared_ptr<RowListener> listener_;
};

}  // namespace msprof
