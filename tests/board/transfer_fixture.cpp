#include "board/transfer_fixture.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "base/text.hpp"
#include "board/case_sample.hpp"
#include "collect/file_tree.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// Describes everything below `root`, one line per path.
std::map<std::string, std::string> read_tree(const fs::path& root, Compare what) {
  std::map<std::string, std::string> tree;
  const auto add = [&](const fs::path& path, const struct stat& status) {
    std::string line = "special";
    if (S_ISDIR(status.st_mode)) {
      line = "folder";
    } else if (S_ISREG(status.st_mode)) {
      line = fmt::format("file of {} bytes {:016x}", status.st_size, fnv1a(read_file(root / path)));
      if (what != Compare::bytes) line += fmt::format(" at {}", status.st_mtim.tv_sec);
    } else if (what != Compare::everything) {
      return false;
    } else if (S_ISLNK(status.st_mode)) {
      line = "link to " + fs::read_symlink(root / path).string();
    }
    if (what == Compare::everything && !S_ISLNK(status.st_mode)) {
      line += fmt::format(", {:o}", status.st_mode & 07777);
    }
    tree.emplace(path.string(), line);
    return true;
  };
  walk_tree(root, add, [](const fs::path&, int) {});
  return tree;
}

}  // namespace

BoardInfo make_board_info(const BoardOptions& options) {
  const auto has = [&](const std::string& tool) {
    return std::find(options.without.begin(), options.without.end(), tool) == options.without.end();
  };
  BoardInfo info;
  info.has_tar = has("tar");
  info.has_stat = has("stat");
  info.has_sftp = options.kind == BoardKind::openssh;
  return info;
}

FetchReport fetch_listed(BoardTransfer& transfer, const fs::path& there,
                         const std::vector<std::string>& paths, const fs::path& into,
                         const TransferProgress& progress) {
  FetchAllowance allowed;
  for (const auto& [path, file] : transfer.list(there.string()).files) allowed.add(file);
  return transfer.fetch(there.string(), paths, into, allowed, progress);
}

TransferBoard::TransferBoard(const BoardOptions& options, TransferWay way)
    : board(options),
      shell(make_config(board).login),
      transfer(shell, make_board_info(options), way),
      there(board.home() / "there") {
  shell.connect();
}

const std::vector<NamedBoard>& transfer_boards() {
  using enum BoardKind;
  static const std::vector<NamedBoard> boards = {
      {"OpenSSH, GNU tar", {.kind = openssh, .userland = Userland::gnu}, "tar"},
      {"OpenSSH, busybox tar", {.kind = openssh}, "tar"},
      {"dropbear, busybox tar", {.kind = dropbear}, "tar"},
      {"no tar", {.kind = openssh, .without = {"tar"}}, "SFTP"},
      {"no tar, no stat", {.kind = openssh, .without = {"tar", "stat"}}, "SFTP"},
      {"no tar, no SFTP", {.kind = openssh_without_sftp, .without = {"tar"}}, "cat"},
      {"dropbear, no tar, no stat", {.kind = dropbear, .without = {"tar", "stat"}}, "cat", false},
  };
  return boards;
}

std::vector<std::string> odd_names() {
  std::vector<std::string> names = {"plain",
                                    "two words",
                                    " before",
                                    "behind ",
                                    "it's",
                                    "say \"hi\"",
                                    "$HOME",
                                    "$(reboot)",
                                    "`reboot`",
                                    "back\\slash",
                                    "\\n",
                                    "-dash",
                                    "--help",
                                    "-rf",
                                    "*",
                                    "?",
                                    "[a]",
                                    "#",
                                    "~",
                                    ";",
                                    "&",
                                    "|",
                                    "<",
                                    ">",
                                    "a=b",
                                    "%s%n",
                                    "!",
                                    "{a,b}",
                                    ".hidden",
                                    "..two",
                                    "...",
                                    "@end",
                                    "@refused",
                                    "-",
                                    "ünïcödé",
                                    "模型",
                                    "\xff\xfe\x80 bytes",
                                    "s 81a4 1 1 1 1 .",
                                    "l -rw-r--r-- 1 ."};
  names.push_back(std::string(100, 'h'));
  names.push_back(std::string(101, 'i'));
  names.push_back(std::string(251, 'w') + "wide");
  return names;
}

void make_file(const fs::path& path, std::string_view bytes, std::int64_t mtime_seconds) {
  write_file(path, bytes);
  set_mtime(path, mtime_seconds * kNsPerSecond);
}

void make_odd_tree(const fs::path& root) {
  for (const std::string& name : odd_names()) make_file(root / name, "file " + name);
  for (const std::string& name : odd_names()) make_file(root / "folders" / name / name, name);
  const std::string deep = std::string(120, 'a') + "/" + std::string(120, 'b') + "/c/d/e/f";
  make_file(root / deep / std::string(60, 'g'), "deep");
  make_file(root / "empty file", "");
  fs::create_directories(root / "empty folder" / "in it");
  // Sizes around tar's block size, and larger than one packet.
  for (const std::size_t size : {1U, 511U, 512U, 513U, 10240U, 65536U, 1000003U}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 >> 3);
    make_file(root / "sizes" / std::to_string(size), bytes);
  }
  make_file(root / "modes" / "run", "#!/bin/sh\n");
  ::chmod((root / "modes" / "run").c_str(), 0755);
  make_file(root / "modes" / "secret", "s");
  ::chmod((root / "modes" / "secret").c_str(), 0600);
  make_file(root / "modes" / "read only", "r");
  ::chmod((root / "modes" / "read only").c_str(), 0444);
  ::chmod((root / "modes").c_str(), 0750);
  fs::create_directories(root / "links");
  fs::create_symlink("../modes/run", root / "links" / "to run");
  fs::create_symlink("nowhere", root / "links" / "dangling");
  fs::create_symlink("-dash", root / "links" / "-link");
  fs::create_symlink("/etc", root / "links" / "out");
}

std::vector<ProjectEntry> list_entries(const fs::path& root) {
  std::vector<ProjectEntry> entries;
  const auto add = [&](const fs::path& path, const struct stat& status) {
    ProjectEntry entry;
    entry.path = path;
    entry.source = root / path;
    entry.mode = status.st_mode & 0777;
    entry.mtime_ns = mtime_ns(status);
    if (S_ISDIR(status.st_mode)) {
      entry.kind = EntryKind::folder;
    } else if (S_ISLNK(status.st_mode)) {
      entry.kind = EntryKind::link;
      entry.link = fs::read_symlink(root / path);
    } else {
      entry.size_bytes = static_cast<std::uint64_t>(status.st_size);
    }
    entries.push_back(std::move(entry));
    return true;
  };
  walk_tree(root, add, [](const fs::path&, int) {});
  return entries;
}

std::string difference(const fs::path& actual, const fs::path& expected, Compare what) {
  const auto there = read_tree(actual, what);
  const auto wanted = read_tree(expected, what);
  constexpr int kMaxShown = 10;
  int count = 0;
  std::string text;
  const auto add = [&](const char* sign, const auto& from, const auto& other) {
    for (const auto& [path, line] : from) {
      const auto found = other.find(path);
      if (found != other.end() && found->second == line) continue;
      if (++count <= kMaxShown) text += sign + shorten(printable(path), 80) + ": " + line + "\n";
    }
  };
  add("- ", wanted, there);
  add("+ ", there, wanted);
  if (count > kMaxShown) text += fmt::format("… {} lines in all\n", count);
  return text;
}

const NamedBoard& each_way() {
  const std::vector<std::size_t> ways = {1, 3, 5};
  return transfer_boards().at(GENERATE_COPY(from_range(sample_for_case(ways, 1))));
}

void append(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes;
}

}  // namespace msprof::test
