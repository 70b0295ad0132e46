#include "store/trace_db.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "store/database.hpp"
#include "store/read_failure.hpp"
#include "store/schema.hpp"
#include "store/store_limits.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Readers read the tasks of each run by id. If runs overlapped, which import never writes, they
// could read the table any number of times.
bool has_disjoint_runs(const Database& db) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  Statement read = db.prepare("SELECT first_task_id, last_task_id FROM task_run ORDER BY id");
  while (read.step()) {
    if (!read.is_integer(0) || !read.is_integer(1)) return false;
    if (read.integer(0) <= read.integer(1)) runs.emplace_back(read.integer(0), read.integer(1));
  }
  std::sort(runs.begin(), runs.end());
  return std::adjacent_find(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
           return b.first <= a.second;
         }) == runs.end();
}

bool has_possible_counts(const Database& db) {
  Statement read = db.prepare(
      "SELECT (SELECT count(*) FROM device), (SELECT count(*) FROM step),"
      " (SELECT count(*) FROM model WHERE EXISTS"
      " (SELECT 1 FROM meta WHERE key = 'dialect' AND value = 'svp'))");
  const auto is_within = [&](int column, std::size_t limit) {
    return read.integer(column) <= static_cast<std::int64_t>(limit);
  };
  return read.step() && is_within(0, store_limit::kDevices) &&
         is_within(1, store_limit::kBoardSteps) && is_within(2, store_limit::kBoardModels);
}

}  // namespace

std::optional<TraceDb> TraceDb::open(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  try {
    TraceDb store(Database::open_read_only(path), path);
    Statement version = store.prepare("SELECT * FROM pragma_user_version, pragma_application_id");
    if (!version.step() || version.integer(0) != kSchemaVersion ||
        version.integer(1) != kApplicationId || !has_our_tables(store.database()) ||
        !has_possible_counts(store.database()) || !has_disjoint_runs(store.database())) {
      return std::nullopt;
    }
    store.db_.read_by_pages();
    return store;
  } catch (const UnreadableDatabase&) {
    throw;
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    return std::nullopt;  // no database or no store: import replaces the file
  }
}

std::string TraceDb::meta(std::string_view key) const {
  return read_meta(db_, key);
}

std::vector<RawFileState> TraceDb::raw_files() const {
  std::vector<RawFileState> files;
  Statement read = prepare("SELECT name, size_bytes, mtime_ns FROM raw_file ORDER BY name");
  while (read.step())
    files.push_back({std::string(read.text(0)), read.integer(1), read.integer(2)});
  return files;
}

}  // namespace msprof
