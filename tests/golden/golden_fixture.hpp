// A capture in a temporary folder and runs of msprof on it. For the golden tests.
#pragma once

#include <nlohmann/json.hpp>

#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

using Lines = std::vector<std::string>;

struct Capture {
  TempFolder folder;
  JobBuilder job{folder.path()};

  // Runs msprof <words> -dir <capture>.
  RunResult run(std::vector<std::string> words) const;
  // Runs import --json and returns the verdict of the only capture; checks the exit code.
  nlohmann::json import(int exit_code, std::vector<std::string> words = {}) const;
  std::string product(const std::string& name) const { return read_file(job.folder() / name); }
  Lines rows(const std::string& sql) const { return query(job.store(), sql); }
  // "severity|category|kind|file|reason|count|offset" of import_log, without successful imports and
  // products that do not exist.
  Lines log() const;
};

// A layer record of `total` cycles with idle units.
AicoreRecord layer_record(std::uint32_t layer, std::uint64_t start_ns, std::uint64_t total,
                          std::uint64_t execution = 0);

}  // namespace msprof::test
