// Boards whose records are easily misread: what is certain is imported, and every row that is
// imported must be right. Rows may be missing only if the import is partial.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "base/text.hpp"
#include "import/importer.hpp"
#include "import/layout/capture_samples.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

constexpr std::size_t kLayers = 12;

using Row = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // layer, start, duration in ns

// One execution of one layer, in ns.
struct Run {
  std::uint32_t layer = 0, core = 0, execution = 0;
  std::uint64_t start = 0, end = 0;
};

// A capture folder with layers 0 to 11, cores of 500 MHz and one aicore file.
class Board {
 public:
  explicit Board(const std::filesystem::path& folder) : job_(folder / "JOBMISREAD") {
    std::string layers = "#msprof-layers 1\n";
    for (std::size_t i = 0; i < kLayers; ++i) {
      const std::string name = "conv" + std::to_string(i);
      layers += std::to_string(i) + "\t0\tConvolution\tAA_CORE\t" + name + "\t" + name + "\n";
    }
    write_file(job_ / "data/net.1.layer.info", layers);
    write_file(job_ / "data/net.1.net.info",
               "#msprof-net 1\nmodel_name:net\nmodel_id:1\nnet_id:0\nbatch_num:1\nlayer_num:" +
                   std::to_string(kLayers) + "\n");
    write_file(job_ / "info.json.0", R"({"DeviceInfo": [{"aic_frequency": "500"}]})");
  }

  // Executions one after the other. `cores`: every layer on each of them, a little later.
  std::vector<Run> runs(std::uint32_t executions, std::uint32_t cores = 1,
                        std::uint64_t pause_ns = 1'000'000) {
    std::vector<Run> all;
    std::uint64_t time = 50'000'000'000;
    for (std::uint32_t execution = 0; execution < executions; ++execution) {
      for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
        std::uint64_t last = 0;
        for (std::uint32_t core = 0; core < cores; ++core) {
          // Whole numbers of cycles of 2 ns.
          const std::uint64_t start = time + core * 120;
          const std::uint64_t span = (2000 * (layer * 7 % 11 + 1) + below(200)) / 2 * 2;
          all.push_back({layer, core, execution, start, start + span});
          last = std::max(last, start + span);
        }
        time = last + 300 + below(900);
      }
      time += pause_ns + below(pause_ns);
    }
    return all;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void write(const std::string& kind, const std::string& bytes, const std::vector<Run>& runs,
             std::size_t whole_bytes = 0) {
    const std::filesystem::path file = job_ / "data" / kind;
    write_file(file, bytes);
    write_file(file.string() + ".done",
               "file_len:" + std::to_string(std::max(whole_bytes, bytes.size())) +
                   "\nstart_time:" + std::to_string(runs.front().start / 1000 - 900) +
                   "\nend_time:" + std::to_string(runs.back().end / 1000 + 900) + "\n");
  }

  // Imports with what is certain, and compares the rows. Returns their number.
  std::size_t check_rows(const std::vector<Run>& truth) {
    const auto session = Session::open(job_);
    layout::BoardSamples samples;
    layout::add_samples(*session, {}, samples);
    const std::string text = layout::layout_file_text(layout::find_layouts(samples), false);
    INFO(text);
    ImportOptions options;
    options.layout = {LayoutSource::command_line, "found.json", text};
    const std::filesystem::path store = job_ / "sqlite/msprof.db";
    std::filesystem::create_directories(store.parent_path());
    const ImportReport report = import_session(*session, store, options);
    std::multimap<std::int64_t, Row> wanted;
    for (const Run& run : truth)
      wanted.emplace(run.start, Row(run.layer, run.start, run.end - run.start));
    std::size_t count = 0, without_duration = 0;
    for (const std::string& line :
         query(store,
               "SELECT o.layer_id, t.start_ns, coalesce(t.duration_ns, -1) FROM task t JOIN op o "
               "ON o.id = t.op_id WHERE o.layer_id IS NOT NULL AND t.start_ns IS NOT NULL")) {
      const auto cells = split(line, '|');
      REQUIRE(cells.size() == 3);
      if (cells[2] == "-1") {
        ++without_duration;
        continue;
      }
      const Row row(std::stoll(std::string(cells[0])), std::stoll(std::string(cells[1])),
                    std::stoll(std::string(cells[2])));
      const auto [first, last] = wanted.equal_range(std::get<1>(row));
      const bool is_right =
          std::any_of(first, last, [&](const auto& one) { return one.second == row; });
      CAPTURE(line);
      CHECK(is_right);
      ++count;
    }
    if (count + without_duration < truth.size()) CHECK(report.is_partial());
    return count;
  }

 private:
  std::filesystem::path job_;
  std::mt19937_64 random_{7};
};

std::string number(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i)
    bytes += static_cast<char>(i < 8 ? value >> 8 * i & 0xff : 0);
  return bytes;
}

std::string noise(Board& board, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(board.below(256));
  return text;
}

// 40 bytes: layer, core, start, end, cycles.
std::string record(const Run& run) {
  return number(run.layer, 4) + number(run.core, 4) + number(run.start, 8) + number(run.end, 8) +
         number((run.end - run.start) / 2, 8) + number(run.execution, 8);
}

std::string records(std::vector<Run> runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.start < b.start; });
  std::string bytes;
  for (const Run& run : runs) bytes += record(run);
  return bytes;
}

// A call that loads, one for each execution, and one that unloads. Executions start `lead_ns` after
// their calls. 24 bytes: api, thread, start, duration.
std::string calls(const std::vector<Run>& runs, std::uint64_t lead_ns) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> spans = {{runs[0].start - 900'000, 400'000}};
  for (std::size_t i = 0; i < runs.size(); i += kLayers) {
    const std::uint64_t start = runs[i].start - lead_ns;
    spans.emplace_back(start, runs[i + kLayers - 1].end + 2000 + i * 37 % 9000 - start);
  }
  spans.emplace_back(runs.back().end + 400'000, 300'000);
  std::string bytes;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::uint64_t id = i == 0 ? 11 : i + 1 == spans.size() ? 13 : 12;
    bytes +=
        number(id, 4) + number(1234, 4) + number(spans[i].first, 8) + number(spans[i].second, 8);
  }
  return bytes;
}

layout::FoundKind found_calls(const TempFolder& folder) {
  const auto session = Session::open(folder / "JOBMISREAD");
  layout::BoardSamples samples;
  layout::add_samples(*session, {}, samples);
  const auto found = layout::find_layouts(samples);
  REQUIRE(found.kinds.back().kind == "acl_api");
  return found.kinds.back();
}

constexpr const char* kAicore = "aicore.0.net.1.0.1.1.0";

}  // namespace

TEST_CASE("a number of the core is not a record type") {
  const TempFolder folder;
  Board board(folder.path());
  const auto runs = board.runs(30, 4);
  board.write(kAicore, noise(board, 16) + records(runs), runs);
  CHECK(board.check_rows(runs) == runs.size());
}

TEST_CASE("records of other types do not hide those of layers") {
  const TempFolder folder;
  Board board(folder.path());
  const auto runs = board.runs(40);
  // Each layer has a mark before it, and each execution a record of garbage.
  constexpr std::uint64_t kLayer = 7, kMark = 9, kExecution = 12;
  std::string bytes;
  for (const Run& run : runs) {
    if (run.layer == 0)
      bytes += number(run.execution, 4) + number(kExecution, 4) + noise(board, 24);
    bytes += number(run.layer, 4) + number(kMark, 4) + number(run.start, 8) + number(0, 16);
    bytes += number(run.layer, 4) + number(kLayer, 4) + number(run.start, 8) + number(run.end, 8) +
             number((run.end - run.start) / 2, 8);
  }
  board.write(kAicore, bytes, runs);
  CHECK(board.check_rows(runs) == runs.size());
}

TEST_CASE("headers before each execution are skipped") {
  const TempFolder folder;
  Board board(folder.path());
  const auto runs = board.runs(40);
  std::string bytes = noise(board, 32);
  for (const Run& run : runs) {
    if (run.layer == 0) bytes += number(0xfeed, 4) + number(run.execution, 4) + noise(board, 12);
    bytes += record(run);
  }
  board.write(kAicore, bytes, runs);
  CHECK(board.check_rows(runs) == runs.size());
}

TEST_CASE("two calls with start and duration are not one with start and end") {
  const TempFolder folder;
  Board board(folder.path());
  const auto runs = board.runs(60, 1, 100'000);
  board.write(kAicore, records(runs), runs);
  board.write("acl_api.0.net.1", calls(runs, 5000), runs);
  CHECK(board.check_rows(runs) == runs.size());
  const layout::FoundKind kind = found_calls(folder);
  CHECK(kind.record_bytes == 24);
  CHECK(kind.field("duration").certainty == layout::Certainty::certain);
}

TEST_CASE("calls of several threads overlap") {
  const TempFolder folder;
  Board board(folder.path());
  const auto runs = board.runs(60, 1, 10'000);
  board.write(kAicore, records(runs), runs);
  board.write("acl_api.0.net.1", calls(runs, 5000), runs);
  const layout::FoundKind kind = found_calls(folder);
  CHECK(kind.record_bytes == 24);
  CHECK(kind.field("duration").certainty == layout::Certainty::certain);
}

TEST_CASE("cycles at an unknown frequency give no durations that are certain but wrong") {
  const TempFolder folder;
  Board board(folder.path());
  write_file(folder / "JOBMISREAD/info.json.0", R"({"DeviceInfo": [{"aic_frequency": "450"}]})");
  const auto runs = board.runs(40);
  std::string bytes;
  for (const Run& run : runs) {
    bytes += number(run.layer, 4) + number((run.end - run.start) / 2, 4) + number(run.start, 8) +
             noise(board, 8);
  }
  board.write(kAicore, bytes, runs);
  board.check_rows(runs);
}

TEST_CASE("times of 32 bits go on after a wraparound") {
  const TempFolder folder;
  Board board(folder.path());
  auto runs = board.runs(60, 1, 100'000'000);
  // The clock counts from a time shortly before the first wraparound.
  const std::uint64_t base = runs.front().start - 1'000'000'000;
  for (Run& run : runs) run.start -= base, run.end -= base;
  std::string bytes;
  for (const Run& run : runs) {
    bytes += number(run.layer, 4) + number(run.start, 4) + number(run.end, 4) +
             number((run.end - run.start) / 2, 4);
  }
  REQUIRE(runs.back().end > 0xffffffff);
  board.write(kAicore, bytes, runs);
  CHECK(board.check_rows(runs) == runs.size());
}

TEST_CASE("the length of the collection shows the rate of 32-bit ticks") {
  const TempFolder folder;
  Board board(folder.path());
  auto runs = board.runs(60);
  const auto absolute = runs;
  // Ticks of 50 MHz and cores of 500 MHz could also be 100 MHz and 1000 MHz.
  constexpr std::uint64_t kTickNs = 20;
  const std::uint64_t base = runs.front().start - 1'000'000'000;
  std::string bytes;
  for (Run& run : runs) {
    run.start = (run.start - base) / kTickNs * kTickNs;
    run.end = (run.end - base) / kTickNs * kTickNs;
    bytes += number(run.layer, 4) + number(run.start / kTickNs, 4) + number(run.end / kTickNs, 4) +
             number((run.end - run.start) / 2, 4);
  }
  board.write(kAicore, bytes, absolute);
  CHECK(board.check_rows(runs) == runs.size());
}

TEST_CASE("a file that lacks its last byte has one record less") {
  const TempFolder folder;
  Board board(folder.path());
  auto runs = board.runs(30);
  std::string bytes = noise(board, 16) + records(runs);
  bytes.pop_back();
  board.write(kAicore, bytes, runs);
  runs.pop_back();
  CHECK(board.check_rows(runs) == runs.size());
}

TEST_CASE("begins and ends in separate records become one row") {
  const TempFolder folder;
  Board board(folder.path());
  const auto runs = board.runs(40);
  std::string bytes;
  for (const Run& run : runs) {
    bytes += number(run.layer, 4) + number(71, 4) + number(run.start, 8) + number(0, 8);
    bytes += number(run.layer, 4) + number(90, 4) + number(run.end, 8) +
             number((run.end - run.start) / 2, 8);
  }
  board.write(kAicore, bytes, runs);
  CHECK(board.check_rows(runs) == runs.size());
  // Without the last end, its begin is not lost in silence: check_rows() expects a partial import.
  bytes.resize(bytes.size() - 24);
  board.write(kAicore, bytes, runs);
  CHECK(board.check_rows(runs) == runs.size() - 1);
}
