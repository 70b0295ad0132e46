// The readable views: what they document is what they have.
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

TEST_CASE("Every view has the columns that it documents, in their order") {
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

}  // namespace
}  // namespace msprof
