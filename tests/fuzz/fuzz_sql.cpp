// Fuzz target: arbitrary text as SQL on a small store. It must never write, and it must end.
#include <unistd.h>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/log.hpp"
#include "query/query_db.hpp"
#include "store/trace_db_writer.hpp"

namespace {

using namespace msprof;
namespace fs = std::filesystem;

// A store with a few rows, deleted at the end.
struct SmallStore {
  fs::path folder = fs::temp_directory_path() / ("msprof-fuzz-sql-" + std::to_string(::getpid()));
  fs::path path = folder / "msprof.db";

  SmallStore() {
    fs::create_directories(folder);
    TraceDbWriter writer(path);
    const auto name = writer.name_id("conv1");
    for (std::int64_t i = 1; i <= 3; ++i) {
      OpRow op;
      op.id = i;
      op.name_id = name;
      writer.add(op);
      TaskRow task;
      task.id = i;
      task.op_id = i;
      task.start_ns = 1000 * i;
      task.duration_ns = 10 * i;
      writer.add(task);
    }
    writer.set_meta("dialect", "svp");
    writer.publish();
  }
  ~SmallStore() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

// Returns all contents of the store that a reader can see; queries must not change them.
std::string read_content(const QueryDb& db) {
  std::string text;
  for (Statement read = db.prepare("SELECT (SELECT group_concat(name || sql) FROM sqlite_schema),"
                                   " (SELECT count(*) FROM sqlite_temp_schema),"
                                   " (SELECT total(duration_ns) FROM task)");
       read.step();) {
    for (int i = 0; i < 3; ++i) text += std::string(read.text(i)) + "|";
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  static const SmallStore store;
  static const auto files = [] {
    return std::distance(fs::directory_iterator(store.folder), fs::directory_iterator());
  };
  const std::string_view sql(reinterpret_cast<const char*>(data), size);
  try {
    QueryDb db(*TraceDb::open(store.path), sql);
    // On a busy machine an instruction may take many times as long as on an idle one.
    constexpr double kGraceSeconds = 60;
    db.limit_time(0.2, "--timeout", kGraceSeconds);
    const std::string before = read_content(db);
    try {
      Statement read = db.ask(sql);
      for (int rows = 0; rows < 1000 && read.step(); ++rows) {
        for (int i = 0; i < read.column_count(); ++i) (void)read.text(i);
      }
    } catch (const Error& error) {
      if (error.code() != Exit::usage) std::abort();
    }
    if (read_content(db) != before || files() != 1) std::abort();
  } catch (const Error&) {
    std::abort();  // the store is valid
  }
  return 0;
}
