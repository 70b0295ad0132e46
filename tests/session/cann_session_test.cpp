#include "session/cann_session.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "session/session.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {
constexpr const char* kProf = "PROF_000001_20240515160507111_ABCDEFGHIJKLMNOP";
constexpr const char* kHostInfo =
    R"({"version":"1.0","platform_version":"5","drvVersion":467732,"cannVersion":"8.5.0","pid":"4321",
"pid_name":"python3","hostname":"h","hostUid":"12","rank_id":-1,"DeviceInfo":[],
"CPU":[{"Frequency":""},{"Frequency":"100.000000"}]})";
constexpr const char* kDeviceInfo =
    R"({"version":"1.0","platform_version":"5","drvVersion":467732,"devices":"0",
"CPU":[{"Frequency":"100"}],"DeviceInfo":[{"id":0,"ai_core_num":24,"aiv_num":48,
"hwts_frequency":"50.000000","aic_frequency":"1650","aiv_frequency":"1800.5"}]})";
constexpr const char* kSample =
    R"({"ai_core_profiling":"on","ai_core_profiling_mode":"task-based",
"ai_core_metrics":"PipeUtilizationExct","ai_core_profiling_events":"0x416,0x417, 0x9",
"aiv_profiling":"on","aiv_metrics":"PipeUtilization","aiv_profiling_events":"0x8,zz,0xA",
"profLevel":"l1"})";
constexpr const char* kBegin =
    R"({"collectionDateBegin":"2024-05-15 16:05:07.197379","collectionTimeBegin":"1715760307197379",
"clockMonotonicRaw":"9691377159398230"})";
constexpr const char* kEnd =
    R"({"collectionDateEnd":"2024-05-15 16:05:17.2","collectionTimeEnd":"1715760307224304"})";
constexpr const char* kHostStart =
    "[Host]\nclock_realtime: x\nclock_monotonic_raw: 9691377161797070\ncntvct: 969137716179707\n"
    "cntvct_diff: 0\n";
constexpr const char* kDeviceStart = "clock_monotonic_raw:9691379000000000\ncntvct:484576969200418";

// A PROF folder whose host and devices have only info files and an empty data folder.
class Prof {
 public:
  explicit Prof(int devices = 1) : path_(folder_ / kProf) {
    write("host/info.json", kHostInfo).write("host/start_info", kBegin);
    write("host/end_info", kEnd).write("host/sample.json", kSample);
    write("host/host_start.log", kHostStart);
    fs::create_directories(path_ / "host/data");
    for (int i = 0; i < devices; ++i) add_device(std::to_string(i));
  }
  Prof& add_device(const std::string& number) {
    const std::string device = "device_" + number + "/";
    write(device + "info.json." + number, kDeviceInfo);
    write(device + "sample.json", kSample);
    write(device + "start_info." + number, kBegin).write(device + "end_info." + number, kEnd);
    write(device + "host_start.log." + number, kHostStart);
    write(device + "dev_start.log." + number, kDeviceStart);
    fs::create_directories(path_ / device / "data");
    return *this;
  }
  Prof& write(const std::string& name, std::string_view bytes) {
    write_file(path_ / name, bytes);
    return *this;
  }
  Prof& remove(const std::string& name) {
    REQUIRE(fs::remove_all(path_ / name) > 0);
    return *this;
  }
  CannSession open() const { return CannSession(path_); }
  const fs::path& path() const { return path_; }
  const fs::path& parent() const { return folder_.path(); }

 private:
  TempFolder folder_;
  fs::path path_;
};

std::vector<std::string> findings(const CannSession& session) {
  std::vector<std::string> lines;
  for (const SessionFinding& finding : session.findings()) {
    const Severity severity = finding_info(finding.id).severity;
    lines.push_back((severity == Severity::partial   ? "partial "
                     : severity == Severity::without ? "without "
                                                     : "note ") +
                    finding.file + ": " + finding.reason);
  }
  return lines;
}

using Lines = std::vector<std::string>;

std::vector<std::string> raw_names(const CannSession& session) {
  Lines names;
  for (const RawFile& file : session.raw_files()) names.push_back(file.name);
  return names;
}

}  // namespace

TEST_CASE("a valid capture has parts, chip, clocks and window, and no findings") {
  const Prof prof(2);
  const CannSession session = prof.open();
  CHECK(findings(session) == Lines{});
  REQUIRE(session.parts().size() == 3);
  CHECK(session.host() == &session.parts()[0]);
  CHECK(session.parts()[1].name == "device_0");
  CHECK(session.parts()[2].device == 1);
  REQUIRE(session.chip());
  CHECK(session.chip()->name == "Ascend910B");
  CHECK(session.has_batch_ids());
  CHECK(session.begin_ns() == 1'715'760'307'197'379'000);
  CHECK(session.end_ns() == 1'715'760'307'224'304'000);
  CHECK(session.has_end());
  CHECK(session.time_stamp() == "20240515160507");
  REQUIRE(session.host_clock());
  CHECK(session.host_clock()->ns(969'137'716'179'807) == 1'715'760'307'199'778'840);
  REQUIRE(session.parts()[1].clock);
  CHECK(session.parts()[1].clock->ns(484'576'969'200'419) == 1'715'760'307'199'777'860);
  CHECK(session.parts()[1].start_ticks == 484'576'969'200'418);
}

TEST_CASE("info and sample files give numbers and texts, also from strings") {
  Prof prof;
  const CannSession session = prof.open();
  const cann::Info& host = session.info();
  CHECK(host.pid == 4321);
  CHECK(host.pid_name == "python3");
  CHECK(host.host_uid == "12");
  CHECK(host.cann_major == 8);
  CHECK(host.cann_minor == 5);
  CHECK(host.host_frequency_hz == 100'000'000);  // frequency of the last CPU
  const cann::Info& device = session.parts()[1].info;
  CHECK(device.hwts_frequency_hz == 50'000'000);
  CHECK(device.aiv_frequency_hz == 1'800'500'000);
  CHECK(device.ai_core_num == 24);
  CHECK(device.aiv_num == 48);
  CHECK(device.aic_metrics == "PipeUtilizationExct");
  CHECK(device.aic_events == std::vector<std::uint32_t>{0x416, 0x417, 9});
  CHECK(device.aiv_events == std::vector<std::uint32_t>{8, 0, 10});
}

TEST_CASE("frequencies are exact, and 0 if invalid") {
  using cann::mhz_to_hz;
  CHECK(mhz_to_hz("38.4") == 38'400'000);
  CHECK(mhz_to_hz("100.000000") == 100'000'000);
  CHECK(mhz_to_hz(" 1650 ") == 1'650'000'000);
  CHECK(mhz_to_hz("0.0000019") == 1);
  CHECK(mhz_to_hz("1000000") == 1'000'000'000'000);
  for (const char* text : {"", "NA", "-1", "1e3", "1.2.3", ".", "1000001", "1,5", "1.x"}) {
    CAPTURE(text);
    CHECK(mhz_to_hz(text) == 0);
  }
}

TEST_CASE("host counters without a frequency run at 1000 MHz, in nanoseconds") {
  Prof prof;
  prof.write("host/info.json", R"({"platform_version":5,"CPU":[{"Frequency":""}]})");
  const CannSession session = prof.open();
  CHECK(session.host_clock()->start().counts_are_ns);
  CHECK(session.host_clock()->ns(9'691'377'159'398'230) == session.begin_ns());
  CHECK(session.chip()->platform == 5);
}

TEST_CASE("cntvct_diff shifts the start by its time") {
  Prof prof;
  prof.write("host/host_start.log",
             "[Host]\nclock_monotonic_raw: 1000\ncntvct: 5\ncntvct_diff: 7\n");
  const CannSession session = prof.open();
  CHECK(session.host_clock()->start().monotonic_ns == 1070);
  CHECK(session.host_clock()->start().vendor_extra_ns == 0);
}

TEST_CASE("raw files are sorted by part, kind, kept slices first, and slice number") {
  Prof prof(2);
  for (const char* name :
       {"host/data/aging.compact.task_track.slice_10", "host/data/aging.compact.task_track.slice_9",
        "host/data/unaging.compact.task_track.slice_11", "host/data/aging.api_event.data.slice_0",
        "host/data/aging.api_event.data.slice_0.done", "host/data/aging.api_event.data.slice_0.zip",
        "host/data/all_file.complete", "host/data/odd.txt",
        "device_0/data/stars_soc.data.0.slice_0", "device_1/data/stars_soc.data.1.slice_0"}) {
    prof.write(name, "12");
  }
  const CannSession session = prof.open();
  CHECK(raw_names(session) == Lines{"host/data/odd.txt", "host/data/aging.api_event.data.slice_0",
                                    "host/data/unaging.compact.task_track.slice_11",
                                    "host/data/aging.compact.task_track.slice_9",
                                    "host/data/aging.compact.task_track.slice_10",
                                    "device_0/data/stars_soc.data.0.slice_0",
                                    "device_1/data/stars_soc.data.1.slice_0"});
  const RawFile& last = session.raw_files().back();
  CHECK(last.size_bytes == 2);
  CHECK(session.parsed_name(last).stem == "stars_soc.data");
  CHECK(session.find_part(last).device == 1);
  CHECK(session.parsed_name(session.raw_files().front()).stem.empty());
  CHECK(session.file_states().size() == 7 + 5 + 2 * 6);
  CHECK(std::is_sorted(session.file_states().begin(), session.file_states().end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_CASE("other folders and files are reported, products are not") {
  Prof prof;
  prof.write("sqlite/x", "").write("mindstudio_profiler_output/x", "").write("msprof_1.db", "");
  prof.write("host/sqlite/x", "").write("extra/x", "").write("device_0/data/deep/x", "");
  prof.write("host/readme", "").write("device_0/info.json.0.done", "filesize:1");
  const CannSession session = prof.open();
  CHECK(findings(session) == Lines{"note extra: unrelated folder, not read",
                                   "note host/readme: present, not read",
                                   "note device_0/data/deep: unrelated folder, not read"});
}

TEST_CASE("a device folder can be a link, but a data file must not lead outside") {
  Prof prof;
  fs::rename(prof.path() / "device_0", prof.parent() / "elsewhere");
  fs::create_directory_symlink(prof.parent() / "elsewhere", prof.path() / "device_0");
  prof.write("device_0/data/stars_soc.data.0.slice_0", "x");
  write_file(prof.parent() / "secret", "x");
  fs::create_symlink(prof.parent() / "secret", prof.path() / "device_0/data/hwts.data.0.slice_0");
  const CannSession session = prof.open();
  CHECK(raw_names(session) == Lines{"device_0/data/stars_soc.data.0.slice_0"});
  CHECK(session.parts()[1].clock);
  CHECK(findings(session) ==
        Lines{"note device_0: a link to another folder, followed",
              "partial device_0/data/hwts.data.0.slice_0: link to outside the capture"});
}

TEST_CASE("each missing info file is reported, and the rest is read") {
  struct Case {
    const char* removed;
    Lines expected;
  };
  const auto [removed, expected] = GENERATE(
      Case{"host/info.json", {"partial host/info.json: missing or broken"}},
      Case{"device_0/info.json.0", {"partial device_0/info.json: missing or broken"}},
      Case{"host/start_info", {"partial host/start_info: missing or broken"}},
      Case{"host/host_start.log", {"partial host/host_start.log: missing or broken"}},
      Case{"device_0/host_start.log.0", {"partial device_0/host_start.log: missing or broken"}},
      Case{"device_0/dev_start.log.0", {"partial device_0/dev_start.log: missing or broken"}},
      Case{"device_0/sample.json", {"note device_0/sample.json: missing or broken"}},
      Case{"host/end_info", {"note host/end_info: missing or broken"}},
      Case{"host/data", {"partial host/data: no data folder"}},
      Case{"host", {"partial host: no host folder"}});
  CAPTURE(removed);
  Prof prof;
  prof.remove(removed);
  const CannSession session = prof.open();
  CHECK(findings(session) == expected);
  const std::string name = removed;
  CHECK(session.host_clock());
  CHECK(session.chip());
  CHECK(session.begin_ns() != 0);
  CHECK(session.parts().back().info.aic_metrics == "PipeUtilizationExct");
  const bool without_clock =
      name.find("dev_start") != name.npos || name.find(".json.0") != name.npos;
  CHECK(session.parts().back().clock.has_value() == !without_clock);
}

TEST_CASE("machine data known to only one folder is used for the others") {
  Prof prof;
  prof.remove("host/info.json").remove("host/end_info").remove("device_0/end_info.0");
  const CannSession session = prof.open();
  CHECK(session.info().platform == 5);
  CHECK(session.info().host_frequency_hz == 100'000'000);
  CHECK(session.info().hwts_frequency_hz == 0);
  CHECK_FALSE(session.has_end());
  CHECK(session.end_ns() - session.begin_ns() == std::int64_t{1800} * 1'000'000'000);
}

TEST_CASE("broken info files do not throw") {
  const char* broken = GENERATE("", "[]", "{", "{\"version\":", "\xff\xfe", "null", "7");
  CAPTURE(broken);
  Prof prof;
  for (const char* name : {"host/info.json", "host/sample.json", "host/start_info", "host/end_info",
                           "host/host_start.log", "device_0/info.json.0", "device_0/sample.json",
                           "device_0/start_info.0", "device_0/end_info.0",
                           "device_0/host_start.log.0", "device_0/dev_start.log.0"}) {
    prof.write(name, broken);
  }
  prof.write("device_0/data/stars_soc.data.0.slice_0", "x");
  const CannSession session = prof.open();
  CHECK_FALSE(session.chip());
  CHECK_FALSE(session.host_clock());
  CHECK_FALSE(session.parts()[1].clock);
  CHECK(session.raw_files().size() == 1);
  CHECK(session.time_stamp() == "20240515160507");  // from the folder's name
  const auto lines = findings(session);
  CHECK(std::count(lines.begin(), lines.end(), "partial info.json: no chip given") == 1);
  CHECK(std::count(lines.begin(), lines.end(), "partial device_0/dev_start.log.0: broken") == 1);
}

TEST_CASE("values of wrong types count as missing") {
  Prof prof;
  prof.write("device_0/info.json.0",
             R"({"platform_version":[5],"CPU":{},"version":{},"pid":"NA","rank_id":"x",
"cannVersion":"9.1.RC1","DeviceInfo":[{"hwts_frequency":null,"ai_core_num":-4,"aiv_num":1e99}]})");
  const CannSession session = prof.open();
  const cann::Info& info = session.parts()[1].info;
  CHECK_FALSE(info.platform);
  CHECK(info.pid == 0);
  CHECK(info.rank_id == -1);
  CHECK(info.cann_minor == 1);
  CHECK(info.ai_core_num == 0);
  CHECK(info.aiv_num == 0);
  CHECK(session.chip()->platform == 5);  // from the host
  CHECK(findings(session) == Lines{"partial device_0/info.json: no hwts_frequency"});
}

TEST_CASE("unknown chips and versions are reported") {
  Prof prof;
  prof.write("device_0/info.json.0", R"({"version":"3.0","platform_version":"99",
"DeviceInfo":[{"hwts_frequency":50}]})");
  const CannSession session = prof.open();
  CHECK_FALSE(session.chip());
  CHECK(session.parts()[1].clock);
  CHECK(findings(session) == Lines{"partial device_0/info.json: unknown version",
                                   "partial device_0/info.json: unknown chip"});
}

TEST_CASE("the info file with the folder's number is used, else the first") {
  Prof prof;
  prof.write("device_0/info.json.1", R"({"platform_version":"4"})");
  prof.write("host/info.json.3", kHostInfo);
  prof.write("host/start_info.7", R"({"collectionTimeBegin":"1"})");
  const CannSession session = prof.open();
  CHECK(session.chip()->platform == 5);
  CHECK(session.begin_ns() == 1'715'760'307'197'379'000);
  CHECK(findings(session) == Lines{"note host/info.json.3: present twice, the same",
                                   "partial host/start_info.7: present twice",
                                   "partial device_0/info.json.1: present twice"});
}

TEST_CASE("an oversized info file is not read into memory") {
  Prof prof;
  prof.write("host/end_info", std::string(9 << 20, ' '));
  const CannSession session = prof.open();
  const auto lines = findings(session);
  CHECK(std::count(lines.begin(), lines.end(), "partial host/end_info: unreadable") == 1);
  CHECK(session.has_end());  // the device has one, too
}

TEST_CASE("without any start_info, times count from the start of the machine") {
  Prof prof;
  prof.remove("host/start_info").remove("device_0/start_info.0");
  const CannSession session = prof.open();
  CHECK(session.begin_ns() == 0);
  CHECK(session.host_clock()->ns(969'137'716'179'707) == 9'691'377'161'797'070);
}

TEST_CASE("two folders of one device are not mixed") {
  Prof prof;
  prof.write("device_00/data/stars_soc.data.0.slice_0", "x");
  const CannSession session = prof.open();
  CHECK(session.parts().size() == 2);
  CHECK(session.parts()[1].name == "device_0");
  CHECK(findings(session) ==
        Lines{"partial device_00: second folder of the same device, not read"});
}

TEST_CASE("devices are in the order of their numbers") {
  Prof prof(0);
  prof.add_device("10").add_device("9");
  const CannSession session = prof.open();
  CHECK(session.parts()[1].device == 9);
  CHECK(session.parts()[2].device == 10);
}

TEST_CASE("a single host or device folder is a capture") {
  Prof prof;
  prof.write("device_0/data/stars_soc.data.0.slice_0", "x");
  prof.write("host/data/aging.api_event.data.slice_0", "x");
  for (const char* part : {"host", "device_0"}) {
    CAPTURE(part);
    const fs::path folder = prof.path() / part;
    REQUIRE(recognise(folder) == Dialect::cann);
    CHECK(find_captures({folder.string()}) == std::vector<fs::path>{folder});
    const auto session = Session::open(folder);
    CHECK(session->raw_files().size() == 1);
    CHECK(session->findings().empty());
  }
  const CannSession device(prof.path() / "device_0");
  CHECK(device.host() == nullptr);
  CHECK(device.host_clock());
  CHECK(device.raw_files().front().name == "device_0/data/stars_soc.data.0.slice_0");
  fs::rename(prof.path() / "host", prof.parent() / "copied");
  CHECK(recognise(prof.parent() / "copied") == Dialect::cann);
  CHECK(CannSession(prof.parent() / "copied").host() != nullptr);
}

TEST_CASE("a folder called host is a capture only if it has the content of one") {
  const TempFolder folder;
  write_file(folder / "project/host/main.cpp", "");
  write_file(folder / "project/host/data/numbers.bin", "");
  CHECK_FALSE(recognise(folder / "project"));
  CHECK_FALSE(recognise(folder / "project/host"));
  write_file(folder / "project/host/start_info", "{}");
  CHECK(recognise(folder / "project") == Dialect::cann);
}

TEST_CASE("a parent folder of PROF folders stands for all of them") {
  Prof prof;
  const auto later = prof.parent() / "PROF_000002_20240516160507111_ABCDEFGHIJKLMNOP";
  fs::copy(prof.path(), later, fs::copy_options::recursive);
  CHECK(find_captures({prof.parent().string()}) == std::vector<fs::path>{prof.path(), later});
  CHECK(newest_capture(prof.parent()) == later);
}
