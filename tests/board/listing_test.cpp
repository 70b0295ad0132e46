// Listings of a board: parsing the answer, and the scripts in every shell found on boards.
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "board/disk/drain_channel.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer_fixture.hpp"
#include "support/files.hpp"
#include "support/run_program.hpp"

using namespace msprof;
using namespace msprof::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// A folder with the tools of a userland.
struct Tools {
  explicit Tools(const std::string& userland) {
    fs::create_directory(path());
    for (const char* tool : {"find", "stat", "ls", "echo", "printf"}) {
      const fs::path target = userland == "busybox" ? fs::path("/bin/busybox") : find_tool(tool);
      fs::create_symlink(target, path() / tool);
    }
  }
  fs::path path() const { return folder / "tools"; }
  static fs::path find_tool(const std::string& name) {
    const fs::path in_bin = fs::path("/bin") / name;
    return fs::exists(in_bin) ? in_bin : fs::path("/usr/bin") / name;
  }
  void replace(const std::string& name, const std::string& script) const {
    fs::remove(path() / name);
    write_file(path() / name, "#!/bin/sh\n" + script);
    ::chmod((path() / name).c_str(), 0755);
  }
  TempFolder folder;
};

// Runs a listing script in `shell` ("dash", "bash", "busybox sh").
RunResult run_listing(const std::string& shell, const Tools& tools, bool has_stat,
                      const fs::path& folder, const std::string& names) {
  const fs::path input = tools.folder / "input";
  write_file(input, names);
  const std::string script(listing_script(has_stat).text);
  return run_program(
      "/bin/sh",
      {"-c", "exec " + shell + " -c \"$1\" msprof \"$2\" <\"$3\"", "sh", script, folder, input},
      {.variables = {{"PATH", tools.path().string() + ":/nowhere"}}});
}

ListedFile parsed(const std::string& line) {
  const TreeListing listing = parse_board_listing(line + "\n@end\n");
  REQUIRE(listing.files.size() == 1);
  return listing.files.begin()->second;
}

// Every folder contains two folders.
class FoldersWithoutEnd : public SftpFiles {
 public:
  bool agree() override { return true; }
  void send_waiting() override {}
  std::vector<RemoteEntry> list(const std::string&) override {
    ++lists;
    return {{.name = "a", .kind = RemoteKind::folder}, {.name = "b", .kind = RemoteKind::folder}};
  }
  std::uint64_t read_from(const std::string&, std::uint64_t, std::uint64_t,
                          const std::function<void(std::string_view)>&) override {
    return 0;
  }
  void write(const std::string&, std::uint32_t,
             const std::function<std::size_t(char*, std::size_t)>&) override {}
  void set_times(const std::string&, std::int64_t) override {}
  void make_folder(const std::string&, std::uint32_t) override {}
  void make_link(const std::string&, const std::string&) override {}
  void set_window(SftpWindow) override {}
  int lists = 0;
};

}  // namespace

TEST_CASE("A listing without end is given up, over SFTP and by the scripts") {
  FoldersWithoutEnd folders;
  CHECK_THROWS_AS(list_by_sftp(folders, "/x", {"."}), TooMuchSent);
  CHECK(folders.lists <= 20'001);

  std::string answer;
  std::string look;
  for (std::size_t i = 0; i <= kMaxListedEntries; ++i) {
    answer += fmt::format("s 81a4 1 1 1 1 ./{}\n", i);
    look += fmt::format("s 1 1 1 ./{}\n", i);
  }
  CHECK_THROWS_AS(parse_board_listing(answer + "@end\n"), TooMuchSent);
  CHECK_THROWS_AS(parse_raw_look(look), TooMuchSent);
  answer.erase(answer.rfind("s "));
  CHECK(parse_board_listing(answer + "@end\n").files.size() == kMaxListedEntries);
}

TEST_CASE("A line of stat is a file with all that it tells") {
  const ListedFile file = parsed("s 81ed 1234 1600000000 1600000001 77 ./a b");
  CHECK(file.kind == EntryKind::file);
  CHECK_FALSE(file.is_special);
  CHECK(file.size_bytes == 1234);
  CHECK(file.mtime_seconds == 1'600'000'000);
  CHECK(file.ctime_seconds == 1'600'000'001);
  CHECK(file.inode == 77);
  CHECK(file.mode == 0755);
  CHECK(parsed("s 81a4 1 -5 2 3 ./x").mtime_seconds == -5);
  CHECK(parsed("s 41ed 4096 1 2 3 ./x").kind == EntryKind::folder);
  CHECK(parsed("s a1ff 4 1 2 3 ./x").kind == EntryKind::link);
  CHECK(parsed("s 11a4 0 1 2 3 ./pipe").is_special);
  CHECK(parsed("s 21a4 0 1 2 3 ./device").is_special);
  CHECK(parsed("s c1ed 0 1 2 3 ./socket").is_special);
}

TEST_CASE("A line of ls is a file with a size and permissions") {
  const ListedFile file = parsed("l -rwxr-s--T 99 ./a b");
  CHECK(file.kind == EntryKind::file);
  CHECK(file.size_bytes == 99);
  CHECK(file.mode == 0750);
  CHECK(file.mtime_seconds == 0);
  CHECK(parsed("l drwxr-xr-x+ 4096 ./x").kind == EntryKind::folder);
  CHECK(parsed("l lrwxrwxrwx 3 ./x").kind == EntryKind::link);
  CHECK(parsed("l crw-rw-rw- 1, ./x").is_special);
}

TEST_CASE("Lines that make no sense and names that lead out are counted and left out") {
  const std::string line = GENERATE(
      as<std::string>{}, "", "x", "s", "s ", "l", "s 81a4", "s 81a4 1 2 3 4", "s 81a4 1 2 3 4 ",
      "s zz 1 2 3 4 ./x", "s 81a4 -1 2 3 4 ./x", "s 81a4 99999999999999999999 2 3 4 ./x",
      "s 81a4 1 2 3 4 ../x", "s 81a4 1 2 3 4 /etc/passwd", "s 81a4 1 2 3 4 ./a/../b",
      "s 81a4 1 2 3 4 ./a//b", "s 81a4 1 2 3 4 ./bell\x01", "l rwx 1 ./x", "l -rw-r--r-- x ./y",
      "q 81a4 1 2 3 4 ./x", "@refused", "@something");
  INFO(line);
  const TreeListing listing = parse_board_listing("s 81a4 1 2 3 4 ./good\n" + line + "\n@end\n");
  CHECK(listing.refused == 1);
  CHECK(listing.files.size() == 1);
}

TEST_CASE("The listed folder itself is no entry") {
  CHECK(parse_board_listing("s 41ed 1 2 3 4 .\ns 41ed 1 2 3 4 ./\n@end\n").files.empty());
}

TEST_CASE("A listing that ends early is none") {
  CHECK_THROWS_WITH(parse_board_listing("s 81a4 1 2 3 4 ./a\n"), Contains("ends too early"));
  CHECK_THROWS_WITH(parse_board_listing(""), Contains("ends too early"));
  // Anything after the end is ignored.
  CHECK(parse_board_listing("@end\ns 81a4 1 2 3 4 ./a\n").files.empty());
}

TEST_CASE("The scripts list a tree in every shell, with busybox and with GNU tools") {
  const std::string shell =
      GENERATE(as<std::string>{}, "/bin/dash", "/bin/bash", "/bin/busybox sh");
  const std::string userland = GENERATE(as<std::string>{}, "busybox", "GNU");
  const bool has_stat = GENERATE(true, false);
  INFO(shell << ", " << userland << (has_stat ? ", stat" : ", ls"));
  const Tools tools(userland);
  const TempFolder tree;
  make_odd_tree(tree.path());
  make_file(tree / "two\nlines" / "inside", "x");
  make_file(tree / "bell\x01", "x");
  REQUIRE(::mkfifo((tree / "pipe").c_str(), 0600) == 0);
  const auto result = run_listing(shell, tools, has_stat, tree.path(), ".\n");
  INFO(result.err);
  const TreeListing listing = parse_board_listing(result.out);
  CHECK(listing.refused == 2);
  std::size_t found = 0;
  for (const ProjectEntry& entry : list_entries(tree.path())) {
    if (!is_acceptable_board_path(entry.path.string())) continue;
    INFO(entry.path);
    const auto at = listing.files.find(entry.path.string());
    REQUIRE(at != listing.files.end());
    ++found;
    if (entry.path == "pipe") {
      CHECK(at->second.is_special);
      continue;
    }
    CHECK(at->second.kind == entry.kind);
    CHECK(at->second.mode == entry.mode);
    if (entry.kind == EntryKind::file) CHECK(at->second.size_bytes == entry.size_bytes);
  }
  CHECK(listing.files.size() == found);
}

TEST_CASE("A find without `+` is asked for one file at a time") {
  const Tools tools("GNU");
  tools.replace("find", R"sh(for word; do [ "$word" = + ] && exit 1; done
exec /usr/bin/find "$@"
)sh");
  const TempFolder tree;
  make_odd_tree(tree.path());
  const auto result = run_listing("/bin/dash", tools, true, tree.path(), ".\n");
  CHECK(parse_board_listing(result.out).files.size() == list_entries(tree.path()).size());
}

TEST_CASE("Only the named paths are listed, however many, and absent ones are silent") {
  const bool has_stat = GENERATE(true, false);
  const Tools tools("busybox");
  const TempFolder tree;
  std::string names = "./absent\n./folder\n./-dash\n";
  for (int i = 0; i < 300; ++i) {
    make_file(tree / std::to_string(i), "x");
    if (i % 3 == 0) names += "./" + std::to_string(i) + "\n";
  }
  make_file(tree / "folder" / "inside", "x");
  make_file(tree / "-dash", "x");
  const auto result = run_listing("/bin/dash", tools, has_stat, tree.path(), names);
  const TreeListing listing = parse_board_listing(result.out);
  CHECK(listing.files.size() == 103);
  CHECK(listing.files.contains("folder/inside"));
  CHECK_FALSE(listing.files.contains("1"));
}

TEST_CASE("A path of a board is a relative one of plain names") {
  for (const char* good : {"a", "a/b", "..a", "a..", "...", "-", " ", "a b", "~", "模型", "\xff"}) {
    CHECK(is_acceptable_board_path(good));
  }
  for (const char* bad : {"", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/..", "../a", "a/../b",
                          "a\nb", "\x1b", "\x7f", "\xc2\x80"}) {
    CHECK_FALSE(is_acceptable_board_path(bad));
  }
  CHECK(is_acceptable_board_path(std::string(255, 'a')));
  CHECK_FALSE(is_acceptable_board_path(std::string(256, 'a')));
  CHECK_FALSE(is_acceptable_board_path(std::string_view("a\0b", 3)));
  CHECK(plain_board_path("./a/") == "a");
  CHECK(plain_board_path(".//../a") == "../a");
  CHECK(plain_board_path("./") == "");
}
