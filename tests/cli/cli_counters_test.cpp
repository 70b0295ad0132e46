// System counters on the command line: their layers, --reports, and their part in compare and
// completion.
#include <catch2/catch.hpp>
#include <cstring>

#include "cli/cli_fixture.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

// A run with an HBM file, one channel of which reads `mb_per_s`, and an HCCS file.
struct CounterRun {
  TempFolder folder;
  fs::path capture;

  explicit CounterRun(std::uint64_t mb_per_s = 1024) {
    prof::RunShape shape;
    shape.tasks = 60;
    capture = prof::make_run(folder.path(), {}, shape).folder;
    std::string hbm;
    for (std::uint64_t i = 0; i < 50; ++i) {
      // 1/64 s per sample; each count is 32 bytes.
      const std::uint64_t record[] = {15'625 * i, mb_per_s * 1'048'576 / 32 / 64, 2ULL << 32};
      hbm.append(reinterpret_cast<const char*>(record), sizeof(record));
    }
    write_file(capture / "device_0/data/hbm.data.0.slice_0", hbm);
    write_file(capture / "device_0/data/hbm.data.0.slice_0.done", "");
    write_file(capture / "device_0/data/hccs.data.0.slice_0",
               "4:000100000 0 0\n4:000200000 5000 6000\n4:000300000 9000 9000\n");
    write_file(capture / "device_0/data/hccs.data.0.slice_0.done", "");
  }

  RunResult run(Words words) const {
    words.insert(words.end(), {"-dir", capture.string()});
    return run_msprof(words);
  }
  std::string timeline() const {
    for (const std::string& name : names_in(capture / "mindstudio_profiler_output")) {
      if (name.starts_with("msprof_2"))
        return read_file(capture / "mindstudio_profiler_output" / name);
    }
    return "";
  }
  std::string reports(const std::string& text) const {
    const fs::path file = folder / "reports.json";
    write_file(file, text);
    return file.string();
  }
};

RunResult compared(const CounterRun& base, const CounterRun& now, Words words) {
  Words all = {"compare", base.capture.string(), now.capture.string()};
  all.insert(all.end(), words.begin(), words.end());
  return run_msprof(all);
}

}  // namespace

TEST_CASE("--layers accepts all system counters together or individually") {
  const CounterRun run;
  REQUIRE(run.run({"export", "timeline", "--layers", "counters"}).exit_code == 0);
  CHECK_THAT(run.timeline(), Contains("HBM 2/Read") && Contains("\"HCCS\"") &&
                                 Contains("AI Core Freq") && !Contains("Ascend Hardware"));
  REQUIRE(run.run({"export", "timeline", "--layers", "hccs"}).exit_code == 0);
  CHECK_THAT(run.timeline(), Contains("\"HCCS\"") && !Contains("HBM 2/Read"));
  REQUIRE(run.run({"export", "timeline", "--layers", "hbm,cann"}).exit_code == 0);
  CHECK_THAT(run.timeline(), Contains("HBM 2/Read") && Contains("\"CANN\""));
  CHECK_THAT(run.run({"export", "timeline", "--layers", "counter"}).err,
             Contains("did you mean counters?"));
}

TEST_CASE("--reports draws what is true in the vendor's file") {
  const CounterRun run;
  const std::string file =
      run.reports(R"({"json_process": {"hbm": true, "hccs": false, "cann": true, "sio": true}})");
  REQUIRE(run.run({"export", "timeline", "--reports", file}).exit_code == 0);
  CHECK_THAT(run.timeline(), Contains("HBM 2/Read") && Contains("\"CANN\"") &&
                                 !Contains("\"HCCS\"") && !Contains("Ascend Hardware"));
  const std::string other = run.reports(R"({"json_process": {"ascend": true, "freq": true}})");
  REQUIRE(run.run({"export", "all", "--reports", other}).exit_code == 0);
  CHECK_THAT(run.timeline(),
             Contains("Ascend Hardware") && Contains("AI Core Freq") && !Contains("HBM 2/Read"));
  CHECK_FALSE(names_in(run.capture / "mindstudio_profiler_output").empty());
}

TEST_CASE("--reports refuses invalid files with one message") {
  const CounterRun run;
  const std::pair<const char*, const char*> wrong[] = {
      {"{", "invalid JSON"},
      {"[1]", "the object \"json_process\" is missing"},
      {R"({"json_process": []})", "the object \"json_process\" is missing"},
      {R"({"json_process": {"comunication": true}})", "did you mean communication?"},
      {R"({"json_process": {"hbm": "yes"}})", "'hbm' must be true or false"},
      {R"({"json_process": {"hbm": false}})", "no entry is true"},
      {R"({"json_process": {}})", "no entry is true"},
  };
  for (const auto& [text, sentence] : wrong) {
    CAPTURE(text);
    const std::string file = run.reports(text);
    for (const char* const what : {"timeline", "all"}) {
      const RunResult result = run.run({"export", what, "--reports", file});
      CHECK(result.exit_code == 2);
      CHECK_THAT(result.err, Contains(sentence));
    }
  }
  CHECK(run.run({"export", "timeline", "--reports", "/none"}).exit_code == 2);
  const std::string good = run.reports(R"({"json_process": {"hbm": true}})");
  CHECK_THAT(run.run({"export", "timeline", "--reports", good, "--layers", "hbm"}).err,
             Contains("cannot be combined"));
  CHECK_THAT(run.run({"export", "timeline", "--reports", good, "--style", "cann5"}).err,
             Contains("not supported with --style cann5"));
  const auto job = make_face(run.folder.path(), "JOBA");
  const RunResult of_job =
      run_msprof({"export", "timeline", "--reports", good, "-dir", job.folder().string()});
  CHECK(of_job.exit_code == 2);
  CHECK_THAT(of_job.err, Contains("works only with captures of Atlas machines"));
}

TEST_CASE("compare shows changed counters in all output formats") {
  const CounterRun base, now(2048);
  const std::string text = compared(base, now, {}).out;
  CHECK_THAT(text, Contains("System counters, mean over the run"));
  CHECK_THAT(text, Contains("HBM 2 Read") && Contains("+100.0") && !Contains("HCCS Tx"));
  const Json json = Json::parse(compared(base, now, {"--json"}).out);
  const Json& first = json.at("counters").at(0);
  CHECK(first.at("name") == "HBM 2 Read");
  CHECK(first.at("kind") == "hbm");
  CHECK(first.at("unit") == "MB/s");
  CHECK(first.at("base") == Approx(1024));
  CHECK(first.at("new") == Approx(2048));
  CHECK(first.at("is_noise") == false);
  CHECK(json.at("counters").size() > 1);
  CHECK(Json::parse(compared(base, now, {"--json", "--top", "1"}).out).at("counters").size() == 1);
  const std::string csv = compared(base, now, {"--format", "csv"}).out;
  CHECK_THAT(csv, Contains("\n\nCounter,Of,Kind,Unit,Base,New,Delta,Change(%),Noise,Is Noise,"
                           "Base Samples,New Samples\nHBM 2 Read,device,hbm,MB/s,1024.000,2048.000,"
                           "1024.000,100.000,"));
  CHECK_THAT(compared(base, now, {"--format", "html"}).out,
             Contains("<table id=\"counters\">") && Contains("HBM 2 Read"));
  CHECK_THAT(compared(base, base, {}).out, Contains("no counter changed beyond noise"));
}
