#include "msprof/collection.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "msprof/pipeline.hpp"

namespace msprof {

namespace {

nlohmann::json paths_json(const std::vector<std::filesystem::path>& paths) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& path : paths) list.push_back(valid_utf8(path.string()));
  return list;
}

nlohmann::json application_json(const Outcome& outcome) {
  nlohmann::json application = {{"interrupted", outcome.was_interrupted},
                                {"timed_out", outcome.has_timed_out},
                                {"connection_lost", outcome.end.is_connection_lost}};
  const ProgramEnd& end = outcome.end;
  if (!end.is_unknown) application["seconds"] = outcome.seconds;
  if (end.exit_code) application["exit_code"] = *end.exit_code;
  if (end.signal != 0) application["signal"] = signal_name(end.signal);
  if (!end.start_error.empty()) application["start_error"] = end.start_error;
  return application;
}

nlohmann::json collect_result_json(const CollectResult& result) {
  nlohmann::json document = {{"application", application_json(result.outcome)},
                             {"captures", nlohmann::json::array()},
                             {"files", paths_json(result.files)},
                             {"deleted", paths_json(result.deleted)},
                             {"steps", nlohmann::json::array()}};
  if (!result.main.empty()) document["main"] = valid_utf8(result.main);
  for (const CollectedCapture& capture : result.captures) {
    document["captures"].push_back(
        {{"path", valid_utf8(capture.path.string())}, {"has_data", capture.has_data}});
  }
  for (const LeftCapture& left : result.left) {
    nlohmann::json entry = {
        {"place", valid_utf8(left.place)}, {"bytes", left.bytes}, {"has_data", left.has_data}};
    if (left.exit_code) entry["exit_code"] = *left.exit_code;
    if (!left.products.empty()) entry["products"] = valid_utf8(left.products.string());
    document["left"].push_back(std::move(entry));
  }
  for (const CollectStep& step : result.steps) {
    document["steps"].push_back({{"name", step.name},
                                 {"seconds", step.seconds},
                                 {"bytes", step.bytes},
                                 {"files", step.files}});
  }
  if (!result.changed_there.empty()) document["changed_there"] = paths_json(result.changed_there);
  document["notes"] = nlohmann::json::array();
  for (const std::string& note : result.notes) document["notes"].push_back(valid_utf8(note));
  if (!result.remains.empty()) document["remains"] = valid_utf8(result.remains);
  if (!result.problem.empty()) {
    document["error"] = valid_utf8(result.problem);
    document["likely_causes"] = result.likely_causes;
  }
  return document;
}

// Processes every capture that contains data. A failed one does not stop the others.
Exit process_captures(CollectResult& result, const ProcessCapture& process,
                      nlohmann::json& reports) {
  Exit code = Exit::ok;
  const auto start = std::chrono::steady_clock::now();
  for (const CollectedCapture& capture : result.captures) {
    if (!capture.has_data) continue;
    nlohmann::json report = nlohmann::json::object();
    Exit one = Exit::ok;
    try {
      interrupt::check();
      one = process(capture.path, &report);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) {
        log::info("not imported: {} (interrupted)", capture.path.string());
      } else {
        log::failure(error);
      }
      report["error"] = valid_utf8(error.what());
      one = error.code();
    }
    report["capture"] = valid_utf8(capture.path.string());
    report["exit_code"] = static_cast<int>(one);
    reports.push_back(std::move(report));
    code = gravest(code, one);
  }
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  result.steps.push_back({"import and export", spent.count(), 0});
  return code;
}

// Writes tuning suggestions, which the manual describes as automatic. Errors are logged with -v
// only; an import reports their cause.
void suggest_tuning(const CollectResult& result) {
  for (const CollectedCapture& capture : result.captures) {
    if (!capture.has_data || !capture.path.filename().string().starts_with("PROF_")) continue;
    try {
      write_suggestions(capture.path);
    } catch (const Error& error) {
      if (error.code() == Exit::interrupted) throw;
      log::verbose("{}: no tuning suggestions: {}", capture.path.string(), error.what());
    }
  }
}

void print_next(const CollectResult& result, bool all) {
  for (const CollectedCapture& capture : result.captures) {
    if (!capture.has_data) continue;
    const std::string path = shell_word(capture.path.string());
    if (all) {
      log::info("next: msprof show -dir {}", path);
    } else {
      log::info("next: msprof import -dir {0}, then msprof show -dir {0}", path);
    }
    return;
  }
}

// Adds the layout that the import of `capture` used, read from its report.
void add_layout(const nlohmann::json& reports, const std::filesystem::path& capture,
                RunLayout& layout) {
  for (const nlohmann::json& report : reports) {
    if (report.value("capture", "") != valid_utf8(capture.string())) continue;
    const auto imported = report.find("import");
    if (imported == report.end() || !imported->contains("layout")) continue;
    const nlohmann::json& used = imported->at("layout");
    if (!used.is_object()) continue;
    if (used.value("file", "") != layout.file)
      layout = {used.value("file", ""), used.value("source", ""), ""};
    layout.origin = imported->value("layout_origin", "");
  }
}

void write_records(const CollectResult& result, const RunRecord& record,
                   const nlohmann::json& reports) {
  for (const CollectedCapture& capture : result.captures) {
    try {
      RunRecord own = record;
      add_layout(reports, capture.path, own.layout);
      write_run_record(capture.path, own);
    } catch (const Error& error) {
      log::warn("{}", error.what());  // the capture is complete without it
    }
  }
}

}  // namespace

Exit run_collection(Host& host, const CollectOptions& options, CollectionPlan plan,
                    nlohmann::ordered_json& document) {
  plan.record.command = {options.main};
  plan.record.command.insert(plan.record.command.end(), options.arguments.begin(),
                             options.arguments.end());
  CollectResult result;
  try {
    collect(options, host, plan.record, result);
  } catch (const Error& error) {
    record_failure(result, plan, error, document);
    throw;
  }
  return finish_collection(result, plan, document);
}

void record_failure(const CollectResult& result, const CollectionPlan& plan, const Error& error,
                    nlohmann::ordered_json& document) {
  write_records(result, make_run_record(result, plan.record, error.code()),
                nlohmann::json::array());
  document.update(collect_result_json(result));  // the last step reached
  if (!result.remains.empty()) log::info("{}", result.remains);
}

Exit finish_collection(CollectResult& result, const CollectionPlan& plan,
                       nlohmann::ordered_json& document) {
  const bool is_processed = plan.process != nullptr;
  nlohmann::json reports = nlohmann::json::array();
  const auto write = [&](Exit exit) {
    write_records(result, make_run_record(result, plan.record, exit), reports);
  };
  // Written before the import, which reads it.
  write(result.exit_code);
  // Ctrl-C is the usual way to stop an endless application: its capture is still processed.
  if (result.outcome.was_interrupted && interrupt::received() == SIGINT) interrupt::acknowledge();
  // The same applies if the terminal of a long run is closed.
  interrupt::ignore_hangup();
  if (is_processed) {
    result.exit_code = gravest(result.exit_code, process_captures(result, plan.process, reports));
    write(result.exit_code);
  } else {
    suggest_tuning(result);
  }
  if (plan.names_next) print_next(result, is_processed);
  if (!result.remains.empty()) log::info("{}", result.remains);
  document.update(collect_result_json(result));
  if (is_processed) document["results"] = reports;
  return result.exit_code;
}

}  // namespace msprof
