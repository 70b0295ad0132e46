// The writer of PROF folders: names, files, full disks, kills, forks.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>
#include <thread>

#include "acl/recording_scene.hpp"
#include "runtime/acl/prof/dictionary.hpp"
#include "runtime/engine/clock.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/sample.hpp"
#include "support/small_disk.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;
namespace prof_bits = msprof::acl::prof_bits;

namespace {

acl::RecordingOptions options_in(const fs::path& folder) {
  acl::RecordingOptions options;
  options.output = folder;
  options.devices = {0};
  options.bits = kAllTaskBits;
  return options;
}

void run_tasks(std::uint32_t tasks, std::uint16_t stream = 1) {
  static const acl::OpInfo op = make_op("relu", "Relu");
  const std::uint64_t begin = runtime::monotonic_ns();
  for (std::uint32_t i = 0; i < tasks; ++i) run_op(op, {0, stream, i}, begin + i * kStepNs);
}

// Sets the umask for its lifetime.
class FileMask {
 public:
  explicit FileMask(mode_t mask) : before_(umask(mask)) {}
  ~FileMask() { umask(before_); }
  FileMask(const FileMask&) = delete;
  FileMask& operator=(const FileMask&) = delete;

 private:
  mode_t before_;
};

unsigned file_mode(const fs::path& path) {
  struct stat state = {};
  REQUIRE(stat(path.c_str(), &state) == 0);
  return state.st_mode & 0777U;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

// Fills the disk to the last byte.
void fill(const fs::path& disk) {
  const int fd = ::open((disk / "filler").c_str(), O_WRONLY | O_CREAT, 0600);
  for (std::size_t bytes = 1U << 20U; bytes > 0;) {
    const std::string text(bytes, 'x');
    if (::write(fd, text.data(), bytes) <= 0) bytes /= 2;
  }
  ::fsync(fd);
  ::close(fd);
}

// Records with two threads until the process is killed, from the first moment.
[[noreturn]] void record_until_killed(const fs::path& folder) {
  acl::ActiveRecordings::instance().forget_all();
  RunningRecording recording(options_in(folder));
  std::thread other([] { run_tasks(10'000'000, 2); });
  run_tasks(10'000'000, 1);
  other.join();
  _exit(0);
}

struct Kill {
  bool has_begun = false;  // after its first file exists
  useconds_t delay_us = 0;
};

std::vector<Kill> some_kills() {
  std::vector<Kill> kills;
  for (const bool has_begun : {true, false}) {
    for (const std::size_t round : msprof::test::sample_below(10, 2)) {
      const auto number = static_cast<useconds_t>(2 * round + (has_begun ? 0 : 1));
      kills.push_back({has_begun, number * 7919 % 150'000});
    }
  }
  return kills;
}

}  // namespace

TEST_CASE("a recording creates a complete folder with a name as from CANN") {
  const TempFolder folder;
  const FileMask mask(0);
  auto options = options_in(folder / "made" / "on the way");
  options.parameters = {{"app", "face_mask"}};
  RunningRecording recording(options);
  run_tasks(10);
  recording.finish();
  const fs::path made = recording.folder();
  INFO(made);
  CHECK(std::regex_match(made.filename().string(),
                         std::regex("PROF_[0-9]{6}_[0-9]{17}_[0-9]{8}[A-R]{8}")));
  CHECK(file_mode(made) == 0750);
  CHECK(file_mode(made / "host" / "data") == 0750);
  for (const fs::path& file : files_below(made)) {
    INFO(file);
    CHECK(file_mode(file) == 0640);
  }
  CHECK(names_in(made / "host") == std::vector<std::string>{"data", "end_info", "host_start.log",
                                                            "info.json", "sample.json",
                                                            "start_info"});
  CHECK(names_in(made / "device_0") ==
        std::vector<std::string>{"data", "dev_start.log.0", "end_info.0", "host_start.log.0",
                                 "info.json.0", "sample.json", "start_info.0"});
  for (const fs::path name :
       {"host/info.json", "host/sample.json", "device_0/info.json.0", "host/end_info"}) {
    const std::string text = read_file(made / name);
    INFO(name);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    CHECK(nlohmann::json::parse(text).is_object());
  }
  const auto info = nlohmann::json::parse(read_file(made / "host" / "info.json"));
  CHECK(info["msprof_host_runtime"].is_string());
  CHECK(info["pid"] == std::to_string(getpid()));
  CHECK(nlohmann::json::parse(read_file(made / "host" / "sample.json"))["app"] == "face_mask");
}

TEST_CASE("the info files of each device contain only that device") {
  const TempFolder folder;
  const bool on_use = GENERATE(true, false);
  auto options = options_in(folder.path());
  options.devices = {0, 1, 5};
  options.devices_on_use = on_use;
  RunningRecording recording(options);
  const acl::OpInfo op = make_op("relu", "Relu");
  for (const std::uint16_t device : options.devices)
    run_op(op, {device, 1, 0}, runtime::monotonic_ns());
  recording.finish();
  const auto devices_in = [&](const std::string& file) {
    return nlohmann::json::parse(read_file(recording.folder() / file))["devices"]
        .get<std::string>();
  };
  CHECK(devices_in("host/sample.json") == "64");
  for (const std::uint16_t device : options.devices) {
    const std::string number = std::to_string(device);
    CHECK(devices_in("device_" + number + "/sample.json") == number);
    CHECK(devices_in("device_" + number + "/info.json." + number) == number);
  }
}

TEST_CASE("every slice is closed, with its size in its .done") {
  const TempFolder folder;
  RunningRecording recording(options_in(folder.path()));
  run_tasks(60'000);  // more than one slice
  recording.finish();
  std::size_t slices = 0;
  for (const fs::path& file : files_below(recording.folder())) {
    if (file.parent_path().filename() != "data" || file.extension() == ".done") continue;
    INFO(file);
    ++slices;
    const std::string done = read_file(file.string() + ".done");
    CHECK(done.starts_with("filesize:" + std::to_string(fs::file_size(file)) + "\n"));
    CHECK(fs::file_size(file) <= std::uint64_t{2} << 20);
    CHECK(fs::file_size(file) > 0);
  }
  CHECK(slices > 10);
  CHECK(fs::file_size(recording.folder() / "host/data/aging.compact.task_track.slice_1") ==
        (60'000 - 32'768) * 64);
}

TEST_CASE("hashes have the dictionary's format, and a text is written once") {
  CHECK(acl::text_hash("ab") == (std::uint64_t{'a' * 29 + 'b'} << 32U | ('a' * 131 + 'b')));
  const TempFolder folder;
  RunningRecording recording(options_in(folder.path()));
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3000; ++i) recording->intern("text " + std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  recording.finish();
  const std::string text =
      read_file(recording.folder() / "host/data/unaging.additional.hash_dic.slice_0");
  std::size_t lines = 0;
  for (std::size_t at = text.find(":text "); at != std::string::npos;
       at = text.find(":text ", at + 1))
    ++lines;
  CHECK(lines == 3000);
  CHECK(text.find(std::to_string(acl::text_hash("text 2999")) + ":text 2999\n") !=
        std::string::npos);
}

TEST_CASE("a folder that cannot be created is reported") {
  const TempFolder folder;
  write_file(folder / "file", "");
  std::string why;
  CHECK(acl::Recording::start(options_in(folder / "file" / "below"), why) == nullptr);
  CHECK(why.find("cannot be written") != std::string::npos);
}

TEST_CASE("a full disk: dropped records are counted and part of the verdict") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(std::uint64_t{8} << 20);
  RunningRecording recording(options_in(disk.path()));
  run_tasks(100'000);
  recording.finish();
  CHECK(recording->lost() > 0);
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::partial);
  CHECK(imported.found(FindingId::lost_records));
  CHECK(imported.text().find(std::to_string(recording->lost()) + " records") != std::string::npos);
  CHECK_FALSE(imported.found(FindingId::damaged_record));
  CHECK_FALSE(imported.found(FindingId::trailing_bytes));
}

TEST_CASE("at the storage limit the oldest records are deleted and counted") {
  const TempFolder folder;
  auto options = options_in(folder.path());
  options.storage_limit_bytes = std::uint64_t{20} << 20;
  RunningRecording recording(options);
  constexpr std::uint32_t kTasks = 150'000;  // so that the task id wraps around twice
  run_tasks(kTasks);
  recording.finish();
  CHECK(recording->lost() == 0);
  CHECK(recording->removed() > 0);
  std::uint64_t bytes = 0, slices = 0, dones = 0;
  for (const fs::path& file : files_below(recording.folder())) {
    bytes += fs::file_size(file);
    slices += file.extension().string().starts_with(".slice_") ? 1U : 0U;
    dones += file.extension() == ".done" ? 1U : 0U;
  }
  CHECK(bytes > (std::uint64_t{15} << 20));
  CHECK(bytes < (std::uint64_t{21} << 20));
  CHECK(dones == slices);

  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::partial);
  CHECK(imported.found(FindingId::lost_records));
  CHECK(imported.text().find(std::to_string(recording->removed()) + " records") !=
        std::string::npos);
  // The remaining records are complete and the newest, and the loss is reported only once.
  CHECK(imported.report().findings().size() == 1);
  const auto tasks = std::stoul(imported.value("count(*)", "task"));
  CHECK(tasks > 10'000);
  CHECK(imported.value("max(task_number + 65536 * batch)", "task") == std::to_string(kTasks - 1));
  CHECK(imported.value("count(DISTINCT task_number + 65536 * batch)", "task") ==
        std::to_string(tasks));
}

TEST_CASE("a recording killed above its storage limit is missing its oldest records") {
  const TempFolder folder;
  auto options = options_in(folder.path());
  options.storage_limit_bytes = std::uint64_t{4} << 20;
  const pid_t child = fork();
  if (child == 0) {
    acl::ActiveRecordings::instance().forget_all();
    RunningRecording recording(options);
    run_tasks(30'000);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(names_in(folder.path()).size() == 1);
  const Imported imported(folder / names_in(folder.path())[0]);
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::partial);
  CHECK(imported.text().find("the first slices of") != std::string::npos);
  CHECK_FALSE(imported.found(FindingId::damaged_record));
  CHECK_FALSE(imported.found(FindingId::half_task));
}

TEST_CASE("records that readers need completely are not deleted at the storage limit") {
  const TempFolder folder;
  auto options = options_in(folder.path());
  options.storage_limit_bytes = std::uint64_t{4} << 20;
  RunningRecording recording(options);
  for (std::uint32_t i = 0; i < 1000; ++i)
    acl::record_step({0, 1, i}, i, acl::kNoModel, 0, runtime::monotonic_ns());
  run_tasks(100'000);
  recording.finish();
  CHECK(fs::file_size(recording.folder() / "device_0/data/ts_track.data.0.slice_0") >= 1000 * 40);
  CHECK(fs::exists(recording.folder() / "host/data/unaging.compact.task_track.slice_0"));
  CHECK_FALSE(fs::exists(recording.folder() / "host/data/aging.compact.task_track.slice_0"));
}

TEST_CASE("a full disk does not end the application on copy-on-write file systems") {
  if (!SmallDisk::is_available_or_skip()) return;
  const auto kind = GENERATE(SmallDisk::Kind::btrfs, SmallDisk::Kind::overlay);
  const SmallDisk disk(std::uint64_t{32} << 20, kind);
  if (!disk.is_mounted_or_skip()) return;
  const pid_t child = fork();
  if (child == 0) {
    acl::ActiveRecordings::instance().forget_all();
    RunningRecording recording(options_in(disk.path()));
    run_tasks(100);
    fill(disk.path());
    run_tasks(100'000);
    recording.finish();
    _exit(recording->lost() > 0 ? 7 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  fs::remove(disk / "filler");
  for (const std::string& name : names_in(disk.path())) {
    const Imported imported(disk / name);
    INFO(imported.text());
    CHECK_FALSE(imported.found(FindingId::damaged_record));
    // A full btrfs has no space even to truncate a file.
    if (kind != SmallDisk::Kind::btrfs) CHECK_FALSE(imported.found(FindingId::trailing_bytes));
  }
}

TEST_CASE("a file size limit does not end the application") {
  const TempFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    acl::ActiveRecordings::instance().forget_all();
    const rlimit limit = {100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    {
      RunningRecording recording(options_in(folder.path()));
      run_tasks(10'000);
    }
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE(
    "a killed writer leaves a readable folder, at most one record per file and thread short") {
  int folders = 0;
  for (const Kill& moment : some_kills()) {
    const TempFolder folder;
    const pid_t child = fork();
    if (child == 0) record_until_killed(folder.path());
    // Kills within a few slices. Half of the runs are killed after their first file exists; of the
    // others, some before their first record.
    const auto has_begun = [&] {
      const auto names = names_in(folder.path());
      return std::any_of(names.begin(), names.end(),
                         [](const std::string& name) { return !name.starts_with("."); });
    };
    if (moment.has_begun) REQUIRE(eventually(has_begun));
    usleep(moment.delay_us);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (const std::string& name : names_in(folder.path())) {
      if (name.starts_with(".")) continue;  // killed before there was anything to read
      ++folders;
      const Imported imported(folder / name);
      INFO(imported.text());
      CHECK_FALSE(imported.found(FindingId::trailing_bytes));
      CHECK_FALSE(imported.found(FindingId::missing_info));
      // A record interrupted by the kill is a gap; there is no other finding.
      for (const Finding& finding : imported.report().findings()) {
        if (finding.id == FindingId::damaged_record || finding.id == FindingId::records_missing)
          CHECK(finding.count <= 2);
      }
    }
  }
  CHECK(folders > 0);
}

TEST_CASE("zeros are unused space in an unclosed file, and damage in a closed one") {
  const bool is_closed = GENERATE(true, false);
  const TempFolder folder;
  RunningRecording recording(options_in(folder.path()));
  run_tasks(100);
  recording.finish();
  const fs::path slice = recording.folder() / "host/data/aging.compact.task_track.slice_0";
  std::string bytes = read_file(slice);
  std::fill_n(bytes.begin() + 50 * 64, 64, '\0');  // the record of a stopped thread
  bytes.append(10'000 * 64, '\0');
  write_file(slice, bytes);
  if (!is_closed) fs::remove(slice.string() + ".done");
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.found(FindingId::damaged_record) == is_closed);
  CHECK(imported.found(FindingId::unclosed_file) == !is_closed);
  CHECK(imported.value("count(*), count(op_id)", "task") == "100|99");
}

TEST_CASE("a forked child does not write into its parent's folder") {
  const TempFolder folder;
  RunningRecording recording(options_in(folder.path()));
  run_tasks(10);
  const pid_t child = fork();
  if (child == 0) {
    acl::ActiveRecordings::instance().forget_all();
    run_tasks(1000);
    recording->intern("of the child");
    recording.finish();
    _exit(acl::is_recording() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_FALSE(fs::exists(recording.folder() / "host" / "end_info"));
  run_tasks(10, 2);
  recording.finish();
  const Imported imported(recording.folder());
  INFO(imported.text());
  CHECK(imported.verdict() == Severity::note);
  CHECK(imported.value("count(*)", "task") == "20");
}

TEST_CASE("recordings start and stop while threads record") {
  const TempFolder folder;
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (std::uint16_t stream = 0; stream < 4; ++stream) {
    threads.emplace_back([&, stream] {
      const acl::OpInfo op = make_op("relu", "Relu");
      for (std::uint32_t i = 0; !ends; ++i) run_op(op, {0, stream, i}, runtime::monotonic_ns());
    });
  }
  for (int round = 0; round < 20; ++round) {
    RunningRecording recording(options_in(folder.path()));
    usleep(2000);
    // The end at exit does not wait for other threads.
    if (round % 2 == 1) recording->finish(true);
    recording.finish();
    CHECK(recording->lost() == 0);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
  for (const std::string& name : names_in(folder.path())) {
    const Imported imported(folder / name);
    INFO(imported.text());
    CHECK(imported.verdict() != Severity::partial);
  }
}
