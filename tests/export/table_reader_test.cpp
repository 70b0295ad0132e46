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
SeenRows read(std::vector<WantedField> wanted, Fill&& fill) {
  SeenRows rows;
  TableReader reader(std::move(wanted), into(rows));
  reader.begin(kColumns);
  RowBuilder builder(reader);
  fill(builder);
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
  const SeenRows rows = read(fields({"mac_busy_ratio", "op_name"}), [](RowBuilder& out) {
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
      read(fields({"mac_busy_ratio", "blocks", "task_duration"}), [](RowBuilder& out) {
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

TEST_CASE("A table learns which columns are read") {
  TableReader reader(fields({"mac_busy_ratio"}), [](auto) {});
  reader.begin(kColumns);
  const RowBuilder out(reader);
  CHECK_FALSE(out.reads(0));
  CHECK_FALSE(out.reads(1));
  CHECK(out.reads(2));
  CHECK_FALSE(out.reads(3));
}

TEST_CASE("A number is read as from the CSV, whatever its form") {
  const auto fill = [](RowBuilder& out) {
    const auto row = [&](auto&& add) {
      out.text("conv1");
      add();
      out.end_row();
    };
    row([&] { out.number("7.1250"); });
    row([&] { out.number(std::int64_t{-3}); });
    row([&] { out.number(12'345, CellForm::us); });
    row([&] { out.number(-5, CellForm::us6); });
    row([&] { out.number(INT64_MAX, CellForm::us); });
    row([&] { out.timestamp(1'715'760'307'201'793'880, CellForm::us); });
    row([&] { out.real(3); });
    row([&] { out.real(1e-7); });
    row([&] { out.real(0.0005, CellForm::fixed3); });
    row([&] { out.real(12.5, CellForm::fixed3_trimmed); });
    row([&] { out.real(4.0424999999999995, CellForm::sqlite_round3); });
    row([&] { out.real(1e12, CellForm::sqlite_round3); });
  };
  const std::vector<std::string> texts = {"7.1250",
                                          "-3",
                                          "12.345",
                                          "-0.005000",
                                          "9223372036854775.807",
                                          "1715760307201793.880",
                                          "3.0",
                                          "1e-07",
                                          "0.001",
                                          "12.5",
                                          "4.043",
                                          "1000000000000.0"};
  const SeenRows as_text = read(fields({"task_duration"}), fill);
  const SeenRows as_number = read({{"task_duration", true}}, fill);
  REQUIRE(as_text.size() == texts.size());
  REQUIRE(as_number.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    INFO(texts[i]);
    CHECK(as_text[i][0].text == texts[i]);
    CHECK(as_text[i][0].number == std::stod(texts[i]));
    CHECK(as_number[i][0].text.empty());
    CHECK(as_number[i][0].number == as_text[i][0].number);
  }
}

TEST_CASE("A block keeps rows for the sink, which then gets the cells that it reads") {
  SeenRows rows;
  TableReader reader(fields({"mac_busy_ratio", "op_name"}), into(rows));
  reader.begin(kColumns);
  const std::unique_ptr<RowBlock> block = reader.make_block();
  class Blocked : public RowSink {
   public:
    explicit Blocked(RowBlock& block) : block_(block) {}
    void begin(std::span<const std::string>) override {}
    void row(std::span<const Cell> cells) override { block_.add(cells); }

   private:
    RowBlock& block_;
  } blocked(*block);
  RowBuilder out(blocked);
  for (int turn = 1; turn <= 2; ++turn) {
    out.text("conv" + std::to_string(turn));
    out.number("12.500");
    out.number("0.25");
    out.end_row();
    out.text("relu");
    out.end_row();
    CHECK(block->bytes() > 0);
    CHECK(rows.empty());
    block->flush();
    CHECK(block->bytes() == 0);
    REQUIRE(rows.size() == 2);
    CHECK(rows[0][0].number == 0.25);
    CHECK(rows[0][1].text == "conv" + std::to_string(turn));
    CHECK(rows[1][0].text == "N/A");
    CHECK(rows[1][1].text == "relu");
    rows.clear();
  }
}

TEST_CASE("Cells shared by rows are the same in each of them") {
  CellList conv, relu;
  conv.number("1.500");
  relu.number("2.500");
  const SeenRows rows = read(fields({"mac_busy_ratio", "task_duration"}), [&](RowBuilder& out) {
    for (const CellList* const shared : {&conv, &relu, &conv}) {
      out.text("a row");
      out.share(shared->cells());
      out.number("0.1");
      out.end_row();
    }
  });
  REQUIRE(rows.size() == 3);
  CHECK(rows[0][1].text == "1.500");
  CHECK(rows[1][1].text == "2.500");
  CHECK(rows[2][1].text == "1.500");
  CHECK(rows[2][0].number == 0.1);
}

TEST_CASE("Cached results for cells are found by the ids of texts, or computed without them") {
  TableValue one, other, unknown, missing;
  for (TableValue* const value : {&one, &other, &unknown}) value->cell.form = CellForm::text;
  one.cell.text_id = 1;
  other.cell.text_id = 2;
  std::array<int, 3> values{};
  ByCells<2, int> by_cells;
  int made = 0;
  const auto get = [&](const TableValue& a, const TableValue& b, int value) {
    return by_cells.get({&a, &b}, [&] {
      ++made;
      return &values[static_cast<std::size_t>(value)];
    });
  };
  CHECK(get(one, other, 0) == &values[0]);
  CHECK(get(one, other, 1) == &values[0]);
  CHECK(get(other, one, 1) == &values[1]);
  CHECK(made == 2);
  CHECK(get(one, unknown, 2) == &values[2]);
  CHECK(get(one, unknown, 1) == &values[1]);
  CHECK(made == 4);
  CHECK(get(one, missing, 2) == &values[2]);
  CHECK(get(one, missing, 1) == &values[2]);
  CHECK(made == 5);
}

}  // namespace msprof
