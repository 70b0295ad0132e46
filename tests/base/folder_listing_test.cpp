#include "base/folder_listing.hpp"

#include <glob.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <new>
#include <system_error>

#include "base/foreign_error.hpp"
#include "support/files.hpp"
#include "support/plain_user.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

Error error_of_listing(const fs::path& folder) {
  try {
    list_names(folder);
  } catch (const Error& error) {
    return error;
  }
  return {Exit::ok, "no error"};
}

}  // namespace

TEST_CASE("the names of a folder are sorted, with the type of each") {
  const TempFolder folder;
  write_file(folder / "b", "");
  write_file(folder / ".hidden", "");
  fs::create_directory(folder / "a");
  fs::create_symlink("a", folder / "c");
  const FolderListing listing = list_folder(folder.path());
  REQUIRE(listing.entries.size() == 4);
  CHECK(listing.error_number == 0);
  CHECK(listing.entries[0].name == ".hidden");
  CHECK(listing.entries[1].type == fs::file_type::directory);
  CHECK(listing.entries[2].type == fs::file_type::regular);
  CHECK(listing.entries[3].type == fs::file_type::symlink);
  CHECK(list_folder(folder.path(), 2).entries.size() == 2);
}

TEST_CASE("a missing folder has no names; an unreadable one is an error") {
  const TempFolder folder;
  write_file(folder / "file", "");
  fs::create_symlink("loop", folder / "loop");
  for (const char* name : {"absent", "file", "loop"}) {
    INFO(name);
    CHECK(list_names(folder / name).empty());
    CHECK(list_folder(folder / name).is_absent());
    CHECK_FALSE(list_folder(folder / name).is_cut());
  }
  write_file(folder / "closed" / "x", "");
  fs::permissions(folder / "closed", fs::perms::owner_exec);
  {
    const PlainUser user(folder.path());
    const Error error = error_of_listing(folder / "closed");
    CHECK(error.code() == Exit::partial_data);
    CHECK(error.what() == "cannot list " + (folder / "closed").string() + ": Permission denied");
    CHECK(list_folder(folder / "closed").is_cut());
  }
  fs::permissions(folder / "closed", fs::perms::owner_all);
}

TEST_CASE("a pattern returns its matches, or the folder that cannot be listed") {
  const TempFolder folder;
  const std::string base = folder.path().string();
  for (const char* name : {"JOBB/x", "JOBA/x", "other/x", "closed/x"})
    write_file(folder / name, "");
  using Texts = std::vector<std::string>;
  CHECK(list_matches(base + "/JOB*", 0) == Texts{base + "/JOBA", base + "/JOBB"});
  CHECK(list_matches(base + "/*/x", 0).size() == 4);
  CHECK(list_matches(base + "/none*", 0).empty());
  CHECK(list_matches(base + "/absent/*", 0).empty());
  CHECK(list_matches(base + "/absent/*", GLOB_NOCHECK) == Texts{base + "/absent/*"});
  fs::permissions(folder / "closed", fs::perms::owner_exec);
  {
    const PlainUser user(folder.path());
    CHECK_THROWS_WITH(list_matches(base + "/closed/*", 0),
                      Catch::Contains("cannot list " + base + "/closed"));
  }
  fs::permissions(folder / "closed", fs::perms::owner_all);
}

TEST_CASE("exceptions of the standard library become a message and an exit code") {
  const auto error_code = [](std::errc code) { return std::make_error_code(code); };
  const Error thread =
      to_error(std::system_error(error_code(std::errc::resource_unavailable_try_again)));
  CHECK(thread.code() == Exit::cannot_write);
  CHECK_THAT(thread.what(), Catch::Contains("cannot start a thread"));
  CHECK(to_error(std::bad_alloc()).code() == Exit::cannot_write);
  CHECK_THAT(to_error(std::bad_alloc()).what(), Catch::Contains("out of memory"));
  const Error file =
      to_error(fs::filesystem_error("status", "/x/y", error_code(std::errc::io_error)));
  CHECK(file.code() == Exit::partial_data);
  CHECK(file.what() == std::string("/x/y: Input/output error"));
  CHECK(to_error(fs::filesystem_error("mkdir", "/x", error_code(std::errc::no_space_on_device)))
            .code() == Exit::cannot_write);
  const Error own(Exit::usage, "words");
  CHECK(to_error(own).code() == Exit::usage);
  CHECK(to_error(std::runtime_error("odd")).code() == Exit::internal_error);
  CHECK(to_unreadable_exit(ENOENT) == Exit::nothing_to_do);
  CHECK(to_unreadable_exit(EMFILE) == Exit::partial_data);
}
