// The ways that files take to and from a board: one tar stream, SFTP, or file after file through
// `cat`. For BoardTransfer, which chooses and verifies.
//
// Fetching returns what went wrong, printable, empty if nothing did: if it matters shows
// when the sizes are compared. All throw ConnectionLost; fetching CannotWriteHere; sending
// Error(cannot_write) with the board's reason, Error(interrupted).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "board/incoming.hpp"
#include "board/shell.hpp"
#include "board/transfer.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

// Bytes beyond its listed size to which a file that grows while it is read is followed.
inline constexpr std::uint64_t kMaxGrowth = 16 << 20;

// A step that a board runs when it has given everything.
struct StepAfter {
  BoardStep step;
  std::optional<BoardAnswer> answer{};  // empty where it was not asked
};

// Fetches `paths`, which are those of BoardTransfer::fetch(). `after` may be null.
std::string fetch_by_tar(BoardShell& shell, const std::string& folder,
                         const std::vector<std::string>& paths, Incoming& incoming,
                         const TransferProgress& progress, StepAfter* after);
// A step that packs the captures right in `folder`, links aside. And takes what it and the listing
// behind it give, as the next two steps of `packed`.
BoardStep pack_captures_step(const std::string& folder);
std::string take_packed(StepsUnderWay& packed, Incoming& incoming, const TransferProgress& progress,
                        std::optional<BoardAnswer>& listed);
// Sends everything of `wanted`, which is relative to `folder`.
std::string fetch_by_sftp(SftpFiles& sftp, const std::string& folder, const TreeListing& wanted,
                          Incoming& incoming, const TransferProgress& progress);
std::string fetch_by_cat(BoardShell& shell, const std::string& folder, const TreeListing& wanted,
                         Incoming& incoming, const TransferProgress& progress);

// Brings what is missing of one file, of which the first `part_bytes` are here. Throw
// Error(partial_data) where the board does not give it.
void continue_by_sftp(SftpFiles& sftp, const std::string& folder, const NewFile& file,
                      std::uint64_t part_bytes, Incoming& incoming,
                      const TransferProgress& progress);
void continue_by_tail(BoardShell& shell, const std::string& folder, const NewFile& file,
                      std::uint64_t part_bytes, Incoming& incoming,
                      const TransferProgress& progress);

SendReport send_by_tar(BoardShell& shell, const std::string& folder,
                       const std::vector<ProjectEntry>& entries, const TransferProgress& progress,
                       const SendPlan& plan);
SendReport send_by_sftp(BoardShell& shell, SftpFiles& sftp, const std::string& folder,
                        const std::vector<ProjectEntry>& entries, const TransferProgress& progress);
SendReport send_by_cat(BoardShell& shell, const std::string& folder,
                       const std::vector<ProjectEntry>& entries, const TransferProgress& progress);

}  // namespace msprof
