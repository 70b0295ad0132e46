// Partial timelines of PROF folders: layers, ranges, devices, files of limited size, gzip; and
// reproducible bytes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "golden/cann_fixture.hpp"
#include "golden/timeline_file.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using namespace msprof::test::prof;
namespace fs = std::filesystem;

namespace {

const OpKind kAddOp = {"add", "Add", Core::aiv};

// Three launches of 1, 2 and 3 us on two devices, at 10, 20 and 30 us.
struct ThreeLaunches : ProfCapture {
  ThreeLaunches() : ProfCapture(two_devices()) {
    prof::DeviceSpan spans[] = {
        {3, 1, 10'000, 11'000, 0}, {3, 1, 20'000, 22'000, 1}, {3, 2, 30'000, 33'000, 0}};
    std::uint64_t host = 1000;
    for (const auto& span : spans) {
      scene.launch({"op_" + std::to_string(span.start / 1000), "Add", Core::aiv},
                   {kThread, host, host + 800}, span);
      host += 2000;
    }
    prof.finish();
  }
  static ProfSetup two_devices() {
    ProfSetup setup;
    setup.devices = {0, 1};
    return setup;
  }
};

// Names of the slices of a process.
Lines drawn(const TimelineFile& timeline, const std::string& process) {
  Lines names;
  for (const std::string& line : timeline.slices(process)) {
    const std::size_t begin = line.find('|') + 1;
    names.push_back(line.substr(begin, line.find('|', begin) - begin));
  }
  return names;
}

Lines process_names(const TimelineFile& timeline) {
  Lines names;
  for (const std::string& line : timeline.processes()) {
    names.push_back(line.substr(0, line.find('|')));
  }
  return names;
}

// 2000 tasks of two threads, exported with `words` into a new folder each time.
struct SplitRun {
  TempFolder folder;
  MadeRun run = make_run(folder.path(), {}, shape());
  static RunShape shape() {
    RunShape shape;
    shape.tasks = 2000;
    return shape;
  }
  fs::path exported(const std::string& into, Lines words = {}) const {
    const fs::path out = folder / into;
    words.insert(words.begin(), {"export", "timeline", "-q"});
    words.insert(words.end(), {"-dir", run.folder.string(), "--output", out.string()});
    const RunResult result = run_msprof(words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return out / "mindstudio_profiler_output";
  }
};

// Files named msprof_…, but not step_trace_… or msprof_tx_….
std::vector<fs::path> main_timelines(const fs::path& products, const std::string& begin) {
  std::vector<fs::path> paths;
  for (const std::string& name : names_in(products)) {
    if (name.starts_with(begin)) paths.push_back(products / name);
  }
  return paths;
}

struct Events {
  std::multiset<std::string> timed;
  std::multiset<std::string> metadata;
};
Events split_events(const TimelineFile& timeline) {
  Events events;
  for (const Json& event : timeline.events()) {
    (event.at("ph") == "M" ? events.metadata : events.timed).insert(event.dump());
  }
  return events;
}

}  // namespace

TEST_CASE("only the requested layers are drawn") {
  const ThreeLaunches run;
  CHECK(process_names(export_timeline(run, {"--layers", "cann"})) == Lines{"CANN"});
  CHECK(process_names(export_timeline(run, {"--layers", "ascend_hardware"})) ==
        Lines{"Ascend Hardware", "Ascend Hardware"});
  CHECK(process_names(export_timeline(run, {"--layers", "cann,overlap"})) ==
        Lines{"CANN", "Overlap Analysis", "Overlap Analysis"});
}

TEST_CASE("events that overlap the time range are drawn") {
  const ThreeLaunches run;
  const auto tasks = [&](const std::string& range) {
    return drawn(export_timeline(run, {"--time-range", range}), "Ascend Hardware");
  };
  CHECK(tasks("10.5us:21us") == Lines{"op_10", "op_20"});
  CHECK(tasks("12us:") == Lines{"op_20", "op_30"});
  CHECK(tasks(":15000ns") == Lines{"op_10"});
  CHECK(tasks("1700000000000019:1700000000000021") == Lines{"op_20"});
  CHECK(drawn(export_timeline(run, {"--time-range", "2.9us:3150ns"}), "CANN") ==
        Lines{"AscendCL@aclnnAdd", "Node@launch"});
}

TEST_CASE("slices shorter than --min-dur are omitted with their names and arrows") {
  const ThreeLaunches run;
  const TimelineFile timeline = export_timeline(run, {"--min-dur", "2us"});
  CHECK(drawn(timeline, "Ascend Hardware") == Lines{"op_20", "op_30"});
  CHECK(drawn(timeline, "CANN").empty());
  CHECK(timeline.count("f") + timeline.count("t") <= 2);
}

TEST_CASE("tasks of the requested devices and all host calls are drawn") {
  const ThreeLaunches run;
  const TimelineFile timeline = export_timeline(run, {"--device", "1"});
  const auto paths = main_timelines(run.prof.products(), "msprof_2");
  REQUIRE(paths.size() == 1);
  CHECK(drawn(timeline, "Ascend Hardware") == Lines{"op_20"});
  CHECK(drawn(timeline, "CANN").size() == 9);
  CHECK(timeline.processes() == Lines{"CANN|CPU|7|4424959", "Ascend Hardware|NPU 1|14|4425153",
                                      "AI Core Freq|NPU 1|15|4425185",
                                      "Overlap Analysis|NPU 1|31|4425697"});
}

TEST_CASE("invalid options exit with code 2 and a remedy") {
  const ThreeLaunches run;
  const std::vector<Lines> wrong = {{"--layers", "no_such_layer"},
                                    {"--time-range", "5ms"},
                                    {"--time-range", "2ms:1ms"},
                                    {"--time-range", "a:b"},
                                    {"--time-range", "1parsec:"},
                                    {"--min-dur", "-5us"},
                                    {"--min-dur", "long"},
                                    {"--split", "0"},
                                    {"--split", "200 apples"},
                                    {"--device", "7"},
                                    {"--device", "one"},
                                    {"--model-id", "1"},
                                    {"--model-id", "1", "--iteration-id", "99"}};
  for (Lines words : wrong) {
    words.insert(words.begin(), {"export", "timeline"});
    const RunResult result = run.run(words);
    INFO(words[2] << " " << words[3] << ": " << result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find("error: ") != std::string::npos);
    CHECK((result.err.find(words[2]) != std::string::npos ||
           result.err.find(words.back()) != std::string::npos));
    CHECK(names_in(run.prof.products()).empty());
  }
}

TEST_CASE("the parts of a split timeline are small, can be loaded, and add up to the whole") {
  const SplitRun played;
  const auto whole_path = main_timelines(played.exported("whole"), "msprof_2");
  REQUIRE(whole_path.size() == 1);
  const Events whole = split_events(TimelineFile(whole_path.front()));
  const auto parts =
      main_timelines(played.exported("parts", {"--split", "300kB"}), "msprof_slice_");
  REQUIRE(parts.size() > 3);
  CHECK(parts.front().filename() == "msprof_slice_0_20231114221320.json");
  std::multiset<std::string> together;
  for (const fs::path& path : parts) {
    INFO(path.filename().string());
    CHECK(fs::file_size(path) <= 300'000);
    const Events part = split_events(TimelineFile(path));
    CHECK(part.metadata == whole.metadata);
    CHECK(!part.timed.empty());
    together.insert(part.timed.begin(), part.timed.end());
  }
  CHECK((together == whole.timed));
}

TEST_CASE("parts are consecutive time ranges") {
  const SplitRun played;
  auto parts = main_timelines(played.exported("parts", {"--split", "400kB"}), "msprof_slice_");
  REQUIRE(parts.size() > 1);
  std::sort(parts.begin(), parts.end(), [](const fs::path& a, const fs::path& b) {
    return std::stoi(a.filename().string().substr(13)) <
           std::stoi(b.filename().string().substr(13));
  });
  std::string end;
  for (const fs::path& path : parts) {
    std::string first, last;
    const TimelineFile part(path);
    for (const Json& event : part.events()) {
      if (event.at("ph") == "M") continue;
      const auto ts = event.at("ts").get<std::string>();
      if (first.empty() || ts < first) first = ts;
      last = std::max(last, ts);
    }
    CHECK(end < first);
    end = last;
  }
}

TEST_CASE("a gzipped timeline is the same timeline, also in parts") {
  const SplitRun played;
  for (const Lines& words : {Lines{}, Lines{"--split", "500kB"}}) {
    Lines zipped = words;
    zipped.push_back("--gzip");
    const std::string name = words.empty() ? "whole" : "parts";
    const fs::path plain = played.exported(name, words);
    const fs::path packed = played.exported(name + "_gz", zipped);
    Lines expected;
    for (const std::string& file : names_in(plain)) expected.push_back(file + ".gz");
    CHECK(names_in(packed) == expected);
    for (const std::string& file : names_in(plain)) {
      INFO(file);
      const RunResult unpacked =
          run_program("/bin/gzip", {"-dc", (packed / (file + ".gz")).string()});
      CHECK(unpacked.exit_code == 0);
      CHECK((unpacked.out == read_file(plain / file)));
      CHECK(fs::file_size(packed / (file + ".gz")) < fs::file_size(plain / file));
    }
  }
}

TEST_CASE("the same run gives the same text of every timeline") {
  const SplitRun played;
  // The compressed bytes may differ for the same text: isa-l gives no guarantee.
  const auto unpacked_text = [](const fs::path& file) {
    return run_program("/bin/gzip", {"-dcf", file.string()}).out;
  };
  for (const Lines& words : {Lines{}, Lines{"--gzip"}, Lines{"--split", "300kB"}}) {
    const fs::path first = played.exported("first", words);
    const fs::path second = played.exported("second", words);
    REQUIRE(names_in(first) == names_in(second));
    CHECK(!names_in(first).empty());
    for (const std::string& file : names_in(first)) {
      INFO(file);
      const std::string text = unpacked_text(first / file);
      CHECK(!text.empty());
      CHECK((text == unpacked_text(second / file)));
    }
  }
}

TEST_CASE("--split reports the number of cut arrows") {
  const SplitRun played;
  const fs::path out = played.folder / "split";
  const RunResult result = run_msprof({"export", "timeline", "--split", "100kB", "-dir",
                                       played.run.folder.string(), "--output", out.string()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  // Counts in the files: an end is cut if its arrow starts in another file.
  std::size_t ends = 0, cut = 0;
  const auto files = main_timelines(out / "mindstudio_profiler_output", "msprof_2");
  std::vector<fs::path> slices = main_timelines(out / "mindstudio_profiler_output", "msprof_slice");
  slices.insert(slices.end(), files.begin(), files.end());
  REQUIRE(slices.size() > 3);
  std::vector<Json> traces;
  std::map<std::string, std::set<std::size_t>> starts;
  const auto key = [](const Json& event) { return event.at("cat").dump() + event.at("id").dump(); };
  for (const fs::path& path : slices) {
    traces.push_back(Json::parse(read_file(path)));
    for (const Json& event : traces.back()) {
      if (event.at("ph") == "s") starts[key(event)].insert(traces.size());
    }
  }
  for (std::size_t part = 1; part <= traces.size(); ++part) {
    for (const Json& event : traces[part - 1]) {
      const bool is_end = event.at("ph") == "t" || event.at("ph") == "f";
      // The first iteration ends an arrow that has no start.
      if (!is_end || event.at("cat") == "Data_aug Bound") continue;
      ++ends;
      if (starts[key(event)].count(part) == 0) ++cut;
    }
  }
  REQUIRE(cut > 0);
  std::smatch said;
  REQUIRE(std::regex_search(result.err, said,
                            std::regex("msprof_\\d+: ([\\d,]+) of ([\\d,]+) arrows are cut")));
  const std::size_t steps = played.run.facts.steps;
  const auto number = [](std::string text) {
    std::erase(text, ',');
    return std::stoul(text);
  };
  CHECK(number(said[1]) >= cut);
  CHECK(number(said[1]) <= cut + steps);
  CHECK(number(said[2]) >= ends);
  CHECK(number(said[2]) <= ends + steps);
  // A single file cuts no arrow.
  const RunResult whole = run_msprof({"export", "timeline", "-dir", played.run.folder.string(),
                                      "--output", (played.folder / "whole").string()});
  CHECK(whole.err.find("arrows are cut") == std::string::npos);
}
