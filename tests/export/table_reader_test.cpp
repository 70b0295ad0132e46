// Rows of a summary table as values, as read by rules and comparisons.
#include <catch2/catch.hpp>

#include "export/table/table_reader.hpp"
#include "export/table/table_writers.hpp"

namespace msprof {
namespace {

struct Seen {
  std::string text;
  std::optional<double> number;
};
using SeenRows = std::vector<std::vector<Seen>>;

const std::vector<std::string> kColumns = {"Op Name", "Task Duration(us)", "Mac Busy Ratio"};

std::vector<WantedField> fields(std::initializer_list<const char*> names) {
  std::vector<WantedField> wanted;
  for (const char* const name : names) wanted.push_back({name, false});
  return wanted;
}

// Returns a callback that appends each row to `rows`.
TableReader::OnRow into(SeenRows& rows) {
  return [&rows](std::span<const TableValue> values) {
    auto& row = rows.emplace_back();
    for (const TableValue& value : values) row.push_back({std::string(value.text), value.number});
  };
}

// Returns the rows that a reader of `wanted` gets from the output of `fill`.
template <typename Fill>
SeenRows read(std::vector<WantedField> wanted, Fill&& fill, WorkAhead* ahead = nullptr) {
  SeenRows rows;
  TableReader reader(std::move(wanted), into(rows), ahead);
  reader.begin(kColumns);
  fill(reader);
  reader.end();
  return rows;
}

}  // namespace

TEST_CASE("Column names are lower case, without the unit") {
  CHECK(field_name("Task Duration(us)") == "task_duration");
  CHECK(field_name("Mac Ppen Ratio") == "mac_ppen_ratio");
  CHECK(field_name("aic_mac_ratio") == "aic_mac_ratio");
  CHECK(field_name("(us)") == "");
}

TEST_CASE("A reader gets the requested columns in the requested order") {
  const SeenRows rows = read(fields({"mac_busy_ratio", "op_name"}), [](TableReader& out) {
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

TEST_CASE("A column missing in the table, or a cell missing in a row, is N/A") {
  const SeenRows rows =
      read(fields({"mac_busy_ratio", "blocks", "task_duration"}), [](TableReader& out) {
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

TEST_CASE("Digits of unread cells are not formatted") {
  int made = 0;
  const auto digits = [&](std::string& out) {
    ++made;
    out += "7.125";
  };
  const SeenRows rows = read(fields({"mac_busy_ratio"}), [&](TableReader& out) {
    out.text("conv1");
    out.number_by(digits);
    out.number_by(digits);
    out.end_row();
  });
  CHECK(made == 1);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0][0].number == 7.125);
}

TEST_CASE("A purely numeric field is read by its value") {
  int made = 0;
  const auto fill = [&](TableReader& out) {
    const auto digits = [&](std::string& text) {
      ++made;
      text += "7.125";
    };
    out.text("conv1");
    out.number_from([] { return std::optional(7.125); }, digits);
    out.number_from([] { return std::optional<double>(); }, digits);
    out.end_row();
    out.text("conv2");
    out.number(std::int64_t{-3});
    out.missing();
    out.end_row();
  };
  const SeenRows rows = read({{"task_duration", true}, {"mac_busy_ratio", true}}, fill);
  REQUIRE(rows.size() == 2);
  CHECK(made == 1);  // only the second cell's digits were made
  CHECK(rows[0][0].number == 7.125);
  CHECK(rows[0][0].text.empty());
  CHECK(rows[0][1].number == 7.125);
  CHECK(rows[1][0].number == -3);
  CHECK(rows[1][1].text == "N/A");
  CHECK_FALSE(rows[1][1].number);
  // A field read as text needs the digits.
  made = 0;
  CHECK(read(fields({"task_duration"}), fill)[0][0].text == "7.125");
  CHECK(made == 1);
}

TEST_CASE(
    "SeenRows read by a second thread are in order, with cells that no longer exist in the table") {
  constexpr int kRows = 1000;
  const auto fill = [](TableReader& out) {
    for (int row = 0; row < kRows; ++row) {
      SharedCells shared;  // destroyed with each row, before the other thread reads it
      out.text("row " + std::to_string(row) + " with a name that has a place of its own");
      out.repeated(shared, 2, [&] {
        out.number(std::int64_t{row});
        out.text("another text, of number " + std::to_string(row));
      });
      out.end_row();
    }
  };
  const auto wanted = fields({"op_name", "task_duration", "mac_busy_ratio"});
  WorkAhead ahead;
  const SeenRows rows = read(wanted, fill, &ahead);
  const SeenRows expected = read(wanted, fill);
  REQUIRE(rows.size() == kRows);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      REQUIRE(rows[row][i].text == expected[row][i].text);
      REQUIRE(rows[row][i].number == expected[row][i].number);
    }
  }
}

TEST_CASE("An exception of the second thread reaches the writer of the rows") {
  WorkAhead ahead;
  TableReader reader(
      fields({"op_name"}),
      [](std::span<const TableValue> row) {
        if (row[0].text == "300") throw std::runtime_error("enough");
      },
      &ahead);
  reader.begin(kColumns);
  const auto write = [&] {
    for (int row = 0; row < 1000; ++row) {
      reader.text(std::to_string(row));
      reader.end_row();
    }
    reader.end();
  };
  CHECK_THROWS_WITH(write(), "enough");
}

TEST_CASE("Cells shared by rows are written once and are the same in each of them") {
  int fills = 0;
  SharedCells conv, relu;
  const auto write_row = [&](TableReader& out, SharedCells& shared, const char* busy,
                             const char* time) {
    out.text("a row");
    out.repeated(shared, 1, [&] {
      ++fills;
      out.number(std::string_view(time));
    });
    out.number(std::string_view(busy));
    out.end_row();
  };
  const SeenRows rows =
      read(fields({"mac_busy_ratio", "task_duration", "blocks"}), [&](TableReader& out) {
        write_row(out, conv, "0.1", "1.500");
        write_row(out, relu, "0.2", "2.500");
        write_row(out, conv, "0.3", "an error");
        write_row(out, relu, "0.4", "an error");
      });
  CHECK(fills == 2);
  REQUIRE(rows.size() == 4);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i][0].number == Approx(0.1 * static_cast<double>(i + 1)));
    CHECK(rows[i][1].text == (i % 2 == 0 ? "1.500" : "2.500"));
    CHECK(rows[i][1].number == (i % 2 == 0 ? 1.5 : 2.5));
    CHECK(rows[i][2].text == "N/A");
  }
}

TEMPLATE_TEST_CASE("A writer and a reader of the same rows get what each alone would get", "",
                   CsvWriter, JsonTableWriter) {
  const std::vector<std::string> columns = {"Name", "A", "B", "C", "D", "E", "F", "G"};
  const auto digits = [](std::string& out) { out += "7.1250"; };
  const auto fill = [&](RowSink& out) {
    SharedCells shared[2];
    out.begin(columns);
    for (int row = 0; row < 6; ++row) {
      out.text("a \"row\"");
      out.number(std::int64_t{row});
      out.number(std::string_view("12.500"));
      out.number_by(digits);
      out.number_from([] { return std::optional(7.125); }, digits);
      out.number_from([] { return std::optional<double>(); }, digits);
      out.end_row();
      out.timestamp_by(digits);
      out.repeated(shared[row % 2], 4, [&] {
        out.text("kept, " + std::to_string(row));
        out.number(std::int64_t{row});
        out.number_from([] { return std::optional(7.125); }, digits);
        out.missing();
      });
      out.timestamp("99");
      out.real(3);
      out.blob("ab");
      out.end_row();
    }
    out.end();
  };
  const auto written = [](const auto& write) {
    MemoryOutput text;
    TestType writer(text);
    write(writer);
    return text.buffer();
  };
  const std::string expected = written(fill);
  for (const bool is_number : {false, true}) {
    for (std::size_t one = 0; one <= columns.size(); ++one) {
      // Reads all columns, or all but one: an unread column must not affect the others.
      std::vector<WantedField> wanted;
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (i != one) wanted.push_back({field_name(columns[i]), is_number});
      SeenRows alone, beside;
      TableReader reader(wanted, into(alone));
      fill(reader);
      CHECK(written([&](RowSink& writer) {
              TableReader listener(wanted, into(beside));
              RowTee both(writer, listener);
              fill(both);
            }) == expected);
      REQUIRE(beside.size() == 12);
      for (std::size_t row = 0; row < beside.size(); ++row) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          INFO(row << " " << wanted[i].name << " " << is_number);
          CHECK(beside[row][i].text == alone[row][i].text);
          CHECK(beside[row][i].number == alone[row][i].number);
        }
      }
    }
  }
}

TEST_CASE("Cached results for cells are found by their notes, or computed again without them") {
  CellNotes one{}, other{};
  std::array<int, 3> values{};
  ByCells<2, int> by_cells;
  int made = 0;
  const auto get = [&](CellNotes* a, CellNotes* b, int value) {
    const TableValue first{"a", {}, a}, second{"b", {}, b};
    return by_cells.get({&first, &second}, [&] {
      ++made;
      return &values[static_cast<std::size_t>(value)];
    });
  };
  CHECK(get(&one, &other, 0) == &values[0]);
  CHECK(get(&one, &other, 1) == &values[0]);
  CHECK(get(&other, &one, 1) == &values[1]);
  CHECK(made == 2);
  CHECK(get(&one, nullptr, 2) == &values[2]);
  CHECK(get(&one, nullptr, 1) == &values[1]);
  CHECK(made == 4);
}

}  // namespace msprof
