// UploadParts: continues interrupted uploads of files of which the board has a part, independent of
// the transfer method. Used by BoardUpload.
//
// Never joins two versions of a file: the checksum of the part must match the start of the local
// file. On a board without a checksum tool, a note must show that this very file was being sent,
// and the last bytes of the part are sent again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "board/session/shell.hpp"
#include "board/transfer/transfer.hpp"
#include "collect/project.hpp"

namespace msprof {

class UploadParts {
 public:
  // `checksum` is BoardInfo::checksum; files are below `folder`, which must exist.
  UploadParts(BoardShell& shell, std::string folder, std::string checksum);

  // Sends the content of `entry` after the first `part_bytes` bytes, and its permissions and time.
  // Returns false if the board's file is not a part of it; that file is then unchanged or removed,
  // and `entry` must be sent completely. `progress` receives the number of bytes of the file on the
  // board. Throws Error(cannot_write) with the board's reason, ConnectionLost, Error(interrupted).
  bool complete(const ProjectEntry& entry, std::uint64_t part_bytes,
                const TransferProgress& progress);

  // begin() records which large files are about to be sent, if a record is needed; end() removes
  // it.
  void begin(const std::vector<ProjectEntry>& entries);
  void end();

 private:
  bool is_same(class SourceFile& file, const ProjectEntry& entry, std::uint64_t part_bytes);
  std::string note_file() const { return folder_ + ".sending"; }

  BoardShell& shell_;
  std::string folder_;
  std::string checksum_;
};

}  // namespace msprof
