#include "base/text_table.hpp"

#include <catch2/catch.hpp>

using namespace msprof;

TEST_CASE("numbers are right-aligned, text is left-aligned, lines have no blanks at the end") {
  TextTable table({"Name", "Time(us)", "Type"});
  table.add_row({"conv", "12.000", "A"}, {false, true, false});
  table.add_row({"p", "3.500", "Longer"}, {false, true, false});
  CHECK(table.row_count() == 2);
  CHECK(table.render(0, false) ==
        "Name  Time(us)  Type\n"
        "────  ────────  ──────\n"
        "conv    12.000  A\n"
        "p        3.500  Longer\n");
}

TEST_CASE("East Asian names take two columns a character") {
  TextTable table({"Name", "N"});
  table.add_row({"卷积层", "1"}, {false, true});
  table.add_row({"b", "22"}, {false, true});
  CHECK(table.render(0, false) ==
        "Name     N\n"
        "──────  ──\n"
        "卷积层   1\n"
        "b       22\n");
}

TEST_CASE("the widest columns are shortened first to fit") {
  TextTable table({"A", "B", "C"});
  table.add_row({"aaaaaaaaaaaa", "bbbbbbbb", "cc"}, {});
  // 12 + 8 + 2 and two gaps of 2 are 26; at 20 both wide columns have 7.
  CHECK(table.render(20, false) ==
        "A        B        C\n"
        "───────  ───────  ──\n"
        "aaaaaa…  bbbbbb…  cc\n");
}

TEST_CASE("columns are not shortened below four, however narrow the terminal") {
  TextTable table({"A", "B"});
  table.add_row({"aaaaaaaa", "bbbbbbbb"}, {});
  CHECK(table.render(3, false) ==
        "A     B\n"
        "────  ────\n"
        "aaa…  bbb…\n");
}

TEST_CASE("cells are made printable, rows that are too short are filled") {
  TextTable table({"A", "B"});
  table.add_row({"x\n\x1b[2J"}, {});
  CHECK(table.render(0, false) ==
        "A       B\n"
        "──────  ─\n"
        "x??[2J\n");
}

TEST_CASE("the header is bold only when asked") {
  TextTable table({"A"});
  CHECK(table.render(0, true) == "\033[1mA\033[0m\n─\n");
  CHECK(table.render(0, false) == "A\n─\n");
}
