// Trees sent to real boards and back, in every way that files are transferred.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "board/case_sample.hpp"
#include "board/transfer_fixture.hpp"
#include "collect/file_tree.hpp"
#include "support/files.hpp"
#include "support/signals_as_before.hpp"

using namespace msprof;
using namespace msprof::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t modification_seconds(const fs::path& path) {
  struct stat status = {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mtim.tv_sec;
}

std::uint64_t count_files(const std::vector<ProjectEntry>& entries) {
  const auto is_file = [](const ProjectEntry& entry) { return entry.kind == EntryKind::file; };
  return static_cast<std::uint64_t>(std::count_if(entries.begin(), entries.end(), is_file));
}

}  // namespace

TEST_CASE("A tree with every odd name comes to each kind of board and home again as it is") {
  const NamedBoard kind = GENERATE_COPY(from_range(sample_for_case(transfer_boards(), 3)));
  INFO(kind.name);
  TransferBoard board(kind.options);
  CHECK(board.transfer.way() == kind.way);
  const TempFolder project;
  make_odd_tree(project.path());
  const auto entries = list_entries(project.path());

  const SendReport sent = board.send(entries);
  CHECK(difference(board.there, project.path(), Compare::everything) == "");
  CHECK(sent.files == count_files(entries));
  CHECK(sent.not_sent.empty());

  const TreeListing listing = board.transfer.list(board.there.string());
  CHECK(listing.refused == 0);
  CHECK(listing.files.size() == entries.size());
  for (const ProjectEntry& entry : entries) {
    INFO(entry.path);
    const auto found = listing.files.find(entry.path.string());
    REQUIRE(found != listing.files.end());
    CHECK(found->second.kind == entry.kind);
    if (entry.kind != EntryKind::file) continue;
    CHECK(found->second.size_bytes == entry.size_bytes);
    CHECK(found->second.mode == entry.mode);
    CHECK(found->second.mtime_seconds == (kind.tells_times ? kOldTime : 0));
  }

  const FetchReport fetched = board.fetch();
  const Compare what = kind.tells_times ? Compare::bytes_and_times : Compare::bytes;
  CHECK(difference(board.here.path(), project.path(), what) == "");
  CHECK(fetched.files == count_files(entries));
  CHECK(fetched.bytes == sent.bytes);
  CHECK(fetched.changed.empty());
  CHECK(fetched.reason.empty());
  CHECK(fetched.refused == 4);  // the links are refused
  CHECK_THAT(fetched.examples.at(0), Contains("links/") && Contains("is a link"));
}

TEST_CASE("What is sent replaces what is there, of whatever kind, and goes through no link") {
  const NamedBoard kind = GENERATE_COPY(from_range(sample_for_case(transfer_boards(), 3)));
  INFO(kind.name);
  TransferBoard board(kind.options);
  const fs::path outside = board.board.home() / "outside";
  make_file(outside / "kept" / "file", "not of the project");
  make_file(board.there / "folder then file" / "old" / "file", "old");
  make_file(board.there / "file then folder", "old");
  make_file(board.there / "file then link", "old");
  make_file(board.there / "longer before", "a much longer text than the new one");
  make_file(board.there / "read only", "old");
  ::chmod((board.there / "read only").c_str(), 0400);
  make_file(board.there / "not of this update", "stays");
  fs::create_symlink(outside / "kept", board.there / "link then folder");
  fs::create_symlink(outside / "kept" / "file", board.there / "link then file");
  fs::create_symlink("nowhere", board.there / "link then link");

  const TempFolder project;
  make_file(project / "folder then file", "new");
  make_file(project / "file then folder" / "file", "new");
  fs::create_symlink("read only", project / "file then link");
  make_file(project / "longer before", "short");
  make_file(project / "read only", "new");
  make_file(project / "link then folder" / "file", "new");
  make_file(project / "link then file", "new");
  fs::create_symlink("read only", project / "link then link");
  board.send(list_entries(project.path()));

  make_file(project / "not of this update", "stays");
  CHECK(difference(board.there, project.path(), Compare::everything) == "");
  CHECK(read_file(outside / "kept" / "file") == "not of the project");
  CHECK(names_in(outside / "kept") == std::vector<std::string>{"file"});
}

TEST_CASE("A file that a comparison of times could miss has another time on the board") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  const TempFolder project;
  make_file(project / "old", "old");
  const std::int64_t now = ::time(nullptr);
  make_file(project / "just now", "new", now);
  make_file(project / "tomorrow", "a clock was wrong", now + 86'400);
  board.send(list_entries(project.path()));
  CHECK(modification_seconds(board.there / "old") == kOldTime);
  CHECK(modification_seconds(board.there / "just now") == now - 1);
  CHECK(modification_seconds(board.there / "tomorrow") == now + 86'400);
}

TEST_CASE("A file that changes while it is sent tears nothing and is due to be sent again") {
  const NamedBoard& kind = transfer_boards().at(
      GENERATE_COPY(from_range(sample_for_case(std::vector<std::size_t>{0, 1, 3, 5}, 2))));
  INFO(kind.name);
  const bool grows = GENERATE(true, false);
  INFO(grows);
  TransferBoard board(kind.options);
  const TempFolder project;
  make_file(project / "a before", "before");
  make_file(project / "changing", std::string(3'000'000, 'x'));
  make_file(project / "z behind", "behind");
  bool changed = false;
  const auto change = [&](std::uint64_t bytes) {
    if (changed || bytes < 100'000) return;
    changed = true;
    if (grows) {
      append(project / "changing", std::string(500'000, 'y'));
    } else {
      fs::resize_file(project / "changing", 1'000'000);
    }
  };
  const auto report =
      board.transfer.send(board.there.string(), list_entries(project.path()), change);
  CHECK(report.files == 3);
  CHECK(modification_seconds(board.there / "changing") == 0);
  CHECK(read_file(board.there / "a before") == "before");
  CHECK(read_file(board.there / "z behind") == "behind");
  if (kind.way == "tar" || !grows) {
    // tar sends a file that grew a second time; one that shrank arrives with its new size.
    CHECK(read_file(board.there / "changing") == read_file(project / "changing"));
  }
}

TEST_CASE("A file that cannot be read is named, and no earlier version stands for it") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  make_file(board.there / "gone", "an earlier version");
  const TempFolder project;
  make_file(project / "first", "1");
  make_file(project / "gone", "2");
  make_file(project / "last", "3");
  const auto entries = list_entries(project.path());
  fs::remove(project / "gone");
  const SendReport report = board.send(entries);
  CHECK(report.files == 2);
  CHECK(report.not_sent == std::vector<fs::path>{"gone"});
  CHECK(names_in(board.there) == std::vector<std::string>{"first", "last"});
}

TEST_CASE("Names with line breaks go to a board that has tar, and are named where it has none") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  const TempFolder project;
  make_file(project / "two\nlines" / "in\nside", "odd");
  make_file(project / "plain", "plain");
  const SendReport report = board.send(list_entries(project.path()));
  if (kind.way == "tar") {
    CHECK(difference(board.there, project.path(), Compare::everything) == "");
  } else {
    CHECK(report.not_sent.size() == 2);
    CHECK(names_in(board.there) == std::vector<std::string>{"plain"});
  }
}

TEST_CASE("Ctrl-C ends sending at once, also within a file, and the connection stays good") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  const TempFolder project;
  make_file(project / "a", std::string(20'000'000, 'x'));
  make_file(project / "b", "behind");
  const SignalsAsBefore restored;
  interrupt::install();
  const interrupt::DeferSecondSignal deferred;
  const auto press = [](std::uint64_t) {
    if (interrupt::count() == 0) ::raise(SIGINT);
  };
  bool interrupted = false;
  try {
    board.transfer.send(board.there.string(), list_entries(project.path()), press);
  } catch (const Error& error) {
    interrupted = error.code() == Exit::interrupted;
  }
  interrupt::acknowledge();
  CHECK(interrupted);
  CHECK_FALSE(fs::exists(board.there / "b"));
  // A partial file must differ in size, or the comparison would accept it.
  if (fs::exists(board.there / "a")) CHECK(fs::file_size(board.there / "a") < 20'000'000);
  CHECK(board.transfer.list(board.board.home().string()).refused == 0);
}

TEST_CASE("Only what was asked for comes home, more names than one command takes") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  std::vector<std::string> paths = {"folder", "-dash", "absent"};
  std::uint64_t bytes = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string name = "a rather long name of a file in the project " + std::to_string(i);
    make_file(board.there / "many" / name, name);
    if (i % 2 == 0) {
      paths.push_back("many/" + name);
      bytes += name.size();
    }
  }
  make_file(board.there / "folder" / "below" / "file", "1234");
  fs::create_directories(board.there / "folder" / "empty");
  make_file(board.there / "-dash", "12");
  make_file(board.there / "not asked for", "");
  make_file(board.here / "here already", "stays");

  std::uint64_t last = 0;
  bool falls = false;
  const auto report = board.fetch(paths, [&](std::uint64_t now) {
    falls = falls || now < last;
    last = now;
  });
  CHECK(report.files == 302);
  CHECK(report.bytes == bytes + 6);
  CHECK(last == report.bytes);
  CHECK_FALSE(falls);
  CHECK(report.changed == std::vector<std::string>{"absent"});
  CHECK_THAT(report.reason, Contains("absent"));
  CHECK(names_in(board.here.path()) ==
        std::vector<std::string>{"-dash", "folder", "here already", "many"});
  CHECK(names_in(board.here / "many").size() == 300);
  CHECK(fs::is_directory(board.here / "folder" / "empty"));
}

TEST_CASE("Ten thousand small files go and come") {
  TransferBoard board({});
  const TempFolder project;
  for (int i = 0; i < 10'000; ++i) {
    make_file(project / std::to_string(i / 500) / std::to_string(i), std::to_string(i * 7919));
  }
  CHECK(board.send(list_entries(project.path())).files == 10'000);
  const FetchReport report = board.fetch();
  CHECK(report.files == 10'000);
  CHECK(difference(board.here.path(), project.path(), Compare::bytes_and_times) == "");
}

TEST_CASE("A large file comes home whole") {
  const std::uint64_t size = tests_whole() ? 200'000'000 : 70'000'000;
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  make_file(board.there / "large", "begin");
  fs::resize_file(board.there / "large", size);
  append(board.there / "large", "end");
  const FetchReport report = board.fetch();
  CHECK(report.bytes == size + 3);
  CHECK(fs::file_size(board.here / "large") == size + 3);
  std::ifstream file(board.here / "large", std::ios::binary);
  file.seekg(-3, std::ios::end);
  std::string end;
  file >> end;
  CHECK(end == "end");
}

TEST_CASE("A part of a file is continued from where it ends, by SFTP or by tail") {
  const NamedBoard kind = GENERATE_COPY(from_range(sample_for_case(transfer_boards(), 3)));
  INFO(kind.name);
  TransferBoard board(kind.options);
  const std::string whole(5'000'000, 'w');
  // The first byte differs, which shows that the part was not fetched again.
  const std::string part = "p" + whole.substr(1, 2'999'999);
  make_file(board.there / "data/slice 1", whole);
  make_file(board.there / "data/changed", whole);
  make_file(board.there / "data/longer", whole);
  const TreeListing listing = board.transfer.list(board.there.string());
  make_file(board.there / "data/changed", whole.substr(1));
  make_file(board.here / "data/slice 1", part);
  make_file(board.here / "data/changed", part);
  make_file(board.here / "data/longer", whole + "and more");
  std::uint64_t came = 0;
  board.transfer.continue_parts(board.there.string(), listing,
                                {"data/changed", "data/longer", "data/none", "data/slice 1"},
                                board.here.path(), [&](std::uint64_t bytes) { came = bytes; });
  CHECK(came == 2'000'000);
  CHECK((read_file(board.here / "data/slice 1") == part + whole.substr(3'000'000)));
  CHECK(names_in(board.here / "data") == std::vector<std::string>{"slice 1"});
  if (kind.tells_times) CHECK(modification_seconds(board.here / "data/slice 1") == kOldTime);
}

TEST_CASE("A part that a board cannot continue goes, and the file comes whole") {
  TransferBoard board({.kind = BoardKind::openssh_without_sftp, .without = {"tail"}});
  make_file(board.there / "slice", "0123456789");
  make_file(board.here / "slice", "xyz");
  const TreeListing listing = board.transfer.list(board.there.string());
  board.transfer.continue_parts(board.there.string(), listing, {"slice"}, board.here.path(), {});
  CHECK(names_in(board.here.path()).empty());
  board.fetch();
  CHECK(read_file(board.here / "slice") == "0123456789");
}
