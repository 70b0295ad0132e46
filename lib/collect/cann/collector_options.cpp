#include "collect/cann/collector_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "collect/cann/collector_values.hpp"

namespace msprof {

namespace {

using Scope = CollectorScope;

constexpr std::string_view kOnOff = "on|off";
constexpr std::string_view kModes = "task-based|sample-based";
constexpr std::string_view kMetrics = "METRICS";
constexpr std::string_view kSecondsRange = "1..4294967295";

constexpr std::array kOptions = {
    CollectorOption{"output", "DIR", "", Scope::run, "result_dir",
                    "folder for the PROF folder (default: current folder; with --application the "
                    "application's folder)"},
    CollectorOption{"application", "COMMAND", "", Scope::run, "app",
                    "the application and its arguments, as one string"},
    CollectorOption{"environment", "NAME=VALUE;…", "", Scope::run, "app_env",
                    "environment variables for the application"},
    CollectorOption{"storage-limit", "200..4294967295MB", "", Scope::records, "storageLimit",
                    "maximum raw data size; oldest files are deleted first"},
    CollectorOption{"delay", kSecondsRange, "", Scope::records, "delayTime",
                    "start recording after this many seconds"},
    CollectorOption{"duration", kSecondsRange, "", Scope::records, "durationTime",
                    "recording time in seconds"},
    CollectorOption{"dynamic", "on", "", Scope::run, "",
                    "read start, stop and quit from the terminal during the run"},
    CollectorOption{"pid", "PIDS", "", Scope::run, "",
                    "with --dynamic=on: attach to running processes"},
    CollectorOption{"type", "text|db", "text", Scope::run, "",
                    "export after the run: timelines and tables, or the viewer's database"},
    CollectorOption{"summary-format", "csv|json", "csv", Scope::run, "", "format of the tables"},
    CollectorOption{"python-path", "FILE", "", Scope::run, "",
                    "ignored: msprof parses without Python"},

    CollectorOption{"ascendcl", kOnOff, "on", Scope::records, "acl", "calls of the ACL API"},
    CollectorOption{"task-time", "on|off|l0|l1|l2|l3", "on", Scope::records, "taskTime",
                    "times of tasks and operators; on is l1"},
    CollectorOption{"ai-core", kOnOff, "on", Scope::records, "ai_core_profiling",
                    "counters of AI cores"},
    CollectorOption{"aic-mode", kModes, "task-based", Scope::records, "ai_core_profiling_mode",
                    "per-task counters or periodic sampling"},
    CollectorOption{"aic-metrics", kMetrics, "PipeUtilization", Scope::records, "ai_core_metrics",
                    "AI core metrics"},
    CollectorOption{"aic-freq", "1..100", "100", Scope::driver, "",
                    "sampling frequency in Hz, for sample-based"},
    CollectorOption{"ai-vector-core", kOnOff, "on", Scope::records, "aiv_profiling",
                    "counters of vector cores"},
    CollectorOption{"aiv-mode", kModes, "task-based", Scope::records, "aiv_profiling_mode",
                    "per-task counters or periodic sampling of vector cores"},
    CollectorOption{"aiv-metrics", kMetrics, "PipeUtilization", Scope::records, "aiv_metrics",
                    "vector core metrics"},
    CollectorOption{"aiv-freq", "1..100", "100", Scope::driver, "",
                    "sampling frequency in Hz, for sample-based"},
    CollectorOption{"runtime-api", kOnOff, "off", Scope::records, "runtimeApi",
                    "calls of the runtime"},
    CollectorOption{"ge-api", "off|l0|l1", "off", Scope::records, "geApi",
                    "calls of the graph engine"},
    CollectorOption{"aicpu", kOnOff, "off", Scope::records, "aicpuTrace", "operators on AI CPUs"},
    CollectorOption{"l2", kOnOff, "off", Scope::records, "l2CacheTaskProfiling",
                    "hits of the L2 cache"},
    CollectorOption{"task-memory", kOnOff, "off", Scope::records, "taskMemory",
                    "memory used by operators"},
    CollectorOption{"task-tsfw", kOnOff, "off", Scope::records, "taskTsfw",
                    "activity of the task scheduler's firmware"},
    CollectorOption{"task-block", "on|off|all", "off", Scope::driver, "taskBlock",
                    "times of a task's blocks"},
    CollectorOption{"aicore-shape", kOnOff, "off", Scope::driver, "", "actual shapes of operators"},
    CollectorOption{"msproftx", kOnOff, "off", Scope::records, "msproftx",
                    "stamps and mstx ranges of the application"},
    CollectorOption{"mstx-domain-include", "NAMES", "", Scope::records, "mstxDomainInclude",
                    "with --msproftx=on: only these domains"},
    CollectorOption{"mstx-domain-exclude", "NAMES", "", Scope::records, "mstxDomainExclude",
                    "with --msproftx=on: all domains but these"},
    CollectorOption{"hccl", kOnOff, "off", Scope::records, "hcclTrace",
                    "collectives; included in --task-time"},
    CollectorOption{"model-execution", kOnOff, "off", Scope::records, "",
                    "model executions; included in --task-time"},

    CollectorOption{"instr-profiling", kOnOff, "off", Scope::driver, "instrProfiling",
                    "instruction samples"},
    CollectorOption{"instr-profiling-freq", "300..30000", "1000", Scope::driver, "",
                    "cycles between two samples"},
    CollectorOption{"sys-hardware-mem", kOnOff, "off", Scope::driver, "hardware_mem",
                    "HBM, DDR and last level cache"},
    CollectorOption{"sys-hardware-mem-freq", "1..100", "50", Scope::driver,
                    "hardware_mem_sampling_interval", "sampling frequency in Hz"},
    CollectorOption{"sys-mem-serviceflow", "NAMES", "", Scope::driver, "", "flows of memory"},
    CollectorOption{"llc-profiling", "read|write|capacity|bandwidth", "read", Scope::driver,
                    "llc_profiling", "last-level cache metric"},
    CollectorOption{"sys-cpu-profiling", kOnOff, "off", Scope::driver, "cpu_profiling",
                    "counters of AI CPUs and control CPUs"},
    CollectorOption{"sys-cpu-freq", "1..50", "50", Scope::driver, "", "sampling frequency in Hz"},
    CollectorOption{"sys-profiling", kOnOff, "off", Scope::driver, "sys_profiling",
                    "load of the card's system"},
    CollectorOption{"sys-sampling-freq", "1..10", "10", Scope::driver, "",
                    "sampling frequency in Hz"},
    CollectorOption{"sys-pid-profiling", kOnOff, "off", Scope::driver, "pid_profiling",
                    "load by the card's processes"},
    CollectorOption{"sys-pid-sampling-freq", "1..10", "10", Scope::driver, "",
                    "sampling frequency in Hz"},
    CollectorOption{"sys-io-profiling", kOnOff, "off", Scope::driver, "io_profiling",
                    "NIC and RoCE"},
    CollectorOption{"sys-io-sampling-freq", "1..100", "100", Scope::driver, "",
                    "sampling frequency in Hz"},
    CollectorOption{"sys-interconnection-profiling", kOnOff, "off", Scope::driver,
                    "interconnection_profiling", "PCIe and HCCS"},
    CollectorOption{"sys-interconnection-freq", "1..50", "50", Scope::driver, "",
                    "sampling frequency in Hz"},
    CollectorOption{"dvpp-profiling", kOnOff, "off", Scope::driver, "dvpp_profiling",
                    "DVPP (image/video engine) usage"},
    CollectorOption{"dvpp-freq", "1..100", "50", Scope::driver, "", "sampling frequency in Hz"},
    CollectorOption{"sys-lp", kOnOff, "off", Scope::driver, "sysLp", "frequency and power"},
    CollectorOption{"sys-lp-freq", "1..100", "100", Scope::driver, "", "sampling frequency in Hz"},
    CollectorOption{"sys-devices", "IDS|all", "", Scope::driver, "",
                    "without an application: record these devices"},
    CollectorOption{"sys-period", "1..2592000", "", Scope::driver, "",
                    "without an application: recording time in seconds"},
    CollectorOption{"host-sys", "cpu,mem,disk,network,osrt,numa", "", Scope::records, "host_sys",
                    "load of this machine by the application"},
    CollectorOption{"host-sys-pid", "PID", "", Scope::records, "host_sys_pid",
                    "sample this process instead of the application"},
    CollectorOption{"host-sys-usage", "cpu,mem", "", Scope::records, "", "load of this machine"},
    CollectorOption{"host-sys-usage-freq", "1..50", "50", Scope::records, "",
                    "sampling frequency in Hz"},
    CollectorOption{"nts-metrics", "METRICS", "", Scope::driver, "", "counters of some chips"},
    CollectorOption{"npu-events", "EVENTS", "", Scope::driver, "", "events of some chips"},
    CollectorOption{"optype", "NAMES", "", Scope::driver, "opType",
                    "only counters of these operators"},

    CollectorOption{"parse", "on", "", Scope::offline, "", "import the PROF folder of --output"},
    CollectorOption{"query", "on", "", Scope::offline, "", "describe the PROF folder"},
    CollectorOption{"export", "on", "", Scope::offline, "", "write its timelines and tables"},
    CollectorOption{"analyze", "on", "", Scope::offline, "", "run the analyses of --rule"},
    CollectorOption{"clear", "on", "", Scope::offline, "",
                    "then remove everything except raw data and products"},
    CollectorOption{"rule", "communication,communication_matrix",
                    "communication,communication_matrix", Scope::offline, "",
                    "with --analyze=on: analyses to run"},
    CollectorOption{"iteration-id", "1..4294967295", "1", Scope::offline, "",
                    "with --export=on: iteration to export"},
    CollectorOption{"model-id", "-1..4294967295", "-1", Scope::offline, "",
                    "with --export=on: model of the iteration; -1: all"},
    CollectorOption{"reports", "FILE", "", Scope::offline, "",
                    "with --export=on: JSON file that selects the timeline layers"},
};

bool is_one_of(std::string_view value, const std::vector<std::string_view>& all) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

std::vector<std::string> texts(const std::vector<std::string_view>& views) {
  return {views.begin(), views.end()};
}

std::string wrong_value(const CollectorOption& option, const std::string& value,
                        const std::string& expected, const std::string& near = "") {
  return fmt::format("--{}: expected {}, got '{}'{}", option.name, expected, printable(value),
                     near);
}

std::string metrics_problem(const CollectorOption& option, const std::string& value) {
  const auto& names = core_metrics();
  const bool is_named = std::find(names.begin(), names.end(), value) != names.end();
  if (is_named || are_custom_metrics(value)) return "";
  return wrong_value(option, value,
                     fmt::format("{} or {}0x49,73 with at most {} events", listed(names, "or"),
                                 kCustomMetrics, kMaxCoreEvents),
                     did_you_mean(value, names));
}

// Checks the value against a range such as "200..4294967295MB".
std::string range_problem(const CollectorOption& option, const std::string& value) {
  const std::size_t dots = option.values.find("..");
  const std::size_t unit_at = option.values.find_first_not_of("0123456789", dots + 2);
  const std::string_view unit =
      unit_at == std::string_view::npos ? std::string_view() : option.values.substr(unit_at);
  const auto least = parse_i64(option.values.substr(0, dots));
  const auto most = parse_i64(option.values.substr(
      dots + 2, unit_at == std::string_view::npos ? unit_at : unit_at - dots - 2));
  std::string_view digits = value;
  const bool has_unit = unit.empty() || digits.ends_with(unit);
  if (has_unit) digits.remove_suffix(unit.size());
  const auto number = value == "-1" && option.values.starts_with("-1")
                          ? std::optional<std::int64_t>(-1)
                          : parse_i64(digits);
  if (has_unit && number && *number >= least.value_or(-1) && *number <= most.value_or(0)) return "";
  return wrong_value(
      option, value,
      fmt::format("{} to {}{}", option.values.substr(0, dots), most.value_or(0),
                  unit.empty() ? "" : fmt::format(" followed by the unit {}", unit)));
}

std::string list_problem(const CollectorOption& option, const std::string& value) {
  const auto known = split(option.values, ',');
  for (const std::string_view word : split(value, ',')) {
    if (is_one_of(word, known)) continue;
    return wrong_value(option, value, listed(known, "and") + ", separated by commas",
                       did_you_mean(word, texts(known)));
  }
  return "";
}

std::string choice_problem(const CollectorOption& option, const std::string& value) {
  const auto choices = split(option.values, '|');
  if (is_one_of(value, choices)) return "";
  return wrong_value(option, value, listed(choices, "or"), did_you_mean(value, texts(choices)));
}

// Parses lists such as "0,1,2".
bool are_numbers(std::string_view value) {
  const auto all = split(value, ',');
  std::uint64_t number = 0;
  return std::all_of(all.begin(), all.end(),
                     [&](std::string_view one) { return parse_u64(one, number); });
}

// Returns an empty string if the value is valid.
std::string value_problem(const CollectorOption& option, const std::string& value) {
  if (value.empty()) return fmt::format("the value of --{} is empty", option.name);
  if (option.values == kMetrics && option.name != "nts-metrics")
    return metrics_problem(option, value);
  if (option.values == "IDS|all" && value == "all") return "";
  if (option.values == "PIDS" || option.values == "PID" || option.values == "IDS|all") {
    return are_numbers(value) ? "" : wrong_value(option, value, "numbers, separated by commas");
  }
  if (option.values.find("..") != std::string_view::npos) return range_problem(option, value);
  const bool is_free = option.values.front() >= 'A' && option.values.front() <= 'Z';
  if (is_free) return "";
  if (option.values.find(',') != std::string_view::npos) return list_problem(option, value);
  return choice_problem(option, value);
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  names.reserve(kOptions.size());
  for (const CollectorOption& option : kOptions) names.push_back(fmt::format("--{}", option.name));
  return names;
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(Exit::usage, sentence);
}

}  // namespace

std::span<const CollectorOption> collector_options() {
  return kOptions;
}

const CollectorOption* find_collector_option(std::string_view name) {
  const auto found = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const auto& option) { return option.name == name; });
  return found == kOptions.end() ? nullptr : &*found;
}

void CollectorSettings::set(std::string_view name, const std::string& value) {
  const CollectorOption* const option = find_collector_option(name);
  if (option == nullptr) {
    const std::string word = fmt::format("--{}", printable(name));
    const std::string near = did_you_mean(word, all_names());
    refuse(fmt::format("unknown option '{}'{}", word,
                       near.empty() ? "; `msprof --help` lists the options" : near));
  }
  if (const std::string problem = value_problem(*option, value); !problem.empty()) refuse(problem);
  given_.insert_or_assign(std::string(name), value);
}

std::string CollectorSettings::value(std::string_view name) const {
  const auto found = given_.find(name);
  if (found != given_.end()) return found->second;
  const CollectorOption* const option = find_collector_option(name);
  return option == nullptr ? "" : std::string(option->by_default);
}

void CollectorSettings::check() const {
  if (is_given("dynamic")) {
    for (const char* const other : {"delay", "duration"}) {
      if (is_given(other)) refuse(fmt::format("--dynamic and --{} cannot be combined", other));
    }
  }
  if (is_given("pid") && !is_given("dynamic")) refuse("--pid needs --dynamic=on");
  if (is_given("mstx-domain-include") && is_given("mstx-domain-exclude"))
    refuse("--mstx-domain-include and --mstx-domain-exclude cannot be combined");
  for (const char* const domain : {"mstx-domain-include", "mstx-domain-exclude"}) {
    if (is_given(domain) && !is_on("msproftx"))
      refuse(fmt::format("--{} needs --msproftx=on", domain));
  }
  if (is_on("instr-profiling")) {
    for (const auto& [name, text] : given_) {
      const CollectorOption* const option = find_collector_option(name);
      const bool is_other = option->scope == Scope::records || option->scope == Scope::driver;
      if (is_other && text != "off" && !name.starts_with("instr-"))
        refuse(
            fmt::format("--instr-profiling=on cannot be combined with --{}: use two runs", name));
    }
  }
  if (is_given("instr-profiling-freq") && !is_on("instr-profiling"))
    refuse("--instr-profiling-freq needs --instr-profiling=on");
}

std::vector<std::string> CollectorSettings::words() const {
  std::vector<std::string> words;
  for (const CollectorOption& option : kOptions) {
    if (is_given(option.name))
      words.push_back(fmt::format("--{}={}", option.name, value(option.name)));
  }
  return words;
}

std::vector<std::string> environment_list(const std::string& text) {
  std::vector<std::string> list;
  for (const std::string_view entry : split(text, ';')) {
    if (trim(entry).empty()) continue;
    const auto end = entry.find('=');
    if (end == std::string_view::npos || trim(entry.substr(0, end)).empty())
      refuse("--environment: expected NAME=VALUE separated by ';', but one value has no '='");
    list.push_back(fmt::format("{}={}", trim(entry.substr(0, end)), entry.substr(end + 1)));
  }
  return list;
}

}  // namespace msprof
