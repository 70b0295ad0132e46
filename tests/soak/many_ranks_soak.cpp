// Rank summaries and merging under random conditions. Any tree of merges must give the bytes of a
// single merge; a damaged summary must be merged or reported; `rank` and `merge`, killed after a
// random time or before a random call that changes a file, must leave the old file or the complete
// new one, and the next run must give the bytes of an undisturbed one and no other files.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "cluster/part_files.hpp"
#include "soak/soak.hpp"
#include "support/files.hpp"
#include "support/ranks/rank_folder.hpp"
#include "support/ranks/rank_part_file.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

using Words = std::vector<std::string>;

constexpr int kPartialExit = 3, kNothingExit = 4;

RunResult run_to_end(const Words& words, const std::string& what, const std::vector<int>& codes) {
  RunResult result = run_msprof(words);
  if (std::count(codes.begin(), codes.end(), result.exit_code) == 0)
    throw std::runtime_error(what + " ended with " + std::to_string(result.exit_code) + ": " +
                             result.err);
  return result;
}

std::int64_t pick(SoakRandom& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

// A command that creates one file in a separate folder.
class KilledMaker {
 public:
  KilledMaker(std::string name, Words words, fs::path output, fs::path store = {})
      : name_(std::move(name)),
        words_(std::move(words)),
        output_(std::move(output)),
        store_(std::move(store)) {
    const fs::path counted = output_.parent_path().string() + ".calls";
    const auto start = Clock::now();
    const RunResult result = run_msprof(words_, preloaded("COUNT_CALLS_TO", counted.string()));
    if (result.exit_code != 0) throw std::runtime_error(name_ + " failed: " + result.err);
    duration_ = Clock::now() - start;
    calls_ = std::stoull(read_file(counted));
    expected_ = read_file(output_);
  }

  void trial(std::uint64_t number, SoakRandom& random, SoakReport& report) {
    fs::remove(output_);
    if (random() % 2 == 0) fs::remove_all(store_);
    const bool has_older = random() % 2 == 0;
    if (has_older) write_file(output_, kOlder);
    const bool was_killed = random() % 2 == 0 ? kill_by_time(random) : kill_by_call(random);
    report.count(name_ + (was_killed ? ": killed" : ": had ended"));
    const std::string left = fs::exists(output_) ? read_file(output_) : "";
    if (left == expected_) {
      report.count(name_ + ": the new file was there");
    } else if (left != (has_older ? kOlder : "")) {
      report.fail(number, name_ + ": half a file was left");
    }
    run_to_end(words_, "the run after the kill", {0});
    if (read_file(output_) != expected_) report.fail(number, name_ + ": other bytes");
    for (const std::string& other : names_in(output_.parent_path()))
      if (other != output_.filename()) report.fail(number, name_ + ": " + other + " stayed");
  }

 private:
  static constexpr const char* kOlder = "what was there before";

  bool kill_by_time(SoakRandom& random) const {
    RunningProgram program(msprof_path(), words_);
    std::uniform_real_distribution<double> moment(0, duration_.count() * 1.1);
    std::this_thread::sleep_for(std::chrono::duration<double>(moment(random)));
    program.send(SIGKILL);
    return program.wait().signal == SIGKILL;
  }

  bool kill_by_call(SoakRandom& random) const {
    const std::string call = std::to_string(random() % (calls_ + 1));
    return run_msprof(words_, preloaded("KILL_AT_CALL", call)).signal == SIGKILL;
  }

  static RunOptions preloaded(const char* variable, const std::string& value) {
    RunOptions options;
    options.variables = {{variable, value}, {"LD_PRELOAD", KILL_AT_CALL_LIBRARY}};
    // ASan expects to be loaded first, but works as the second.
    const char* sanitizer = std::getenv("ASAN_OPTIONS");
    options.variables.emplace_back(
        "ASAN_OPTIONS",
        std::string(sanitizer == nullptr ? "" : sanitizer) + ":verify_asan_link_order=0");
    return options;
  }

  std::string name_;
  Words words_;
  fs::path output_;
  fs::path store_;  // intermediate result, kept for the next run
  std::chrono::duration<double> duration_{};
  std::uint64_t calls_ = 0;  // calls that change files, in an undisturbed run
  std::string expected_;
};

// Rank summaries of a cluster of random shape.
struct RandomCluster {
  explicit RandomCluster(SoakRandom& random) {
    shape.ranks = pick(random, 1, 40);
    shape.ranks_per_host = pick(random, 1, 9);
    shape.steps = pick(random, 1, 3);
    shape.collectives = pick(random, 1, 12);
    shape.operators = pick(random, 1, 12);
    shape.seed = random();
    shape.is_parallel = random() % 2 == 0;
    shape.faults.growing = random() % 2 == 0;
    shape.faults.slow_rank = pick(random, -1, shape.ranks - 1);
    shape.faults.late_host = pick(random, -1, shape.hosts() - 1);
    shape.faults.offset_us = pick(random, 1, 5'000'000);
    const ranks::ClusterRun run(shape);
    for (std::int64_t rank = 0; rank < shape.ranks; ++rank) {
      if (shape.ranks > 1 && random() % 10 == 0) continue;
      paths.push_back(folder / ranks::part_name(rank));
      ranks::write_rank_part_file(paths.back(), run, rank);
    }
    if (paths.empty()) {
      paths.push_back(folder / ranks::part_name(0));
      ranks::write_rank_part_file(paths.back(), run, 0);
    }
    rows_limit = random() % 3 == 0 ? pick(random, 0, 200) : 50'000'000;
  }

  // Below the root of a tree of merges, `limit` may be any number >= rows_limit.
  void merge(const std::vector<fs::path>& parts, const fs::path& output, std::int64_t limit,
             const std::vector<int>& codes) const {
    Words words = {"merge", "--output", output.string(), "--detail-rows", std::to_string(limit)};
    for (const fs::path& part : parts) words.push_back(part.string());
    err = run_to_end(words, "merge", codes).err;
  }

  TempFolder folder;
  ranks::ClusterShape shape;
  std::vector<fs::path> paths;
  std::int64_t rows_limit = 0;
  mutable std::string err;
};

void try_tree(std::uint64_t number, SoakRandom& random, SoakReport& report) {
  const RandomCluster cluster(random);
  const std::vector<int> codes = {0, kPartialExit};  // ranks may be missing
  cluster.merge(cluster.paths, cluster.folder / "all.db", cluster.rows_limit, codes);
  std::vector<fs::path> level = cluster.paths;
  int made = 0;
  do {
    std::shuffle(level.begin(), level.end(), random);
    const auto count =
        pick(random, 1, std::min<std::int64_t>(12, static_cast<std::int64_t>(level.size())));
    const std::vector<fs::path> some(level.end() - count, level.end());
    level.resize(level.size() - static_cast<std::size_t>(count));
    const std::int64_t limit = cluster.rows_limit + (level.empty() ? 0 : pick(random, 0, 300));
    level.push_back(cluster.folder / ("node_" + std::to_string(made++) + ".part"));
    cluster.merge(some, level.back(), limit, codes);
  } while (level.size() > 1);
  report.count(cluster.rows_limit < 1000 ? "tree with a limit of rows" : "tree");
  if (read_file(level.front()) != read_file(cluster.folder / "all.db"))
    report.fail(number, "a tree of merges has other bytes");
}

// Changes a byte, truncates, or changes a cell and updates the checksum.
void damage(const fs::path& part, SoakRandom& random) {
  if (random() % 2 == 0) {
    const auto& tables = part_table_names();
    const std::string& table = tables[random() % tables.size()];
    const auto columns = query(part, "SELECT name FROM pragma_table_info('" + table + "')");
    static const char* const kValues[] = {"-1",
                                          "0",
                                          "1",
                                          "7",
                                          "NULL",
                                          "'text'",
                                          "5.5",
                                          "x'ff01'",
                                          "9223372036854775807",
                                          "-9223372036854775807"};
    const std::string& column = columns[random() % columns.size()];
    try {
      change_part(part, "UPDATE OR IGNORE " + table + " SET " + column + " = " +
                            kValues[random() % std::size(kValues)] +
                            " WHERE rowid = (SELECT rowid FROM " + table +
                            " ORDER BY random() LIMIT 1)");
    } catch (const std::runtime_error&) {
      return;  // the column cannot hold that value
    }
    return;
  }
  std::string bytes = read_file(part);
  if (random() % 3 == 0) {
    bytes.resize(random() % bytes.size());
  } else {
    bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
  }
  write_file(part, bytes);
}

void try_damage(std::uint64_t number, SoakRandom& random, SoakReport& report) {
  const RandomCluster cluster(random);
  for (const fs::path& part : cluster.paths)
    if (random() % 3 == 0) damage(part, random);
  const fs::path merged = cluster.folder / "all.db";
  cluster.merge(cluster.paths, merged, cluster.rows_limit, {0, kPartialExit, kNothingExit});
  std::vector<fs::path> sound;
  for (const fs::path& part : cluster.paths)
    if (cluster.err.find("not merged: " + part.string() + " ") == std::string::npos)
      sound.push_back(part);
  report.count(sound.size() == cluster.paths.size() ? "damage that says nothing"
                                                    : "damage refused");
  if (!fs::exists(merged)) return report.count("nothing to merge");
  const std::string bytes = read_file(merged);
  if (seal_in(bytes) != compute_seal(bytes)) report.fail(number, "a merged part without its seal");
  cluster.merge(sound, cluster.folder / "sound.db", cluster.rows_limit, {0, kPartialExit});
  if (cluster.err.find("not merged") != std::string::npos)
    report.fail(number, "a part is refused only at the second time: " + cluster.err);
  if (read_file(cluster.folder / "sound.db") != bytes)
    report.fail(number, "refused parts leave something in the result");
}

KilledMaker rank_maker(const fs::path& scratch) {
  ranks::ClusterShape shape;
  shape.tasks = 1500;
  shape.collectives = 10;
  shape.compute_ns = 4000 * ranks::kernels_before_collective(shape);
  const ranks::ClusterRun run(shape);
  const fs::path capture = ranks::write_rank_folder(scratch, run, 5);
  const fs::path output = scratch / "rank" / "5.part";
  return {"rank",
          {"rank", "-q", "-dir", capture.string(), "--output", output.string()},
          output,
          capture / "sqlite"};
}

KilledMaker merge_maker(const std::string& name, std::int64_t parts, const fs::path& scratch) {
  ranks::ClusterShape shape;
  shape.ranks = parts;
  shape.collectives = 3;
  shape.operators = 3;
  shape.steps = 1;
  const ranks::ClusterRun run(shape);
  const fs::path output = scratch / name / "cluster.db";
  Words words = {"merge", "-q", "--output", output.string()};
  for (std::int64_t rank = 0; rank < parts; ++rank) {
    words.push_back((scratch / (name + "_parts") / ranks::part_name(rank)).string());
    fs::create_directories(scratch / (name + "_parts"));
    ranks::write_rank_part_file(words.back(), run, rank);
  }
  return {name, words, output};
}

}  // namespace

int main(int argc, char** argv) {
  const TempFolder folder;
  KilledMaker rank = rank_maker(folder.path());
  KilledMaker merge = merge_maker("merge", 20, folder.path());
  KilledMaker levels = merge_maker("merge of levels", 120, folder.path());
  return run_soak(argc, argv, "many_ranks", 500,
                  [&](std::uint64_t number, SoakRandom& random, SoakReport& report) {
                    switch (number % 6) {
                      case 0:
                      case 3:
                        return try_tree(number, random, report);
                      case 1:
                        return merge.trial(number, random, report);
                      case 2:
                        return try_damage(number, random, report);
                      case 4:
                        return rank.trial(number, random, report);
                      default:
                        return levels.trial(number, random, report);
                    }
                  });
}
