// UploadParts: files of an upload that was cut, of which the board has a part: they go on where it
// ends, whichever way the rest travels. For BoardUpload.
//
// Two versions of a file are never joined: the part's checksum must be that of the begin of the
// file here; on a board without a tool for that, a note of what was being sent must be about this
// very file, and the part's last bytes are sent again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "board/shell.hpp"
#include "board/transfer.hpp"
#include "collect/project.hpp"

namespace msprof {

class UploadParts {
 public:
  // `checksum` is that of BoardInfo; files are below `folder`, which exists.
  UploadParts(BoardShell& shell, std::string folder, std::string checksum);

  // Brings what is missing of `entry` behind the first `part_bytes`, and its permissions and time.
  // False, and the board's file is as it was or gone, where that is no part of it: it is to be sent
  // whole. `progress` gets the bytes of the file that are there. Throws Error(cannot_write) with
  // the board's reason, ConnectionLost, Error(interrupted).
  bool complete(const ProjectEntry& entry, std::uint64_t part_bytes,
                const TransferProgress& progress);

  // Notes which large files are about to be sent, where that is needed; and that they have been.
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
