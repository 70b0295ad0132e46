// prof_rule_<device>.json: the tuning suggestions that older CANN wrote beside op_summary and
// printed after `export summary`. For the verb export. Source: cann_device.md 22.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
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

// Jobs that write a file for each device that op_summary knows; none where it has no devices, and
// where `options` names tables. The suggestions go to `found` (may be null).
std::vector<ExportJob> plan_prof_rules(const TraceDb& store, const std::filesystem::path& base,
                                       const SummaryOptions& options,
                                       const std::shared_ptr<TuningFiles>& found);

}  // namespace msprof
