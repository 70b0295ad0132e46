// info.json and net.info: generations, frequencies, missing and contradictory data.
#include <catch2/catch.hpp>

#include "golden/golden_fixture.hpp"

using namespace msprof::test;

namespace {

// Two core layers of 6001 and 2500 cycles.
struct TwoLayers : Capture {
  TwoLayers() {
    job.net_info("net", 1);
    job.layer_info("net", 1, {{0, 0, "A", "AA_CORE", "a", ""}, {1, 0, "B", "AA_CORE", "b", ""}});
    job.data(DataName{}, aicore_file({layer_record(0, 1000, 6001), layer_record(1, 9000, 2500)}));
  }
  std::string op_summary_name() const {
    REQUIRE(run({"export", "summary", "op_summary", "-q"}).exit_code != 2);
    const auto names = names_in(job.folder() / "summary");
    REQUIRE(names.size() == 1);
    return names[0];
  }
  std::string partial_reason() const {
    const auto found = rows("SELECT file, reason FROM import_log WHERE severity = 'partial'");
    return found.size() == 1 ? found[0] : std::to_string(found.size()) + " findings";
  }
};

std::string op_summary_without_units(const std::string& times_of_a, const std::string& times_of_b,
                                     const std::string& total) {
  const std::string units = "0.000,0.000,0.000,0.000,0.000,0.000,0.000,0.000,N/A,0,0,0\n";
  return "Layer Id,Ori Layer Name,Layer Name,Layer Type,Time(us),Time Ratio,Mac Busy Ratio,"
         "Mac Ppen Ratio,Vec Busy Ratio,Vec Ppen Ratio,Dstr Ratio,Dtrans Ratio,DLD Ratio,WLD Ratio,"
         "Memory Bound,DDR Read(byte),DDR Write(byte),DDR Total(byte)\n0,a,a,A," +
         times_of_a + "," + units + "1,b,b,B," + times_of_b + "," + units + "-,-,-,-," + total +
         "," + units;
}

}  // namespace

TEST_CASE("info.json of every board generation gives the frequency") {
  const auto generation = GENERATE(Generation::ss928, Generation::hi3519, Generation::hi3516);
  TwoLayers capture;
  capture.job.info_json("840", generation);
  CHECK(capture.import(0).at("verdict") == "complete");
  CHECK(capture.op_summary_name() == "op_summary_0.net.1.1.1.0.NA.840.csv");
  CHECK(capture.rows("SELECT id, frequency_hz FROM device") == Lines{"0|840000000"});
  const auto soc = capture.rows("SELECT text FROM device JOIN name ON name.id = chip_name_id");
  CHECK(soc == (generation == Generation::hi3516 ? Lines{"V200"} : Lines{}));
}

TEST_CASE("a frequency above 10000 is in Hz, and numbers and fractions are accepted") {
  const auto [text, in_name] = GENERATE(table<std::string, std::string>({
      {R"({"DeviceInfo": [{"aic_frequency": "500000000"}]})", "500"},
      {R"({"DeviceInfo": [{"aic_frequency": 500}]})", "500"},
      {R"({"DeviceInfo": [{"aic_frequency": "10000"}]})", "10000"},
      {R"({"DeviceInfo": [{"aic_frequency": "19.2"}]})", "19.2"},
      {R"({"DeviceInfo": [{"other": "x"}, {"aic_frequency": "700"}]})", "700"},
      {"{\"DeviceInfo\": [{\"aic_frequency\": \"700\"}]}\n", "700"},
  }));
  TwoLayers capture;
  capture.job.file("info.json.0", text);
  CHECK(capture.import(0).at("verdict") == "complete");
  CHECK(capture.op_summary_name() == "op_summary_0.net.1.1.1.0.NA." + in_name + ".csv");
}

TEST_CASE("without a usable frequency times are N/A, ratios are shown, the data is partial") {
  const std::string text =
      GENERATE(as<std::string>(), R"({"DeviceInfo": [{"aic_frequency": "0"}]})",
               R"({"DeviceInfo": [{"aic_frequency": "fast"}]})",
               R"({"DeviceInfo": [{"aic_frequency": "-5"}]})", R"({"DeviceInfo": []})", "{}", "[]",
               R"({"DeviceInfo": 7})", R"({"DeviceInfo": [[1], "x", null]})");
  INFO(text);
  TwoLayers capture;
  capture.job.file("info.json.0", text);
  CHECK(capture.import(3).at("kinds").at("aicore").at("records") == 2);
  CHECK(capture.partial_reason() == "info.json.0|frequency missing or 0");
  CHECK(capture.run({"export", "summary"}).exit_code == 3);
  // 6001 and 2500 of 8501 cycles.
  CHECK(capture.product("summary/op_summary_0.net.1.1.1.0.NA.NA.csv") ==
        op_summary_without_units("N/A,70.592", "N/A,29.408", "N/A,100.000"));
  CHECK(capture.product("summary/op_statistic_0_1_0_0.csv") ==
        "Task ID,Stream ID,OP Name,Task Type,Total Time Ratio(%),Total Time(us),Count,Avg(us),"
        "Max(us),Min(us)\n"
        "0,0,a,AA_CORE,70.592,N/A,1,N/A,N/A,N/A\n1,0,b,AA_CORE,29.408,N/A,1,N/A,N/A,N/A\n");
}

TEST_CASE("a missing or invalid info.json is partial") {
  const bool present = GENERATE(true, false);
  TwoLayers capture;
  if (present) capture.job.file("info.json.0", "{\"DeviceInfo\": [");
  CHECK(capture.import(3).at("kinds").at("aicore").at("records") == 2);
  CHECK(capture.op_summary_name() == "op_summary_0.net.1.1.1.0.NA.NA.csv");
}

TEST_CASE("a frequency of 0 without layer records is not a loss") {
  Capture capture;
  capture.job.info_json("0").net_info("net", 1);
  capture.job.data("acl_api.0.net.1", acl_api_file({{3, 0, 100, 200}}));
  CHECK(capture.import(0).at("verdict") == "complete");
}

TEST_CASE("a CPU operator has its time even if the core frequency is unknown") {
  Capture capture;
  add_face(capture.job);
  capture.job.info_json("0");
  REQUIRE(capture.run({"export", "summary", "op_summary"}).exit_code == 3);
  const std::string csv = capture.product("summary/op_summary_0.face.31.2.2.0.0.1000.NA.csv");
  CHECK(csv.find("\n2,detect,detect,DetectionOutput,1.617,N/A,N/A") != std::string::npos);
  CHECK(csv.find("\n0,conv1+bn1+relu1,conv1,Convolution,N/A,N/A,50.008,40.010,") !=
        std::string::npos);
}

TEST_CASE("the file name overrides another model name in net.info, with a note") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1, {.model_name = "zoo/face v2"});
  capture.job.data(DataName{}, aicore_file({layer_record(0, 1, 1000)}));
  CHECK(capture.import(0).at("verdict") == "without");
  CHECK(capture.rows("SELECT reason, detail FROM import_log WHERE kind = 'net.info' AND category ="
                     " 'other'") ==
        Lines{"model_name differs from the file name, the file name is used|'zoo/face v2'"});
  REQUIRE(capture.run({"export", "summary"}).exit_code == 0);
  CHECK(names_in(capture.job.folder() / "summary") ==
        Lines{"op_statistic_0_1_0_0.csv", "op_summary_0.net.1.1.1.0.NA.500.csv"});
}

TEST_CASE("binary info files are used for their file names and plausible layer names") {
  Capture capture;
  capture.job.info_json("500");
  capture.job.file("data/net.1.net.info", std::string("PICO\0\1\2\3", 8));
  std::string slice("\x01\x02\x00", 3);
  for (const char* text : {"Convolution", "conv1", "Pooling", "pool1"}) {
    slice += std::string(text) + std::string("\0\x07\x00", 3);
  }
  capture.job.file("data/net.1.layer.info", slice);
  capture.job.data(DataName{}, aicore_file({layer_record(0, 1, 1), layer_record(1, 2, 1),
                                            layer_record(2, 3, 1)}));
  CHECK(capture.import(0).at("verdict") == "without");
  CHECK(capture.rows("SELECT layer.text, type.text FROM op JOIN name AS layer ON layer.id = name_id"
                     " JOIN name AS type ON type.id = type_name_id ORDER BY layer_id") ==
        Lines{"conv1|Convolution", "pool1|Pooling", "layer_2|N/A"});
  CHECK(capture.rows("SELECT count(*) FROM import_log WHERE kind = 'layer.info' AND severity ="
                     " 'without' AND reason LIKE '%GUESSED%'") == Lines{"1"});
}

TEST_CASE("a profile with only guessed layer names is not complete") {
  Capture capture;
  capture.job.info_json("500").net_info("net", 1);
  std::string slice("\x01\x02\x00", 3);
  for (const char* text : {"Convolution", "conv1", "Pooling", "pool1"})
    slice += std::string(text) + std::string("\0\x07\x00", 3);
  capture.job.file("data/net.1.layer.info", slice);
  capture.job.data(DataName{}, aicore_file({layer_record(0, 1, 1), layer_record(1, 2, 1)}));
  const auto verdict = capture.import(0);
  CHECK(verdict.at("verdict") == "without");
  CHECK(verdict.at("without") == nlohmann::json{"recorded layer names (they are guessed)"});
}

TEST_CASE("empty info files are reported, and the profile is not complete") {
  Capture capture;
  capture.job.info_json("500").file("data/net.1.net.info", "").file("data/net.1.layer.info", "");
  capture.job.data(DataName{}, aicore_file({layer_record(7, 1, 1)}));
  const auto verdict = capture.import(0);
  CHECK(verdict.at("without") ==
        nlohmann::json{"the batch size of the model", "names of some layers"});
  CHECK(capture.rows("SELECT kind, reason FROM import_log WHERE reason LIKE 'empty%'") ==
        Lines{"net.info|empty, only its file name is used",
              "layer.info|empty: it has no layer names"});
}

TEST_CASE("a run without a model execution is not complete") {
  const std::string calls = acl_api_file({{3, 0, 100, 200}});
  const auto run_json = [](const std::string& options) {
    return R"({"schema": "msprof.run/1", "command": ["main"], "options": {)" + options + "}}";
  };
  const auto import = [&](const std::string& run, bool has_layers, bool has_empty_file) {
    Capture capture;
    capture.job.info_json("500").net_info("net", 1);
    capture.job.layer_info("net", 1, {{0, 0, "Conv", "AA_CORE", "conv", ""}});
    capture.job.data("acl_api.0.net.1", calls);
    if (has_layers) capture.job.data(DataName{}, aicore_file({layer_record(0, 1, 1)}));
    if (has_empty_file) capture.job.data(DataName{.current = 1}, "");
    if (!run.empty()) capture.job.file("run.json", run);
    const auto verdict = capture.import(0);
    return verdict.at("verdict").get<std::string>() + verdict.at("without").dump();
  };
  CHECK(import(run_json(R"("--all": "true")"), false, false) == R"(without["layers"])");
  CHECK(import(run_json(""), false, true) == R"(without["layers"])");
  CHECK(import(run_json(""), true, false) == "complete[]");
  CHECK(import(run_json(R"("--switch": "off")"), false, false) == "complete[]");
  CHECK(import(run_json(R"("--aac_metrics": "none")"), false, false) == "complete[]");
  // The requested data is unknown.
  CHECK(import("", false, false) == "complete[]");
}

TEST_CASE("a file without plausible layer names falls back to layer_<id>, type N/A") {
  const std::string slice = GENERATE(as<std::string>(), std::string("\0\1\2\3", 4), "",
                                     std::string("hello\0world\0", 12));
  Capture capture;
  capture.job.info_json("500").net_info("net", 1).file("data/net.1.layer.info", slice);
  capture.job.data(DataName{}, aicore_file({layer_record(7, 1, 1)}));
  CHECK(capture.import(0).at("verdict") == "without");
  CHECK(capture.rows("SELECT layer.text, type.text FROM op JOIN name AS layer ON layer.id = name_id"
                     " JOIN name AS type ON type.id = type_name_id") == Lines{"layer_7|N/A"});
}
