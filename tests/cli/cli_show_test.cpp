// show: the four tables on the terminal.
#include <catch2/catch.hpp>

#include <sstream>

#include "cli/cli_fixture.hpp"
#include "support/lines.hpp"

using namespace msprof::test;

namespace {

// Width in terminal columns. In these tests, three-byte characters from U+3000 up are Chinese and
// two columns wide.
int width(const std::string& text) {
  int columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) == 0x80) continue;
    columns += byte >= 0xe3 && byte < 0xf0 ? 2 : 1;
  }
  return columns;
}

// Lines of the table under `title`: header, rule, rows.
std::vector<std::string> table(const std::string& out, const std::string& title) {
  const auto lines = split_lines(out);
  auto at = std::find(lines.begin(), lines.end(), title);
  std::vector<std::string> result;
  while (at != lines.end() && ++at != lines.end() && !at->empty()) result.push_back(*at);
  return result;
}

// A job with two captures; the second one is slower.
JobBuilder two_captures(const TempFolder& folder) {
  JobBuilder job(folder.path());
  job.info_json("1000").net_info("net", 1);
  for (const std::uint64_t current : {0u, 100u}) {
    std::vector<AicoreRecord> records;
    for (std::uint32_t layer = 0; layer < 5; ++layer) {
      AicoreRecord record;
      record.layer_id = layer;
      record.start_ns = 1000 * layer;
      record.total = 10 * (layer == 3 ? 1 : layer + 2) + current;
      records.push_back(record);
    }
    job.data(DataName{.current = static_cast<std::int64_t>(current)}, aicore_file(records));
  }
  return job;
}

Words first_cells(const std::vector<std::string>& lines) {
  Words cells;
  for (std::size_t i = 2; i < lines.size(); ++i) {
    std::istringstream stream(lines[i]);
    std::string cell;
    stream >> cell;
    cells.push_back(cell);
  }
  return cells;
}

}  // namespace

TEST_CASE("show prints the manual's four tables, in its order, with the values of the exports") {
  const TempFolder folder;
  const auto job = make_face(folder.path(), "JOBA");
  const auto result = run_msprof({"show", "-dir", job.folder().string(), "-q"});
  REQUIRE(result.exit_code == 0);
  std::size_t last = 0;
  for (const char* title :
       {"\nAA core metric\n", "\nOp statistic\n", "\nAcl statistic\n", "\nFrequency\n"}) {
    const auto at = result.out.find(title);
    REQUIRE(at != std::string::npos);
    CHECK(at > last);
    last = at;
  }
  CHECK(first_cells(table(result.out, "AA core metric")) == Words{"0", "1", "2", "-"});
  CHECK(table(result.out, "AA core metric").size() == 6);
  CHECK(table(result.out, "Op statistic").size() == 5);
  CHECK(table(result.out, "Acl statistic").size() == 8);
  const auto frequency = table(result.out, "Frequency");
  REQUIRE(frequency.size() == 3);
  CHECK(contains(frequency[2], "500"));
  const auto total = table(result.out, "AA core metric").back();
  for (const char* value : {"10.118", "100.000", "35.302", "0.933", "8707"}) {
    CHECK(contains(total, value));
  }
}

TEST_CASE("columns are aligned also where names are Chinese") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("1000").net_info("net", 1);
  job.layer_info("net", 1,
                 {{0, 0, "Conv", "AA_CORE", "卷积层一", ""},
                  {1, 0, "Conv", "AA_CORE", "b", ""},
                  {2, 0, "Conv", "AA_CORE", "混合mix", ""}});
  std::vector<AicoreRecord> records(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    records[i].layer_id = i;
    records[i].total = 5 + i;
  }
  job.data(DataName{}, aicore_file(records));
  const auto result = run_msprof({"show", "-dir", job.folder().string(), "-q"});
  const auto lines = table(result.out, "Op statistic");
  REQUIRE(lines.size() == 5);
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const auto at = lines[i].find("AA_CORE");
    REQUIRE(at != std::string::npos);
    CHECK(width(lines[i].substr(0, at)) == width(lines[0].substr(0, lines[0].find("Task Type"))));
    CHECK(width(lines[i]) == width(lines[0]));
  }
}

TEST_CASE("--top N keeps the hottest layers first, and the total row") {
  const TempFolder folder;
  const auto job = two_captures(folder);
  const auto run = [&](const char* top) {
    return run_msprof({"show", "-q", "-dir", job.folder().string(), "--capture", "0", "--top", top})
        .out;
  };
  // Cycles 20 30 40 10 60.
  CHECK(first_cells(table(run("3"), "AA core metric")) == Words{"4", "2", "1", "-"});
  CHECK(first_cells(table(run("3"), "Op statistic")) == Words{"4", "2", "1"});
  CHECK(first_cells(table(run("99"), "AA core metric")) == Words{"4", "2", "1", "0", "3", "-"});
}

TEST_CASE("--top N finds the hottest layers also without a frequency") {
  const TempFolder folder;
  auto job = two_captures(folder);
  job.info_json("0");
  const auto result =
      run_msprof({"show", "-q", "-dir", job.folder().string(), "--capture", "0", "--top", "2"});
  CHECK(result.exit_code == 3);
  CHECK(first_cells(table(result.out, "AA core metric")) == Words{"4", "2", "-"});
}

TEST_CASE("--top N does not hide the frequency of a device") {
  const TempFolder folder;
  auto job = two_captures(folder);
  job.info_json("500", Generation::ss928, 1);
  const auto result = run_msprof({"show", "-q", "-dir", job.folder().string(), "--top", "1"});
  CHECK(first_cells(table(result.out, "Frequency")) == Words{"0", "1"});
}

TEST_CASE("of several captures the slowest is shown, --capture N shows another") {
  const TempFolder folder;
  const std::string dir = two_captures(folder).folder().string();
  const auto total = [](const RunResult& result) {
    return table(result.out, "AA core metric").back();
  };
  const auto slowest = run_msprof({"show", "-q", "-dir", dir});
  // 160 and 660 cycles at 1000 MHz.
  CHECK(contains(total(slowest), " 0.660 "));
  CHECK(contains(slowest.out, "the slowest"));
  CHECK(contains(slowest.out, "--capture"));
  CHECK(contains(total(run_msprof({"show", "-q", "-dir", dir, "--capture", "0"})), " 0.160 "));
  CHECK(contains(total(run_msprof({"show", "-q", "-dir", dir, "--capture", "1"})), " 0.660 "));
  const auto wrong = run_msprof({"show", "-q", "-dir", dir, "--capture", "2"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.out.empty());
  CHECK(contains(wrong.err, "valid: 0 to 1"));
}

TEST_CASE("captures have the numbers that query and file names use, and show lists them") {
  const TempFolder folder;
  auto job = two_captures(folder);
  job.net_info("other", 2);
  AicoreRecord record{.total = 5000};
  job.data(DataName{.model = "other", .model_id = 2}, aicore_file({record}));
  const std::string dir = job.folder().string();
  const auto steps = run_msprof(
      {"query", "-q", "-dir", dir, "--format", "csv", "SELECT step, model_id FROM v_steps"});
  CHECK(steps.out == "step,model_id\n0,1\n1,1\n0,2\n");
  const auto shown = run_msprof({"show", "-q", "-dir", dir});
  CHECK(contains(shown.out,
                 "capture 0 (of model 1: 0 to 1, model 2: 0 to 0; the slowest, --capture "
                 "MODEL_ID:N selects another), model other"));
  const auto lines = table(shown.out, "Captures");
  CHECK(first_cells(lines) == Words{"0", "1", "0"});
  CHECK(contains(run_msprof({"show", "-q", "-dir", dir, "--capture", "1:0"}).out, "model net"));
  // Selects the slowest of the captures with this number.
  CHECK(contains(run_msprof({"show", "-q", "-dir", dir, "--capture", "0"}).out, "model other"));
  const auto wrong = run_msprof({"show", "-q", "-dir", dir, "--capture", "2:1"});
  CHECK(wrong.exit_code == 2);
  CHECK(contains(wrong.err, "valid: model 1: 0 to 1, model 2: 0 to 0"));
  const auto document = nlohmann::json::parse(
      run_msprof({"show", "-q", "-dir", dir, "--json", "--capture", "1"}).out);
  const auto& capture = document.at("captures")[0];
  CHECK(capture.at("capture").at("number") == 1);
  CHECK(capture.at("capture").at("model_id") == 1);
  CHECK(capture.at("capture_list").size() == 3);
}

TEST_CASE("what a capture came after is counted as one says it") {
  for (const auto& [current, said] :
       {std::pair{0, "after 0 pictures"}, {1, "after 1 picture,"}, {2, "after 2 pictures"}}) {
    const TempFolder folder;
    JobBuilder job(folder.path());
    job.info_json("1000").net_info("net", 1);
    job.data(DataName{.current = current}, aicore_file({AicoreRecord{.total = 10}}));
    const auto result = run_msprof({"show", "-q", "-dir", job.folder().string()});
    INFO(result.out << result.err);
    CHECK(contains(result.out, said));
  }
}

TEST_CASE("COLUMNS or the terminal's width shortens the widest columns") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  const std::string long_name(300, 'n');
  job.info_json("1000").net_info("net", 1);
  job.layer_info("net", 1, {{0, 0, "Conv", "AA_CORE", long_name, ""}});
  job.data(DataName{}, aicore_file({AicoreRecord{.total = 10}}));
  const Words words = {"show", "-q", "-dir", job.folder().string()};
  CHECK(contains(run_msprof(words).out, long_name));
  for (const auto& options :
       {RunOptions{.variables = {{"COLUMNS", "130"}}}, RunOptions{.terminal_columns = 130}}) {
    const auto result = run_msprof(words, options);
    CHECK_FALSE(contains(result.out, long_name));
    CHECK(contains(result.out, "nnn…"));
    const auto lines = split_lines(result.out);
    CHECK(lines.size() > 10);
    for (std::size_t i = 2; i < lines.size(); ++i) {
      INFO(lines[i]);
      // "\r" comes from the terminal
      if (!contains(lines[i], "\x1b")) CHECK(width(lines[i]) <= 131);
    }
  }
}

TEST_CASE("a terminal gets a bold header, unless NO_COLOR is set or it is dumb") {
  const TempFolder folder;
  const Words words = {"show", "-q", "-dir", make_face(folder.path(), "JOBA").folder().string()};
  const auto run = [&](std::vector<std::pair<std::string, std::string>> variables) {
    return run_msprof(words, {.variables = std::move(variables), .terminal_columns = 100}).out;
  };
  CHECK(contains(run({{"TERM", "xterm"}}), "\x1b[1m"));
  CHECK(contains(run({{"TERM", "xterm"}, {"NO_COLOR", ""}}), "\x1b[1m"));
  CHECK_FALSE(contains(run({{"TERM", "xterm"}, {"NO_COLOR", "1"}}), "\x1b"));
  CHECK_FALSE(contains(run({{"TERM", "dumb"}}), "\x1b"));
}

TEST_CASE("control bytes of names do not reach the terminal") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("1000").net_info("a\x1b]0;x", 1);
  job.layer_info("a\x1b]0;x", 1, {{0, 0, "Conv\x07", "AA_CORE", "n\x1b[2J\xc2\x9b", ""}});
  job.data(DataName{.model = "a\x1b]0;x"}, aicore_file({AicoreRecord{.total = 10}}));
  const auto result = run_msprof({"show", "-dir", job.folder().string()});
  CHECK(result.exit_code == 0);
  for (const std::string& text : {result.out, result.err}) {
    CHECK_FALSE(contains(text, "\x1b"));
    CHECK_FALSE(contains(text, "\x07"));
    CHECK_FALSE(contains(text, "\xc2\x9b"));
  }
  CHECK(contains(result.out, "n?[2J?"));
}

TEST_CASE("layers are told apart at every width, and number and name begin every part of a table") {
  const TempFolder folder;
  JobBuilder job(folder.path());
  job.info_json("1000").net_info("net", 1);
  const std::string stem = "/model/backbone/stage";
  const Words names = {stem + "1/block3/conv1", stem + "1/block3/conv2", stem + "2/block3/conv2",
                       stem + "2/block4/conv2"};
  std::vector<LayerLine> layers;
  std::vector<AicoreRecord> records(names.size());
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    layers.push_back({i, 0, "Convolution", "AA_CORE", names[i], ""});
    records[i].layer_id = i;
    records[i].total = 5 + i;
  }
  job.layer_info("net", 1, layers).data(DataName{}, aicore_file(records));
  for (const char* columns : {"60", "80", "100", "200"}) {
    const auto result = run_msprof({"show", "-q", "-dir", job.folder().string()},
                                   {.variables = {{"COLUMNS", columns}}});
    const std::string out = result.out.substr(result.out.find("AA core metric"));
    const auto lines = split_lines(out.substr(0, out.find("Op statistic")));
    for (const std::string& line : lines) CHECK(width(line) <= std::stoi(columns));
    const auto parts = std::count_if(lines.begin(), lines.end(),
                                     [](const auto& line) { return contains(line, "──"); });
    const auto told = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("    2  ") && contains(line, "2/block3/conv2");
    });
    INFO(out);
    CHECK(parts >= 1);
    CHECK(told == parts);
  }
}
