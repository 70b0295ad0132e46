// Parts of the board code that need no board: quoting, answers, plans and comparisons.
#include <elf.h>

#include <catch2/catch.hpp>
#include <set>

#include "base/error.hpp"
#include "board/run_phase.hpp"
#include "board/session/info.hpp"
#include "board/session/shell.hpp"
#include "board/transfer/upload.hpp"
#include "collect/elf_file.hpp"
#include "collect/run_changes.hpp"
#include "support/require.hpp"
#include "support/run_program.hpp"

using namespace msprof;
using Catch::Matchers::Contains;

namespace {

const BoardScript kEcho = {"echo", "for word; do printf '%s\\n.' \"$word\"; done"};

// Runs a command line in the given shell and returns the output.
std::string run_in(const std::string& shell, const std::string& line) {
  const std::vector<std::string> words = shell == "busybox"
                                             ? std::vector<std::string>{"sh", "-c", line}
                                             : std::vector<std::string>{"-c", line};
  return test::run_program("/usr/bin/" + shell, words).out;
}

ListedFile file(std::uint64_t size, std::int64_t mtime, std::uint32_t mode = 0644) {
  ListedFile result;
  result.size_bytes = size;
  result.mtime_seconds = mtime;
  result.mode = mode;
  return result;
}

ListedFile folder() {
  ListedFile result;
  result.kind = EntryKind::folder;
  result.mode = 0755;
  return result;
}

ProjectEntry entry(const std::string& path, std::uint64_t size, std::int64_t mtime_ns) {
  ProjectEntry result;
  result.path = path;
  result.size_bytes = size;
  result.mtime_ns = mtime_ns;
  result.mode = 0644;
  return result;
}

ProjectEntry folder_entry(const std::string& path) {
  ProjectEntry result;
  result.path = path;
  result.kind = EntryKind::folder;
  result.mode = 0755;
  return result;
}

std::vector<std::string> list_paths(const std::vector<ProjectEntry>& entries) {
  std::vector<std::string> result;
  for (const ProjectEntry& one : entries) result.push_back(one.path.string());
  return result;
}

using Paths = std::vector<std::string>;

std::string elf_head(unsigned machine, bool big_endian = false) {
  std::string head = ELFMAG;
  head.resize(kElfHeadBytes);
  head[EI_CLASS] = ELFCLASS64;
  head[EI_DATA] = big_endian ? ELFDATA2MSB : ELFDATA2LSB;
  head[18] = static_cast<char>(big_endian ? machine >> 8 : machine & 0xff);
  head[19] = static_cast<char>(big_endian ? machine & 0xff : machine >> 8);
  return head;
}

}  // namespace

TEST_CASE("Arguments reach a script in any board shell byte for byte") {
  const std::vector<std::string> words = {"",
                                          "plain",
                                          "two words",
                                          "it's",
                                          "'",
                                          "''\\''",
                                          "$HOME `id` $(id) ${x}",
                                          "a\nb",
                                          "tab\tx\\ny",
                                          "!history",
                                          "*?[a]",
                                          "~",
                                          "-n",
                                          "--",
                                          "\x01\x7f",
                                          "\xff\xfe",
                                          "\xE6\xB5\x8B",
                                          "; rm -rf x",
                                          "a&b|c>d<e",
                                          "#",
                                          "\n\n",
                                          "ends\n",
                                          "!!",
                                          "!$ !x$!;!",
                                          "ends with \\",
                                          "\\\\'",
                                          "^old^new",
                                          "\x1f\x1e\x1d\x1c",
                                          "\b\x0e",
                                          std::string(3'000, 'y') + "\xE6\xB5\x8B"};
  std::string expected = "@msprof-begin@\n";
  for (const std::string& word : words) expected += word + "\n.";
  const std::string line = command_line(kEcho, words);
  CHECK(line.find('\n') == std::string::npos);
  // The first three shells are common on boards; accounts may use any of them.
  for (const char* shell : {"dash", "bash", "busybox", "tcsh", "bsd-csh", "fish"}) {
    CAPTURE(shell);
    if (test::require_program_or_skip(shell)) CHECK(run_in(shell, line) == expected);
  }
}

TEST_CASE("Arguments with every control character are refused with a remedy") {
  std::string all;
  for (char c = 1; c < 32; ++c) all += c;
  CHECK_THROWS_WITH(command_line(kEcho, {all}), Contains("into a file of the project"));
}

TEST_CASE("A command longer than dropbear accepts is refused with its length") {
  CHECK_NOTHROW(command_line(kEcho, {std::string(8'000, 'x')}));
  CHECK_THROWS_WITH(command_line(kEcho, {std::string(9'000, 'x')}),
                    Contains("more than a board accepts"));
}

TEST_CASE("The board's answer to the inspection is parsed") {
  const BoardInfo info = parse_board_info(
      "system Linux\nmachine aarch64\nhome /root\nfolder /root/msprof\ntool tar\ntool setsid\n"
      "tool stat\nprogram 7f 45 4c 46 02\nfree 1048576\n");
  CHECK(info.machine == "aarch64");
  CHECK(info.folder == "/root/msprof");
  CHECK(info.has_tar);
  CHECK(info.has_setsid);
  CHECK(info.has_stat);
  CHECK(info.free_bytes == 1'073'741'824);
  CHECK(info.program_head ==
        "\x7f"
        "ELF\x02");
  CHECK(info.in_one_line() == "Linux aarch64, 1.1 GB free in /root/msprof, tar, no SFTP");
}

TEST_CASE("A board without tools is recognized") {
  const BoardInfo info =
      parse_board_info("system Linux\nmachine armv7l\nhome /\nfolder /x/msprof\nfree 0\n");
  CHECK_FALSE(info.has_tar);
  CHECK_FALSE(info.has_stat);
  CHECK(info.free_bytes == 0);
  CHECK(info.program_head.empty());
}

TEST_CASE("Invalid answers are refused, without their control characters") {
  for (const std::string text :
       {"", "nonsense", "system Linux\nfolder relative\nfree 1\n",
        "system Linux\nfolder /a\x1b[2J\nfree 1\n", "system Linux\nfolder /a\n",
        "system Linux\nfolder /a\nfree -1\n",
        "system Linux\nfolder /a\nfree 99999999999999999999\n", "folder /a\nfree 1\n"}) {
    CAPTURE(text);
    try {
      parse_board_info(text);
      FAIL("taken");
    } catch (const Error& error) {
      CHECK(error.code() == Exit::board_unreachable);
      CHECK(std::string(error.what()).find('\x1b') == std::string::npos);
    }
  }
}

TEST_CASE("Only changed project files are sent, and deleted ones are removed") {
  Project project;
  project.entries = {folder_entry("models"), entry("main", 10, 5'900'000'000),
                     entry("models/a.om", 20, 7'000'000'000), entry("models/b.om", 30, 8),
                     entry("new", 40, 9)};
  TreeListing there;
  there.files = {{"models", folder()},         {"main", file(10, 5)}, {"models/a.om", file(21, 7)},
                 {"models/b.om", file(30, 1)}, {"gone", folder()},    {"gone/x", file(1, 1)},
                 {"old", file(1, 1)}};
  const CacheUpdate update = plan_update(project, there);
  CHECK(list_paths(update.send) == Paths{"models/a.om", "models/b.om", "new"});
  CHECK(update.remove == Paths{"gone", "old"});
  CHECK(update.files == 3);
  CHECK(update.bytes == 90);
}

TEST_CASE("An unchanged project sends nothing, an empty board gets everything") {
  Project project;
  project.entries = {folder_entry("a"), entry("a/b", 1, 1'000'000'000)};
  TreeListing there;
  there.files = {{"a", folder()}, {"a/b", file(1, 1)}};
  CHECK(plan_update(project, there).send.empty());
  CHECK(plan_update(project, there).remove.empty());
  CHECK(list_paths(plan_update(project, {}).send) == Paths{"a", "a/b"});
}

TEST_CASE("A file that became executable, or a folder or link, is sent again") {
  Project project;
  project.entries = {entry("tool", 1, 1'000'000'000), folder_entry("was_file"),
                     entry("was_folder", 1, 1'000'000'000), entry("link", 0, 0)};
  project.entries[0].mode = 0755;
  project.entries[3].kind = EntryKind::link;
  TreeListing there;
  there.files = {{"tool", file(1, 1)},
                 {"was_file", file(1, 1)},
                 {"was_folder", folder()},
                 {"was_folder/x", file(1, 1)},
                 {"link", file(0, 0)}};
  const CacheUpdate update = plan_update(project, there);
  CHECK(list_paths(update.send) == Paths{"tool", "was_file", "was_folder", "link"});
  CHECK(update.remove == Paths{"was_file", "was_folder"});
}

TEST_CASE("Projects in different folders have separate copies on the board") {
  Project one;
  one.target.root = "/home/a/my project";
  Project other;
  other.target.root = "/home/b/my project";
  CHECK(cache_name(one).starts_with("my_project-"));
  CHECK(cache_name(one) != cache_name(other));
  CHECK(cache_name(one) == cache_name(one));
}

TEST_CASE("Created, changed and deleted files are found from two listings") {
  TreeListing before;
  before.files = {
      {"tree", folder()},           {"tree/p", folder()},        {"tree/p/same", file(1, 1)},
      {"tree/p/grown", file(1, 1)}, {"tree/p/gone", file(1, 1)}, {"tree/p/touched", file(1, 1)},
      {"profiling", folder()},      {"tree/p/JOBOLD", folder()}, {"tree/p/JOBOLD/data", folder()}};
  TreeListing after = before;
  after.files.erase("tree/p/gone");
  after.files["tree/p/grown"] = file(2, 1);
  after.files["tree/p/new"] = file(3, 1);
  after.files["tree/above"] = file(3, 1);
  after.files["profiling/JOBA"] = folder();
  after.files["profiling/JOBA/data"] = folder();
  after.files["profiling/JOBA/data/x"] = file(3, 1);
  after.files["profiling/log"] = file(3, 1);
  after.files["tree/p/out"] = folder();
  after.files["tree/p/out/JOBB"] = folder();
  after.files["tree/p/out/JOBB/info.json.0"] = file(3, 1);
  after.files["tree/p/JOBS"] = folder();
  after.files["tree/p/link"].kind = EntryKind::link;
  after.files["stamp"] = file(0, 1);
  const RunChanges changes = compare_run(before, after, {"tree/p/touched"});
  CHECK(changes.captures == Paths{"profiling/JOBA", "tree/p/out/JOBB"});
  CHECK(changes.files ==
        Paths{"profiling/log", "tree/above", "tree/p/grown", "tree/p/new", "tree/p/touched"});
  CHECK(changes.deleted == Paths{"tree/p/gone"});
  CHECK(changes.special == 1);
}

TEST_CASE("A program for another machine is recognized by its first bytes") {
  const std::string arm64 = elf_head(EM_AARCH64);
  const std::string arm = elf_head(EM_ARM);
  const std::string x86 = elf_head(EM_X86_64);
  CHECK(why_not_for_board(x86, arm64) == "x86-64, but the board runs AArch64");
  CHECK(why_not_for_board(arm64, x86) == "AArch64, but the board runs x86-64");
  CHECK(why_not_for_board(elf_head(EM_ARM, true), arm) ==
        "ARM (big endian), but the board runs ARM");
  CHECK(why_not_for_board(arm64, arm64).empty());
  CHECK(why_not_for_board(arm, arm64).empty());
  CHECK(why_not_for_board("#!/bin/sh\necho hello there", arm64).empty());
  CHECK(why_not_for_board(x86, "").empty());
  CHECK(why_not_for_board("\x7f"
                          "ELF",
                          x86)
            .empty());
}

TEST_CASE("Tens of thousands of captures on a board are listed with their files") {
  constexpr int kCount = 60'000;
  TreeListing after;
  for (int i = 0; i < kCount; ++i) {
    const std::string name = "profiling/JOB" + std::to_string(i);
    after.files.emplace(name, folder());
    after.files.emplace(name + "/data", file(1, 1));
  }
  after.files.emplace("profiling/JOB1-x", file(1, 1));
  const RunChanges changes = compare_run({}, after);
  CHECK(changes.captures.size() == kCount);
  CHECK(changes.files == std::vector<std::string>{"profiling/JOB1-x"});
  const PathSet folders = {"a/b", "c"};
  for (const char* inside : {"a/b", "a/b/x", "a/b/x/y", "c", "c/x"}) {
    INFO(inside);
    CHECK(is_below_any(inside, folders));
  }
  for (const char* outside : {"a", "a/bx", "a/x/b", "cx/c", "", "x/a/b"}) {
    INFO(outside);
    CHECK_FALSE(is_below_any(outside, folders));
  }
}

TEST_CASE("A run on a board ends only after its results are fetched or kept there") {
  using Phase = RunPhase;
  std::set<Phase> reached = {Phase::closed};
  for (const auto& [from, to] : kNextPhases) {
    CHECK(may_follow(from, to));
    // The table is ordered: a phase is listed as a successor before its own successors.
    CHECK(reached.contains(from));
    reached.insert(to);
    CHECK(may_follow(to, Phase::closed));
  }
  CHECK(reached.size() == 9);
  CHECK(may_follow(Phase::unfetched, Phase::detached));
  CHECK(may_follow(Phase::fetched, Phase::kept));
  CHECK_FALSE(may_follow(Phase::detached, Phase::fetched));
  CHECK_FALSE(may_follow(Phase::requested, Phase::unfetched));
  CHECK_FALSE(may_follow(Phase::kept, Phase::fetched));
  CHECK_FALSE(may_follow(Phase::ready, Phase::ready));
}
