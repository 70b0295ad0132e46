// Files reported as written are complete after a power cut on a real disk.
#include <catch2/catch.hpp>

#include "cli/cli_fixture.hpp"
#include "support/loop_disk.hpp"
#include "support/prof/prof_run.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Returns every file below `folder`, except programs' logs, with its bytes.
std::map<std::string, std::string> files_on(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() != ".log")
      files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
  }
  return files;
}

void check_cut(const LoopDisk& disk) {
  const auto here = files_on(disk.path());
  const auto cut = disk.cut();
  const auto there = files_on(cut->path());
  for (const auto& [name, bytes] : here) {
    CAPTURE(name);
    REQUIRE(there.contains(name));
    CHECK(there.at(name) == bytes);
  }
}

}  // namespace

TEST_CASE("products and stores survive a power cut at the end of the command that wrote them") {
  const std::string kind = GENERATE("ext4", "xfs");
  CAPTURE(kind);
  if (!LoopDisk::is_available_or_skip(kind)) return;
  const LoopDisk disk(kind);
  prof::RunShape shape;
  shape.tasks = 60;
  const std::string dir = prof::make_run(disk.path(), {}, shape).folder.string();
  make_face(disk.path(), "JOBA");
  const std::string job = (disk / "JOBA").string();
  disk.sync();
  const auto run = [&](const Words& words) {
    const RunResult result = run_msprof(words, {.folder = disk.path()});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    check_cut(disk);
  };
  SECTION("every product, new or replacing an older one") {
    run({"export", "all", "-q", "-dir", dir, "-dir", job});
    run({"export", "all", "-q", "-dir", dir, "-dir", job});
    run({"export", "parquet", "-q", "-dir", dir});
  }
  SECTION("single files") {
    run({"import", "-q", "-dir", dir});
    run({"report", "-q", "-dir", dir});
    run({"compare", "-q", dir, dir, "--html", (disk / "page.html").string()});
    run({"rank", "-q", "-dir", dir, "--output", (disk / "new/rank.part").string()});
    run({"merge", "-q", (disk / "new/rank.part").string(), "--output",
         (disk / "cluster.db").string()});
    run({"cluster", "-q", disk.path().string(), "--output", (disk / "cluster").string()});
  }
}
