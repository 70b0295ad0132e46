#include "msprof/collect_document.hpp"

#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace msprof {

namespace {

nlohmann::json paths_json(const std::vector<std::filesystem::path>& paths) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& path : paths) list.push_back(valid_utf8(path.string()));
  return list;
}

nlohmann::json application_json(const Outcome& outcome) {
  nlohmann::json application = {{"seconds", outcome.seconds},
                                {"interrupted", outcome.interrupted},
                                {"timed_out", outcome.timed_out},
                                {"connection_lost", outcome.end.connection_lost}};
  const ProgramEnd& end = outcome.end;
  if (end.exit_code) application["exit_code"] = *end.exit_code;
  if (end.signal != 0) application["signal"] = signal_name(end.signal);
  if (!end.start_error.empty()) application["start_error"] = end.start_error;
  return application;
}

}  // namespace

nlohmann::json document_of(const CollectResult& result) {
  nlohmann::json document = {
      {"main", valid_utf8(result.main)},       {"application", application_json(result.outcome)},
      {"captures", nlohmann::json::array()},   {"files", paths_json(result.files)},
      {"deleted", paths_json(result.deleted)}, {"steps", nlohmann::json::array()}};
  for (const CollectedCapture& capture : result.captures) {
    document["captures"].push_back(
        {{"path", valid_utf8(capture.path.string())}, {"has_data", capture.has_data}});
  }
  for (const CollectStep& step : result.steps) {
    document["steps"].push_back({{"name", step.name},
                                 {"seconds", step.seconds},
                                 {"bytes", step.bytes},
                                 {"files", step.files}});
  }
  document["notes"] = nlohmann::json::array();
  for (const std::string& note : result.notes) document["notes"].push_back(valid_utf8(note));
  if (!result.remains.empty()) document["remains"] = valid_utf8(result.remains);
  if (!result.problem.empty()) {
    document["error"] = valid_utf8(result.problem);
    document["likely_causes"] = result.likely_causes;
  }
  return document;
}

nlohmann::json document_of(const BoardFacts& facts) {
  return {{"system", valid_utf8(facts.system)},
          {"machine", valid_utf8(facts.machine)},
          {"folder", valid_utf8(facts.folder)},
          {"free_bytes", facts.free_bytes},
          {"tar", facts.has_tar},
          {"sftp", facts.has_sftp}};
}

}  // namespace msprof
