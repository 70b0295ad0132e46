#include "collect/cann/profiling_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "base/words.hpp"
#include "collect/cann/collector_values.hpp"

namespace msprof {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxShownOption = 60;
constexpr int kMaxShownReason = 200;

std::vector<ProfilingOption> make_table() {
  using enum OptionKind;
  const std::vector<std::string> levels = {"off", "l0", "l1"};
  const std::vector<std::string> on_off_levels = {"on", "off", "l0", "l1"};
  const auto on_off = [](std::string_view name, std::string_view meaning) {
    return ProfilingOption{name, choice, {"on", "off"}, 0, 0, meaning};
  };
  const auto range = [](std::string_view name, std::uint64_t low, std::uint64_t high,
                        std::string_view meaning) {
    return ProfilingOption{name, number, {}, low, high, meaning};
  };
  return {
      {"output",
       path,
       {},
       0,
       0,
       "folder for the results, required; \"\" means profiling_data in $ASCEND_WORK_PATH"},
      {"storage_limit",
       storage,
       {},
       200,
       UINT32_MAX,
       "maximum size; the oldest data is deleted first"},
      on_off("training_trace", "iterations"),
      {"task_trace", choice, on_off_levels, 0, 0, "older name of task_time"},
      {"task_time", choice, on_off_levels, 0, 0,
       "times of tasks and operators; the only option that is on by default"},
      on_off("runtime_api", "calls of the runtime"),
      {"ge_api", choice, levels, 0, 0, "host side of dynamic shapes"},
      on_off("hccl", "collectives"),
      on_off("aicpu", "operators of the AI CPU, data preprocessing"),
      on_off("msproftx", "ranges and marks of the program"),
      on_off("l2", "hits and misses of the L2 cache"),
      on_off("task_block", "blocks of a task"),
      on_off("task_memory", "memory of operators"),
      on_off("task_tsfw", "the task scheduler's firmware"),
      {"aic_metrics", metrics, core_metrics(), 0, 0, "counters of the AI cores"},
      {"fp_point", text, {}, 0, 0, "first operator of the forward pass; \"\" searches for it"},
      {"bp_point", text, {}, 0, 0, "last operator of the backward pass; \"\" searches for it"},
      on_off("instr_profiling", "bandwidth and latency of the cores; cannot be combined"),
      range("instr_profiling_freq", 300, 30'000, "cycles between two of these samples"),
      range("sys_hardware_mem_freq", 1, 100, "Hz; bandwidth of memories and caches"),
      {"sys_mem_serviceflow", text, {}, 0, 0, "their service flows, separated by commas"},
      {"llc_profiling",
       choice,
       {"read", "write", "capacity", "bandwidth"},
       0,
       0,
       "last-level cache metric; depends on the chip"},
      range("sys_io_sampling_freq", 1, 100, "Hz; NIC and RoCE"),
      range("sys_interconnection_freq", 1, 50, "Hz; HCCS, PCIe"),
      range("sys_cpu_freq", 1, 50, "Hz; CPUs of the device"),
      range("dvpp_freq", 1, 100, "Hz; image units"),
      {"host_sys",
       choices,
       {"cpu", "mem", "disk", "network", "osrt", "numa"},
       0,
       0,
       "the application on the host"},
      {"host_sys_usage", choices, {"cpu", "mem"}, 0, 0, "the host and all its processes"},
      range("host_sys_usage_freq", 1, 50, "Hz; for host_sys_usage"),
      range("sys_lp_freq", 1, 100, "Hz; power"),
      {"optype", text, {}, 0, 0, "operator types; depends on the chip"},
  };
}

const std::vector<ProfilingOption>& table() {
  static const std::vector<ProfilingOption> options = make_table();
  return options;
}

const ProfilingOption* find_option(std::string_view name) {
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const ProfilingOption& each) { return each.name == name; });
  return found == table().end() ? nullptr : &*found;
}

std::string shown(std::string_view text) {
  return shorten(printable(text), kMaxShownOption);
}

std::string value_shown(const Json& value) {
  return shown(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

bool is_choice(const std::vector<std::string>& choices, std::string_view value) {
  return std::find(choices.begin(), choices.end(), value) != choices.end();
}

bool is_in_range(const ProfilingOption& option, std::string_view value) {
  std::uint64_t number = 0;
  return parse_u64(value, number) && number >= option.low && number <= option.high;
}

bool are_distinct_choices(const ProfilingOption& option, std::string_view list) {
  std::set<std::string_view> seen;
  for (const std::string_view one : split(list, ',')) {
    if (!is_choice(option.choices, one) || !seen.insert(one).second) return false;
  }
  return true;
}

bool is_valid_value(const ProfilingOption& option, std::string_view value) {
  switch (option.kind) {
    case OptionKind::choice:
      return is_choice(option.choices, value);
    case OptionKind::choices:
      return are_distinct_choices(option, value);
    case OptionKind::metrics:
      return is_choice(option.choices, value) || are_custom_metrics(value);
    case OptionKind::number:
      return is_in_range(option, value);
    case OptionKind::storage:
      return value.ends_with("MB") && is_in_range(option, value.substr(0, value.size() - 2));
    case OptionKind::path:
      return is_plain_path(value);
    case OptionKind::text:
      break;
  }
  return true;
}

// Returns "on or off", "a whole number from 1 to 50".
std::string expected(const ProfilingOption& option) {
  switch (option.kind) {
    case OptionKind::choice:
      return listed(option.choices, "or");
    case OptionKind::choices:
      return fmt::format("some of {}, each once, separated by commas", listed(option.choices));
    case OptionKind::metrics:
      return fmt::format("{}, or {}0x49,73 with up to eight events", listed(option.choices, "or"),
                         kCustomMetrics);
    case OptionKind::number:
      return fmt::format("a whole number from {} to {}", option.low, option.high);
    case OptionKind::storage:
      return fmt::format("{}MB to {}MB", option.low, option.high);
    case OptionKind::path:
      return "a path without quotes, control characters and \\ % > < | & $ ; `";
    case OptionKind::text:
      break;
  }
  return "a string in quotes";
}

class OptionsCheck {
 public:
  OptionsCheck(std::string_view text, OutputKey output) : text_(text), output_(output) {}

  ProfilingOptionsCheck check() {
    if (text_.size() > kMaxProfilingOptionsBytes) {
      problem(fmt::format("it has {} bytes, the maximum is {}", with_thousands(text_.size()),
                          with_thousands(kMaxProfilingOptionsBytes)));
    }
    if (parse()) {
      for (const auto& [key, value] : options_.items()) check_key(key, value);
      check_output();
      check_conflicts();
    }
    if (result_.problems.empty()) result_.effective = options_.dump();
    return std::move(result_);
  }

 private:
  void problem(std::string what, std::optional<std::size_t> at = std::nullopt) {
    result_.problems.push_back({std::move(what), at});
  }
  void note(std::string what) { result_.notes.push_back({std::move(what), std::nullopt}); }

  bool parse() {
    std::set<std::string> keys;
    const auto see = [&](int depth, Json::parse_event_t event, Json& value) {
      if (depth != 1 || event != Json::parse_event_t::key) return true;
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.insert(key).second) problem(fmt::format("\"{}\" is given twice", shown(key)));
      return true;
    };
    try {
      options_ = Json::parse(text_, see);
    } catch (const Json::parse_error& error) {
      // "[…] parse error at line 1, column 51: syntax error while parsing object key - REASON"
      std::string_view reason = error.what();
      if (const auto at = reason.find(" - "); at != reason.npos) reason.remove_prefix(at + 3);
      // The parser's byte count starts at 1 and includes the offending byte.
      problem(fmt::format("not valid JSON: {}", shorten(printable(reason), kMaxShownReason)),
              error.byte > 0 ? std::min(error.byte - 1, text_.size()) : 0);
      return false;
    } catch (const Json::out_of_range&) {
      problem("a number is out of range");
      return false;
    }
    if (!options_.is_object()) problem("it is not a JSON object: put { and } around the keys");
    return options_.is_object();
  }

  void check_key(const std::string& key, const Json& value) {
    const ProfilingOption* const option = find_option(key);
    if (option == nullptr) {
      std::vector<std::string> names;
      for (const ProfilingOption& each : table()) names.emplace_back(each.name);
      return problem(fmt::format("unknown key \"{}\"{}", shown(key), did_you_mean(key, names)),
                     find_key(key));
    }
    // Numbers may be written without quotes.
    const bool is_bare = option->kind == OptionKind::number && value.is_number_unsigned();
    if ((value.is_string() || is_bare) &&
        is_valid_value(*option, is_bare ? value.dump() : value.get<std::string>())) {
      return;
    }
    problem(fmt::format("\"{}\" must be {}, not {}", key, expected(*option), value_shown(value)),
            find_key(key));
  }

  std::optional<std::size_t> find_key(const std::string& key) const {
    const std::size_t at =
        text_.find(Json(key).dump(-1, ' ', false, Json::error_handler_t::replace));
    return at == std::string_view::npos ? std::nullopt : std::optional(at);
  }

  std::string text_value(std::string_view key) const {
    const auto found = options_.find(std::string(key));
    return found != options_.end() && found->is_string() ? found->get<std::string>() : "";
  }

  bool has(std::string_view key) const { return options_.contains(std::string(key)); }

  void check_output() {
    result_.output = text_value("output");
    result_.metrics = text_value("aic_metrics");
    if (!has("output")) {
      if (output_ == OutputKey::required) {
        problem("\"output\" is missing: the folder for the results");
      }
    } else if (result_.output.empty() && output_ == OutputKey::required) {
      note(
          "\"output\" is empty: the results are put into profiling_data in $ASCEND_WORK_PATH, "
          "which must be set");
    }
  }

  void check_conflicts() {
    check_task_trace();
    const bool instructions = text_value("instr_profiling") == "on";
    if (!instructions && has("instr_profiling_freq")) {
      note("\"instr_profiling_freq\" has no effect without \"instr_profiling\":\"on\"");
    }
    if (!has("host_sys_usage") && has("host_sys_usage_freq")) {
      note("\"host_sys_usage_freq\" has no effect without \"host_sys_usage\"");
    }
    if (instructions) check_instructions();
  }

  void check_task_trace() {
    if (!has("task_trace")) return;
    const auto level = [&](std::string_view key) {
      const std::string value = text_value(key);
      return value == "on" ? "l1" : value;
    };
    if (!has("task_time") || level("task_time") == level("task_trace")) {
      return note("\"task_trace\" is the older name of \"task_time\"");
    }
    problem(fmt::format("\"task_time\" is {} and \"task_trace\", its older name, {}",
                        shown(text_value("task_time")), shown(text_value("task_trace"))),
            find_key("task_trace"));
  }

  // Instruction samples need the counters that other data uses.
  void check_instructions() {
    std::vector<std::string> others;
    for (const auto& [key, value] : options_.items()) {
      const ProfilingOption* const option = find_option(key);
      if (option == nullptr || key == "instr_profiling") continue;
      const bool is_switch =
          option->kind == OptionKind::choice && is_choice(option->choices, "off");
      const bool is_on = is_switch ? value != "off" : option->kind == OptionKind::metrics;
      if (is_on) others.push_back("\"" + key + "\"");
    }
    if (others.empty()) return;
    problem(fmt::format("\"instr_profiling\" cannot be combined with {}: remove {}", listed(others),
                        others.size() > 1 ? "these" : "this"),
            find_key("instr_profiling"));
  }

  std::string_view text_;
  OutputKey output_;
  Json options_;
  ProfilingOptionsCheck result_;
};

}  // namespace

std::span<const ProfilingOption> profiling_option_table() {
  return table();
}

std::string value_words(const ProfilingOption& option) {
  std::string words;
  for (const std::string& each : option.choices) words += (words.empty() ? "" : ", ") + each;
  switch (option.kind) {
    case OptionKind::choice:
      return words;
    case OptionKind::choices:
      return "some of " + words;
    case OptionKind::metrics:
      return words + ", Custom:0x8,73";
    case OptionKind::number:
      return fmt::format("{}..{}", option.low, option.high);
    case OptionKind::storage:
      return fmt::format("{}MB..{}MB", option.low, option.high);
    case OptionKind::path:
      return "folder";
    case OptionKind::text:
      break;
  }
  return "text";
}

std::string Problem::sentence(std::string_view name, std::string_view text) const {
  if (!at) return fmt::format("{}: {}", name, what);
  std::size_t line = 1;
  std::size_t column = 1;
  for (const char c : text.substr(0, std::min(*at, text.size()))) {
    if (c == '\n') {
      ++line;
      column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++column;  // counts UTF-8 characters
    }
  }
  return fmt::format("{}, line {}, column {}: {}", name, line, column, what);
}

ProfilingOptionsCheck check_profiling_options(std::string_view text, OutputKey output) {
  return OptionsCheck(text, output).check();
}

std::string with_output(std::string_view options, std::string_view folder) {
  Json changed = Json::parse(options);
  if (changed.contains("output")) {
    changed["output"] = folder;
    return changed.dump();
  }
  Json first = {{"output", folder}};
  for (const auto& [key, value] : changed.items()) first[key] = value;
  return first.dump();
}

std::string_view default_profiling_options() {
  return R"({"output":"./","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on",)"
         R"("aic_metrics":"PipeUtilization","msproftx":"off"})";
}

}  // namespace msprof
