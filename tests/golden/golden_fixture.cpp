#include "golden/golden_fixture.hpp"

#include <catch2/catch.hpp>

namespace msprof::test {

RunResult Capture::run(std::vector<std::string> words) const {
  words.insert(words.end(), {"-dir", job.folder().string()});
  return run_msprof(words);
}

nlohmann::json Capture::import(int exit_code, std::vector<std::string> words) const {
  words.insert(words.begin(), {"import", "--json"});
  const RunResult result = run(words);
  INFO(result.err);
  REQUIRE(result.exit_code == exit_code);
  const auto document = nlohmann::json::parse(result.out);
  REQUIRE(document.at("schema") == "msprof.import/2");
  REQUIRE(document.at("exit_code") == exit_code);
  REQUIRE(document.at("captures").size() == 1);
  return document.at("captures").at(0);
}

Lines Capture::log() const {
  return rows(
      "SELECT severity, category, kind, file, reason, count, first_offset FROM import_log"
      " WHERE category NOT IN ('imported', 'empty product') ORDER BY 1, 2, 3, 4, 5");
}

AicoreRecord layer_record(std::uint32_t layer, std::uint64_t start_ns, std::uint64_t total,
                          std::uint64_t execution) {
  AicoreRecord record;
  record.layer_id = layer;
  record.start_ns = start_ns;
  record.total = total;
  record.execution = execution;
  return record;
}

}  // namespace msprof::test
