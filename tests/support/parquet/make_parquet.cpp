// For scripts/test-parquet.
//   make_parquet runs PARENT COUNT TASKS   makes a PROF folder of a run for each rank: PARENT/RANK
//   make_parquet store STORE DIR NAME      exports a store in small row groups and pages
//   make_parquet odd FILE                  a file of rare cells: the largest numbers, texts of odd
//                                          bytes, nulls, a full dictionary; tests/parquet/check.mjs
//                                          has the expected cells
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "export/parquet/file_writer.hpp"
#include "export/parquet/parquet_export.hpp"
#include "store/cells.hpp"
#include "support/prof/prof_run.hpp"

namespace {

using namespace msprof;

void make_runs(const std::filesystem::path& parent, std::uint64_t count, std::uint64_t tasks) {
  for (std::uint64_t rank = 0; rank < count; ++rank) {
    test::prof::RunShape shape;
    shape.tasks = tasks + 100 * rank;
    shape.seed = 11 + rank / 2;  // two ranks each share their operators
    const auto run = test::prof::make_run(parent / std::to_string(rank), {}, shape);
    std::puts(run.folder.c_str());
  }
}

void export_store(const char* store, const char* dir, const char* name) {
  const auto db = TraceDb::open(store);
  if (!db) throw Error(Exit::nothing_to_do, "no store");
  ParquetOptions options;
  options.group_rows = 3000;
  options.page_rows = 700;
  options.rank = 0;
  export_parquet(*db, dir, name, options);
}

void write_odd(const char* path) {
  const auto find_text = [](std::int64_t key, std::string& text) {
    const std::string texts[] = {"", std::string("a\0b", 3), "\xE5\x8D\xB7", "quote\"'\n\\"};
    text = key < 4 ? texts[key] : "text " + std::to_string(key);
    return key != 4;
  };
  parquet::FileOptions options;
  options.group_rows = 100'000;
  options.page_rows = 10'000;
  parquet::FileWriter file(path,
                           {{"id", parquet::Values::ascending, true, {}},
                            {"wide", parquet::Values::ascending, false, {}},
                            {"few", parquet::Values::repeated, false, {}},
                            {"none", parquet::Values::any, false, {}},
                            {"text", parquet::Values::repeated, false, find_text}},
                           options);
  for (std::int64_t row = 0; row < 200'003; ++row) {
    const std::int64_t extremes[] = {INT64_MAX, INT64_MIN + 1, 0, kNull, -1};
    const std::int64_t cells[] = {row, row < 50 ? extremes[row % 5] : row * 1'000'003,
                                  row % 7 == 3 ? kNull : row * 7919 % 90'001, kNull,
                                  row < 100'000 ? row % 90'000 : row % 6};
    file.add(cells);
  }
  file.finish();
  file.commit();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "runs" && argc == 5) {
      make_runs(argv[2], std::strtoull(argv[3], nullptr, 10), std::strtoull(argv[4], nullptr, 10));
    } else if (what == "store" && argc == 5) {
      export_store(argv[2], argv[3], argv[4]);
    } else if (what == "odd" && argc == 3) {
      write_odd(argv[2]);
    } else {
      std::fputs("usage: make_parquet runs|store|odd …\n", stderr);
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_parquet: %s\n", error.what());
    return 1;
  }
  return 0;
}
