#include "cluster/run/local_run.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/atomic_file.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "cluster/run/pool.hpp"

namespace msprof::cluster {

namespace fs = std::filesystem;

namespace {

// Half of what Linux allows for a command line and environment at the default stack limit.
constexpr std::size_t kMaxArgumentBytes = 1 << 20;
constexpr std::uint64_t kMaxMergeLog = 16 << 20;

std::string failure_sentence(const PoolEnd& end, const fs::path& log) {
  std::string text = last_line(log);
  if (text.starts_with("error: ")) text.erase(0, 7);
  if (end.result.signal != 0 || text.empty()) {
    text = end.result.text();
    if (end.tries > 1) text += fmt::format(", {} times", end.tries);
  }
  return text;
}

void add_choice(std::vector<std::string>& words, const CaptureResult& result,
                const WorkOptions& options) {
  const auto rank = result.capture.rank;
  if (rank) words.insert(words.end(), {"--rank", std::to_string(*rank)});
  if (options.stores.empty()) return;
  const fs::path store = options.stores / result.part.parent_path().filename();
  words.insert(words.end(), {"--store", store.string()});
}

std::vector<std::string> rank_command(const CaptureResult& result, const WorkOptions& options) {
  std::vector<std::string> words = {
      options.msprof.string(),        "rank",     "--dir",
      result.capture.folder.string(), "--output", result.part.string()};
  add_choice(words, result, options);
  return words;
}

std::vector<std::string> parquet_command(const CaptureResult& result, const WorkOptions& options) {
  std::vector<std::string> words = {options.msprof.string(),
                                    "export",
                                    "parquet",
                                    "--dir",
                                    result.capture.folder.string(),
                                    "--output",
                                    options.parquet.string()};
  add_choice(words, result, options);
  return words;
}

PoolOptions pool_options(const WorkOptions& options, const char* label) {
  PoolOptions pool;
  pool.jobs = options.jobs == 0 ? usable_cores() : options.jobs;
  pool.label = label;
  return pool;
}

// Writes the Parquet files of each capture that has a part. Called after all parts are done: those
// are needed first.
void make_parquet(const PartFolder& folder, std::vector<CaptureResult>& results,
                  const std::vector<std::string>& fingerprints, const WorkOptions& options) {
  std::vector<PoolTask> tasks;
  std::vector<std::size_t> of_task;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ClusterCapture& capture = results[i].capture;
    if (!results[i].has_part() || folder.has_parquet(capture, fingerprints[i], options.parquet))
      continue;
    tasks.push_back({parquet_command(results[i], options), folder.parquet_log_path(capture)});
    of_task.push_back(i);
  }
  create_output_folder(options.parquet);
  run_pool(tasks, pool_options(options, "Parquet"), [&](std::size_t task, const PoolEnd& end) {
    CaptureResult& result = results[of_task[task]];
    const Exit exit = to_exit(end.result.exit_code);
    if (exit == Exit::ok || exit == Exit::partial_data) {
      folder.remember_parquet(result.capture, fingerprints[of_task[task]], options.parquet);
      return true;
    }
    result.lacks = failure_sentence(end, tasks[task].log);
    return false;
  });
}

MergeEnd merge_once(const std::vector<fs::path>& parts, const fs::path& output, const fs::path& log,
                    const WorkOptions& options, bool is_last) {
  PoolTask task = {{options.msprof.string(), "merge"}, log};
  for (const fs::path& part : parts) task.arguments.push_back(part.string());
  task.arguments.insert(task.arguments.end(), {"--output", output.string()});
  if (is_last && !options.manifest.empty())
    task.arguments.insert(task.arguments.end(), {"--manifest", options.manifest.string()});
  if (!options.detail_rows.empty())
    task.arguments.insert(task.arguments.end(), {"--detail-rows", options.detail_rows});
  PoolOptions pool;
  pool.label = "merge";
  MergeEnd merged;
  run_pool({task}, pool, [&](std::size_t, const PoolEnd& end) {
    merged.exit = to_exit(end.result.exit_code);
    std::error_code error;
    const bool is_there = fs::is_regular_file(output, error);
    const bool has_read_all = merged.exit == Exit::ok;
    if (!is_there && has_read_all)
      throw Error(Exit::internal_error, fmt::format("merge did not write {}", output.string()));
    if (!is_there || (!has_read_all && merged.exit != Exit::partial_data)) {
      throw Error(merged.exit,
                  fmt::format("merging {} failed: {} (log: {})", counted(parts.size(), "part"),
                              failure_sentence(end, log), log.string()));
    }
    merged.text = read_text_file(log, kMaxMergeLog);
    return true;
  });
  return merged;
}

// Returns how many of `parts`, starting at index `begin`, fit on a command line; at least two.
std::size_t fitting(const std::vector<fs::path>& parts, std::size_t begin) {
  std::size_t bytes = 0;
  std::size_t end = begin;
  while (end < parts.size() && (bytes += parts[end].native().size() + 9) < kMaxArgumentBytes) ++end;
  return std::max(end, std::min(parts.size(), begin + 2)) - begin;
}

}  // namespace

fs::path own_program() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path("msprof") : find_program(path);
}

// ROOT/lib/msprof/loader/msprof is the dynamic loader that starts the program of a release archive.
// It has its own options, so it must not be started directly.
fs::path find_program(const fs::path& running) {
  const fs::path loader = running.parent_path();
  if (loader.filename() != "loader") return running;
  const fs::path root = loader.parent_path().parent_path().parent_path();
  const fs::path program = root / "tools" / "profiler" / "bin" / "msprof";
  std::error_code error;
  return fs::is_regular_file(program, error) ? program : running;
}

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return static_cast<std::size_t>(CPU_COUNT(&set));
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<std::size_t>(online) : 1;
}

std::vector<CaptureResult> make_parts(const PartFolder& folder,
                                      const std::vector<ClusterCapture>& captures,
                                      const WorkOptions& options) {
  std::vector<CaptureResult> results(captures.size());
  std::vector<std::string> fingerprints(captures.size());
  std::vector<PoolTask> tasks;
  std::vector<std::size_t> of_task;
  for (std::size_t i = 0; i < captures.size(); ++i) {
    interrupt::check();
    fingerprints[i] = PartFolder::fingerprint(captures[i]);
    if (auto current = folder.find_current(captures[i], fingerprints[i])) {
      results[i] = std::move(*current);
      continue;
    }
    folder.begin(captures[i]);
    results[i].capture = captures[i];
    results[i].part = folder.part_path(captures[i]);
    tasks.push_back({rank_command(results[i], options), folder.log_path(captures[i])});
    of_task.push_back(i);
  }
  if (!options.stores.empty() && !tasks.empty()) create_output_folder(options.stores);
  run_pool(tasks, pool_options(options, "parts"), [&](std::size_t task, const PoolEnd& end) {
    CaptureResult& result = results[of_task[task]];
    std::error_code error;
    result.exit = to_exit(end.result.exit_code);
    const bool is_there = fs::is_regular_file(result.part, error);
    const bool is_made = result.exit == Exit::ok || result.exit == Exit::partial_data;
    if (is_made && is_there) {
      result.outcome = result.exit == Exit::ok ? PartOutcome::made : PartOutcome::partial;
      folder.remember(result, fingerprints[of_task[task]]);
      return true;
    }
    // A damaged store gives no part: `rank` reports it.
    const bool is_unexplained = result.exit == Exit::ok;
    result.reason =
        is_unexplained ? "no rank summary was written" : failure_sentence(end, tasks[task].log);
    if (is_unexplained) result.exit = Exit::internal_error;
    log::warn("{}: {} (log: {})", result.capture.folder.string(), result.reason,
              tasks[task].log.string());
    return false;
  });
  if (!options.parquet.empty()) make_parquet(folder, results, fingerprints, options);
  return results;
}

MergeEnd run_merge(const std::vector<fs::path>& parts, const fs::path& output, const fs::path& log,
                   const WorkOptions& options) {
  if (parts.empty()) throw Error(Exit::nothing_to_do, "no rank summaries to merge");
  std::vector<fs::path> left = parts;
  std::optional<TemporaryFolder> between;
  std::size_t next = 0;
  MergeEnd all;
  while (fitting(left, 0) < left.size()) {
    std::vector<fs::path> merged;
    for (std::size_t begin = 0; begin < left.size();) {
      const std::size_t count = fitting(left, begin);
      const auto first = left.begin() + static_cast<std::ptrdiff_t>(begin);
      // Extension .part: merge does not report missing ranks of an intermediate part.
      if (!between) between.emplace(output);
      const fs::path target = between->path() / fmt::format("{}.part", next++);
      const MergeEnd end = merge_once({first, first + static_cast<std::ptrdiff_t>(count)}, target,
                                      log, options, false);
      all.exit = gravest(all.exit, end.exit);
      all.text += end.text;
      merged.push_back(target);
      begin += count;
    }
    left = merged;
  }
  const MergeEnd last = merge_once(left, output, log, options, true);
  return {gravest(all.exit, last.exit), all.text + last.text};
}

}  // namespace msprof::cluster
