#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>

#include <catch2/catch.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/owner_lock.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

// Another program that performs an action and waits until it is killed.
class OtherProgram {
 public:
  explicit OtherProgram(const std::function<void()>& action) {
    int ready[2];
    if (::pipe(ready) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      action();
      ::close(ready[0]);
      ::close(ready[1]);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char none = 0;
    while (::read(ready[0], &none, 1) < 0 && errno == EINTR) {
    }
    ::close(ready[0]);
  }
  ~OtherProgram() { kill(); }
  OtherProgram(const OtherProgram&) = delete;
  OtherProgram& operator=(const OtherProgram&) = delete;
  void kill() const {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  mutable pid_t pid_ = 0;
};

Exit thrown_exit(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return Exit::ok;
}

}  // namespace

TEST_CASE("a cursor reads little-endian values and never leaves its bytes") {
  const std::string text("\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9);
  ByteCursor cursor(std::as_bytes(std::span(text)));
  CHECK(cursor.read<std::uint16_t>() == 0x0201);
  CHECK(cursor.read<std::uint32_t>() == 0x06050403);
  CHECK(cursor.position() == 6);
  CHECK(cursor.at<std::uint8_t>(8) == 9);
  CHECK_FALSE(cursor.has_overrun());
  SECTION("the end is inside the value") {
    CHECK(cursor.read<std::uint32_t>() == 0);
    CHECK(cursor.has_overrun());
  }
  SECTION("far past the end") {
    CHECK(cursor.at<std::uint64_t>(SIZE_MAX - 3) == 0);
    CHECK(cursor.has_overrun());
  }
  SECTION("exactly at the end") {
    CHECK(cursor.at<std::uint8_t>(9) == 0);
    CHECK(cursor.has_overrun());
  }
}

TEST_CASE("a file appears under its name only after it is committed") {
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

TEST_CASE("an uncommitted file keeps the old file and leaves no temporary file") {
  const TempFolder folder;
  write_file(folder / "a.csv", "old");
  {
    AtomicFile file(folder / "a.csv");
    file.write(std::string(3 << 20, 'x'));  // larger than its buffer
    CHECK(names_in(folder.path()).size() == 2);
  }
  CHECK(names_in(folder.path()) == Names{"a.csv"});
  CHECK(read_file(folder / "a.csv") == "old");
}

TEST_CASE("a file name of 255 bytes can be written through a temporary file") {
  const TempFolder folder;
  const std::string name(255, 'n');
  AtomicFile file(folder / name);
  file.commit();
  CHECK(names_in(folder.path()) == Names{name});
}

TEST_CASE("temporary files of ended programs are removed, those of running ones are kept") {
  const TempFolder folder;
  const AtomicFile own(folder / "a.csv");
  const OtherProgram other([&] { new TemporaryFile(folder / "b.csv"); });
  CHECK(names_in(folder.path()).size() == 2);
  remove_stale_temporaries(folder.path());
  CHECK(names_in(folder.path()).size() == 2);
  other.kill();
  remove_stale_temporaries(folder.path());
  REQUIRE(names_in(folder.path()).size() == 1);
  CHECK(names_in(folder.path()).front().starts_with(".a.csv."));
  remove_stale_temporaries(folder / "missing");
}

TEST_CASE("the first temporary file in a folder removes those of a killed program") {
  const TempFolder folder;
  OtherProgram([&] { new TemporaryFile(folder / "report.html"); }).kill();
  CHECK(names_in(folder.path()).size() == 1);
  write_text_file(folder / "other.html", "x");
  CHECK(names_in(folder.path()) == Names{"other.html"});
}

TEST_CASE("temporary files without a lock are kept for a day") {
  const TempFolder folder;
  std::string machine = machine_tag();
  for (char& digit : machine) digit = digit == '0' ? '1' : '0';
  const std::string here = ".a.csv.0123456789abcdef-" + machine_tag() + ".msprof-tmp";
  // A file from another machine, whose locks may be invisible here, and one from an earlier
  // version.
  const std::string elsewhere = ".a.csv.0123456789abcdef-" + machine + ".msprof-tmp";
  const std::string earlier = ".a.csv.2147483647.0-1f2e3d4c.msprof-tmp";
  const Names unrelated = {"a.csv", "a.msprof-tmp"};
  for (const std::string& name : {here, elsewhere, earlier, unrelated[0], unrelated[1]}) {
    write_file(folder / name, "x");
    if (name != here) write_file(folder / (".old" + name), "x");
  }
  for (const std::string& name : names_in(folder.path())) {
    if (name.starts_with(".old"))
      fs::last_write_time(folder / name, fs::file_time_type::clock::now() - std::chrono::hours(25));
  }
  remove_stale_temporaries(folder.path());
  Names expected = {elsewhere,    earlier,     unrelated[0],
                    unrelated[1], ".olda.csv", ".olda.msprof-tmp"};
  std::sort(expected.begin(), expected.end());
  CHECK(names_in(folder.path()) == expected);
}

TEST_CASE("a temporary folder is emptied and removed when its program has ended") {
  const TempFolder folder;
  const OtherProgram other([&] {
    const auto* const made = new TemporaryFolder(folder / "collect");
    write_file(made->path() / "recording", "x");
  });
  std::vector<std::string> rescued;
  bool is_whole = false;
  const auto rescue = [&](const fs::path& stale) {
    rescued.push_back(read_file(stale / "recording"));
    return is_whole;
  };
  {
    const TemporaryFolder own(folder / "collect", rescue);
    const TemporaryFolder third(folder / "collect", rescue);
    CHECK(rescued.empty());
    CHECK(names_in(folder.path()).size() == 3);
  }
  CHECK(names_in(folder.path()).size() == 1);
  other.kill();
  const TemporaryFolder of_another_name(folder / "cluster.db");
  CHECK(names_in(folder.path()).size() == 2);
  {
    const TemporaryFolder kept(folder / "collect", rescue);
    CHECK(rescued == Names{"x"});
    CHECK(names_in(folder.path()).size() == 3);
  }
  is_whole = true;
  const TemporaryFolder own(folder / "collect", rescue);
  CHECK(rescued == Names{"x", "x"});
  CHECK(names_in(folder.path()).size() == 2);
}

TEST_CASE("files published together appear in order, up to the first failure") {
  const TempFolder folder;
  fs::create_directories(folder / "b/in_the_way");
  std::vector<TemporaryFile> files;
  for (const char* name : {"a", "b", "c"}) {
    AtomicFile file(folder / name);
    file.write(name);
    files.push_back(file.finish());
  }
  CHECK(thrown_exit([&] { publish_together(files); }) == Exit::cannot_write);
  files.clear();
  CHECK(names_in(folder.path()) == Names{"a", "b"});
  CHECK(read_file(folder / "a") == "a");
}

TEST_CASE("a write error names the file and --output") {
  const TempFolder folder;
  write_file(folder / "file", "x");
  CHECK(thrown_exit([&] { AtomicFile(folder / "missing/a"); }) == Exit::cannot_write);
  CHECK(thrown_exit([&] { create_output_folder(folder / "file"); }) == Exit::cannot_write);
  CHECK(thrown_exit([&] { create_output_folder(folder / "file/sub"); }) == Exit::cannot_write);
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

TEST_CASE("a folder with the file's name causes an error and leaves no temporary file") {
  const TempFolder folder;
  fs::create_directories(folder / "a.csv/in_use");
  CHECK(thrown_exit([&] {
          AtomicFile file(folder / "a.csv");
          file.commit();
        }) == Exit::cannot_write);
  CHECK(names_in(folder.path()) == Names{"a.csv"});
}

TEST_CASE("a reader accepts only regular files and reads to the end") {
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
    CHECK(thrown_exit([&] { FileReader other(folder / name); }) == Exit::partial_data);
  }
}

TEST_CASE("a text file above its limit is refused") {
  const TempFolder folder;
  write_file(folder / "a", "12345");
  CHECK(read_text_file(folder / "a", 5) == "12345");
  CHECK(thrown_exit([&] { read_text_file(folder / "a", 4); }) == Exit::partial_data);
}

TEST_CASE("of several exit codes the first of 130, 7, 6, 5, 3, 4, 0 is returned") {
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
  // Scripts rely on these numbers.
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

TEST_CASE("an unknown exit code becomes an internal error") {
  for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 130})
    CHECK(static_cast<int>(to_exit(code)) == code);
  for (const int code : {-1, 9, 127, 129, 139, 256}) {
    CHECK(to_exit(code) == Exit::internal_error);
  }
}

TEST_CASE("context is put in front of an error and keeps its code") {
  const Error error = Error(Exit::cannot_write, "disk full").with_context("writing a.csv");
  CHECK(std::string(error.what()) == "writing a.csv: disk full");
  CHECK(error.code() == Exit::cannot_write);
}
