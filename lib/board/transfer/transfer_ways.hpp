// Transfer methods to and from a board: one tar stream, SFTP, or single files through `cat`. Used
// by BoardTransfer, which selects a method and verifies the result.
//
// Functions that fetch return a printable description of a problem, empty if there was none; the
// caller compares sizes to see whether it matters. All throw ConnectionLost. Fetching also throws
// CannotWriteHere; sending throws Error(cannot_write) with the board's reason, and
// Error(interrupted).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "board/session/shell.hpp"
#include "board/transfer/incoming.hpp"
#include "board/transfer/transfer.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// How many bytes beyond its listed size are read from a file that grows during the transfer.
inline constexpr std::uint64_t kMaxGrowth = 16 << 20;

// A step that a board runs after it has sent all files.
struct StepAfter {
  BoardStep step;
  std::optional<BoardAnswer> answer{};  // empty if the step did not run
};

// Fetches `paths`, as for BoardTransfer::fetch(). `after` may be null.
std::string fetch_by_tar(BoardShell& shell, const std::string& folder,
                         const std::vector<std::string>& paths, Incoming& incoming,
                         const TransferProgress& progress, StepAfter* after);
// Returns a step that packs captures in `folder` (not deeper), except links. take_packed() reads
// its answer and that of a listing; these must be the next two answers of `packed`.
BoardStep pack_captures_step(const std::string& folder);
std::string take_packed(StepsUnderWay& packed, Incoming& incoming, const TransferProgress& progress,
                        std::optional<BoardAnswer>& listed);
// Fetches everything in `wanted`, which is relative to `folder`.
std::string fetch_by_sftp(SftpFiles& sftp, const std::string& folder, const TreeListing& wanted,
                          Incoming& incoming, const TransferProgress& progress);
std::string fetch_by_cat(BoardShell& shell, const std::string& folder, const TreeListing& wanted,
                         Incoming& incoming, const TransferProgress& progress);

// Fetch the rest of a file of which the first `part_bytes` bytes exist locally. Throw
// Error(partial_data) if the board does not send the rest.
void continue_by_sftp(SftpFiles& sftp, const std::string& folder, const NewFile& file,
                      std::uint64_t part_bytes, Incoming& incoming,
                      const TransferProgress& progress);
void continue_by_tail(BoardShell& shell, const std::string& folder, const NewFile& file,
                      std::uint64_t part_bytes, Incoming& incoming,
                      const TransferProgress& progress);

SendReport send_by_tar(BoardShell& shell, const std::string& folder,
                       const std::vector<ProjectEntry>& entries, const TransferProgress& progress,
                       const SendPlan& plan);
// Send one file; make_tree() has created its folder.
void send_file_by_sftp(BoardShell& shell, SftpFiles& sftp, const std::string& folder,
                       const ProjectEntry& entry, SendReport& report,
                       const TransferProgress& progress);
void send_file_by_cat(BoardShell& shell, const std::string& folder, const ProjectEntry& entry,
                      SendReport& report, const TransferProgress& progress);

}  // namespace msprof
