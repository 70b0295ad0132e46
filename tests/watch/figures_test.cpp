// The display of --watch, as lines and as a sentence.
#include "watch/figures.hpp"
#include "support/lines.hpp"

#include <catch2/catch.hpp>

#include "base/text.hpp"

using namespace msprof;
using namespace msprof::watch;

using msprof::test::contains;

namespace {

RunFigures busy_run() {
  RunFigures figures;
  figures.name = "main";
  figures.host = "board@127.0.0.1:2222";
  figures.seconds = 12.3;
  figures.files = 4;
  figures.bytes = 1'200'000;
  figures.bytes_per_second = 100'000;
  figures.free_bytes = 13'000'000;
  figures.disk = "disk of board";
  figures.count_per_second = 27.34;
  figures.records.has_records = true;
  figures.records.count = 328;
  figures.records.slowest = {
      {"conv1_with_a_name_that_is_longer_than_any_column_of_a_table", 328, 7.7e8},
      {"fc", 328, 1.1e6},
      {"in\x1b[2Jput", 328, 9e5}};
  figures.records.all_ns = 7.72e8;
  return figures;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("A view of 80 columns shows everything") {
  const auto lines = figure_lines(busy_run(), 80, 11);
  const std::string text = joined(lines);
  INFO(text);
  REQUIRE(lines.size() == 8);
  CHECK(lines[0].starts_with("-- main on board@127.0.0.1:2222, 12 s ---"));
  CHECK(display_width(lines[0]) == 80);
  CHECK(lines[1] == " 27.3 executions/s, 328 executions so far");
  CHECK(lines[2] == " 4 files, 1.2 MB (+100.0 kB/s)");
  CHECK(lines[3] == " disk of board: 13.0 MB free, full in 2 min 10 s");
  CHECK(lines[4].starts_with(" slowest layers so far"));
  CHECK(contains(lines[5], "…"));
  CHECK(contains(lines[5], "2.35 ms"));
  CHECK(contains(lines[5], "770.0 ms"));
  CHECK(contains(lines[5], "99.7%"));
  CHECK(contains(lines[6], "3.35 us"));
  CHECK_FALSE(contains(text, "\x1b"));
}

TEST_CASE("A view fits into any terminal") {
  RunFigures figures = busy_run();
  figures.transfer_label = "downloading";
  figures.transfer = {1'000'000, 1'200'000, 50'000};
  figures.records.unread_bytes = 9'000'000;
  figures.records.note =
      "a sentence on what is not shown, which is longer than narrow terminals are";
  for (const int width : {1, 8, 40, 80, 200}) {
    for (const std::size_t most :
         {std::size_t{0}, std::size_t{4}, std::size_t{7}, std::size_t{11}}) {
      const auto lines = figure_lines(figures, width, most);
      INFO(width << " columns, " << most << " lines\n" << joined(lines));
      CHECK(lines.size() <= std::max<std::size_t>(most, 4));
      for (const std::string& line : lines) CHECK(display_width(line) <= width);
    }
  }
  const auto narrow = figure_lines(busy_run(), 40, 11);
  INFO(joined(narrow));
  CHECK(contains(narrow[5], "2.35 ms"));
  CHECK(narrow[5].ends_with("99.7%"));
}

TEST_CASE("Without records, files and bytes are shown with the reason") {
  RunFigures figures;
  figures.name = "main";
  figures.host = "this machine";
  figures.files = 1;
  figures.bytes = 5;
  figures.records.note = "no layer records yet";
  CHECK(figure_lines(figures, 80, 11) ==
        std::vector<std::string>{"-- main on this machine, 0 s " + std::string(51, '-'),
                                 " 1 file, 5 B", " no layer records yet"});
  CHECK(figure_sentence(figures) == "0 s: 1 file, 5 B");
}

TEST_CASE("The status line has the rate, the slowest part, bytes and the disk") {
  RunFigures figures = busy_run();
  figures.records.slowest.front().name = "conv1";
  figures.records.count = 1;
  CHECK(figure_sentence(figures) ==
        "12 s: 27.3 executions/s, 1 execution so far, slowest layer conv1 (99.7%, mean 2.35 ms), 4 "
        "files, 1.2 MB (+100.0 kB/s), disk of board: 13.0 MB free, full in 2 min 10 s");
  figures.bytes_per_second = 0;
  CHECK(figure_sentence(figures).ends_with("13.0 MB free"));
  CHECK_FALSE(seconds_until_full(figures));
}

TEST_CASE("A drain reports when the disk will be full, and its download") {
  RunFigures figures = busy_run();
  figures.is_freed = true;
  CHECK_FALSE(seconds_until_full(figures));
  figures.seconds_until_full = 30;
  figures.transfer_label = "downloading";
  figures.transfer = {600'000, 1'200'000, 100'000};
  const std::string text = joined(figure_lines(figures, 80, 11));
  INFO(text);
  CHECK(contains(text, "full in 30 s"));
  CHECK(contains(text, " downloading:  50%, 600.0 kB of 1.2 MB, 100.0 kB/s, 6 s left"));
  CHECK(contains(figure_sentence(figures), "downloading:  50%"));
}
