// The captures that `list` describes, if parts of them cannot be read.
#include "analyze/capture_list.hpp"

#include <catch2/catch.hpp>

#include "session/capture_walk.hpp"
#include "support/plain_user.hpp"
#include "support/prof/prof_run.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

TEST_CASE("a capture whose size cannot be determined is listed with the reason") {
  const TempFolder folder;
  prof::RunShape shape;
  shape.tasks = 120;
  const fs::path capture = prof::make_run(folder.path(), {}, shape).folder;
  const std::string part = GENERATE("host/data", "device_0");
  const int mode = GENERATE(0311, 0644);  // names, or the files behind them, are inaccessible
  fs::permissions(capture / part, fs::perms(mode));
  std::vector<ListedCapture> listed;
  {
    const PlainUser user(folder.path());
    listed = list_captures(walk_captures(folder.path()).captures);
  }
  fs::permissions(capture / part, fs::perms(0755));
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].bytes > 0);
  CHECK(listed[0].listing_problem ==
        "cannot list " + (capture / part).string() + ": Permission denied");
}

}  // namespace msprof::test
