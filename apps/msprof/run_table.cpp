#include "msprof/run_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "base/words.hpp"

namespace msprof {

namespace {

using nlohmann::ordered_json;

constexpr int kMaxOutcomeWidth = 60;

const ordered_json* find_list(const ordered_json& document, const char* key) {
  if (!document.is_object()) return nullptr;
  const auto at = document.find(key);
  return at != document.end() && at->is_array() ? &*at : nullptr;
}

ordered_json object_at(const ordered_json& document, const char* key) {
  const auto at = document.find(key);
  return at != document.end() && at->is_object() ? *at : ordered_json::object();
}

std::string outcome_text(const ordered_json& document) {
  const int code = document.value("exit_code", static_cast<int>(Exit::internal_error));
  const ordered_json application = object_at(document, "application");
  if (const ordered_json* runs = find_list(document, "runs"); runs != nullptr && !runs->empty()) {
    std::size_t good = 0;
    for (const ordered_json& run : *runs) good += run.value("exit_code", 1) == 0 ? 1U : 0U;
    std::string text = fmt::format("{} of {} ok", good, counted(runs->size(), "run"));
    const std::string error = document.value("error", "");
    return error.empty() ? text : text + ": " + error;
  }
  if (application.value("interrupted", false)) return "interrupted";
  if (std::string start = application.value("start_error", ""); !start.empty()) return start;
  if (application.value("connection_lost", false)) return "connection lost";
  if (std::string signal = application.value("signal", ""); !signal.empty() && code == 7)
    return signal;
  if (const int exit = application.value("exit_code", 0); exit != 0 && code == 7)
    return fmt::format("exit code {}", exit);
  std::string error = document.value("error", "");
  if (!error.empty()) return error;
  if (const ordered_json* notes = find_list(document, "notes"); notes != nullptr && !notes->empty())
    return "partial data";
  return code == 0 ? "ok" : fmt::format("exit code {} of msprof", code);
}

std::string capture_text(const ordered_json& document) {
  if (document.contains("folder")) return document.value("folder", "");
  const ordered_json* captures = find_list(document, "captures");
  if (captures == nullptr || captures->empty()) {
    const ordered_json* left = find_list(document, "left");
    return left == nullptr || left->empty() ? "" : left->front().value("place", "");
  }
  std::string text = captures->front().value("path", "");
  if (captures->size() > 1) text += fmt::format(" and {} more", captures->size() - 1);
  return text;
}

// Adds the totals of one run, or of all runs of a series.
void add_sums(const ordered_json& document, RunRow& row) {
  if (const ordered_json* runs = find_list(document, "runs"); runs != nullptr) {
    for (const ordered_json& run : *runs) add_sums(run, row);
    return;
  }
  row.seconds += object_at(document, "application").value("seconds", 0.0);
  const ordered_json* steps = find_list(document, "steps");
  if (steps == nullptr) return;
  for (const ordered_json& step : *steps) {
    if (step.value("name", "") == "fetch") row.bytes += step.value("bytes", std::uint64_t{0});
  }
}

}  // namespace

RunRow make_run_row(std::string name, const ordered_json& document) {
  RunRow row;
  row.name = std::move(name);
  row.exit_code = static_cast<int>(Exit::internal_error);
  try {
    row.exit_code = document.value("exit_code", row.exit_code);
    row.outcome = shorten(printable(outcome_text(document)), kMaxOutcomeWidth);
    row.capture = capture_text(document);
    add_sums(document, row);
  } catch (const ordered_json::exception&) {
    row.outcome = "its report is damaged";
  }
  return row;
}

void print_runs(const std::string& what, const std::vector<RunRow>& rows) {
  if (log::level() < log::Level::normal) return;
  TextTable table({what, "Outcome", "Capture", "Seconds", "Fetched", "Exit code"},
                  {false, false, false, true, true, true});
  RowBuilder cells(table);
  for (const RunRow& row : rows) {
    cells.text(row.name);
    cells.text(row.outcome);
    row.capture.empty() ? cells.missing() : cells.text(row.capture);
    row.seconds > 0 ? cells.number(fmt::format("{:.2f}", row.seconds)) : cells.missing();
    row.bytes > 0 ? cells.number(human_bytes(row.bytes)) : cells.missing();
    cells.number(row.exit_code);
    cells.end_row();
  }
  Progress::clear_line();
  fmt::print(stderr, "{}", table.for_terminal(STDERR_FILENO));
}

std::vector<std::string> captures_with_data(const ordered_json& document) {
  std::vector<std::string> paths;
  const ordered_json* captures = find_list(document, "captures");
  if (captures == nullptr) return paths;
  for (const ordered_json& capture : *captures) {
    if (capture.value("has_data", false)) paths.push_back(capture.value("path", ""));
  }
  return paths;
}

}  // namespace msprof
