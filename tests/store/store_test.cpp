#include <sys/statvfs.h>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "derive/passes.hpp"
#include "store/row_cursor.hpp"
#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/files.hpp"
#include "support/small_disk.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

Names rows(const Database& db, std::string_view sql) {
  Names result;
  Statement read = db.prepare(sql);
  while (read.step()) {
    std::string row;
    for (int i = 0; i < 3; ++i) {
      if (i > 0) row += "|";
      row += read.is_null(i) ? "NULL" : std::string(read.text(i));
    }
    result.push_back(row);
  }
  return result;
}

}  // namespace

TEST_CASE("a store is visible only when it is published") {
  const TempFolder folder;
  const auto path = folder / "msprof.db";
  TraceDbWriter writer(path);
  writer.add(DeviceRow{3, kNull, 500});
  writer.set_meta("dialect", "svp");
  writer.add(RawFileState{"data/b", 5, 7});
  writer.add(RawFileState{"data/a", 1, 2});
  CHECK_FALSE(fs::exists(path));
  writer.publish();
  CHECK(names_in(folder.path()) == Names{"msprof.db"});
  const auto store = TraceDb::open(path);
  REQUIRE(store);
  CHECK(store->meta("dialect") == "svp");
  CHECK(store->meta("missing").empty());
  CHECK((store->raw_files() == std::vector<RawFileState>{{"data/a", 1, 2}, {"data/b", 5, 7}}));
  CHECK(rows(store->database(), "SELECT id, chip_name_id, frequency_hz FROM device") ==
        Names{"3|NULL|500"});
}

TEST_CASE("a writer that is not finished leaves the old store and no other file") {
  const TempFolder folder;
  const auto path = folder / "msprof.db";
  write_file(path, "old");
  {
    TraceDbWriter writer(path);
    for (int i = 0; i < 100'000; ++i) writer.add(DeviceRow{i, kNull, kNull});
    CHECK(names_in(folder.path()).size() == 2);
  }
  CHECK(names_in(folder.path()) == Names{"msprof.db"});
  CHECK(read_file(path) == "old");
}

TEST_CASE("a store that does not fit on the disk leaves no file, wherever writing fails") {
  if (!SmallDisk::is_available_or_skip()) return;
  for (const std::uint64_t room : {0u, 4096u, 16384u, 131072u, 524288u}) {
    INFO(room);
    const SmallDisk disk(4 << 20);
    struct statvfs space = {};
    REQUIRE(::statvfs(disk.path().c_str(), &space) == 0);
    write_file(disk / "filler", std::string(space.f_bavail * space.f_frsize - room, 'x'));
    const auto fill = [&] {
      TraceDbWriter writer(disk / "msprof.db");
      for (int i = 0; i < 200'000; ++i) writer.add(DeviceRow{i, i, i});
      writer.publish();
    };
    CHECK_THROWS_AS(fill(), Error);
    CHECK(names_in(disk.path()) == Names{"filler"});
  }
}

TEST_CASE("texts are stored as UTF-8 up to a NUL, and repaired texts are counted") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  const std::string bad = "\xEF\xBF\xBD";
  const auto plain = writer.name_id("conv\xE5\xB1\x82");
  CHECK(writer.repaired_texts() == 0);
  // Texts that become equal share an id; repeated texts are not counted again.
  const auto first = writer.name_id("a\xFF");
  CHECK(writer.name_id("a\xFE") == first);
  CHECK(writer.name_id("a\xFF") == first);
  CHECK(writer.name_id("a" + bad) == first);
  CHECK(writer.repaired_texts() == 2);
  CHECK(writer.name_id(std::string("conv\xE5\xB1\x82\0\0", 9)) == plain);
  CHECK(writer.repaired_texts() == 2);
  const auto cut = writer.name_id(std::string("relu\0x", 6));
  CHECK(writer.name_id("relu") == cut);
  CHECK(writer.repaired_texts() == 3);
  writer.set_meta("capture", "\xC4\xE3");
  writer.add(RawFileState{"data/\xC4", 1, 2});
  writer.add(ImportLogRow{"note", "other", "kind", "data/\xC4", "reason", 1, kNull, "\xC4", "id"});
  writer.publish();
  const auto store = TraceDb::open(folder / "msprof.db");
  REQUIRE(store);
  const Database& db = store->database();
  CHECK(rows(db, "SELECT id, text, NULL FROM name ORDER BY id") ==
        Names{"1|conv\xE5\xB1\x82|NULL", "2|a" + bad + "|NULL", "3|relu|NULL"});
  CHECK(store->meta("capture") == bad + bad);
  CHECK(store->raw_files() == std::vector<RawFileState>{{"data/" + bad, 1, 2}});
  CHECK(rows(db, "SELECT file, detail, NULL FROM import_log") ==
        Names{"data/" + bad + "|" + bad + "|NULL"});
}

TEST_CASE("a text that is longer than any reader accepts is cut") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  writer.set_meta("verdict_text", std::string(5 << 20, 'x'));
  writer.publish();
  const auto store = TraceDb::open(folder / "msprof.db");
  REQUIRE(store);
  CHECK(store->meta("verdict_text").size() == 1 << 20);
}

TEST_CASE("batches of any size are stored complete and in order, and empty cells are NULL") {
  const int count = GENERATE(0, 1, 1023, 1024, 1025, 5000);
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  for (int i = 0; i < count; ++i) {
    // Alternates between two tables, so that both batches are filled at the same time.
    writer.add(StepRow{i, i % 3 == 0 ? kNull : i, -i, INT64_MAX, 0, kNull, 1, 2});
    writer.add(DeviceRow{i, i, kNull});
  }
  const Database& db = writer.readable();
  CHECK(rows(db, "SELECT count(*), sum(id), sum(number) FROM step") ==
        Names{count == 0 ? std::string("0|NULL|NULL")
                         : std::to_string(count) + "|" + std::to_string(count * (count - 1) / 2) +
                               "|" + std::to_string(-count * (count - 1) / 2)});
  CHECK(rows(db, "SELECT count(*), count(chip_name_id), count(frequency_hz) FROM device") ==
        Names{std::to_string(count) + "|" + std::to_string(count) + "|0"});
  CHECK(rows(db, "SELECT count(*), count(current_pic_count), count(model_row) FROM step") ==
        Names{std::to_string(count) + "|0|" + std::to_string(count - (count + 2) / 3)});
  if (count > 1) {
    CHECK(rows(db, "SELECT model_row, batch_num, icache_miss FROM step WHERE id = 1") ==
          Names{"1|9223372036854775807|2"});
  }
}

TEST_CASE("a cursor reads the requested columns of the rows that match its filter") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  for (std::int64_t id = 1; id <= 6; ++id) {
    TaskRow task;
    task.id = id;
    task.start_ns = id * 10;
    task.device_id = 0;
    task.stream_id = 7;
    if (id % 2 == 0) task.op_id = id + 100;
    if (id > 2) task.api_id = id > 4 ? 2 : 1;
    writer.add(task);
  }
  writer.publish();
  const auto store = TraceDb::open(folder / "msprof.db");
  REQUIRE(store);
  const auto ids = [&](const RowCursor<TaskRow>::Filter& filter) {
    std::vector<std::int64_t> found;
    RowCursor<TaskRow> tasks(store->database(), {&TaskRow::id}, filter);
    while (tasks.next()) found.push_back(tasks->id);
    return found;
  };
  using Ids = std::vector<std::int64_t>;
  CHECK(ids({}) == Ids{1, 2, 3, 4, 5, 6});
  CHECK(ids({.is_backwards = true}) == Ids{6, 5, 4, 3, 2, 1});
  CHECK(ids({.first_id = 2, .last_id = 4}) == Ids{2, 3, 4});
  CHECK(ids({.not_null = {&TaskRow::op_id, &TaskRow::api_id}}) == Ids{4, 6});
  CHECK(ids({.first_id = 4, .equal = {{&TaskRow::api_id, 1}}}) == Ids{4});

  RowCursor<TaskRow> tasks(store->database(),
                           {&TaskRow::op_id, &TaskRow::start_ns, &TaskRow::op_id});
  REQUIRE(tasks.next());
  CHECK(tasks->start_ns == 10);
  CHECK(tasks->op_id == kNull);
  CHECK(tasks->stream_id == kNull);  // not a requested column
  REQUIRE(tasks.next());
  CHECK(tasks->op_id == 102);
  // Zero is a value, not a missing one.
  RowCursor<TaskRow> devices(store->database(), {&TaskRow::device_id});
  REQUIRE(devices.next());
  CHECK(devices->device_id == 0);
}

TEST_CASE("a text has one id, however often it is requested") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  const auto a = writer.name_id("a");
  CHECK(writer.name_id("b") != a);
  CHECK(writer.name_id("a") == a);
  CHECK(writer.name_id("") != a);
  CHECK(rows(writer.readable(), "SELECT count(*), count(DISTINCT text), max(id) FROM name") ==
        Names{"3|3|3"});
}

TEST_CASE("texts of any content can be bound, with invalid UTF-8 as U+FFFD") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  const std::string odd = "'; DROP TABLE name; --\xff\n";
  const std::string kept = "'; DROP TABLE name; --\xEF\xBF\xBD\n";
  const auto id = writer.name_id(odd);
  Statement read = writer.readable().prepare("SELECT text FROM name WHERE id = ?");
  read.bind(1, id);
  REQUIRE(read.step());
  CHECK(read.text(0) == kept);
}

TEST_CASE("a store of another version, a text file and a folder are not opened") {
  const TempFolder folder;
  const auto path = folder / "msprof.db";
  CHECK_FALSE(TraceDb::open(path));
  {
    TraceDbWriter writer(path);
    writer.publish();
  }
  CHECK(TraceDb::open(path));
  std::string bytes = read_file(path);
  bytes[63] = static_cast<char>(bytes[63] + 1);  // last byte of the user version
  write_file(path, bytes);
  CHECK_FALSE(TraceDb::open(path));
  write_file(path, "text");
  CHECK_FALSE(TraceDb::open(path));
  CHECK_FALSE(TraceDb::open(folder.path()));
}

TEST_CASE("a reused statement is prepared once and starts at its first row") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  writer.name_id("a");
  writer.name_id("b");
  const Database& db = writer.readable();
  const std::string sql = "SELECT text FROM name WHERE id >= ? ORDER BY id";
  Statement& first = db.reuse(sql);
  REQUIRE(first.bind(1, std::int64_t{1}).step());
  CHECK(first.text(0) == "a");
  Statement& second = db.reuse(sql);
  CHECK(&first == &second);
  REQUIRE(second.step());
  CHECK(second.text(0) == "a");
  CHECK(&db.reuse("SELECT 1") != &first);
}

TEST_CASE("every store has the indexes that its readers need") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  writer.add_index(kTaskRunOfStep);
  writer.publish();
  const auto db = TraceDb::open(folder / "msprof.db");
  REQUIRE(db);
  Statement read = db->prepare("SELECT name FROM sqlite_schema WHERE type = 'index' ORDER BY 1");
  std::vector<std::string> names;
  while (read.step()) names.emplace_back(read.text(0));
  CHECK(names == std::vector<std::string>{"layer_time_of_step", "sqlite_autoindex_meta_1",
                                          "task_run_of_step"});
}

TEST_CASE("a folder where no store can be created is a separate error") {
  const TempFolder folder;
  write_file(folder / "file", "x");
  Exit code = Exit::ok;
  try {
    TraceDbWriter writer(folder / "file/msprof.db");
  } catch (const Error& error) {
    code = error.code();
    CHECK(std::string(error.what()).find("--output") != std::string::npos);
  }
  CHECK(code == Exit::cannot_write);
}

TEST_CASE("step_time is derived from the tasks of each step") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  writer.add(TaskRow{1, 1, 1, 100, 10, 4, kNull});
  writer.add(TaskRow{2, 1, 1, 50, 5, 6, kNull});
  writer.add(TaskRow{3, 2, 1, 70, kNull, 0, kNull});
  writer.add(TaskRow{4, 1, 1, 300, 1, 5, kNull});
  writer.add(TaskRunRow{1, 1, 1, 2});
  writer.add(TaskRunRow{2, 2, 3, 3});
  writer.add(TaskRunRow{3, 1, 4, 4});
  run_derive_passes(writer);
  const Database& db = writer.readable();
  CHECK(rows(db, "SELECT step_id, task_count, execution_count FROM step_time ORDER BY 1") ==
        Names{"1|3|3", "2|1|1"});
  CHECK(rows(db, "SELECT first_start_ns, last_end_ns, busy_ns FROM step_time ORDER BY step_id") ==
        Names{"50|301|16", "70|NULL|NULL"});
}

TEST_CASE("op_time is derived from the tasks of each operator") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  std::int64_t id = 0;
  const auto add = [&](std::int64_t op, std::int64_t duration) {
    TaskRow task;
    task.id = ++id;
    task.op_id = op;
    task.duration_ns = duration;
    writer.add(task);
  };
  add(3, 30);
  add(kNull, 7);
  add(0, kNull);
  add(3, -10);
  add(3, kNull);
  add(1, 0);
  run_derive_passes(writer);
  const Database& db = writer.readable();
  CHECK(rows(db, "SELECT op_id, task_count, total_ns FROM op_time ORDER BY op_id") ==
        Names{"0|0|0", "1|1|0", "3|2|20"});
  CHECK(rows(db, "SELECT op_id, min_ns, max_ns FROM op_time ORDER BY op_id") ==
        Names{"0|NULL|NULL", "1|0|0", "3|-10|30"});
}

TEST_CASE("durations whose sum exceeds 64 bits do not fail the derive passes") {
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  for (int i = 0; i < 3; ++i) {
    writer.add(TaskRow{i + 1, 1, 1, 0, INT64_MAX / 2, i == 0 ? 0 : INT64_MAX, kNull});
  }
  writer.add(TaskRunRow{1, 1, 1, 3});
  run_derive_passes(writer);
  CHECK(rows(writer.readable(), "SELECT task_count, busy_ns > 4e18 - 1, 1 FROM step_time") ==
        Names{"3|1|1"});
  CHECK(rows(writer.readable(), "SELECT task_count, total_ns > 9e18, 1 FROM op_time") ==
        Names{"3|1|1"});
  CHECK(rows(writer.readable(), "SELECT task_count, total_ns, max_ns > 4e18 FROM layer_time") ==
        Names{"3|NULL|1"});
}

TEST_CASE("a store with runs that share tasks is not opened") {
  const TempFolder folder;
  const auto path = folder / "msprof.db";
  const auto is_opened = [&](const std::string& runs) {
    fs::remove(path);
    TraceDbWriter(path).publish();
    query(path, "INSERT INTO task_run(first_task_id, last_task_id) VALUES " + runs);
    return TraceDb::open(path).has_value();
  };
  CHECK(is_opened("(101, 200), (1, 100)"));
  CHECK(is_opened("(1, 100), (50, 49)"));
  CHECK_FALSE(is_opened("(100, 200), (1, 100)"));
  CHECK_FALSE(is_opened("(1, 100), (20, 30)"));
  CHECK_FALSE(is_opened("(1, 100), (1, 100)"));
  CHECK_FALSE(is_opened("(1, 'x')"));
}
