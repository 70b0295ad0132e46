// Stores and captures that are large in one respect: more rows of a table, or more files, than any
// run has. Each reading verb must end with a documented exit code within the memory that msprof
// allows itself: three times the store, but at least 256 MB.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "soak/soak.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/prof/prof_run.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

namespace {

using namespace msprof::test;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::uintmax_t kLeastMemory = 256 << 20;

struct Shape {
  const char* name;
  bool is_job;
  const char* sql;  // changes the store; if null, the capture has many empty files
};

constexpr Shape kShapes[] = {
    {"20,000 empty files", true, nullptr},
    {"1,000,000 iterations", false,
     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)"
     "INSERT INTO iteration(device_id, model_number, number, start_ns, end_ns, duration_ns)"
     " SELECT 0, 1, i + 100000, i, i + 1, i % 1000 FROM n"},
    {"3,000,000 names without use", false,
     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000)"
     "INSERT INTO name(text) SELECT 'a name that no row uses, with the number ' || i FROM n"},
    {"500,000 operators that ran", false,
     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000)"
     "INSERT INTO op(name_id, type_name_id) SELECT 1, 1 FROM n;"
     "INSERT INTO task(op_id, device_id, start_ns, duration_ns) SELECT id, 0, id, 1 FROM op"},
};

// A capture of a shape with its store.
struct LargeCapture {
  explicit LargeCapture(const Shape& shape) {
    if (shape.is_job) {
      JobBuilder job(temp.path(), "JOBA");
      add_face(job);
      folder = job.folder();
    } else {
      prof::RunShape run;
      run.tasks = 120;
      folder = prof::make_run(temp.path(), {}, run).folder;
    }
    for (int i = 0; shape.sql == nullptr && i < 20'000; ++i)
      write_file(folder / "data" / fmt::format("empty.{}", i), "");
    run_msprof({"import", "-q", "-dir", folder.string()});
    const fs::path store = folder / "sqlite" / "msprof.db";
    if (shape.sql != nullptr) query(store, shape.sql);
    memory = std::max<std::uintmax_t>(kLeastMemory, 3 * fs::file_size(store));
  }

  TempFolder temp;
  fs::path folder;
  std::uintmax_t memory = 0;
};

std::vector<Words> verbs_on(const std::string& dir) {
  return {{"report", "-dir", dir},
          {"show", "-dir", dir},
          {"show", "--json", "-dir", dir},
          {"query", "-dir", dir},
          {"list", dir},
          {"export", "summary", "-dir", dir},
          {"export", "parquet", "-dir", dir},
          {"advise", "-dir", dir},
          {"doctor", "--dir", dir}};
}

void try_one(std::uint64_t number, SoakReport& report) {
  static std::map<std::size_t, LargeCapture> captures;
  const std::size_t at = number % std::size(kShapes);
  const LargeCapture& capture = captures.try_emplace(at, kShapes[at]).first->second;
  const auto verbs = verbs_on(capture.folder.string());
  const Words& verb = verbs[number / std::size(kShapes) % verbs.size()];
  // -d: heap, stacks and other private memory.
  Words words = {"-c", fmt::format("ulimit -d {} && exec \"$0\" \"$@\"", capture.memory >> 10),
                 msprof_path()};
  words.insert(words.end(), verb.begin(), verb.end());
  const RunResult result = run_program("/bin/sh", words);
  report.count(fmt::format("{} ended with {}", verb.front(), result.exit_code));
  const bool is_answer = result.exit_code == 0 || result.exit_code == 3 || result.exit_code == 4;
  if (!is_answer || result.signal != 0) {
    report.fail(number, fmt::format("{}: {}: exit code {}, signal {}: {}", kShapes[at].name,
                                    fmt::join(verb, " "), result.exit_code, result.signal,
                                    result.err.substr(0, 500)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_soak(
      argc, argv, "large_stores", 36,
      [&](std::uint64_t number, SoakRandom&, SoakReport& report) { try_one(number, report); });
}
