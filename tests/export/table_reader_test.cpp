// Rows of a summary table as values, as rules and comparisons read them.
#include <catch2/catch.hpp>

#include "export/table_reader.hpp"

namespace msprof {
namespace {

struct Seen {
  std::string text;
  std::optional<double> number;
};
using Rows = std::vector<std::vector<Seen>>;

const std::vector<std::string> kColumns = {"Op Name", "Task Duration(us)", "Mac Busy Ratio"};

// What a reader of `wanted` sees of what `fill` writes.
template <typename Fill>
Rows read(const std::vector<std::string>& wanted, Fill&& fill) {
  Rows rows;
  TableReader reader(wanted, [&](std::span<const TableValue> values) {
    auto& row = rows.emplace_back();
    for (const TableValue& value : values) row.push_back({std::string(value.text), value.number});
  });
  reader.begin(kColumns);
  fill(reader);
  reader.end();
  return rows;
}

}  // namespace

TEST_CASE("Columns are fields in lower case, without their unit") {
  CHECK(field_name("Task Duration(us)") == "task_duration");
  CHECK(field_name("Mac Ppen Ratio") == "mac_ppen_ratio");
  CHECK(field_name("aic_mac_ratio") == "aic_mac_ratio");
  CHECK(field_name("(us)") == "");
}

TEST_CASE("A reader sees the wanted columns in the order in which they are wanted") {
  const Rows rows = read({"mac_busy_ratio", "op_name"}, [](TableReader& out) {
    out.text("conv1");
    out.number("12.500");
    out.number("0.25");
    out.end_row();
  });
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0].number == 0.25);
  CHECK(rows[0][1].text == "conv1");
  CHECK_FALSE(rows[0][1].number);
}

TEST_CASE("What a table does not have, or a row leaves out, is N/A in that row alone") {
  const Rows rows = read({"mac_busy_ratio", "blocks", "task_duration"}, [](TableReader& out) {
    for (const bool whole : {true, false, true}) {
      out.text("conv1");
      out.number("12.500");
      if (whole) out.number("1.0");
      out.end_row();
    }
  });
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) {
    CHECK(row[1].text == "N/A");
    CHECK(row[2].number == 12.5);
  }
  CHECK(rows[0][0].number == 1.0);
  CHECK(rows[1][0].text == "N/A");
  CHECK_FALSE(rows[1][0].number);
  CHECK(rows[2][0].number == 1.0);
}

TEST_CASE("Digits that nobody looks at are not made") {
  int made = 0;
  const auto digits = [&](std::string& out) {
    ++made;
    out += "7.125";
  };
  const Rows rows = read({"mac_busy_ratio"}, [&](TableReader& out) {
    out.text("conv1");
    out.number_by(digits);
    out.number_by(digits);
    out.end_row();
  });
  CHECK(made == 1);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0].number == 7.125);
}

}  // namespace msprof
