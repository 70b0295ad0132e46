// Slices that a worker creates in advance: no record is lost or invented, and no extra file
// remains.
#include "runtime/acl/prof/slice_file.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine/files.hpp"
#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/small_disk.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kRecordBytes = 256;
constexpr std::size_t kUsedBytes = 40;
constexpr std::uint64_t kRecordsPerSlice = (2U << 20) / kRecordBytes;

// A record that identifies its writer. The unused part is not zero, and must never be read.
struct Record {
  std::uint32_t mark = 0x5A5A;
  std::uint32_t writer = 0;
  std::uint64_t number = 0;
  std::uint64_t again[3] = {};
  unsigned char rest[kRecordBytes - kUsedBytes];

  Record(std::uint32_t by, std::uint64_t of) : writer(by), number(of) {
    std::fill(std::begin(again), std::end(again), of);
    std::fill(std::begin(rest), std::end(rest), static_cast<unsigned char>(0xEE));
  }
};
static_assert(sizeof(Record) == kRecordBytes);

struct Written {
  explicit Written(const fs::path& folder, bool is_mapped = true)
      : file((folder / "records").string(), {kRecordBytes}, space, &worker, is_mapped) {}
  void write(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      const Record record(0, i);
      file.append(&record, kUsedBytes);
    }
  }
  void finish() {
    file.refuse();
    CHECK(worker.stop(false));
    file.finish(false);
  }
  acl::SpaceBudget space{0};
  acl::SliceWorker worker;
  acl::SliceFile file;
};

std::string all_slices(const fs::path& folder) {
  std::string bytes;
  constexpr int kMaxSlices = 1000;
  for (int slice = 0; slice < kMaxSlices; ++slice) {
    const fs::path path = folder / ("records.slice_" + std::to_string(slice));
    if (fs::exists(path)) bytes += read_file(path);
  }
  return bytes;
}

// Returns the numbers of each writer's records in file order. Skips zeros, which are not a record.
std::vector<std::vector<std::uint64_t>> numbers(const std::string& bytes, std::size_t writers) {
  std::vector<std::vector<std::uint64_t>> found(writers);
  std::size_t damaged = 0;
  for (std::size_t at = 0; at + kRecordBytes <= bytes.size(); at += kRecordBytes) {
    std::uint32_t head[2];
    std::uint64_t values[4];
    std::memcpy(head, bytes.data() + at, sizeof(head));
    std::memcpy(values, bytes.data() + at + sizeof(head), sizeof(values));
    const bool is_rest_zero =
        std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(at + kUsedBytes),
                    bytes.begin() + static_cast<std::ptrdiff_t>(at + kRecordBytes),
                    [](char byte) { return byte == 0; });
    if (head[0] == 0 && head[1] == 0) {
      damaged += is_rest_zero ? 0 : 1;
      continue;
    }
    const bool is_whole = head[0] == 0x5A5A && head[1] < writers && is_rest_zero &&
                          std::all_of(std::begin(values), std::end(values),
                                      [&](std::uint64_t value) { return value == values[0]; });
    if (is_whole)
      found[head[1]].push_back(values[0]);
    else
      ++damaged;
  }
  CHECK(damaged == 0);
  return found;
}

std::optional<std::string> worker_thread() {
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    // Another thread may end now: its file is then missing or empty.
    std::ifstream comm(task.path() / "comm");
    std::string name;
    if (std::getline(comm, name) && name == "msprof-slices") return task.path().filename();
  }
  return std::nullopt;
}

bool worker_goes() {
  return eventually([] { return !worker_thread(); });
}

// Returns the signals that a thread blocks; empty if it has ended.
std::string blocked_by(const std::string& thread) try {
  const std::string status = read_file("/proc/self/task/" + thread + "/status");
  const std::size_t at = status.find("SigBlk:");
  return at == std::string::npos ? "no mask in " + status : status.substr(at + 8, 16);
} catch (const std::runtime_error&) {
  return "";
}

}  // namespace

TEST_CASE("slices created in advance contain every record once and end with the last") {
  const TempFolder folder;
  constexpr std::uint32_t kWriters = 4;
  constexpr std::uint64_t kRecords = 30'000;
  Written written(folder.path(), GENERATE(true, false));
  if (GENERATE(true, false)) written.file.prepare_first();
  std::vector<std::thread> threads;
  for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      for (std::uint64_t i = 0; i < kRecords; ++i) {
        const Record record(writer, i);
        written.file.append(&record, kUsedBytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  written.finish();
  CHECK(written.file.lost() == 0);
  const std::string bytes = all_slices(folder.path());
  CHECK(bytes.size() == kWriters * kRecords * kRecordBytes);
  const auto found = numbers(bytes, kWriters);
  for (std::vector<std::uint64_t> of_writer : found) {
    std::sort(of_writer.begin(), of_writer.end());
    REQUIRE(of_writer.size() == kRecords);
    CHECK(of_writer.front() == 0);
    CHECK(std::unique(of_writer.begin(), of_writer.end()) == of_writer.end());
    CHECK(of_writer.back() == kRecords - 1);
  }
  // Counts only slices with a .done: those created in advance but not used were removed.
  const std::uint64_t slices = (kWriters * kRecords + kRecordsPerSlice - 1) / kRecordsPerSlice;
  CHECK(names_in(folder.path()).size() == 2 * slices);
}

TEST_CASE("a first slice without a record leaves no file") {
  const TempFolder folder;
  Written written(folder.path(), GENERATE(true, false));
  written.file.prepare_first();
  CHECK(names_in(folder.path()).size() == 1);
  written.finish();
  CHECK(names_in(folder.path()).empty());
}

TEST_CASE("a kill while slices are created in advance keeps every written record") {
  for (const std::uint64_t records : {100U, 300U, 5'000U, 8'300U, 20'000U}) {
    const TempFolder folder;
    const pid_t child = fork();
    if (child == 0) {
      Written written(folder.path());
      written.write(0, records);
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    const auto found = numbers(all_slices(folder.path()), 1);
    REQUIRE(found[0].size() == records);
    CHECK(found[0].back() == records - 1);
  }
}

TEST_CASE("the worker blocks signals and ends when it is idle") {
  const TempFolder folder;
  Written written(folder.path());
  std::uint64_t slices = 0;
  const auto write_slices = [&](std::uint64_t count) {
    slices += count;
    for (std::uint64_t i = 0; i < count * kRecordsPerSlice; ++i) {
      const Record record(0, i);
      written.file.append(&record, kUsedBytes);
    }
  };
  CHECK(worker_goes());  // workers of earlier recordings
  // All but SIGKILL, SIGSTOP and the two that the C library reserves; while a thread starts, the C
  // library blocks these as well.
  const std::string expected = "fffffffe7ffbfeff";
  const std::string while_it_starts = "fffffffffffbfeff";
  std::string blocked;
  // If the machine stalls for a second, the worker ends before the check; then it is started again.
  CHECK(eventually([&] {
    const auto worker = worker_thread();
    if (!worker) write_slices(2);
    blocked = worker ? blocked_by(*worker) : "";
    return !blocked.empty() && blocked != while_it_starts;
  }));
  CHECK(blocked == expected);
  CHECK(worker_goes());
  CHECK(eventually([&] {
    write_slices(2);
    return worker_thread().has_value();
  }));
  written.finish();
  CHECK_FALSE(worker_thread());
  CHECK(all_slices(folder.path()).size() == slices * kRecordsPerSlice * kRecordBytes);
}

TEST_CASE("an unfinished file is left as after a kill") {
  const TempFolder folder;
  {
    Written written(folder.path());
    written.write(0, 3 * kRecordsPerSlice / 2);
    CHECK(written.worker.stop(false));
    CHECK(written.worker.stop(true));
  }
  CHECK(numbers(all_slices(folder.path()), 1)[0].size() == 3 * kRecordsPerSlice / 2);
}

TEST_CASE("at the storage limit the oldest slices are deleted, including slices in advance") {
  const TempFolder folder;
  constexpr std::uint64_t kLimit = std::uint64_t{6} << 20;
  acl::SpaceBudget space(kLimit);
  acl::SliceWorker worker;
  acl::SliceFile file((folder / "records").string(), {kRecordBytes}, space, &worker,
                      GENERATE(true, false));
  constexpr std::uint64_t kWritten = 4 * kRecordsPerSlice;
  for (std::uint64_t i = 0; i < kWritten; ++i) {
    const Record record(0, i);
    file.append(&record, kUsedBytes);
  }
  file.refuse();
  CHECK(worker.stop(true));
  file.finish(true);
  CHECK(file.lost() == 0);
  CHECK(file.error() == 0);
  const auto found = numbers(all_slices(folder.path()), 1)[0];
  CHECK(found.size() == kWritten - space.removed_records());
  CHECK(found.size() * kRecordBytes <= kLimit);
  // Not much below the limit: no more than necessary was removed.
  CHECK(found.size() * kRecordBytes > kLimit / 2);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front() == space.removed_records());
  CHECK(found.back() == kWritten - 1);
}

TEST_CASE("at the storage limit the oldest records are lost even if the slice worker is slow") {
  const TempFolder folder;
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 20;
  acl::SpaceBudget space(kLimit);
  acl::SliceWorker worker;
  CHECK(worker.stop(false));  // simulates a worker that never processes its jobs
  acl::SliceFile file((folder / "records").string(), {kRecordBytes}, space, &worker,
                      GENERATE(true, false));
  // Fewer slices than may be in memory, but more than the limit allows.
  const std::uint64_t written = 40 * space.slice_bytes() / kRecordBytes;
  REQUIRE(written * kRecordBytes > 2 * kLimit);
  for (std::uint64_t i = 0; i < written; ++i) {
    const Record record(0, i);
    file.append(&record, kUsedBytes);
  }
  file.finish(false);
  CHECK(file.lost() == 0);
  const auto found = numbers(all_slices(folder.path()), 1)[0];
  CHECK(found.size() == written - space.removed_records());
  CHECK(found.size() * kRecordBytes <= kLimit);
  REQUIRE_FALSE(found.empty());
  CHECK(found.back() == written - 1);
}

TEST_CASE("unmapped and mapped files have the same bytes") {
  const TempFolder mapped, collected;
  constexpr std::uint64_t kRecords = 5 * kRecordsPerSlice / 2 + 7;
  const bool has_worker = GENERATE(true, false);
  for (const bool is_mapped : {true, false}) {
    const TempFolder& folder = is_mapped ? mapped : collected;
    acl::SpaceBudget space{0};
    acl::SliceWorker worker;
    acl::SliceFile file((folder / "records").string(), {kRecordBytes, acl::NumberBits::bits_6_to_9},
                        space, has_worker ? &worker : nullptr, is_mapped);
    for (std::uint64_t i = 0; i < kRecords; ++i) {
      const Record record(0, i);
      file.append(&record, kUsedBytes);
    }
    file.refuse();
    CHECK(worker.stop(false));
    file.finish(false);
    CHECK(file.lost() == 0);
  }
  CHECK(names_in(mapped.path()) == names_in(collected.path()));
  CHECK(names_in(mapped.path()).size() == 6);
  for (const std::string& name : names_in(mapped.path())) {
    INFO(name);
    const std::string one = read_file(mapped / name), other = read_file(collected / name);
    // The times in .done files differ.
    if (name.ends_with(".done"))
      CHECK(one.substr(0, one.find('\n')) == other.substr(0, other.find('\n')));
    else
      CHECK(one == other);
  }
}

TEST_CASE("an unmapped file has each record slightly later, and a kill keeps those") {
  const bool has_worker = GENERATE(true, false);
  for (const std::uint64_t records : {1U, 300U, 8'300U}) {
    const TempFolder folder;
    const pid_t child = fork();
    if (child == 0) {
      acl::SpaceBudget space{0};
      acl::SliceWorker worker;
      acl::SliceFile file((folder / "records").string(), {kRecordBytes}, space,
                          has_worker ? &worker : nullptr, false);
      for (std::uint64_t i = 0; i < records; ++i) {
        const Record record(0, i);
        file.append(&record, kUsedBytes);
      }
      for (;;) pause();
    }
    CHECK(eventually([&] { return all_slices(folder.path()).size() == records * kRecordBytes; }));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const auto found = numbers(all_slices(folder.path()), 1);
    REQUIRE(found[0].size() == records);
    CHECK(found[0].back() == records - 1);
  }
}

TEST_CASE("records added during a write are written too") {
  const TempFolder folder;
  Written written(folder.path(), false);
  const auto has = [&](std::uint64_t records) {
    return eventually([&] { return all_slices(folder.path()).size() == records * kRecordBytes; });
  };
  // Once after the worker has ended, and once while it waits.
  for (std::uint64_t i = 0; i < 4; ++i) {
    written.write(i, i + 1);
    CHECK(has(i + 1));
    if (i == 1) CHECK(worker_goes());
  }
  written.finish();
  CHECK(numbers(all_slices(folder.path()), 1)[0].size() == 4);
}

TEST_CASE("on a full disk an unmapped file loses only the records that do not fit") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(std::uint64_t{5} << 20);
  Written written(disk.path(), false);
  constexpr std::uint64_t kRecords = 8 * kRecordsPerSlice;
  written.write(0, kRecords);
  written.finish();
  CHECK(written.file.error() == ENOSPC);
  const std::string bytes = all_slices(disk.path());
  CHECK(bytes.size() % kRecordBytes == 0);
  const auto found = numbers(bytes, 1)[0];
  CHECK(found.size() + written.file.lost() == kRecords);
  CHECK(bytes.size() > std::uint64_t{4} << 20);
  CHECK(found.front() == 0);
  CHECK(std::is_sorted(found.begin(), found.end()));
  // File sizes equal the sizes in the .done files.
  for (const std::string& name : names_in(disk.path())) {
    if (!name.ends_with(".done")) continue;
    const fs::path slice = disk / name.substr(0, name.size() - 5);
    CHECK(read_file(disk / name).starts_with("filesize:" + std::to_string(fs::file_size(slice))));
  }
}

TEST_CASE("an unmapped file can be removed and causes no signal at a limit") {
  const TempFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    acl::SpaceBudget space{0};
    acl::SliceFile file((folder / "records").string(), {kRecordBytes}, space, nullptr, false);
    const auto write = [&](std::uint64_t from, std::uint64_t to) {
      for (std::uint64_t i = from; i < to; ++i) {
        const Record record(0, i);
        file.append(&record, kUsedBytes);
      }
    };
    write(0, 10);
    fs::remove(folder / "records.slice_0");
    write(10, 20);
    if (file.lost() != 0 || fs::exists(folder / "records.slice_0")) _exit(1);
    write(20, kRecordsPerSlice + 10);
    const rlimit limit = {20 * kRecordBytes + 1, 20 * kRecordBytes + 1};
    setrlimit(RLIMIT_FSIZE, &limit);
    write(kRecordsPerSlice + 10, kRecordsPerSlice + 30);
    file.finish(false);
    _exit(file.lost() == 10 && file.error() == EFBIG ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(fs::file_size(folder / "records.slice_1") == 20 * kRecordBytes);
}

TEST_CASE("files are only mapped on file systems where a full disk causes no signal") {
  CHECK_FALSE(runtime::may_be_mapped("/proc"));
  CHECK_FALSE(runtime::may_be_mapped("/nowhere"));
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk tmpfs(std::uint64_t{1} << 20);
  CHECK(runtime::may_be_mapped(tmpfs.path()));
  const auto kind = GENERATE(SmallDisk::Kind::overlay, SmallDisk::Kind::btrfs);
  const SmallDisk disk(std::uint64_t{32} << 20, kind);
  if (!disk.is_mounted_or_skip()) return;
  CHECK_FALSE(runtime::may_be_mapped(disk.path()));
}
