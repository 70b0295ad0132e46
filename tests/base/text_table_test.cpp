#include "base/text_table.hpp"

#include <catch2/catch.hpp>

using namespace msprof;

namespace {

void add_row(TextTable& table, const std::vector<std::string>& cells,
             const std::vector<bool>& is_number) {
  RowBuilder row(table);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool is_digits = i < is_number.size() && is_number[i];
    is_digits ? row.number(cells[i]) : row.text(cells[i]);
  }
  row.end_row();
}

}  // namespace

TEST_CASE("numbers are right-aligned, text is left-aligned, lines have no blanks at the end") {
  TextTable table({"Name", "Time(us)", "Type"});
  add_row(table, {"conv", "12.000", "A"}, {false, true, false});
  add_row(table, {"p", "3.500", "Longer"}, {false, true, false});
  CHECK(table.row_count() == 2);
  CHECK(table.render(0, false) ==
        "Name  Time(us)  Type\n"
        "────  ────────  ──────\n"
        "conv    12.000  A\n"
        "p        3.500  Longer\n");
}

TEST_CASE("East Asian characters are two columns wide") {
  TextTable table({"Name", "N"});
  add_row(table, {"卷积层", "1"}, {false, true});
  add_row(table, {"b", "22"}, {false, true});
  CHECK(table.render(0, false) ==
        "Name     N\n"
        "──────  ──\n"
        "卷积层   1\n"
        "b       22\n");
}

TEST_CASE("the widest columns are shortened first to fit") {
  TextTable table({"A", "B", "C"});
  add_row(table, {"aaaaaaaaaaaa", "bbbbbbbb", "cc"}, {});
  // Widths 12 + 8 + 2 and two gaps of 2 give 26; at width 20 both wide columns get 7.
  CHECK(table.render(20, false) ==
        "A        B        C\n"
        "───────  ───────  ──\n"
        "aaaaaa…  bbbbbb…  cc\n");
}

TEST_CASE("columns are not shortened below four, however narrow the terminal") {
  TextTable table({"A", "B"});
  add_row(table, {"aaaaaaaa", "bbbbbbbb"}, {});
  CHECK(table.render(3, false) ==
        "A     B\n"
        "────  ────\n"
        "aaa…  bbb…\n");
}

TEST_CASE("different names look different at any width") {
  TextTable table({"Layer Id", "Layer Name", "Layer Type", "Time(us)", "Mac Busy Ratio"});
  const std::string stem = "/model/backbone/stage";
  const std::vector<std::string> names = {stem + "1/block3/conv2", stem + "2/block3/conv2",
                                          stem + "2/block4/conv2", stem + "2/block4/conv1"};
  for (std::size_t i = 0; i < names.size(); ++i)
    add_row(table, {std::to_string(i), names[i], "Convolution", "12345.000", "1.000"},
            {true, false, false, true, true});
  add_row(table, {"-", "N/A", "N/A", "50000.000", "N/A"}, {});
  CHECK(table.render(75, false).find(" /model/backbone/stage2/block4/conv1 ") != std::string::npos);
  CHECK(table.render(62, false) ==
        "                                                           Mac\n"
        "Layer  Layer                     Layer                    Busy\n"
        "   Id  Name                      Type          Time(us)  Ratio\n"
        "─────  ────────────────────────  ───────────  ─────────  ─────\n"
        "    0  …stage1/block3/conv2      Convolution  12345.000  1.000\n"
        "    1  …stage2/block3/conv2      Convolution  12345.000  1.000\n"
        "    2  …stage2/block4/conv2      Convolution  12345.000  1.000\n"
        "    3  …stage2/block4/conv1      Convolution  12345.000  1.000\n"
        "    -  N/A                       N/A          50000.000    N/A\n");
  // Too narrow for all columns: each part of the table repeats the number and the name.
  const std::string narrow = table.render(40, false);
  std::size_t parts = 0;
  for (auto at = narrow.find("    2  …tage2/block4/conv2  "); at != std::string::npos; ++parts)
    at = narrow.find("    2  …tage2/block4/conv2  ", at + 1);
  CHECK(parts == 3);
}

TEST_CASE("names without a common prefix are shortened where they do not differ") {
  TextTable table({"OP Name", "Time(us)"});
  for (const char* name : {"resnet_layer_one_convolution_a", "backbone_layer_one_convolution_a",
                           "backbone_layer_one_convolution_b"})
    add_row(table, {name, "1.000"}, {false, true});
  const std::string text = table.render(36, false);
  CHECK(text.find("resnet_l…one_convolution_a") != std::string::npos);
  CHECK(text.find("backbone…one_convolution_a") != std::string::npos);
  CHECK(text.find("backbone…one_convolution_b") != std::string::npos);
}

TEST_CASE("cells are made printable, rows that are too short are filled") {
  TextTable table({"A", "B"});
  add_row(table, {"x\n\x1b[2J"}, {});
  CHECK(table.render(0, false) ==
        "A       B\n"
        "──────  ─\n"
        "x??[2J\n");
}

TEST_CASE("the header is bold only when requested") {
  TextTable table({"A"});
  CHECK(table.render(0, true) == "\033[1mA\033[0m\n─\n");
  CHECK(table.render(0, false) == "A\n─\n");
}

TEST_CASE("column names cannot contain terminal control sequences") {
  TextTable table;
  table.begin(std::vector<std::string>{"a\x1b[2J\u202e"});
  add_row(table, {"b"}, {});
  const std::string text = table.render(0, false);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("a?[2J?") != std::string::npos);
}
