// The readable views have the documented columns.
#include <catch2/catch.hpp>

#include "query/query_db.hpp"
#include "query/views.hpp"
#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "support/temp_folder.hpp"

namespace msprof {
namespace {

TraceDb empty_store(const std::filesystem::path& path) {
  TraceDbWriter(path).publish();
  auto store = TraceDb::open(path);
  REQUIRE(store);
  return std::move(*store);
}

TEST_CASE("Every view has its documented columns, in order") {
  const test::TempFolder folder;
  const QueryDb db(empty_store(folder.path() / "msprof.db"));
  for (const View& view : views()) {
    INFO(view.name);
    const Statement all = db.prepare("SELECT * FROM " + std::string(view.name));
    REQUIRE(all.column_count() == static_cast<int>(view.columns.size()));
    for (int i = 0; i < all.column_count(); ++i) {
      const ViewColumn& column = view.columns[static_cast<std::size_t>(i)];
      CHECK(all.column_name(i) == column.name);
      CHECK_FALSE(column.help.empty());
    }
  }
}

TEST_CASE("A task has the name of its kernel, with an operator and without") {
  const test::TempFolder folder;
  const auto path = folder.path() / "msprof.db";
  {
    TraceDbWriter store(path);
    OpRow op;
    op.id = 1;
    op.name_id = store.name_id("matmul_1");
    store.add(op);
    for (const std::int64_t id : {1, 2, 3}) {
      TaskRow task;
      task.id = id;
      if (id == 1) task.op_id = 1;
      if (id < 3) task.kernel_name_id = store.name_id("MatMulV2_e1_kernel");
      store.add(task);
    }
    store.publish();
  }
  auto opened = TraceDb::open(path);
  REQUIRE(opened);
  const QueryDb db(std::move(*opened));
  Statement read = db.prepare("SELECT op_name, kernel FROM v_tasks ORDER BY task_id");
  std::vector<std::string> rows;
  while (read.step()) rows.push_back(std::string(read.text(0)) + "|" + std::string(read.text(1)));
  CHECK(rows ==
        std::vector<std::string>{"matmul_1|MatMulV2_e1_kernel", "|MatMulV2_e1_kernel", "|"});
}

TEST_CASE("A number of a table that SQL's integers cannot hold is a real") {
  const test::TempFolder folder;
  const auto path = folder.path() / "msprof.db";
  {
    TraceDbWriter store(path);
    store.set_meta("dialect", "cann");
    UserRangeRow range;
    range.id = 1;
    range.payload_type = 0;
    range.payload_value = -1;  // 2^64 - 1
    store.add(range);
    store.publish();
  }
  auto opened = TraceDb::open(path);
  REQUIRE(opened);
  constexpr std::string_view kQuestion = "SELECT payload_value FROM msprof_tx";
  const QueryDb db(*opened, kQuestion);
  Statement read = db.prepare(kQuestion);
  REQUIRE(read.step());
  CHECK(read.text(0) == "1.84467440737096e+19");
}

}  // namespace
}  // namespace msprof
