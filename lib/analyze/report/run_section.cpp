#include "analyze/report/run_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analyze/compare/html_parts.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "base/time_text.hpp"
#include "import/layout_choice.hpp"

namespace msprof::report {

namespace {

using html::escaped;
using html::name;

constexpr std::size_t kMaxDevices = 16;
constexpr std::size_t kMaxModels = 16;
constexpr int kCommandWidth = 600;

std::string code(std::string_view text) {
  return fmt::format("<code><bdi>{}</bdi></code>", escaped(text, kCommandWidth));
}

class RunRows {
 public:
  RunRows(const ReportHead& head, const CaptureInfo& info, const ReportWords& words)
      : head_(head), info_(info), words_(words) {}

  std::string html() const { return rows_; }

  void add(std::string_view what, const std::string& value) {
    if (value.empty()) return;
    rows_ += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", what, value);
  }

  void add_time() {
    if (head_.run && head_.run->begin_ns > 0) {
      std::string text = local_time_text(head_.run->begin_ns);
      if (head_.run->end_ns > 0) text += " – " + local_time_text(head_.run->end_ns);
      add(words_.begun, escaped(text));
    } else if (info_.begin_ns) {
      add(words_.begun, escaped(local_time_text(*info_.begin_ns)));
    }
    if (info_.duration_ns) {
      const double us = static_cast<double>(*info_.duration_ns) / 1000;
      add(words_.duration, html::TimeText(us).text(us));
    }
  }

  void add_run(const RunRecord& run) {
    add(words_.host, run.host.empty() ? "" : name(run.host));
    add_machine(run);
    std::string command;
    for (const std::string& word : run.command)
      command += (command.empty() ? "" : " ") + shell_word(word);
    add(words_.command, command.empty() ? "" : code(command));
    std::string options;
    for (const auto& [option, value] : run.options) {
      options += (options.empty() ? "" : " ") + option;
      if (!value.empty()) options += ' ' + shell_word(value);
    }
    add(words_.options, options.empty() ? "" : code(options));
    add_result(run);
    for (std::size_t i = 0; i < std::min(kMaxModels, run.models.size()); ++i) {
      const RunModel& model = run.models[i];
      std::string text = name(model.file);
      if (model.bytes > 0) text += ", " + human_bytes(model.bytes);
      if (!model.sha256.empty()) text += ", SHA-256 " + code(model.sha256);
      add(words_.model_file, text);
    }
    if (run.models.size() > kMaxModels)
      add(words_.model_file,
          fmt::format(fmt::runtime(words_.more), run.models.size() - kMaxModels));
  }

  void add_devices(bool is_modelled) {
    for (std::size_t i = 0; i < std::min(kMaxDevices, info_.devices.size()); ++i) {
      const DeviceInfo& device = info_.devices[i];
      std::string text = std::to_string(device.id);
      if (!device.chip.empty() && device.chip != info_.chip) text += ", " + name(device.chip);
      if (device.frequency_hz) {
        text += fmt::format(", {} MHz{}", msprof::fixed(*device.frequency_hz, 1'000'000, 0),
                            is_modelled ? " *" : "");
      }
      text += ", " + counted_in(words_.tasks, device.task_count);
      add(words_.device, text);
    }
    if (info_.devices.size() > kMaxDevices)
      add(words_.device,
          fmt::format(fmt::runtime(words_.more), info_.devices.size() - kMaxDevices));
  }

  void add_models(const std::vector<StepInfo>& steps) {
    for (std::size_t i = 0; i < std::min(kMaxModels, steps.size()); ++i) {
      const StepInfo& step = steps[i];
      std::string text = name(*step.model_name);
      if (step.batch) text += fmt::format(", {} {}", words_.batch, *step.batch);
      if (step.execution_count) text += ", " + counted_in(words_.executions, *step.execution_count);
      add(words_.model, text + ", " + counted_in(words_.tasks, step.task_count));
    }
    if (steps.size() > kMaxModels)
      add(words_.model, fmt::format(fmt::runtime(words_.more), steps.size() - kMaxModels));
    if (!steps.empty()) return;
    std::size_t shown = 0;
    for (const ModelInfo& model : info_.models) {
      if (!model.name.empty() && ++shown <= kMaxModels) add(words_.model, name(model.name));
    }
  }

  // Adds facts about files whose records cannot be read.
  void add_known(const Database& db) {
    Statement read = db.prepare(
        "SELECT ifnull(file, ''), ifnull(detail, '') FROM import_log WHERE id = 'known_facts'"
        " ORDER BY file LIMIT 50");
    while (read.step()) {
      add(words_.known, escaped(fmt::format("{}: {}", read.text(0), read.text(1)), kCommandWidth));
    }
  }

  void add_versions() {
    std::string text = fmt::format(fmt::runtime(words_.read_by), escaped(head_.version));
    if (head_.run && !head_.run->msprof.empty()) {
      text =
          fmt::format(fmt::runtime(words_.captured_by), escaped(head_.run->msprof)) + ", " + text;
    }
    add("msprof", text);
  }

 private:
  static std::string counted_in(std::string_view what, std::int64_t count) {
    return fmt::format(
        "{} {}", what,
        with_thousands(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0))));
  }

  void add_machine(const RunRecord& run) {
    const std::string system = run.machine_text();
    std::string text = system.empty() ? "" : name(system);
    const auto add_fact = [&](std::string_view what, const std::string& value) {
      text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(what), value);
    };
    if (const auto cores = parse_i64(run.board_fact("cores")); cores && *cores > 0)
      add_fact(*cores == 1 ? words_.one_core : words_.cores,
               with_thousands(static_cast<std::uint64_t>(*cores)));
    if (const auto bytes = parse_i64(run.board_fact("free_bytes")))
      add_fact(words_.free, human_bytes(static_cast<std::uint64_t>(*bytes)));
    add(words_.machine, text);
  }

  void add_result(const RunRecord& run) {
    std::string text;
    if (!run.application_signal.empty()) {
      text = fmt::format(fmt::runtime(words_.ended_by), escaped(run.application_signal));
    } else if (run.application_exit_code) {
      text = fmt::format(fmt::runtime(words_.exit_code), *run.application_exit_code);
    }
    if (run.seconds > 0 && std::isfinite(run.seconds))
      text += (text.empty() ? "" : ", ") + html::fixed(run.seconds, 1) + " s";
    add(words_.result, text);
  }

  const ReportHead& head_;
  const CaptureInfo& info_;
  const ReportWords& words_;
  std::string rows_;
};

}  // namespace

std::string run_section(const TraceDb& store, const ReportHead& head, const CaptureInfo& info,
                        const std::vector<StepInfo>& steps, const ReportWords& words) {
  RunRows rows(head, info, words);
  rows.add(words.capture, name(head.capture));
  rows.add(words.kind, std::string(info.dialect == "svp" ? words.board : words.atlas));
  if (!info.chip.empty()) rows.add(words.chip, name(info.chip));
  rows.add_time();
  if (head.run) rows.add_run(*head.run);
  rows.add_devices(info.unit_loads == UnitLoads::modelled);
  rows.add_models(steps);
  const std::string layout = store.meta(meta::kLayoutFile);
  if (!layout.empty()) {
    const std::string source = store.meta(meta::kLayoutSource);
    rows.add(words.layout,
             name(layout) + (source.empty() ? "" : fmt::format(" ({})", escaped(source))));
  }
  rows.add_known(store.database());
  rows.add_versions();
  return html::section("run", words.run,
                       "<div class=\"scroll\"><table class=\"plain\" id=\"run\"><tbody>\n" +
                           rows.html() + "</tbody></table></div>\n");
}

}  // namespace msprof::report
