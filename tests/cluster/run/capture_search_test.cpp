// Searches for captures below folders: names, depth, links, rank numbers of frameworks, unreadable
// folders.
#include "cluster/run/capture_search.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "cluster/run/part_folder.hpp"
#include "cluster/run/run_fixture.hpp"
#include "support/plain_user.hpp"

using namespace msprof;
using namespace msprof::test;
using cluster::CaptureSearch;
using cluster::search_captures;
namespace fs = std::filesystem;

namespace {

// Makes the files of a capture that the search reads.
fs::path make_capture(const fs::path& folder, int own_rank = -1) {
  fs::create_directories(folder / "host");
  write_file(folder / "device_0/info.json.0",
             "{\"rank_id\": " + std::to_string(own_rank) + ", \"platform_version\": \"5\"}");
  return folder;
}

std::vector<std::string> found_in(const fs::path& base, const CaptureSearch& found) {
  std::vector<std::string> names;
  for (const auto& capture : found.captures)
    names.push_back(capture.folder.lexically_relative(base).string() +
                    (capture.rank ? "=" + std::to_string(*capture.rank) : ""));
  return names;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("captures are found at any depth, sorted, and not inside each other") {
  const TempFolder folder;
  make_capture(folder / "b/c/d/PROF_000001_2");
  make_capture(folder / "b/PROF_000001_1");
  make_capture(folder / "b/PROF_000001_1/host/PROF_inner");
  make_capture(folder / "a/not_named_so");
  fs::create_directories(folder / "b/PROF_damaged");
  const CaptureSearch found = search_captures({folder.path()});
  CHECK(found_in(folder.path(), found) ==
        Names{"b/PROF_000001_1", "b/PROF_damaged", "b/c/d/PROF_000001_2"});
  CHECK(found.problems.empty());
}

TEST_CASE("a capture given directly is found under any name") {
  const TempFolder folder;
  const fs::path renamed = make_capture(folder / "rank0");
  CHECK(found_in(folder.path(), search_captures({renamed, folder / "rank0/"})) == Names{"rank0"});
}

TEST_CASE("a folder that is only named like a capture is searched") {
  const TempFolder folder;
  make_capture(folder / "PROF_all/PROF_1");
  make_capture(folder / "PROF_all/PROF_2");
  CHECK(found_in(folder.path(), search_captures({folder.path()})) ==
        Names{"PROF_all/PROF_1", "PROF_all/PROF_2"});
}

TEST_CASE("each capture is found once, however many ways lead to it") {
  const TempFolder folder;
  make_capture(folder / "real/PROF_1");
  fs::create_directory_symlink(folder / "real", folder / "again");
  fs::create_directory_symlink(folder / "real/PROF_1", folder / "PROF_link");
  fs::create_directory_symlink("..", folder / "real/up");
  fs::create_directory_symlink("nowhere", folder / "real/dangling");
  fs::create_directory_symlink("itself", folder / "itself");
  const CaptureSearch found = search_captures({folder.path(), folder / "real", folder / "again"});
  CHECK(found_in(folder.path(), found) == Names{"real/PROF_1"});
}

TEST_CASE("the rank of a framework's folder is used if the capture has none") {
  const TempFolder folder;
  make_capture(folder / "a_1_ascend_pt/PROF_1");
  write_file(folder / "a_1_ascend_pt/profiler_info_17.json", "{}");
  make_capture(folder / "b_2_ascend_ms/PROF_2", 3);
  write_file(folder / "b_2_ascend_ms/profiler_info_18.json", "{}");
  make_capture(folder / "c_3_ascend_pt/PROF_3");
  write_file(folder / "c_3_ascend_pt/profiler_info_1.json", "{}");
  write_file(folder / "c_3_ascend_pt/profiler_info_2.json", "{}");
  make_capture(folder / "d_4_ascend_pt/PROF_4");
  write_file(folder / "d_4_ascend_pt/profiler_info_-1.json", "{}");
  write_file(folder / "d_4_ascend_pt/profiler_info_99999999999999999999.json", "{}");
  make_capture(folder / "plain/PROF_5");
  write_file(folder / "plain/profiler_info_5.json", "{}");
  CHECK(found_in(folder.path(), search_captures({folder.path()})) ==
        Names{"a_1_ascend_pt/PROF_1=17", "b_2_ascend_ms/PROF_2", "c_3_ascend_pt/PROF_3",
              "d_4_ascend_pt/PROF_4", "plain/PROF_5"});
}

TEST_CASE("the rank of a capture is known if all sources agree") {
  const TempFolder folder;
  const fs::path one = make_capture(folder / "PROF_1", 4);
  CHECK(cluster::find_known_rank({one, {}}) == 4);
  CHECK(cluster::find_known_rank({one, 9}) == 9);
  write_file(one / "device_1/info.json.1", "{\"rank_id\": 5, \"platform_version\": \"5\"}");
  CHECK_FALSE(cluster::find_known_rank({one, {}}));
  CHECK_FALSE(cluster::find_known_rank({make_capture(folder / "PROF_2"), {}}));
  CHECK_FALSE(cluster::find_known_rank({folder / "absent", {}}));
}

TEST_CASE("output of an earlier run in the folder is not a capture") {
  const TempFolder folder;
  const fs::path capture = make_capture(folder / "PROF_1");
  const cluster::PartFolder parts(folder / "out");
  parts.begin({capture, {}});
  CHECK(found_in(folder.path(), search_captures({folder.path()})) == Names{"PROF_1"});
}

TEST_CASE("folders that cannot be searched are reported, and the rest is found") {
  const TempFolder folder;
  make_capture(folder / "PROF_1");
  write_file(folder / "file", "");
  fs::create_directory_symlink("loop", folder / "loop");  // not readable, even for root
  const CaptureSearch found =
      search_captures({folder / "absent", folder / "file", folder / "loop", folder.path()});
  CHECK(found_in(folder.path(), found) == Names{"PROF_1"});
  REQUIRE(found.problems.size() == 3);
  CHECK(found.problems[0].path == folder / "absent");
  CHECK(says(found.problems[0].reason, "No such file"));
  CHECK(found.problems[0].is_absent);
  CHECK(found.problems[1].reason == "it is not a folder");
  CHECK(found.problems[1].is_absent);
  CHECK_FALSE(found.problems[2].is_absent);
}

TEST_CASE("a folder whose entries cannot be accessed is reported") {
  const TempFolder folder;
  make_capture(folder / "PROF_1");
  make_capture(folder / "closed" / "PROF_2");
  fs::permissions(folder / "closed", fs::perms(0644));  // names can be listed
  CaptureSearch found;
  {
    const PlainUser user(folder.path());
    found = search_captures({folder.path()});
  }
  fs::permissions(folder / "closed", fs::perms(0755));
  CHECK(found_in(folder.path(), found) == Names{"PROF_1"});
  REQUIRE(found.problems.size() == 1);
  CHECK(found.problems[0].path == folder / "closed" / "PROF_2");
  CHECK(found.problems[0].reason == "Permission denied");
  CHECK_FALSE(found.problems[0].is_absent);
}

TEST_CASE("a very deep tree is searched completely") {
  const TempFolder folder;
  fs::path at = folder.path();
  for (int depth = 0; depth < 300; ++depth) at /= "d";
  fs::create_directories(at);
  make_capture(at / "PROF_deep");
  CHECK(search_captures({folder.path()}).captures.size() == 1);
}
