// Damaged captures of CANN 5 and of 2019 to 2021: intact data is read, and all loss is reported.
#include <catch2/catch.hpp>

#include <map>

#include "old/old_capture.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kRecords = 6;

struct RecordFile {
  std::string name;  // relative to the capture, without the slice number
  std::size_t bytes = 0;
  std::string content;
  bool has_mark = true;
};

// A CANN 5 record with an empty payload.
std::string tagged(std::uint16_t tag, std::size_t bytes) {
  return Bytes().put(std::uint16_t{0x5A5A}).put(tag).fill(bytes).bytes();
}

RecordFile tagged_file(const std::string& name, std::uint16_t tag, std::size_t bytes) {
  RecordFile file{name, bytes, "", true};
  for (std::size_t i = 0; i < kRecords; ++i) file.content += tagged(tag, bytes);
  return file;
}

RecordFile hwts_file(const std::string& name) {
  RecordFile file{name, 64, "", true};
  for (unsigned i = 0; i < kRecords; ++i)
    file.content += hwts_record(i % 2, i, 5, kOldTicks + 100 * i, 3);
  return file;
}

RecordFile aicore_file(const std::string& name) {
  RecordFile file{name, 128, "", true};
  for (unsigned i = 0; i < kRecords; ++i) file.content += aicore_record(i, 5, 3, 1000, 10);
  return file;
}

std::vector<RecordFile> cann5_files() {
  const std::string data = "device_0/data/";
  RecordFile steps{data + "ts_track.data.0", 40, "", false};
  for (std::uint16_t i = 0; i < kRecords; ++i)
    steps.content += step_mark(kOldTicks + 150U * i, i % 2);
  RecordFile nodes{data + "DATA_PREPROCESS.AICPU.0", 128, "", true};
  for (std::uint64_t i = 0; i < kRecords; ++i) {
    std::string node = tagged(60, 128);
    const std::string start = Bytes().put(kOldTicks + 100 * i).bytes();
    const std::string end = Bytes().put(kOldTicks + 100 * i + 9).bytes();
    nodes.content += node.replace(16, 8, start).replace(56, 8, end);
  }
  return {hwts_file(data + "hwts.data.0"),
          aicore_file(data + "aicore.data.0"),
          steps,
          tagged_file(data + "AclModule.acl_model.0", 0, 128),
          tagged_file(data + "runtime.api.0", 40, 256),
          tagged_file(data + "runtime.task_track.0", 41, 64),
          tagged_file(data + "Framework.model_load_info_1.0", 20, 256),
          tagged_file(data + "Framework.fusion_op_info_1.0", 21, 256),
          tagged_file(data + "Framework.model_time_info_1_0.0", 22, 256),
          tagged_file(data + "Framework.task_desc_info.0", 23, 256),
          tagged_file(data + "Framework.tensor_data_info.0", 24, 256),
          tagged_file(data + "Framework.step_info.0", 25, 64),
          tagged_file(data + "Framework.id_map_info.0", 26, 32),
          tagged_file(data + "Framework.dynamic_op_execute.0", 27, 64),
          nodes,
          tagged_file(data + "DATA_PREPROCESS.DP.0", 100, 128),
          tagged_file(data + "HCCL.hcom_allReduce_1_1_1.0", 80, 104),
          tagged_file("host/data/Msprof.msproftx", 120, 256)};
}

std::vector<RecordFile> classic_files() {
  const std::string tag = ".dev.profiler_default_tag.0";
  RecordFile trace{"training_trace.46" + tag, 20, "", false};
  for (const std::uint64_t tick : {1000U, 2000U})
    trace.content +=
        trace_mark(1, 1, tick) + trace_mark(2, 1, tick + 10) + trace_mark(255, 1, tick + 20);
  RecordFile launches{"runtime.host.runtime.0", 96, "", true};
  for (std::size_t i = 0; i < kRecords; ++i)
    launches.content += Bytes().put(std::uint16_t{0}).put(std::uint16_t{96}).fill(96).bytes();
  return {hwts_file("data/hwts.log.data.45" + tag), aicore_file("data/aicore.data.43" + tag), trace,
          launches};
}

// A folder with one slice of each file, some of them modified.
struct Folder {
  explicit Folder(bool classic) : is_classic(classic) {
    files = classic ? classic_files() : cann5_files();
    write_old_info(classic ? folder : folder / "device_0");
    if (!classic) write_old_info(folder / "host");
    for (const RecordFile& file : files) write(file, file.content);
  }
  void write(const RecordFile& file, const std::string& content, int slice = 0) const {
    write_file(folder / (file.name + ".slice_" + std::to_string(slice)), content);
  }
  OldCapture import() const { return OldCapture(folder); }

  bool is_classic;
  TempFolder temp;
  fs::path folder = temp / "JOB_1";
  std::vector<RecordFile> files;
};

// Count of the partial-data findings about a file.
std::int64_t count_damage(const OldCapture& capture, const std::string& file) {
  std::int64_t count = 0;
  for (const Finding& finding : capture.report().findings()) {
    if (finding.severity() == Severity::partial && finding.file.ends_with(file)) ++count;
  }
  return count;
}

// Changes every file at once: each must lose at most one record and be reported.
template <typename Change>
void check_each_loses_one(bool is_classic, bool marked_only, Change&& change) {
  Folder folder(is_classic);
  const std::uint64_t whole = folder.import().report().records();
  REQUIRE(whole >= folder.files.size() * kRecords);
  std::size_t changed = 0;
  for (const RecordFile& file : folder.files) {
    if (marked_only && !file.has_mark) continue;
    folder.write(file, change(file));
    ++changed;
  }
  const OldCapture capture = folder.import();
  CHECK(capture.report().is_partial());
  CHECK(capture.report().records() == whole - changed);
  for (const RecordFile& file : folder.files) {
    if (marked_only && !file.has_mark) continue;
    INFO(file.name << "\n" << capture.report().text());
    CHECK(count_damage(capture, file.name + ".slice_0") >= 1);
  }
}

}  // namespace

TEST_CASE("Old captures without damage are complete") {
  for (const bool is_classic : {false, true}) {
    const OldCapture capture = Folder(is_classic).import();
    INFO(capture.report().text());
    CHECK(capture.damage().empty());
  }
}

TEST_CASE("Old files that end within their last record lose only it, and this is reported") {
  for (const bool is_classic : {false, true}) {
    for (const std::size_t part : {1U, 3U, 9U, 50U, 99U}) {
      INFO((is_classic ? "classic" : "CANN 5") << ", cut at " << part << " in 100 of a record");
      check_each_loses_one(is_classic, false, [&](const RecordFile& file) {
        const std::size_t kept = std::max<std::size_t>(1, file.bytes * part / 100);
        return file.content.substr(0, file.content.size() - file.bytes + kept);
      });
    }
  }
}

TEST_CASE("In an old file, a byte lost or added in a record with magic loses only that record") {
  for (const bool is_classic : {false, true}) {
    check_each_loses_one(is_classic, true, [](const RecordFile& file) {
      return file.content.substr(0, 2 * file.bytes + 17) + file.content.substr(2 * file.bytes + 18);
    });
    check_each_loses_one(is_classic, true, [](const RecordFile& file) {
      std::string content = file.content;
      return content.insert(2 * file.bytes + 17, 1, 'x');
    });
  }
}

TEST_CASE("A byte lost in records without magic is reported") {
  for (const bool is_classic : {false, true}) {
    Folder folder(is_classic);
    for (const RecordFile& file : folder.files) {
      if (!file.has_mark) folder.write(file, std::string(file.content).erase(file.bytes + 3, 1));
    }
    const OldCapture capture = folder.import();
    for (const RecordFile& file : folder.files) {
      INFO(file.name << "\n" << capture.report().text());
      CHECK((count_damage(capture, file.name + ".slice_0") > 0) != file.has_mark);
    }
  }
}

TEST_CASE("Slices removed by the collector and slices missing between others are reported") {
  for (const bool is_classic : {false, true}) {
    Folder folder(is_classic);
    // The log starts within a record, as after old data was deleted; slice 10 follows slice 9.
    const RecordFile& hwts = folder.files.front();
    fs::remove(folder.folder / (hwts.name + ".slice_0"));
    folder.write(hwts, hwts.content.substr(20, 200), 9);
    folder.write(hwts, hwts.content.substr(220), 10);
    const RecordFile& other = folder.files[1];
    folder.write(other, other.content.substr(0, 2 * other.bytes), 0);
    folder.write(other, other.content.substr(4 * other.bytes), 2);
    const OldCapture capture = folder.import();
    INFO(capture.report().text());
    CHECK(capture.report().records() == folder.files.size() * kRecords - 1 - 2);
    // its incomplete first record, and the missing earlier slices
    CHECK(count_damage(capture, hwts.name + ".slice_9") == 2);
    CHECK(count_damage(capture, hwts.name + ".slice_10") == 0);
    CHECK(count_damage(capture, other.name + ".slice_2") == 1);
    CHECK(capture.damage().find("slices before it are missing") != std::string::npos);
  }
}

TEST_CASE("The length in a .done is compared if it has one") {
  for (const bool is_classic : {false, true}) {
    const Folder folder(is_classic);
    const auto done = [&](const std::string& name, const std::string& text) {
      write_file(folder.folder / (name + ".slice_0.done"), text);
    };
    const std::string length = std::to_string(folder.files[0].content.size());
    done(folder.files[0].name, "filesize:" + length + "\nstarttime:1\nendtime  :2\n");
    done(folder.files[1].name, "");
    done(folder.files[2].name, "\xff\xfe nonsense");
    CHECK(folder.import().damage().empty());
    done(folder.files[0].name, "filesize:1\n");
    done(folder.files[1].name, "filesize:9999\n");
    const std::string prefix = is_classic ? "data/" : "device_0/data/";
    done(prefix + "l2_cache.data.0", "filesize:72\n");
    const std::string damage = folder.import().damage();
    for (const std::string reason :
         {"longer than the length in its .done", "shorter than the length in its .done",
          "data file is missing"})
      CHECK(damage.find("capture: " + reason) != std::string::npos);
  }
}

TEST_CASE("Old info files that are empty or invalid are reported, and the records are read") {
  for (const bool is_classic : {false, true}) {
    for (const std::string text : {"", "nonsense \xff", "{\"DeviceInfo\": [[]]}", "[Device0]\n"}) {
      const Folder folder(is_classic);
      const fs::path info = is_classic ? folder.folder : folder.folder / "device_0";
      for (const char* name : {"info.json.0", "host_start.log.0", "dev_start.log.0"})
        write_file(info / name, text);
      const OldCapture capture = folder.import();
      INFO(text << "\n" << capture.report().text());
      CHECK(capture.report().is_partial());
      CHECK(capture.report().records() == folder.files.size() * kRecords);
      CHECK(capture.rows("SELECT count(*) FROM task WHERE stream_id = 3") ==
            std::vector<std::string>{"3"});
    }
  }
}

TEST_CASE("Without the device clock, tasks keep their durations") {
  for (const bool is_classic : {false, true}) {
    const Folder folder(is_classic);
    fs::remove((is_classic ? folder.folder : folder.folder / "device_0") / "dev_start.log.0");
    const OldCapture capture = folder.import();
    CHECK(capture.report().is_partial() == !is_classic);
    CHECK(!capture.report().lacking().empty());
    CHECK(capture.rows("SELECT DISTINCT duration_ns FROM task WHERE stream_id = 3") ==
          std::vector<std::string>{"1000"});
  }
}

TEST_CASE("Truncated or invalid lines and entries of a JOB folder are reported") {
  const std::map<std::string, std::string> texts = {
      {"Framework.host.vm.task_desc_info.0", "Default/A-op1 1 30000 5\nDefault/B-op2 1 30001 5\n"},
      {"Framework.host.vm.graph_desc_info.0", "op_name:Default/A-op1 op_type:A\nno name\n"},
      {"Framework.host.vm.point.0", "3 Default/A-op1\nx y\n"},
      {"DATA_PREPROCESS.dev.AICPUMI.0", "Node:a, Run start:1, Run end:2, queue"},
      {"DATA_PREPROCESS.dev.TDT.0", "[12] Enqueue data to dp, source:a"},
      {"DATA_PREPROCESS.dev.AICPU.0", "[5] Node:a, Run start:1, Ru"}};
  Folder folder(true);
  for (const auto& [name, text] : texts) {
    const bool is_cut = name.find("task_desc") != std::string::npos;
    write_file(folder.folder / "data" / (name + ".slice_0"),
               is_cut ? text.substr(0, text.size() - 1) : text);
  }
  const OldCapture capture = folder.import();
  INFO(capture.report().text());
  for (const auto& [name, text] : texts) {
    INFO(name);
    CHECK(count_damage(capture, name + ".slice_0") == 1);
  }
}

TEST_CASE("A JOB folder truncated within an object has the operators before it") {
  Folder folder(true);
  const std::string object =
      R"({"op_name": "a", "op_type": "A", "task_id": 5, "stream_id": 3, "block_dims": 1},)";
  write_file(folder.folder / "Framework.host.task_desc_info.0.slice_0",
             object + "\n" + object.substr(0, 30));
  const OldCapture capture = folder.import();
  CHECK(count_damage(capture, "task_desc_info.0.slice_0") == 1);
  CHECK(capture.table("runs").rows.size() == 3);
}
