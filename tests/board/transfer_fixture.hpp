// A board with a connection and the transfer under test, and trees to send and compare.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/board_run_fixture.hpp"
#include "board/transfer/transfer.hpp"
#include "support/board_server.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// 2020-09-13, so that no file of a test counts as recently changed.
inline constexpr std::int64_t kOldTime = 1'600'000'000;

// Returns what detection would report for a board with `options`.
BoardInfo make_board_info(const BoardOptions& options);

// Fetches the current content of `there` according to a fresh listing.
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
  std::filesystem::path there;  // a folder on the board that the test can access; not created yet
  TempFolder here;              // destination of fetched files
};

// Boards that differ in how files are transferred, with a name for INFO.
struct NamedBoard {
  std::string name;
  BoardOptions options;
  std::string way;
  bool tells_times = true;  // listings of the board contain times
};
const std::vector<NamedBoard>& transfer_boards();
// Returns one of the ways to transfer files (tar, SFTP, cat) for a test case. If tests_whole(),
// all.
const NamedBoard& each_way();

void append(const std::filesystem::path& path, std::string_view bytes);

// Names that a shell, an option parser, tar or a line-based list could misinterpret.
std::vector<std::string> odd_names();

// Creates files, folders and links with odd names, permissions, sizes and depths; all dated
// kOldTime.
void make_odd_tree(const std::filesystem::path& root);

// Creates a regular file dated kOldTime and its folder.
void make_file(const std::filesystem::path& path, std::string_view bytes,
               std::int64_t mtime_seconds = kOldTime);

// Returns what a scan of a project would list, with all names included.
std::vector<ProjectEntry> list_entries(const std::filesystem::path& root);

// What to compare of a tree. Only `everything` includes links and special files.
enum class Compare { bytes, bytes_and_times, everything };

// Lines that differ: "- " only in `expected`, "+ " only in `actual`; empty if the trees are equal.
std::string difference(const std::filesystem::path& actual, const std::filesystem::path& expected,
                       Compare what);

}  // namespace msprof::test
