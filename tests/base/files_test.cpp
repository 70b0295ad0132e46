#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

Exit code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return Exit::ok;
}

}  // namespace

TEST_CASE("a cursor reads little-endian and moves, and never outside its bytes") {
  const std::string text("\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9);
  ByteCursor cursor(std::as_bytes(std::span(text)));
  CHECK(cursor.read<std::uint16_t>() == 0x0201);
  CHECK(cursor.read<std::uint32_t>() == 0x06050403);
  CHECK(cursor.position() == 6);
  CHECK(cursor.at<std::uint8_t>(8) == 9);
  CHECK_FALSE(cursor.overrun());
  SECTION("the end is inside the value") {
    CHECK(cursor.read<std::uint32_t>() == 0);
    CHECK(cursor.overrun());
  }
  SECTION("far behind the end") {
    CHECK(cursor.at<std::uint64_t>(SIZE_MAX - 3) == 0);
    CHECK(cursor.overrun());
  }
  SECTION("exactly at the end") {
    CHECK(cursor.at<std::uint8_t>(9) == 0);
    CHECK(cursor.overrun());
  }
}

TEST_CASE("a file appears under its name when it is committed, and not before") {
  const TempFolder folder;
  AtomicFile file(folder / "a.csv");
  file.write("one\n");
  CHECK_FALSE(fs::exists(folder / "a.csv"));
  file.write("two\n");
  CHECK(file.bytes_written() == 8);
  file.commit();
  CHECK(read_file(folder / "a.csv") == "one\ntwo\n");
  CHECK(names_in(folder.path()) == Names{"a.csv"});
}

TEST_CASE("a file that is not committed leaves the old one and no trace") {
  const TempFolder folder;
  write_file(folder / "a.csv", "old");
  {
    AtomicFile file(folder / "a.csv");
    file.write(std::string(3 << 20, 'x'));  // more than its buffer
    CHECK(names_in(folder.path()).size() == 2);
  }
  CHECK(names_in(folder.path()) == Names{"a.csv"});
  CHECK(read_file(folder / "a.csv") == "old");
}

TEST_CASE("the temporary of a name of 255 bytes fits as well") {
  const TempFolder folder;
  const std::string name(255, 'n');
  AtomicFile file(folder / name);
  file.commit();
  CHECK(names_in(folder.path()) == Names{name});
}

TEST_CASE("temporaries of programs that are gone are removed, others are left alone") {
  const TempFolder folder;
  const std::string ours = ".a.csv." + std::to_string(::getpid()) + ".0.msprof-tmp";
  const std::string parent = ".a.csv." + std::to_string(::getppid()) + ".0.msprof-tmp";
  for (const std::string& name :
       {std::string(".a.csv.2147483647.0.msprof-tmp"), ours, parent,
        std::string(".a.csv.x.0.msprof-tmp"), std::string("a.msprof-tmp"), std::string("a.csv")}) {
    write_file(folder / name, "x");
  }
  remove_stale_temporaries(folder.path());
  auto expected = Names{ours, parent, ".a.csv.x.0.msprof-tmp", "a.msprof-tmp", "a.csv"};
  std::sort(expected.begin(), expected.end());
  CHECK(names_in(folder.path()) == expected);
  remove_stale_temporaries(folder / "missing");
}

TEST_CASE("temporaries of another machine are left alone for a day") {
  const TempFolder folder;
  const std::string own = temporary_beside(folder / "a.csv").filename().string();
  const std::string machine = own.substr(own.find('-'));  // "-1f2e3d4c.msprof-tmp"
  const std::string gone = ".a.csv.2147483647.0";
  const Names foreign = {gone + "-0.msprof-tmp", ".b" + gone + "-0.msprof-tmp"};
  for (const std::string& name : {foreign[0], foreign[1], own, gone + machine})
    write_file(folder / name, "x");
  std::filesystem::last_write_time(
      folder / foreign[1], std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  CHECK_FALSE(is_stale_temporary(foreign[1]));
  CHECK_FALSE(is_stale_temporary(own));
  CHECK(is_stale_temporary(gone + machine));
  remove_stale_temporaries(folder.path());
  Names expected = {foreign[0], own};
  std::sort(expected.begin(), expected.end());
  CHECK(names_in(folder.path()) == expected);
}

TEST_CASE("what cannot be written is an error that names the file and --output") {
  const TempFolder folder;
  write_file(folder / "file", "x");
  CHECK(code_of([&] { AtomicFile(folder / "missing/a"); }) == Exit::cannot_write);
  CHECK(code_of([&] { create_output_folder(folder / "file"); }) == Exit::cannot_write);
  CHECK(code_of([&] { create_output_folder(folder / "file/sub"); }) == Exit::cannot_write);
  try {
    create_output_folder(folder / "file/sub");
  } catch (const Error& error) {
    const std::string what = error.what();
    CHECK(what.find((folder / "file/sub").string()) != std::string::npos);
    CHECK(what.find("--output") != std::string::npos);
  }
  create_output_folder(folder / "a/b/c");
  CHECK(fs::is_directory(folder / "a/b/c"));
}

TEST_CASE("a folder in the way of a file is an error at the end, and no trace stays") {
  const TempFolder folder;
  fs::create_directories(folder / "a.csv/in_use");
  CHECK(code_of([&] {
          AtomicFile file(folder / "a.csv");
          file.commit();
        }) == Exit::cannot_write);
  CHECK(names_in(folder.path()) == Names{"a.csv"});
}

TEST_CASE("a reader takes regular files only and reads to the end") {
  const TempFolder folder;
  write_file(folder / "a", "abcdef");
  FileReader reader(folder / "a");
  CHECK(reader.size_bytes() == 6);
  std::string buffer(4, '\0');
  CHECK(reader.read(std::as_writable_bytes(std::span(buffer))) == 4);
  CHECK(buffer == "abcd");
  CHECK(reader.read(std::as_writable_bytes(std::span(buffer))) == 2);
  CHECK(reader.read(std::as_writable_bytes(std::span(buffer))) == 0);

  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  for (const char* name : {"missing", "fifo", "."}) {
    CHECK(code_of([&] { FileReader other(folder / name); }) == Exit::partial_data);
  }
}

TEST_CASE("a text file above its limit is refused") {
  const TempFolder folder;
  write_file(folder / "a", "12345");
  CHECK(read_text_file(folder / "a", 5) == "12345");
  CHECK(code_of([&] { read_text_file(folder / "a", 4); }) == Exit::partial_data);
}

TEST_CASE("of several causes the gravest is 130, 7, 6, 5, 3, 4, then 0") {
  const std::vector<Exit> order = {Exit::interrupted,
                                   Exit::application_failed,
                                   Exit::board_unreachable,
                                   Exit::cannot_write,
                                   Exit::partial_data,
                                   Exit::nothing_to_do,
                                   Exit::ok};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      CHECK(gravest(order[i], order[j]) == order[std::min(i, j)]);
    }
  }
  // The numbers themselves are a promise.
  CHECK(static_cast<int>(Exit::ok) == 0);
  CHECK(static_cast<int>(Exit::internal_error) == 1);
  CHECK(static_cast<int>(Exit::usage) == 2);
  CHECK(static_cast<int>(Exit::partial_data) == 3);
  CHECK(static_cast<int>(Exit::nothing_to_do) == 4);
  CHECK(static_cast<int>(Exit::cannot_write) == 5);
  CHECK(static_cast<int>(Exit::board_unreachable) == 6);
  CHECK(static_cast<int>(Exit::application_failed) == 7);
  CHECK(static_cast<int>(Exit::regression) == 8);
  CHECK(static_cast<int>(Exit::interrupted) == 130);
}

TEST_CASE("a number that is no exit code of ours is an internal error") {
  for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 130})
    CHECK(static_cast<int>(exit_of_code(code)) == code);
  for (const int code : {-1, 9, 127, 129, 139, 256}) {
    CHECK(exit_of_code(code) == Exit::internal_error);
  }
}

TEST_CASE("context is put in front of an error and keeps its code") {
  const Error error = Error(Exit::cannot_write, "disk full").with_context("writing a.csv");
  CHECK(std::string(error.what()) == "writing a.csv: disk full");
  CHECK(error.code() == Exit::cannot_write);
}
