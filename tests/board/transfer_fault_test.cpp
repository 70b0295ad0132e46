// Transfers with faults: full disks, lost connections, changing files, malicious boards.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>

#include "base/error.hpp"
#include "board/case_sample.hpp"
#include "board/tar_bytes.hpp"
#include "board/transfer_fixture.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/small_disk.hpp"

using namespace msprof;
using namespace msprof::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

// Returns exit code and message of the error that `work` throws.
template <typename Work>
std::pair<Exit, std::string> catch_error(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {Exit::ok, ""};
}

// A connected board behind a proxy that can break.
struct ProxiedBoard {
  ProxiedBoard(const NamedBoard& kind, const Cut& cut) : board(kind.options) {
    proxy = std::make_unique<CutProxy>(board.board.port(), cut);
    SshLogin login = make_config(board.board).login;
    login.port = proxy->port();
    login.host_key = HostKeyPolicy::off;
    shell = std::make_unique<BoardShell>(login);
    shell->connect();
    transfer = std::make_unique<BoardTransfer>(*shell, make_board_info(kind.options));
  }
  TransferBoard board;
  std::unique_ptr<CutProxy> proxy;
  std::unique_ptr<BoardShell> shell;
  std::unique_ptr<BoardTransfer> transfer;
};

}  // namespace

TEST_CASE("Names with control characters and special files are refused, and the others come home") {
  const NamedBoard kind = GENERATE_COPY(from_range(sample_for_case(transfer_boards(), 3)));
  INFO(kind.name);
  TransferBoard board(kind.options);
  make_file(board.there / "two\nlines", "x");
  make_file(board.there / "bell\x01", "x");
  make_file(board.there / "escape\x1b[2J", "x");
  make_file(board.there / "fold\ner" / "inside", "x");
  make_file(board.there /
                "\xc2\x9b"
                "c1",
            "x");
  make_file(board.there / "plain" / "file", "plain");
  REQUIRE(::mkfifo((board.there / "pipe").c_str(), 0600) == 0);
  fs::create_symlink("plain", board.there / "link");

  const FetchReport report = board.fetch();
  CHECK(report.files == 1);
  CHECK(report.changed.empty());
  // tar reports the folder and the file in it; a listing skips the whole folder.
  CHECK(report.refused == (kind.way == "tar" ? 8 : 7));
  CHECK(names_in(board.here.path()) == Names{"plain"});
  CHECK(read_file(board.here / "plain" / "file") == "plain");
  const TreeListing listing = board.transfer.list(board.there.string());
  CHECK(listing.refused == 5);
  CHECK(listing.files.size() == 4);
  CHECK(listing.files.at("pipe").is_special);
}

TEST_CASE("Further names of one file come home as files") {
  const NamedBoard kind = GENERATE_COPY(from_range(sample_for_case(transfer_boards(), 3)));
  INFO(kind.name);
  TransferBoard board(kind.options);
  make_file(board.there / "a", "one file");
  for (const char* name : {"b", "c", "sub"}) {
    fs::create_directories(board.there / "more");
    fs::create_hard_link(board.there / "a", board.there / "more" / name);
  }
  const FetchReport report = board.fetch();
  CHECK(report.files == 4);
  CHECK(report.refused == 0);
  CHECK(report.examples.empty());
  CHECK(difference(board.here.path(), board.there, Compare::bytes) == "");
}

TEST_CASE("A file that grows while it is fetched is fetched again") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  const bool once = GENERATE(true, false);
  INFO(once);
  TransferBoard board(kind.options);
  make_file(board.there / "a growing", std::string(3'000'000, 'x'));
  make_file(board.there / "behind", "behind");
  int grown = 0;
  const auto grow = [&](std::uint64_t) {
    if (once && grown > 0) return;
    ++grown;
    append(board.there / "a growing", "more");
  };
  const auto report = board.fetch({"."}, grow);
  REQUIRE(grown > 0);
  CHECK(read_file(board.here / "behind") == "behind");
  // The fetched part is a prefix of the file.
  const std::string there = read_file(board.there / "a growing");
  CHECK(there.starts_with(read_file(board.here / "a growing")));
  CHECK(fs::file_size(board.here / "a growing") >= 3'000'000);
  if (once) {
    CHECK(report.changed.empty());
    CHECK(read_file(board.here / "a growing") == there);
  } else {
    CHECK(report.changed == Names{"a growing"});
    CHECK(report.files == 1);
  }
}

TEST_CASE("A file that goes away while others come leaves nothing and is named") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  make_file(board.there / "a", std::string(20'000'000, 'x'));
  make_file(board.there / "gone", "x");
  const auto remove = [&](std::uint64_t) { fs::remove(board.there / "gone"); };
  const auto report = board.fetch({"a", "gone"}, remove);
  CHECK(report.files == 1);
  CHECK(names_in(board.here.path()) == Names{"a"});
  CHECK(report.changed == Names{"gone"});
}

TEST_CASE(
    "A file that grows faster than it is read ends nevertheless, and what is behind it comes") {
  const NamedBoard& kind = transfer_boards().at(static_cast<std::size_t>(GENERATE(3, 5)));
  INFO(kind.name);
  TransferBoard board(kind.options);
  // Larger than the data in transit, so that the test can append before the reader reaches the end.
  make_file(board.there / "a growing", std::string(5'000'000, 'x'));
  make_file(board.there / "behind", "behind");
  std::uint64_t seen = 0;
  const auto grow = [&](std::uint64_t bytes) {
    // Grows twice as fast as it is read.
    append(board.there / "a growing", std::string(2 * (bytes - seen), 'y'));
    seen = bytes;
  };
  const auto report = board.fetch({"."}, grow);
  CHECK(report.changed == Names{"a growing"});
  CHECK(read_file(board.here / "behind") == "behind");
  CHECK(fs::file_size(board.here / "a growing") > 16 << 20);
}

TEST_CASE("A full disk here is named with what is needed and what is free") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(8 << 20);
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  for (int i = 0; i < 6; ++i) {
    make_file(board.there / std::to_string(i), std::string(3'000'000, 'x'));
  }
  const auto [code, sentence] =
      catch_error([&] { fetch_listed(board.transfer, board.there, {"."}, disk.path()); });
  CHECK(code == Exit::cannot_write);
  CHECK_THAT(sentence, Contains(disk.path().string()) && Contains("the disk is full") &&
                           Contains("MB are still to be fetched") && Contains("free there") &&
                           Contains("--output"));
  // No partial file is left.
  for (const std::string& name : names_in(disk.path())) {
    CHECK(fs::file_size(disk / name) == 3'000'000);
  }
  // The connection is still usable.
  CHECK(board.fetch().files == 6);
}

TEST_CASE("A full disk of the board is told in its own words with the space that is free") {
  if (!SmallDisk::is_available_or_skip()) return;
  const SmallDisk disk(8 << 20);
  const NamedBoard& kind = transfer_boards().at(
      GENERATE_COPY(from_range(sample_for_case(std::vector<std::size_t>{0, 1, 3, 5}, 2))));
  INFO(kind.name);
  TransferBoard board(kind.options);
  const TempFolder project;
  for (int i = 0; i < 6; ++i) {
    make_file(project / std::to_string(i), std::string(3'000'000, 'x'));
  }
  const auto [code, sentence] = catch_error(
      [&] { board.transfer.send((disk / "cache").string(), list_entries(project.path()), {}); });
  CHECK(code == Exit::cannot_write);
  CHECK_THAT(sentence, Contains("board@127.0.0.1") && Contains((disk / "cache").string()) &&
                           Contains("free there") && Contains("--board-dir"));
  if (kind.way != "SFTP") CHECK_THAT(sentence, Contains("No space left on device"));
}

TEST_CASE("A folder of the board that cannot be made or listed is told in its own words") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  TransferBoard board(kind.options);
  make_file(board.board.home() / "file", "");
  const std::string below = (board.board.home() / "file" / "below").string();
  const TempFolder project;
  make_file(project / "x", "x");
  auto [code, sentence] =
      catch_error([&] { board.transfer.send(below, list_entries(project.path()), {}); });
  CHECK(code == Exit::cannot_write);
  CHECK_THAT(sentence, Contains(below) && (Contains("Not a directory") || Contains("ot dir")));

  std::tie(code, sentence) = catch_error([&] { board.transfer.list(below); });
  CHECK(code == Exit::partial_data);
  CHECK_THAT(sentence, Contains(below));
}

TEST_CASE(
    "A connection that is lost while files come leaves whole files, and one in part at most") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  ProxiedBoard proxied(kind, {.after_bytes = 3'000'000, .direction = Direction::down});
  TransferBoard& board = proxied.board;
  for (int i = 0; i < 10; ++i) {
    make_file(board.there / std::to_string(i), std::string(1'000'000, 'x'));
  }
  const auto fetch = [&] {
    return fetch_listed(*proxied.transfer, board.there, {"."}, board.here.path());
  };
  CHECK_THROWS_AS(fetch(), ConnectionLost);
  const Names arrived = names_in(board.here.path());
  CHECK(arrived.size() < 4);
  int parts = 0;
  for (const std::string& name : arrived) {
    const std::string bytes = read_file(board.here / name);
    CHECK(bytes.find_first_not_of('x') == std::string::npos);
    CHECK(bytes.size() <= 1'000'000);
    if (bytes.size() < 1'000'000) ++parts;
  }
  CHECK(parts <= 1);
  CHECK(eventually([&] { return proxied.proxy->cuts() == 1; }));

  REQUIRE(proxied.shell->reconnect(20));
  CHECK(fetch().files == 10);
  CHECK(difference(board.here.path(), board.there, Compare::bytes) == "");
}

TEST_CASE("A connection that is lost while files go can be taken up again") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  ProxiedBoard proxied(kind, {.after_bytes = 3'000'000, .direction = Direction::up});
  TransferBoard& board = proxied.board;
  const TempFolder project;
  for (int i = 0; i < 10; ++i) {
    make_file(project / std::to_string(i), std::string(1'000'000, static_cast<char>('a' + i)));
  }
  const auto send = [&] {
    return proxied.transfer->send(board.there.string(), list_entries(project.path()), {});
  };
  CHECK_THROWS_AS(send(), ConnectionLost);
  REQUIRE(proxied.shell->reconnect(20));
  CHECK(send().files == 10);
  CHECK(difference(board.there, project.path(), Compare::everything) == "");
}

TEST_CASE("What a login shell prints does not get into the files") {
  const NamedBoard& kind = each_way();
  INFO(kind.name);
  BoardOptions options = kind.options;
  options.greeting = "Welcome to the board\nlast login: never\n";
  TransferBoard board(options);
  const TempFolder project;
  make_odd_tree(project.path());
  board.send(list_entries(project.path()));
  CHECK(difference(board.there, project.path(), Compare::everything) == "");
  board.fetch();
  CHECK(difference(board.here.path(), project.path(), Compare::bytes_and_times) == "");
}

TEST_CASE(
    "A board whose tar sends what it likes changes nothing outside, and its files come home") {
  const TempFolder outside;
  const fs::path evil = outside / "evil";
  const std::vector<std::pair<std::string, std::string>> streams = {
      {"../evil", tar_file("../evil", "x") + tar_end()},
      {"absolute", tar_file(evil.string(), "x") + tar_end()},
      {"through a link",
       tar_link('2', "out", outside.path().string()) + tar_file("out/evil", "x") + tar_end()},
      {"second name", tar_link('1', "evil", "/etc/passwd") + tar_end()},
      {"line break", tar_file("two\nlines", "x") + tar_end()},
      {"0x01", tar_file("bell\x01", "x") + tar_end()},
      {"device", tar_link('3', "device", "") + tar_end()},
      {"10 GB", tar_header('0', "huge", std::uint64_t{10} << 30) + "only this"},
      {"garbage", std::string(100'000, '\x5a')},
      {"nothing", ""},
      {"no end", tar_file("file", "whole") + tar_end() + std::string(3 << 20, '\0')},
      {"short", tar_file("file", "whole").substr(0, 514)},
  };
  const std::size_t which = GENERATE_COPY(from_range(sample_below(streams.size(), 6, case_seed())));
  const auto& [name, stream] = streams[which];
  INFO(name);
  TransferBoard board({});
  make_file(board.there / "file", "whole");
  const fs::path lies = board.board.home() / "lies.tar";
  write_file(lies, stream);
  board.board.replace_tool("tar", "cat '" + lies.string() + "'\n");
  const FetchReport report = board.fetch();
  // The second attempt does not use tar.
  CHECK(report.changed.empty());
  CHECK(read_file(board.here / "file") == "whole");
  CHECK(names_in(board.here.path()) ==
        (name == "through a link" ? Names{"file", "out"} : Names{"file"}));
  CHECK_FALSE(fs::is_symlink(board.here / "out"));
  CHECK(names_in(outside.path()).empty());
  CHECK_FALSE(fs::exists(board.here.path().parent_path() / "evil"));
}

TEST_CASE("A file that the board does not give up is named with the board's words") {
  TransferBoard board({});
  make_file(board.there / "closed", "secret");
  make_file(board.there / "open", "open");
  // Simulates an unreadable file: root can read everything.
  board.board.replace_tool("tar", R"sh(
echo 'tar: ./closed: Cannot open: Permission denied' >&2
/bin/tar cf - ./open
exit 2
)sh");
  board.board.replace_tool("cat", R"sh(
case $1 in
  ./closed) echo "cat: can't open './closed': Permission denied" >&2; exit 1 ;;
esac
exec /bin/cat "$@"
)sh");
  const FetchReport report = board.fetch();
  CHECK(report.files == 1);
  CHECK(report.changed == Names{"closed"});
  CHECK_THAT(report.reason, Contains("tar: ./closed: Cannot open: Permission denied"));
  CHECK(names_in(board.here.path()) == Names{"open"});
}

TEST_CASE("A tar that never ends does not fill this machine, and the files come another way") {
  TransferBoard board({});
  make_file(board.there / "file", "whole");
  const fs::path lies = board.board.home() / "lies.tar";
  write_file(lies, tar_header('0', "huge", 077777777777));
  board.board.replace_tool("tar", "/bin/cat '" + lies.string() + "'\nexec /bin/cat /dev/zero\n");
  const FetchReport report = board.fetch();
  CHECK(report.changed.empty());
  CHECK(read_file(board.here / "file") == "whole");
  CHECK(names_in(board.here.path()) == Names{"file"});
}

TEST_CASE("A command that prints without end is ended, whatever is made of its output") {
  TransferBoard board({});
  const BoardScript out = {"talking", "exec cat /dev/zero"};
  const BoardScript err = {"complaining", "exec cat /dev/zero >&2"};
  CHECK_THROWS_AS(board.shell.ask(out, {}), TooMuchSent);
  CHECK_THROWS_AS(board.shell.ask(err, {}), TooMuchSent);
  CHECK_THROWS_AS(board.shell.stream(out, {}, {}, {}), TooMuchSent);
  CHECK_THROWS_AS(board.shell.ask_each({{.script = {"being quiet", ":"}, .arguments = {}},
                                        {.script = out, .arguments = {}}}),
                  TooMuchSent);
  CHECK(board.shell.ask({"being quiet", "echo"}, {}).out == "\n");
}
