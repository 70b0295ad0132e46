// Folders that cannot be listed: a capture reports them, and no search treats them as empty.
#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "session/capture_walk.hpp"
#include "session/session.hpp"
#include "support/face_session.hpp"
#include "support/files.hpp"
#include "support/plain_user.hpp"
#include "support/prof/prof_folder.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Folders without permission to list them, for a user who is not root.
class Closed {
 public:
  Closed(const TempFolder& all, std::vector<fs::path> folders, fs::perms left = fs::perms(0311))
      : folders_(std::move(folders)) {
    for (const fs::path& folder : folders_) fs::permissions(folder, left);
    user_.emplace(all.path());
  }
  ~Closed() {
    user_.reset();
    for (const fs::path& folder : folders_) fs::permissions(folder, fs::perms(0755));
  }
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;

 private:
  std::vector<fs::path> folders_;
  std::optional<PlainUser> user_;
};

// Files that cannot be read, each with the reason.
std::vector<std::string> unreadable_in(const fs::path& capture) {
  std::vector<std::string> names;
  const auto session = Session::open(capture);
  for (const SessionFinding& one : session->findings())
    if (one.id == FindingId::unreadable_file) names.push_back(one.file + ": " + one.detail);
  return names;
}

std::string denied(const fs::path& folder) {
  return "cannot list " + folder.string() + ": Permission denied";
}

Error error_of_open(const fs::path& folder) {
  try {
    Session::open(folder);
  } catch (const Error& error) {
    return error;
  }
  return {Exit::ok, "no error"};
}

fs::path make_prof(const fs::path& parent) {
  prof::ProfFolder folder(parent);
  folder.finish();
  return folder.folder();
}

fs::path make_board(const fs::path& parent, const std::string& name = "JOBA") {
  JobBuilder job(parent, name);
  add_face(job);
  return job.folder();
}

}  // namespace

TEST_CASE("each unlistable part of a PROF folder is reported") {
  const TempFolder folder;
  const fs::path prof = make_prof(folder.path());
  const std::string part = GENERATE("host", "host/data", "device_0", "device_0/data");
  CHECK(unreadable_in(prof).empty());
  const auto whole = Session::open(prof)->file_states();
  {
    const Closed closed(folder, {prof / part});
    const auto session = Session::open(prof);
    CHECK(session->dialect() == Dialect::cann);
    CHECK(unreadable_in(prof) == std::vector{part + ": " + denied(prof / part)});
    // A store made before is out of date once the folder can be listed.
    CHECK(session->file_states() != whole);
  }
  CHECK(Session::open(prof)->file_states() == whole);
}

TEST_CASE("an unlistable folder without files also makes its store out of date") {
  const TempFolder folder;
  const fs::path prof = make_prof(folder.path());
  for (const auto& entry : fs::directory_iterator(prof / "device_0" / "data"))
    fs::remove(entry.path());
  const auto whole = Session::open(prof)->file_states();
  const Closed closed(folder, {prof / "device_0" / "data"});
  CHECK(Session::open(prof)->file_states() != whole);
}

TEST_CASE("an unlistable data folder of a JOB folder is reported") {
  const TempFolder folder;
  const fs::path job = make_board(folder.path());
  const Closed closed(folder, {job / "data"});
  CHECK(Session::open(job)->dialect() == Dialect::svp);
  CHECK(unreadable_in(job) == std::vector{"data: " + denied(job / "data")});
}

TEST_CASE("an unlistable capture is not treated as absent") {
  const TempFolder folder;
  const fs::path job = make_board(folder.path());
  make_board(folder.path(), "JOBB");
  const Closed closed(folder, {job}, fs::perms::none);
  const Error error = error_of_open(job);
  CHECK(error.code() == Exit::partial_data);
  CHECK(error.what() == denied(job));
  CHECK_THROWS_WITH(recognise(job), denied(job));
  // Opening it reports the error; the other capture can still be found.
  CHECK(find_captures({folder.path().string()}) == std::vector{job, folder / "JOBB"});
  CHECK(find_captures({(folder / "JOB*").string()}) == std::vector{job, folder / "JOBB"});
}

TEST_CASE("a folder with inaccessible entries is not treated as empty") {
  const TempFolder folder;
  const fs::path prof = make_prof(folder.path());
  const Closed closed(folder, {prof}, fs::perms(0644));
  CHECK(error_of_open(prof).code() == Exit::partial_data);
}

TEST_CASE("a search reports the folders that it cannot list") {
  const TempFolder folder;
  const fs::path job = make_board(folder / "runs");
  write_file(folder / "closed" / "x", "");
  const Closed closed(folder, {folder / "closed"});
  const CapturesBelow below = walk_captures(folder.path());
  CHECK(below.captures.size() == 1);
  REQUIRE(below.skipped.size() == 1);
  CHECK(below.skipped.front().is_unlisted);
  CHECK(below.skipped.front().reason == denied(folder / "closed"));
  CHECK(newest_capture(folder.path()) == job);
}

TEST_CASE("an incomplete search without results does not report that there is nothing") {
  const TempFolder folder;
  write_file(folder / "closed" / "x", "");
  const Closed closed(folder, {folder / "closed"});
  try {
    newest_capture(folder.path());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Exit::partial_data);
    CHECK(error.what() == denied(folder / "closed"));
  }
  CHECK_THROWS_WITH(find_captures({(folder / "closed").string()}), denied(folder / "closed"));
  CHECK_THROWS_WITH(find_captures({(folder / "closed/*").string()}),
                    Catch::Contains("Permission denied"));
}
