#include "export/trace/report_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/products.hpp"

namespace msprof {

namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxReportBytes = 1 << 20;
constexpr std::string_view kProcesses = "json_process";

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& why) {
  throw Error(Exit::usage, fmt::format("--reports {}: {}", printable(file.string()), why));
}

json read_report(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_text_file(file, kMaxReportBytes);
  } catch (const Error& error) {
    throw Error(Exit::usage, fmt::format("--reports: {}", error.what()));
  }
  json report = json::parse(text, nullptr, false);
  if (report.is_discarded()) refuse(file, "invalid JSON");
  if (!report.is_object() || !report.contains(kProcesses) || !report[kProcesses].is_object())
    refuse(file,
           R"(the object "json_process" is missing, as in {"json_process": {"ascend": true}})");
  return std::move(report[kProcesses]);
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const ReportName& report : report_names()) names.emplace_back(report.name);
  return names;
}

bool is_drawn(std::string_view layer) {
  const auto layers = all_timeline_layers();
  return std::any_of(layers.begin(), layers.end(),
                     [&](const auto& one) { return one->name() == layer; });
}

}  // namespace

const std::vector<ReportName>& report_names() {
  static const std::vector<ReportName> all = {
      {"ascend", "ascend_hardware"},
      {"acc_pmu", "acc_pmu"},
      {"cann", "cann"},
      {"ddr", "ddr"},
      {"stars_chip_trans", "stars_chip_trans"},
      {"hbm", "hbm"},
      {"communication", "communication"},
      {"hccs", "hccs"},
      {"os_runtime_api", "os_runtime_api"},
      {"network_usage", "network_usage"},
      {"disk_usage", "disk_usage"},
      {"memory_usage", "memory_usage"},
      {"cpu_usage", "cpu_usage"},
      {"msproftx", "msproftx"},
      {"npu_mem", "npu_mem"},
      {"overlap_analyse", "overlap"},
      {"pcie", "pcie"},
      {"sio", "sio"},
      {"stars_soc", "stars_soc"},
      {"step_trace", "step_trace"},
      {"freq", "ai_core_freq"},
      {"llc", "llc"},
      {"nic", "nic"},
      {"roce", "roce"},
      {"qos", "qos"},
      {"device_tx", "msproftx"},  // one layer draws ranges of the host and of devices
  };
  return all;
}

std::vector<std::string> read_report_layers(const std::filesystem::path& file) {
  std::vector<std::string> layers;
  const json processes = read_report(file);
  for (const auto& item : processes.items()) {
    const std::string& name = item.key();
    const json& wanted = item.value();
    const auto& reports = report_names();
    const auto report = std::find_if(reports.begin(), reports.end(),
                                     [&](const ReportName& one) { return one.name == name; });
    if (report == reports.end()) {
      const auto names = known_names();
      refuse(file,
             fmt::format("unknown timeline part '{}'; valid: {}{}", shorten(printable(name), 60),
                         fmt::join(names, ", "), did_you_mean(name, names)));
    }
    if (!wanted.is_boolean()) refuse(file, fmt::format("'{}' must be true or false", name));
    const std::string layer(report->layer);
    const bool is_new = std::find(layers.begin(), layers.end(), layer) == layers.end();
    if (wanted.get<bool>() && is_new && is_drawn(layer)) layers.push_back(layer);
  }
  if (layers.empty()) refuse(file, "no entry is true, so nothing would be written");
  return layers;
}

}  // namespace msprof
