#include "svp_baselines.hpp"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace msprof::bench {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using Row = std::array<std::int64_t, 14>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

// The fields of record `i`, equal in the capture and in the bare insert.
Row make_row(std::int64_t i) {
  const std::int64_t total = 100'000 + (i * 7919) % 50'000;
  Row row = {i % kLayers, 81'234'567'890'123 + i * 150'000, total};
  for (std::size_t unit = 3; unit < 11; ++unit) {
    row[unit] = total * ((i * 31 + static_cast<std::int64_t>(unit) * 17) % 100) / 100;
  }
  row[11] = 819'200 + i % kLayers;
  row[12] = 409'600;
  row[13] = i / kLayers;
  return row;
}

void append_record(std::string& bytes, std::int64_t i) {
  const Row row = make_row(i);
  const auto put = [&bytes](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(static_cast<std::uint32_t>(row[0]));
  put(std::uint32_t{0});
  for (std::size_t field = 1; field < row.size(); ++field) put(row[field]);
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file) fail(path.c_str());
}

void execute(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK) return;
  std::fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
  std::exit(1);
}

double insert_here(const fs::path& database, std::int64_t records) {
  // The rows are ready before the clock starts, so that only SQLite is measured.
  std::vector<Row> rows;
  rows.reserve(static_cast<std::size_t>(records));
  for (std::int64_t i = 0; i < records; ++i) rows.push_back(make_row(i));

  fs::remove(database);
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(database.c_str(), &db, flags, nullptr) != SQLITE_OK) fail("sqlite");
  execute(db,
          "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
          "PRAGMA locking_mode=EXCLUSIVE; PRAGMA secure_delete=OFF; PRAGMA cache_size=-16384;"
          "CREATE TABLE bare(a INTEGER, b INTEGER, c INTEGER, d INTEGER, e INTEGER, f INTEGER, g "
          "INTEGER,"
          " h INTEGER, i INTEGER, j INTEGER, k INTEGER, l INTEGER, m INTEGER, n INTEGER)");
  const auto start = Clock::now();
  execute(db, "BEGIN");
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO bare VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", -1, &insert,
                     nullptr);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      sqlite3_bind_int64(insert, static_cast<int>(i) + 1, row[i]);
    if (sqlite3_step(insert) != SQLITE_DONE) fail("insert");
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  execute(db, "COMMIT");
  const double seconds = seconds_since(start);
  sqlite3_close(db);
  fs::remove(database);
  return seconds;
}

}  // namespace

std::uint64_t make_capture(const fs::path& folder, std::int64_t records) {
  fs::create_directories(folder / "data");
  write_text(folder / "info.json.0", R"({"DeviceInfo": [{"aic_frequency": "1000"}]})");
  write_text(folder / "data/bench.1.net.info",
             "#msprof-net 1\nmodel_name:bench\nmodel_id:1\nbatch_num:1\n");
  std::string layers = "#msprof-layers 1\n";
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    const std::string id = std::to_string(layer);
    layers += id + "\t0\tConv2D\tAA_CORE\tconv" + id + "_pointwise\tconv" + id + "+bn" + id + "\n";
  }
  write_text(folder / "data/bench.1.layer.info", layers);

  const fs::path data = folder / "data/aicore.0.bench.1.0.1.1.0";
  std::ofstream file(data, std::ios::binary);
  std::string bytes("MSVP\1\0\x70\0\1\0\0\0\0\0\0\0", 16);
  std::uint64_t written = 0;
  for (std::int64_t i = 0; i < records; ++i) {
    append_record(bytes, i);
    if (bytes.size() < (1u << 20) && i + 1 < records) continue;
    file << bytes;
    written += bytes.size();
    bytes.clear();
  }
  if (!file.flush()) fail(data.c_str());
  write_text(data.string() + ".done",
             "file_len:" + std::to_string(written) + "\nstart_time:1\nend_time:2\n");
  return written;
}

double bare_insert_seconds(const fs::path& database, std::int64_t records) {
  // Runs in a separate process, so that the rows do not count towards the peak memory of the
  // commands started from this process.
  int ends[2];
  if (::pipe(ends) != 0) fail("pipe");
  const pid_t pid = ::fork();
  if (pid < 0) fail("fork");
  if (pid == 0) {
    const double seconds = insert_here(database, records);
    _exit(::write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
  }
  ::close(ends[1]);
  double seconds = 0;
  const bool answered = ::read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  if (!answered) fail("bare insert");
  return seconds;
}

}  // namespace msprof::bench
