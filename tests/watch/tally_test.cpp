// Reads raw files while they grow, and checks the counts derived from them.
#include "watch/tally.hpp"

#include <catch2/catch.hpp>
#include <map>

#include "wire/cann/device_wire.hpp"

using namespace msprof;
using namespace msprof::watch;

namespace {

constexpr const char* kJobFolder = "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC/";
constexpr const char* kProfFolder = "PROF_000001_20261123170000000_ABCDEFGHIJKLMNOP/device_0/";

template <typename T>
std::string to_bytes(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string header(std::uint16_t record_bytes, std::uint32_t kind) {
  return "MSVP" + to_bytes<std::uint16_t>(1) + to_bytes(record_bytes) + to_bytes(kind) +
         to_bytes<std::uint32_t>(0);
}

// A record of the reference layout (svp_job.md 7.2).
std::string core_record(std::uint32_t layer, std::uint64_t cycles, std::uint64_t execution) {
  return to_bytes(layer) + to_bytes<std::uint32_t>(0) + to_bytes<std::uint64_t>(1'000) +
         to_bytes(cycles) + std::string(80, '\0') + to_bytes(execution);
}

std::string call_record(std::uint32_t api) {
  return to_bytes(api) + to_bytes<std::uint32_t>(7) + to_bytes<std::uint64_t>(10) +
         to_bytes<std::uint64_t>(20) + to_bytes<std::uint64_t>(0);
}

// The output folder of a run, which a tally reads in rounds.
struct Folder {
  std::map<std::string, std::string> files;

  std::uint64_t round(RunTally& tally, std::uint64_t budget = 1 << 20) const {
    std::vector<PeekedFile> listing;
    for (const auto& [path, text] : files) listing.push_back({path, text.size()});
    std::uint64_t read = 0;
    for (const PeekWish& wish : tally.plan(listing, budget)) {
      const std::string& text = files.at(wish.path);
      const std::string part =
          text.substr(std::min<std::size_t>(wish.from, text.size()), wish.bytes);
      tally.take({wish.path, wish.from, part});
      read += part.size();
    }
    return read;
  }
};

Folder job() {
  Folder folder;
  folder.files[std::string(kJobFolder) + "info.json.0"] =
      R"({"DeviceInfo": [{"aic_frequency": "1000"}]})";
  folder.files[std::string(kJobFolder) + "data/m.1.layer.info"] =
      "#msprof-layers "
      "1\n0\t0\tConvolution\tAA_CORE\tconv1\tconv1\n1\t0\tPooling\tAA_CORE\tpool1\tpool1\n";
  return folder;
}

RunTally plain_tally() {
  return RunTally({});
}

}  // namespace

TEST_CASE("Layers and executions are counted while an aicore file grows") {
  Folder folder = job();
  RunTally tally = plain_tally();
  std::string& data = folder.files[std::string(kJobFolder) + "data/aicore.0.m.1.1.1.0"];
  CHECK(tally.figures().note == "no layer records yet");
  std::string all = header(112, 1);
  for (std::uint64_t execution = 0; execution < 5; ++execution)
    all += core_record(0, 2'000'000, execution) + core_record(1, 1'000, execution);
  for (std::size_t size = 0; size < all.size(); size += 100) {
    data = all.substr(0, size);
    folder.round(tally);
  }
  data = all;
  folder.round(tally);
  const RecordFigures figures = tally.figures();
  CHECK(figures.has_records);
  CHECK(figures.unit == "execution");
  CHECK(figures.count == 5);
  REQUIRE(figures.slowest.size() == 2);
  CHECK(figures.slowest[0].name == "conv1");
  CHECK(figures.slowest[0].count == 5);
  CHECK(figures.slowest[0].total_ns == Approx(1e7));
  CHECK(figures.slowest[1].name == "pool1");
  CHECK(figures.all_ns == Approx(1e7 + 5e3));
  CHECK(figures.note.empty());
  // Everything has been read: another round requests no bytes.
  CHECK(folder.round(tally) == 0);
}

TEST_CASE("Preallocated space after the records is read again until records appear") {
  Folder folder = job();
  RunTally tally = plain_tally();
  std::string& data = folder.files[std::string(kJobFolder) + "data/aicore.0.m.1.1.1.0"];
  const std::string room(20 * 112, '\0');
  std::string records = header(112, 1);
  for (std::uint64_t execution = 0; execution < 5; ++execution) {
    records += core_record(0, 2'000, execution) + core_record(1, 1'000, execution);
    data = records + room.substr(records.size() % 1'000);
    for (int i = 0; i < 2; ++i) folder.round(tally);
    CHECK(tally.figures().count == execution + 1);
  }
  data = records;
  folder.round(tally);
  CHECK(tally.figures().count == 5);
  CHECK(folder.round(tally) == 0);
}

TEST_CASE("Records written before info.json and layer.info get times and names later") {
  Folder folder;
  const std::string job_folder = kJobFolder;
  folder.files[job_folder + "data/aicore.0.m.1.1.1.0"] = header(112, 1) + core_record(0, 3'000, 0);
  RunTally tally = plain_tally();
  folder.round(tally);
  REQUIRE(tally.figures().slowest.size() == 1);
  CHECK(tally.figures().slowest[0].name == "layer_0");
  CHECK(tally.figures().slowest[0].total_ns == 0);
  for (const auto& [path, text] : job().files) folder.files[path] = text;
  for (int i = 0; i < 2; ++i) folder.round(tally);
  CHECK(tally.figures().slowest[0].name == "conv1");
  CHECK(tally.figures().slowest[0].total_ns == Approx(3'000));
}

TEST_CASE("Calls count unrecorded executions, and captures of a model are added up") {
  Folder folder = job();
  const std::string data = std::string(kJobFolder) + "data/";
  for (int capture = 0; capture < 3; ++capture)
    folder.files[data + "aicore.0.m.1.0.1.1." + std::to_string(capture * 10)] =
        header(112, 1) + core_record(0, 100, 0);
  RunTally tally = plain_tally();
  folder.round(tally);
  folder.round(tally);
  CHECK(tally.figures().count == 3);
  std::string calls = header(32, 3) + call_record(1);
  for (int i = 0; i < 30; ++i) calls += call_record(i % 2 == 0 ? 3 : 4);
  folder.files[data + "acl_api.0.m.1"] = calls;
  folder.round(tally);
  CHECK(tally.figures().count == 30);
}

TEST_CASE("Unknown record layouts cause a message, and --layout makes them readable") {
  Folder folder = job();
  std::string records;
  for (int i = 0; i < 4; ++i)
    records += to_bytes<std::uint32_t>(static_cast<std::uint32_t>(i % 2)) +
               to_bytes<std::uint32_t>(500) + to_bytes<std::uint64_t>(0xFFFF);
  folder.files[std::string(kJobFolder) + "data/aicore.0.m.1.1.1.0"] = records;
  RunTally blind = plain_tally();
  for (int i = 0; i < 3; ++i) folder.round(blind);
  CHECK_FALSE(blind.figures().has_records);
  CHECK(blind.figures().note.find("unknown record layout") != std::string::npos);
  CHECK(folder.round(blind) == 0);

  LayoutPlaces places;
  places.given = {LayoutSource::command_line, "x.json",
                  R"({"aicore": {"header_size": 0, "record_size": 16, "fields": {
                      "layer_id": {"offset": 0, "type": "u32"},
                      "total_cycles": {"offset": 4, "type": "u32"}}}})"};
  RunTally tally({places, ""});
  for (int i = 0; i < 3; ++i) folder.round(tally);
  CHECK(tally.figures().count == 2);
  CHECK(tally.figures().slowest.size() == 2);

  places.given.json = "{";
  RunTally broken({places, ""});
  for (int i = 0; i < 3; ++i) folder.round(broken);
  CHECK(broken.figures().note.find("x.json") != std::string::npos);
}

TEST_CASE("Reading stays within its budget, and skipped data is estimated") {
  Folder folder = job();
  std::string& data = folder.files[std::string(kJobFolder) + "data/aicore.0.m.1.1.1.0"];
  data = header(112, 1);
  for (std::uint64_t execution = 0; execution < 10'000; ++execution)
    data += core_record(0, 2'000, execution) + core_record(1, 1'000, execution);
  RunTally tally = plain_tally();
  constexpr std::uint64_t kBudget = 64 << 10;
  for (int i = 0; i < 10; ++i) CHECK(folder.round(tally, kBudget) <= 2 * kBudget);
  CHECK(static_cast<double>(tally.figures().count) == Approx(10'000).epsilon(0.01));
  CHECK(tally.figures().slowest[0].name == "conv1");
}

TEST_CASE("Damaged, empty and unrelated files are not counted") {
  Folder folder;
  const std::string data = std::string(kJobFolder) + "data/";
  folder.files[data + "aicore.0.m.1.1.1.0"] = "MSVP and records" + std::string(500, 'x');
  folder.files[data + "aicore.0.m.1.1.1.1"] = "";
  folder.files[data + "aicore.0.m.1.1.1.2"] = header(112, 1) + std::string(1120, '\0');
  folder.files[data + "aicore.0.m.1.1.1.3"] = header(112, 1) + std::string(1120, '\xff');
  folder.files[data + "aicpu.0.m.1.1.1.3"] = header(8, 2) + std::string(1120, '\xff');
  folder.files[data + "acl_api.0.m.1"] = "MS";
  folder.files[std::string(kJobFolder) + "info.json.0"] = "{{{{";
  folder.files[std::string(kJobFolder) + "data/m.1.layer.info"] = std::string(3000, '\x01');
  folder.files["JOB/data/aicore.0.m.1.1.1.0.done"] = "file_len:5\n";
  folder.files["notes/aicore.0.m.1.1.1.0"] = header(112, 1) + core_record(0, 1, 0);
  RunTally tally = plain_tally();
  for (int i = 0; i < 3; ++i) folder.round(tally);
  CHECK(tally.figures().count == 0);
  CHECK(tally.figures().slowest.empty());
  CHECK_FALSE(tally.figures().note.empty());
}

TEST_CASE("Tasks of a PROF folder are counted by stream while a slice is written") {
  const auto log = [](bool is_end, std::uint16_t stream, std::uint16_t task, std::uint64_t ticks) {
    cann::StarsLogWire wire{};
    wire.head = is_end ? 1 : 0;
    wire.magic = cann::kDeviceMagic;
    wire.stream_id = stream;
    wire.task_id = task;
    wire.syscnt = ticks;
    return to_bytes(wire);
  };
  Folder folder;
  folder.files[std::string(kProfFolder) + "info.json.0"] =
      R"({"platform_version": "5", "DeviceInfo": [{"id": 0, "hwts_frequency": "100.000000"}]})";
  const std::string slice = std::string(kProfFolder) + "data/stars_soc.data.0.slice_0";
  // The first bytes are the rest of a record from a deleted slice.
  const std::string begun = std::string(10, 'x') + log(false, 3, 1, 1'000) +
                            log(false, 4, 1, 1'000) + log(true, 3, 1, 2'000);
  constexpr std::size_t kSpace = 100'000;
  folder.files[slice] = begun + std::string(kSpace - begun.size(), '\0');
  RunTally tally = plain_tally();
  for (int i = 0; i < 4; ++i) folder.round(tally);
  RecordFigures figures = tally.figures();
  CHECK(figures.unit == "task");
  CHECK(figures.count == 1);
  CHECK(figures.unread_bytes == 0);

  const std::string more = begun + log(true, 4, 1, 6'000) + log(true, 9, 9, 7'000);
  folder.files[slice] = more + std::string(kSpace - more.size(), '\0');
  folder.round(tally);
  figures = tally.figures();
  CHECK(figures.count == 2);
  REQUIRE(figures.slowest.size() == 2);
  CHECK(figures.part == "stream");
  CHECK(figures.slowest[0].name == "stream 4 AI_CORE");
  CHECK(figures.slowest[0].total_ns == Approx(50'000));
  // A complete slice is not read again.
  folder.files[slice + ".done"] = "filesize:1\n";
  folder.round(tally);
  CHECK(folder.round(tally) == 0);
}
