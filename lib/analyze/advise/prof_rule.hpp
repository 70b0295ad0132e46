// prof_rule_<device>.json: the tuning suggestions that older CANN wrote beside op_summary and
// printed after `export summary`. For the verb export. Source: cann_device.md 22.
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

// Filled by the jobs as they run.
class TuningFiles {
 public:
  void add(TuningFile file);
  // Suggestions by device.
  std::vector<TuningFile> take();

 private:
  std::mutex mutex_;
  std::vector<TuningFile> files_;
};

// Plans a file for each device that op_summary knows. Its rows come from the job that writes
// op_summary; where none does, a job of this reads them.
class ProfRules {
 public:
  // None where op_summary has no devices, and where `options` names tables. The suggestions go to
  // `found` (may be null).
  static std::optional<ProfRules> plan(const TraceDb& store, const std::filesystem::path& base,
                                       const SummaryOptions& options,
                                       const std::shared_ptr<TuningFiles>& found);

  // For plan_summaries(), before job().
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
