// SourceFile: a file of a project while it is sent to a board. It may change meanwhile; whoever
// sends it learns of it. For the ways of BoardTransfer.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/file_reader.hpp"
#include "board/transfer.hpp"

namespace msprof {

class SourceFile {
 public:
  // Opens a regular file, not through a link; error() is 0 or an errno value.
  explicit SourceFile(const std::filesystem::path& path);
  int error() const { return error_; }

  std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(status_.st_size); }
  // The time that its copy on the board gets; BoardTransfer::send() says why it may differ.
  std::int64_t copied_mtime_seconds() const;

  // As long as there is something within the size that it had when it was opened. Throws
  // Error(interrupted): what has come of it on the board by then is seen to be shorter.
  std::size_t read(std::span<char> buffer);
  // It is not what it was when it was opened, or could not be read to its end.
  bool has_changed() const;

 private:
  FileDescriptor fd_;
  struct stat status_ = {};
  std::uint64_t read_bytes_ = 0;
  int error_ = 0;
};

// Counts it in `report`. Where it could not be opened: warns, notes it as not sent, returns false.
bool open_for_sending(const SourceFile& file, const ProjectEntry& entry, SendReport& report);

// After the last byte: warns and returns true where it changed meanwhile.
bool told_of_change(const SourceFile& file, const ProjectEntry& entry);

}  // namespace msprof
