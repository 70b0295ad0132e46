// A recorder must not change the end of a program or the contents of its files. Tested on disks
// with and without mapped files.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "support/eventually.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/small_disk.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

const std::string kProgram = MSPROF_MSTX_PROGRAMS "/mstx_ways";
constexpr std::size_t kRecordBytes = 256;

RunOptions recorded_in(const fs::path& folder) {
  return {folder,
          {{"MSTX_INJECTION_PATH", MSPROF_MSTX_LIBRARY}, {"MSPROF_MSTX_OUTPUT", folder.string()}}};
}

std::vector<fs::path> slices_in(const fs::path& folder) {
  std::vector<fs::path> slices;
  for (const std::string& name : names_in(folder)) {
    const fs::path data = folder / name / "host/data";
    for (const std::string& file : names_in(data)) {
      if (file.starts_with("aging.additional.msproftx.slice_") && !file.ends_with(".done"))
        slices.push_back(data / file);
    }
  }
  return slices;
}

// Counts the records of marks and ranges in the folder; a record without a header is unused space.
std::size_t records_in(const fs::path& folder) {
  std::size_t records = 0;
  for (const fs::path& slice : slices_in(folder)) {
    const std::string bytes = read_file(slice);
    CHECK(bytes.size() % kRecordBytes == 0);
    for (std::size_t at = 0; at + kRecordBytes <= bytes.size(); at += kRecordBytes)
      if (bytes[at] != 0) ++records;
  }
  return records;
}

// Runs the program with argument `way`, with and without a recorder; both runs must end in the same
// way. Returns the number of records and empties the folder.
std::size_t count_records(const std::string& way, const fs::path& folder) {
  const RunResult alone = run_program(kProgram, {way}, {folder});
  const RunResult recorded = run_program(kProgram, {way}, recorded_in(folder));
  INFO(way << ": " << recorded.err);
  CHECK(recorded.exit_code == alone.exit_code);
  CHECK(recorded.signal == alone.signal);
  CHECK(recorded.err == alone.err);
  const std::size_t records = records_in(folder);
  for (const std::string& name : names_in(folder)) fs::remove_all(folder / name);
  return records;
}

void check_all_ways(const fs::path& folder, bool is_mapped) {
  CHECK(count_records("", folder) == 1000);
  CHECK(count_records("small", folder) == 1 + 4 + 1000);
  CHECK(count_records("marked small", folder) == 2 + 4 + 1000);
  CHECK(count_records("chdir", folder) == 1001);
  CHECK(count_records("atexit", folder) == 1001);
  CHECK(count_records("close", folder) == 100'001);
  CHECK(count_records("handler", folder) >= 50'000);
  for (const std::string child : {"exit", "_exit", "exec"})
    CHECK(count_records("fork " + child, folder) > 1);
  // Without mapped files, records of the last second may be missing when the program ends.
  for (const std::string end : {"abort", "quick_exit", "_exit", "kill", "term", "int", "segv"}) {
    const std::size_t records = count_records(end, folder);
    INFO(end);
    CHECK(records <= 1000);
    if (is_mapped) CHECK(records == 1000);
  }
}

// Fills the disk to the last byte.
void fill(const fs::path& disk) {
  const int fd = ::open((disk / "filler").c_str(), O_WRONLY | O_CREAT, 0600);
  for (std::size_t bytes = 1 << 20; bytes > 0;) {
    const std::string zeros(bytes, 'x');
    if (::write(fd, zeros.data(), bytes) <= 0) bytes /= 2;
  }
  ::fsync(fd);
  ::close(fd);
}

// The program records on a disk that becomes full during the run.
void check_full(const SmallDisk& disk) {
  const TempFolder elsewhere;
  const fs::path flag = elsewhere / "full";
  RunningProgram program(kProgram, {"wait", flag.string()}, recorded_in(disk.path()));
  CHECK(eventually([&] { return program.has_ended() || records_in(disk.path()) == 20; }));
  fill(disk.path());
  write_file(flag, "");
  const RunResult result = program.wait();
  INFO(result.err);
  CHECK(result.signal == 0);
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("records were dropped for lack of space") != std::string::npos);
  CHECK(records_in(disk.path()) >= 20);
}

}  // namespace

TEST_CASE("a program ends under the recorder as it does without, where files are mapped") {
  const TempFolder folder;
  check_all_ways(folder.path(), true);
}

TEST_CASE("a program ends under the recorder as it does without, on an overlay") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(std::uint64_t{256} << 20, SmallDisk::Kind::overlay);
  if (!disk.is_mounted_or_skip()) return;
  check_all_ways(disk.path(), false);
}

TEST_CASE("a full btrfs does not end a program that sets marks") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(std::uint64_t{32} << 20, SmallDisk::Kind::btrfs);
  if (!disk.is_mounted_or_skip()) return;
  check_full(disk);
}

TEST_CASE("a full overlay does not end a program that sets marks") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(std::uint64_t{8} << 20, SmallDisk::Kind::overlay);
  if (!disk.is_mounted_or_skip()) return;
  check_full(disk);
}
