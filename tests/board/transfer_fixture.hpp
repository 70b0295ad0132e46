// A board, a connection to it and the transfer under test, and trees to send and to compare.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/board_run_fixture.hpp"
#include "board/transfer.hpp"
#include "support/board_server.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// 2020-09-13, so that no file of a test counts as changed just now.
inline constexpr std::int64_t kOldTime = 1'600'000'000;

// What a look at the board of `options` would tell.
BoardInfo facts_of(const BoardOptions& options);

// Fetches what `there` holds now, as it is listed now.
FetchReport fetch_listed(BoardTransfer& transfer, const std::filesystem::path& there,
                         const std::vector<std::string>& paths, const std::filesystem::path& into,
                         const TransferProgress& progress = {});

struct TransferBoard {
  explicit TransferBoard(const BoardOptions& options, TransferWay way = TransferWay::automatic);

  FetchReport fetch(const std::vector<std::string>& paths = {"."},
                    const TransferProgress& progress = {}) {
    return fetch_listed(transfer, there, paths, here.path(), progress);
  }
  SendReport send(const std::vector<ProjectEntry>& entries) {
    return transfer.send(there.string(), entries, {});
  }

  BoardServer board;
  BoardShell shell;
  BoardTransfer transfer;
  std::filesystem::path there;  // a folder on the board, which the test can see; not made yet
  TempFolder here;              // where fetched files come
};

// The boards that differ in how files travel, by a name for INFO.
struct NamedBoard {
  std::string name;
  BoardOptions options;
  std::string way;
  bool tells_times = true;  // its listings do
};
const std::vector<NamedBoard>& transfer_boards();
// In a test case: one of the ways in which files travel (tar, SFTP, cat); all in a whole run.
const NamedBoard& each_way();

void append(const std::filesystem::path& path, std::string_view bytes);

// Names that a shell, an option parser, tar or a list of lines could mistake.
std::vector<std::string> odd_names();

// Makes files, folders and links with odd names, permissions, sizes and depths; all of kOldTime.
void make_odd_tree(const std::filesystem::path& root);

// A regular file of kOldTime, with its folder.
void make_file(const std::filesystem::path& path, std::string_view bytes,
               std::int64_t mtime_seconds = kOldTime);

// What a scan of a project would list, all names included.
std::vector<ProjectEntry> entries_of(const std::filesystem::path& root);

// What of a tree is compared. Only `everything` has links and special files.
enum class Compare { bytes, bytes_and_times, everything };

// Lines of the trees that differ, "- " in `expected` alone and "+ " in `actual` alone; empty where
// they are equal.
std::string difference(const std::filesystem::path& actual, const std::filesystem::path& expected,
                       Compare what);

}  // namespace msprof::test
