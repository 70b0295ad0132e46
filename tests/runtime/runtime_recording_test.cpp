#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "runtime/engine/held_descriptor.hpp"
#include "runtime/runtime_fixture.hpp"
#include "runtime/svp/profile/machine_model.hpp"
#include "runtime/svp/profile/record_file.hpp"

using namespace msprof::runtime;
using namespace msprof::runtime::test;

namespace {

// In a child process: records a call, closes the descriptors from 3 to `last`, calls
// `meddle(last)`, records 5,000 more calls, and ends with `judge(last, lost records)`. Returns the
// exit code.
int record_around_closing(const std::string& path, bool is_mapped,
                          const std::function<void(int last)>& meddle,
                          const std::function<int(int last, std::uint64_t lost)>& judge) {
  const pid_t child = fork();
  if (child == 0) {
    WriteHealth health;
    RecordFile file(path, RecordKind::kAclApi, health);
    const AclApiRecord record = {3, 7, 2'000'999, 5'000'000, 0};
    const rlimit none = {4096, RLIM_INFINITY};
    if (!is_mapped) setrlimit(RLIMIT_AS, &none);
    file.append(&record, record.start_ns, record.end_ns);
    const int last = ::open("/dev/null", O_RDONLY);
    for (int fd = 3; fd <= last; ++fd) ::close(fd);
    meddle(last);
    for (int i = 0; i < 5'000; ++i) file.append(&record, record.start_ns, record.end_ns);
    file.finish("");
    _exit(judge(last, health.lost_records()));
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("every record is in the file as soon as append returns") {
  const TempFolder folder;
  const std::string path = folder.path() + "/calls";
  WriteHealth health;
  RecordFile file(path, RecordKind::kAclApi, health);
  CHECK(read_file(path) == std::string("MSVP\x01\0\x20\0\x03\0\0\0\0\0\0\0", 16));
  const AclApiRecord record = {3, 7, 2'000'999, 5'000'000, 0};
  for (std::size_t i = 1; i <= 3; ++i) {
    file.append(&record, record.start_ns, record.end_ns);
    const std::string bytes = read_file(path);
    CHECK(read_records<AclApiRecord>(path, RecordKind::kAclApi).size() == i);
    CHECK(bytes.find_last_not_of('\0') < 16 + i * 32);
    CHECK(bytes.size() <= 16 + (64 << 10));
  }
  CHECK_FALSE(exists(path + ".done"));
  file.finish("pid:1\n");
  CHECK(read_file(path + ".done") == "file_len:112\nstart_time:2000\nend_time:5000\npid:1\n");
  CHECK_FALSE(exists(path + ".done.tmp"));
}

TEST_CASE("a file grows by whole records, with at most 64 kB preallocated") {
  const TempFolder folder;
  const std::string path = folder.path() + "/core";
  WriteHealth health;
  RecordFile file(path, RecordKind::kAicore, health);
  constexpr uint64_t kRecords = 30'000;  // more than are mapped at once
  bool is_in_bounds = true;
  SvpAicoreRecord record;
  for (uint64_t i = 1; i <= kRecords; ++i) {
    record.start_ns = i;
    record.execution = i;
    file.append(&record, i, i);
    const uint64_t size = std::filesystem::file_size(path);
    is_in_bounds = is_in_bounds && size >= 16 + i * 112 && size <= 16 + i * 112 + (64 << 10) &&
                   (size - 16) % 112 == 0;
  }
  CHECK(is_in_bounds);
  CHECK(read_records<SvpAicoreRecord>(path, RecordKind::kAicore).size() == kRecords);
  file.finish("");
  CHECK(std::filesystem::file_size(path) == 16 + kRecords * 112);
  CHECK(read_done(path).at("file_len") == std::to_string(16 + kRecords * 112));
  uint64_t next = 1;
  for (const SvpAicoreRecord& one : read_records<SvpAicoreRecord>(path, RecordKind::kAicore)) {
    REQUIRE(one.start_ns == next);
    REQUIRE(one.execution == next++);
  }
}

TEST_CASE("a killed process has stored every appended record") {
  const TempFolder folder;
  const std::string path = folder.path() + "/calls";
  const pid_t child = fork();
  if (child == 0) {
    WriteHealth health;
    RecordFile file(path, RecordKind::kAclApi, health);
    const AclApiRecord record = {3, 7, 2'000'999, 5'000'000, 0};
    for (int i = 0; i < 5'000; ++i) file.append(&record, record.start_ns, record.end_ns);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(read_records<AclApiRecord>(path, RecordKind::kAclApi).size() == 5'000);
  CHECK_FALSE(exists(path + ".done"));
}

TEST_CASE("records that cannot be mapped are written") {
  const TempFolder folder;
  const std::string path = folder.path() + "/calls";
  WriteHealth health;
  RecordFile file(path, RecordKind::kAclApi, health);
  const AclApiRecord record = {3, 7, 2'000'999, 5'000'000, 0};
  rlimit before = {};
  getrlimit(RLIMIT_AS, &before);
  const rlimit none = {4096, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  for (int i = 0; i < 3; ++i) file.append(&record, record.start_ns, record.end_ns);
  setrlimit(RLIMIT_AS, &before);
  CHECK(std::filesystem::file_size(path) == 16 + 3 * 32);
  CHECK(read_records<AclApiRecord>(path, RecordKind::kAclApi).size() == 3);
  file.finish("");
  CHECK(read_done(path).at("file_len") == "112");
  CHECK(health.lost_records() == 0);
}

TEST_CASE("a descriptor whose number was reused is neither returned nor closed") {
  const TempFolder folder;
  const std::string one = folder.write("one", ""), other = folder.write("other", "");
  const int fd = ::open(one.c_str(), O_RDONLY | O_CLOEXEC);
  HeldDescriptor held(fd);
  CHECK(held.get() == fd);
  HeldDescriptor moved(std::move(held));
  CHECK(moved.get() == fd);
  ::close(fd);
  REQUIRE(::open(other.c_str(), O_RDONLY | O_CLOEXEC) == fd);
  CHECK(moved.get() == -1);
  CHECK(moved.close());
  CHECK(::fcntl(fd, F_GETFD) >= 0);
  ::close(fd);
}

TEST_CASE("an application that closes all descriptors does not get ours") {
  const bool is_mapped = GENERATE(true, false);
  const TempFolder folder;
  const std::string path = folder.path() + "/calls", victim = folder.path() + "/victim";
  const auto reuse_numbers = [&](int last) {
    for (int fd = 3; fd <= last; ++fd) {
      if (::open(victim.c_str(), O_RDWR | O_CREAT, 0600) != fd) _exit(1);
    }
  };
  const auto judge = [](int last, std::uint64_t lost) {
    for (int fd = 3; fd <= last; ++fd) {
      if (::fcntl(fd, F_GETFD) < 0) return 2;
    }
    return lost == 0 ? 0 : 3;
  };
  CHECK(record_around_closing(path, is_mapped, reuse_numbers, judge) == 0);
  CHECK(std::filesystem::file_size(victim) == 0);
  CHECK(read_records<AclApiRecord>(path, RecordKind::kAclApi).size() == 5'001);
  CHECK(read_done(path).at("file_len") == std::to_string(16 + 5'001 * 32));
}

TEST_CASE("records are counted as lost if the closed file cannot be opened again") {
  const bool is_mapped = GENERATE(true, false);
  const TempFolder folder;
  const std::string path = folder.path() + "/calls";
  const auto rename_file = [&](int) { std::filesystem::rename(path, path + ".moved"); };
  const auto judge = [](int, std::uint64_t lost) { return lost > 0 ? 0 : 3; };
  CHECK(record_around_closing(path, is_mapped, rename_file, judge) == 0);
  CHECK_FALSE(std::filesystem::exists(path + ".done"));
}

TEST_CASE("a record after finish is dropped and counted") {
  const TempFolder folder;
  const CapturedStderr captured;
  WriteHealth health;
  RecordFile file(folder.path() + "/calls", RecordKind::kAclApi, health);
  file.finish("");
  const AclApiRecord record;
  file.append(&record, 1, 2);
  CHECK(health.lost_records() == 1);
  CHECK(std::filesystem::file_size(folder.path() + "/calls") == 16);
}

TEST_CASE("a short write leaves whole records, no .done, one message and a count") {
  const TempFolder folder;
  const CapturedStderr captured;
  WriteHealth health;
  const std::string path = folder.path() + "/core";
  {
    RecordFile file(path, RecordKind::kAicore, health);
    rlimit before = {};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit = {16 + 2 * 112 + 50, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    const SvpAicoreRecord record;
    for (int i = 0; i < 10; ++i) file.append(&record, 1, 2);
    setrlimit(RLIMIT_FSIZE, &before);
    file.finish("");
  }
  CHECK(std::filesystem::file_size(path) == 16 + 2 * 112);
  CHECK_FALSE(exists(path + ".done"));
  CHECK(health.lost_records() == 8);
  const std::string said = captured.text();
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
}

TEST_CASE("a file that cannot be created is reported once, and its records are counted") {
  const TempFolder folder;
  const CapturedStderr captured;
  WriteHealth health;
  const AclApiRecord record;
  for (int i = 0; i < 3; ++i) {
    RecordFile file(folder.path() + "/none/calls", RecordKind::kAclApi, health);
    file.append(&record, 1, 2);
    file.finish("");
  }
  CHECK(health.lost_records() == 3);
  const std::string said = captured.text();
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK(said.find("cannot be created (No such file") != std::string::npos);
}

TEST_CASE("records of many threads stay whole") {
  const TempFolder folder;
  WriteHealth health;
  const std::string path = folder.path() + "/calls";
  RecordFile file(path, RecordKind::kAclApi, health);
  std::vector<std::thread> threads;
  for (uint32_t id = 0; id < 4; ++id) {
    threads.emplace_back([&file, id] {
      for (uint64_t i = 0; i < 500; ++i) {
        const AclApiRecord record = {id, id, i, i * 10 + id, 0};
        file.append(&record, record.start_ns, record.end_ns);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  file.finish("");
  std::map<uint32_t, uint64_t> next;
  for (const AclApiRecord& record : read_records<AclApiRecord>(path, RecordKind::kAclApi)) {
    REQUIRE(record.thread_id == record.api_id);
    REQUIRE(record.end_ns == record.start_ns * 10 + record.api_id);
    REQUIRE(record.start_ns == next[record.api_id]++);
  }
  for (uint32_t id = 0; id < 4; ++id) CHECK(next[id] == 500);
}

TEST_CASE("unit cycles come from the stated rates and never exceed the total") {
  LayerWork work;
  work.macs = 240;
  work.padded_macs = 480;
  work.vector_ops = 320;
  work.padded_vector_ops = 640;
  work.relayout_bytes = 128;
  work.input_bytes = 640;
  work.weight_bytes = 64;
  work.output_bytes = 1280;
  SvpAicoreRecord record;
  record.total_cycles = 35;
  model_units(work, 2, record);
  CHECK(record.mac_ppen == 20);
  CHECK(record.mac_busy == 35);  // 40, clamped
  CHECK(record.vec_ppen == 20);
  CHECK(record.vec_busy == 35);
  CHECK(record.dtrans == 4);
  CHECK(record.dld == 20);
  CHECK(record.wld == 1);
  CHECK(record.dstr == 35);
  CHECK(record.ddr_read_bytes == 2 * 640 + 64);
  CHECK(record.ddr_write_bytes == 2 * 1280);
}
