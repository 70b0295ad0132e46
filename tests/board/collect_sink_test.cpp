// --sink on real boards: the record stream of the demo's runtime, and invalid streams.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/disk/sink.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

std::string frame(const std::string& name, std::uint64_t offset, const std::string& data) {
  std::string bytes = "MSNK";
  const auto put = [&](std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  put(name.size(), 2);
  put(data.size(), 2);
  put(offset, 8);
  return bytes + name + data;
}

const std::string kAicore = std::string(kBoardJob) + "/data/aicore.0";

}  // namespace

TEST_CASE("Frames of the record stream become files at any chunk boundaries") {
  const TempFolder temp;
  const std::string stream = frame(kAicore, 0, "begin") + frame(kAicore + "x", 0, "other") +
                             frame(kAicore, 5, "") + frame(kAicore, 5, " and end") +
                             frame("", 0, "") + "after";
  const auto piece = GENERATE(1U, 7U, 1000U);
  SinkReader reader(temp.path());
  for (std::size_t at = 0; at < stream.size(); at += piece) reader.take(stream.substr(at, piece));
  CHECK(reader.has_ended());
  CHECK(reader.trouble() == "");
  CHECK(reader.files().size() == 2);
  CHECK(read_file(temp / kAicore) == "begin and end");
  CHECK(read_file(temp / (kAicore + "x")) == "other");
}

TEST_CASE("A stream with a gap or an invalid path ends there with a reason") {
  const TempFolder temp;
  fs::create_directories(temp / "in");
  for (const std::string& bad :
       {frame(kAicore, 9, "gap"), frame("../out", 0, "x"), frame("/etc/x", 0, "x"),
        frame("notes/x", 0, "x"), std::string("no frame at all, though"),
        frame(std::string(kBoardJob) + "/../../x", 0, "x")}) {
    SinkReader reader(temp / "in");
    reader.take(frame(kAicore, 0, "good"));
    reader.take(bad);
    reader.take(frame(kAicore, 4, "late"));
    CHECK(reader.trouble() != "");
    CHECK(reader.files().size() == 1);
    CHECK(read_file(temp / "in" / kAicore) == "good");
    fs::remove_all(temp / "in" / kBoardJob);
  }
  CHECK(names_in(temp.path()) == Words{"in"});
  SinkReader nowhere("/proc/nothing");
  nowhere.take(frame(kAicore, 0, "x"));
  CHECK(contains(nowhere.trouble(), "/proc/nothing"));
}

#ifdef DEMO_FOLDER

namespace {

struct DemoScene : BoardScene {
  explicit DemoScene(const BoardOptions& options) : BoardScene(options) {
    fs::create_directories(project());
    for (const char* name : {"main", "libsvp_acl.so", "acl.json", "models"})
      fs::copy(fs::path(DEMO_FOLDER) / name, project() / name, fs::copy_options::recursive);
  }
  fs::path project() const { return user.at("demo"); }
  RunResult run(const Words& options, const Words& application) const {
    return run_msprof(user.words(options, application),
                      {.folder = project(), .variables = board.client_variables()});
  }
  fs::path capture() const {
    const auto names = arrived();
    return user.output() / (names.empty() ? "none" : names.front());
  }
};

// Returns the total size of the runtime's record files in `folder`.
std::uint64_t record_bytes(const fs::path& data) {
  std::uint64_t bytes = 0;
  for (const std::string& name : names_in(data)) {
    if (name.ends_with(".done") || name.ends_with(".info")) continue;
    CHECK(read_file(data / name).starts_with("MSVP"));
    bytes += fs::file_size(data / name);
  }
  return bytes;
}

}  // namespace

TEST_CASE("--sink streams the demo's records, and none of them is on the board") {
  DemoScene scene({.kind = each_kind()});
  const RunResult result = scene.run({"--sink", "--keep", "--all"}, {"--images", "20"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "verdict: complete"));
  CHECK(record_bytes(scene.capture() / "data") > 20'000);
  const fs::path kept = scene.board.home() / "msprof/kept";
  REQUIRE(names_in(kept).size() == 1);
  const fs::path there = kept / names_in(kept).front() / "profiling";
  REQUIRE(names_in(there).size() == 1);
  CHECK(record_bytes(there / names_in(there).front() / "data") == 0);
  CHECK(scene.arrived().size() == 1);
  CHECK(scene.litter(1) == "");
}

TEST_CASE("If the stream's reader on the board ends, the remaining files are merged") {
  DemoScene scene({.kind = each_kind()});
  // The reader stops in the middle; data it had read is lost, which is reported.
  scene.board.replace_tool("cat", "exec head -c 20000");
  const RunResult result = scene.run({"--sink", "--all"}, {"--images", "60"});
  INFO(result.err);
  CHECK(contains(result.err, "MSPROF_SINK"));
  CHECK(contains(result.err, "records are written to files"));
  CHECK(result.exit_code == 3);
  CHECK(contains(result.err, "were in transit when the connection was lost"));
  for (const std::string& name : names_in(scene.capture() / "data")) {
    CHECK_FALSE(name.ends_with(".sink"));
    if (!name.ends_with(".done")) continue;
    const std::string done = read_file(scene.capture() / "data" / name);
    const std::string data = name.substr(0, name.size() - 5);
    CHECK(contains(done,
                   "file_len:" + std::to_string(fs::file_size(scene.capture() / "data" / data))));
  }
  CHECK(scene.litter() == "");
}

#endif

}  // namespace msprof::test
