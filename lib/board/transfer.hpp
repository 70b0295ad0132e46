// BoardTransfer: files to and from a board, by the best way that the board has: one tar stream,
// else SFTP, else `cat`. For the board host and its cache.
//
// A board is untrusted: names that leave the folder, that are absolute or hold control characters,
// and everything that is neither a file nor a folder are refused and counted; nothing is written
// outside `into`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "board/info.hpp"
#include "board/shell.hpp"
#include "collect/project.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

struct FetchReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t refused = 0;          // names and kinds not fetched
  std::vector<std::string> examples;  // some of them, printable, with the reason
  std::vector<std::string> changed;   // files that differ from the board's sizes after two tries
  std::string reason;  // the board's message if something did not come, printable; else empty
};

// What a fetch may bring: as much as was listed before it. What has grown since then comes, too,
// within bounds; a board that sends more is cut off.
struct FetchAllowance {
  std::uint64_t bytes = 0;    // of files
  std::uint64_t entries = 0;  // files, folders and what is refused
  void add(const ListedFile& file);
};

struct SendReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // Files that could not be read here (each named in a warning); the board has no file of that
  // name.
  std::vector<std::filesystem::path> not_sent;
};

// What a caller knows of a folder that is sent to, and what comes next.
struct SendPlan {
  bool is_empty = false;                        // nothing there can be in the way
  std::vector<BoardStep> before{};              // run before anything is sent
  std::vector<BoardStep> after{};               // run when everything has arrived
  std::vector<BoardAnswer>* answers = nullptr;  // theirs
};

// Receives the number of bytes of files so far.
using TransferProgress = std::function<void(std::uint64_t bytes)>;

class Incoming;
class StepsUnderWay;
struct NewFile;

enum class TransferWay { automatic, tar, sftp, cat };

class BoardTransfer {
 public:
  // Takes a `way` other than automatic for tests and measurements.
  BoardTransfer(BoardShell& shell, const BoardInfo& info, TransferWay way = TransferWay::automatic);

  std::string way() const;  // "tar", "SFTP", "cat"

  // Lists `paths` and everything below them, relative to `folder` (absolute, on the board), links
  // not followed. Throws Error(partial_data) where it cannot be listed.
  TreeListing list(const std::string& folder, const std::vector<std::string>& paths = {"."});

  // The same as one of several questions; empty where it is not asked by a script. And its answer.
  std::optional<BoardStep> list_step(const std::string& folder,
                                     const std::vector<std::string>& paths = {"."}) const;
  TreeListing listing_in(const std::string& folder, const BoardAnswer& answer) const;

  // Fetches `paths` (files, or folders with all they hold, relative to `folder`; "." is everything)
  // to `into`/<path>, replacing what is there, and holds the sizes against a fresh listing. What
  // differs is fetched once more. Permissions come without setuid and limited by the umask, times
  // as they are. What exceeds `allowed` is not taken. Ctrl-C does not end it. Throws
  // Error(cannot_write) when this machine's disk does not take them, TooMuchSent for a listing
  // without end, ConnectionLost.
  // `packed`: they are on their way already, as the next answers of these steps; else null.
  FetchReport fetch(const std::string& folder, const std::vector<std::string>& paths,
                    const std::filesystem::path& into, const FetchAllowance& allowed,
                    const TransferProgress& progress, StepsUnderWay* packed = nullptr);

  // Steps whose answers are the captures right in `folder`, of this project or none, and a listing
  // of it; empty where they are not fetched so.
  std::vector<BoardStep> pack_steps(const std::string& folder) const;

  // Continues files that came in part before a lost connection. `wanted` is what the board listed
  // then, `paths` are files of it. One that has changed since, or cannot be continued, is removed
  // here, for fetch() to bring it whole. Throws like fetch().
  void continue_parts(const std::string& folder, const TreeListing& wanted,
                      const std::vector<std::string>& paths, const std::filesystem::path& into,
                      const TransferProgress& progress);

  // Makes `entries` (of the project, `source` on this machine) below `folder` with their bytes,
  // permissions and times; what is there already is replaced, of whatever kind it is. The owner may
  // enter every folder; what others may is limited by the umask where the board's tar does so.
  // Throws Error(cannot_write) with the board's reason, ConnectionLost, Error(interrupted).
  //
  // Copies are compared by size and time in whole seconds, so a file that such a comparison could
  // miss gets another time on the board and is sent again the next time: one second earlier for a
  // file changed within the last two seconds (it may change again within the same second), 1970 for
  // one that changed while it was read.
  SendReport send(const std::string& folder, const std::vector<ProjectEntry>& entries,
                  const TransferProgress& progress, const SendPlan& plan = {});

 private:
  // SFTP tells more than `ls` does.
  bool lists_by_shell() const { return info_.has_stat || !info_.has_sftp; }
  TreeListing list_paths(const std::string& folder, const std::vector<std::string>& paths);
  std::string fetch_once(const std::string& folder, const std::vector<std::string>& paths,
                         Incoming& incoming, const TransferProgress& progress,
                         StepsUnderWay* packed, std::optional<BoardAnswer>& listed);
  std::string fetch_listed(const std::string& folder, const TreeListing& wanted, Incoming& incoming,
                           const TransferProgress& progress);
  void continue_part(const std::string& folder, const NewFile& file, std::uint64_t part_bytes,
                     Incoming& incoming, const TransferProgress& progress);
  [[noreturn]] void throw_disk_full(const std::string& folder,
                                    const std::vector<std::string>& paths,
                                    const std::filesystem::path& into);
  BoardShell& shell_;
  BoardInfo info_;
  TransferWay way_;
};

}  // namespace msprof
