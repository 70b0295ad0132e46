// The tar stream of a project, compared byte by byte.
#include <catch2/catch.hpp>
#include <fstream>

#include "board/transfer/tar_transfer.hpp"
#include "board/transfer_fixture.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

std::string make_tar(const std::vector<ProjectEntry>& entries, std::size_t piece) {
  const std::function<void(std::uint64_t)> progress;
  TarWriter writer(entries, progress);
  std::string bytes;
  std::string buffer(piece, '\0');
  while (const std::size_t count = writer.fill(buffer.data(), buffer.size())) {
    bytes.append(buffer, 0, count);
  }
  return bytes;
}

}  // namespace

TEST_CASE("The stream is the same in whatever pieces it is taken, and each tar unpacks it") {
  const TempFolder project;
  make_odd_tree(project.path());
  const auto entries = list_entries(project.path());
  const std::string bytes = make_tar(entries, 1 << 20);
  CHECK(make_tar(entries, 997) == bytes);
  CHECK(bytes.size() % 512 == 0);

  const TempFolder scratch;
  write_file(scratch / "tar", bytes);
  for (const std::string tar : {"/bin/tar", "/bin/busybox tar"}) {
    INFO(tar);
    const fs::path there = scratch / ("by " + tar.substr(5));
    const RunResult result = run_program(
        "/bin/sh",
        {"-c", "mkdir \"$1\" && cd \"$1\" && exec " + tar + " xpof ../tar", "sh", there});
    CHECK(result.err == "");
    CHECK(difference(there, project.path(), Compare::everything) == "");
  }
}

TEST_CASE("A stream that is given up reads no further") {
  const TempFolder project;
  make_file(project / "large", "begin");
  fs::resize_file(project / "large", std::uintmax_t{1} << 40);
  const auto entries = list_entries(project.path());
  const std::function<void(std::uint64_t)> progress;
  TarWriter writer(entries, progress);
  std::string buffer(4'096, '\0');
  CHECK(writer.fill(buffer.data(), buffer.size()) > 0);
}

TEST_CASE("A size above what old headers hold is written so that tar reads it") {
  const TempFolder project;
  make_file(project / "large", "begin");
  fs::resize_file(project / "large", std::uintmax_t{9} << 30);
  const auto entries = list_entries(project.path());
  const std::function<void(std::uint64_t)> progress;
  TarWriter writer(entries, progress);
  std::string head(512, '\0');
  REQUIRE(writer.fill(head.data(), head.size()) == 512);
  const TempFolder scratch;
  write_file(scratch / "head", head);
  const RunResult listed = run_program("/bin/sh", {"-c", "tar tvf \"$1\"", "sh", scratch / "head"});
  CHECK(listed.out.find("9663676416") != std::string::npos);
}

TEST_CASE(
    "A folder is there for its owner, whatever it is here, and a project without files is one") {
  const TempFolder project;
  std::vector<ProjectEntry> entries(1);
  entries[0].path = "closed";
  entries[0].kind = EntryKind::folder;
  entries[0].mode = 0;
  const TempFolder scratch;
  write_file(scratch / "tar", make_tar(entries, 512));
  const RunResult listed = run_program("/bin/sh", {"-c", "tar tvf \"$1\"", "sh", scratch / "tar"});
  CHECK(listed.out.find("drwx------") != std::string::npos);
}
