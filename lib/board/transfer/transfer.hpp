// BoardTransfer: transfers files to and from a board by the best available method: one tar stream,
// else SFTP, else `cat`. Used by the board host and its cache.
//
// A board is untrusted: names that lead outside the folder, are absolute or contain control
// characters, and entries that are neither files nor folders, are refused and counted. Nothing is
// written outside `into`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "board/session/info.hpp"
#include "board/session/shell.hpp"
#include "collect/project.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

struct FetchReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t refused = 0;          // number of names and file types that were refused
  std::vector<std::string> examples;  // some refused names, printable, with the reason
  std::vector<std::string> changed;   // files whose size still differs from the board's after two
                                      // attempts
  std::string reason;  // printable message of the board if something is missing; else empty
};

// Limits of a fetch: the listed amounts. Some growth since the listing is allowed; a larger
// transfer is aborted.
struct FetchAllowance {
  std::uint64_t bytes = 0;    // total size of files
  std::uint64_t entries = 0;  // files, folders and refused entries
  void add(const ListedFile& file);
};

struct SendReport {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  // Local files that could not be read (each named in a warning); the board has no file of that
  // name.
  std::vector<std::filesystem::path> not_sent;
};

// Known facts about the target folder of a transfer, and steps to run with it.
struct SendPlan {
  bool is_empty = false;                        // nothing in the folder can block an entry
  std::vector<BoardStep> before{};              // steps to run before anything is sent
  std::vector<BoardStep> after{};               // steps to run after everything has arrived
  std::vector<BoardAnswer>* answers = nullptr;  // receives their answers
};

// Receives the number of file bytes transferred so far.
using TransferProgress = std::function<void(std::uint64_t bytes)>;

class Incoming;
class StepsUnderWay;
struct NewFile;

enum class TransferWay { automatic, tar, sftp, cat };

class BoardTransfer {
 public:
  // `way` is automatic, except in tests and measurements.
  BoardTransfer(BoardShell& shell, const BoardInfo& info, TransferWay way = TransferWay::automatic);

  std::string way() const;  // "tar", "SFTP", "cat"

  // Lists `paths` and everything below them, relative to `folder` (absolute, on the board), without
  // following links. Throws Error(partial_data) if the folder cannot be listed.
  TreeListing list(const std::string& folder, const std::vector<std::string>& paths = {"."});

  // list() as one of several steps, nullopt if listing needs no script; and the parser of its
  // answer.
  std::optional<BoardStep> list_step(const std::string& folder,
                                     const std::vector<std::string>& paths = {"."}) const;
  TreeListing listing_in(const std::string& folder, const BoardAnswer& answer) const;

  // Fetches `paths` (files, or folders with their contents, relative to `folder`; "." is
  // everything) to `into`/<path>, replacing existing files, and compares the sizes with a new
  // listing. Files that differ are fetched once more. Permissions are set without setuid and
  // limited by the umask; times are preserved. Refuses more than `allowed`. Ctrl-C does not abort
  // it. Throws Error(cannot_write) if the local disk cannot be written, TooMuchSent for an endless
  // listing, ConnectionLost.
  // `packed`: the files are already arriving, as the next answers of these steps; else null.
  FetchReport fetch(const std::string& folder, const std::vector<std::string>& paths,
                    const std::filesystem::path& into, const FetchAllowance& allowed,
                    const TransferProgress& progress, StepsUnderWay* packed = nullptr);

  // Returns steps that send the captures in `folder` (not deeper) as a tar stream and then list it;
  // empty if the board has no tar or is listed over SFTP.
  std::vector<BoardStep> pack_steps(const std::string& folder) const;

  // Continues files that were partially received before a lost connection. `wanted` is the board's
  // listing before the loss; `paths` are files in it. A file that has changed since, or cannot be
  // continued, is removed locally so that fetch() fetches it completely. Throws like fetch().
  void continue_parts(const std::string& folder, const TreeListing& wanted,
                      const std::vector<std::string>& paths, const std::filesystem::path& into,
                      const TransferProgress& progress);

  // Creates `entries` (of the project; `source` is local) below `folder` with content, permissions
  // and times; replaces existing entries of any type. The owner can always enter every folder;
  // permissions of others are limited by the umask if the board's tar applies it. Throws
  // Error(cannot_write) with the board's reason, ConnectionLost, Error(interrupted).
  //
  // Copies are later compared by size and time in whole seconds. A file whose change this
  // comparison could miss gets a different time on the board and is sent again next time: one
  // second earlier for a file changed within the last two seconds (it may change again within the
  // same second), 1970 for one that changed while it was read.
  SendReport send(const std::string& folder, const std::vector<ProjectEntry>& entries,
                  const TransferProgress& progress, const SendPlan& plan = {});

 private:
  // Without stat, SFTP is preferred: it provides more information than `ls`.
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
