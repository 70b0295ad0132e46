// Sends a project to a board: reads its files (SourceFile), creates its folders and links through
// the board's shell, and removes what is in their way. Used by the methods of BoardTransfer.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file_reader.hpp"
#include "board/session/shell.hpp"
#include "board/transfer/transfer.hpp"

namespace msprof {

// Reads a file that may change while it is sent, and detects such changes.
class SourceFile {
 public:
  // Opens a regular file, but not through a link. error() is then 0 or an errno value.
  explicit SourceFile(const std::filesystem::path& path);
  int error() const { return error_; }

  std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(status_.st_size); }
  // The mtime for the copy on the board; it may differ from the file's (see BoardTransfer::send()).
  std::int64_t copied_mtime_seconds() const;

  // Reads up to the size that the file had when it was opened. Throws Error(interrupted); the
  // board's copy is then incomplete and recognized by its size.
  std::size_t read(std::span<char> buffer);
  // Returns true if the file has changed since it was opened, or could not be read completely.
  bool has_changed() const;

 private:
  FileDescriptor fd_;
  struct stat status_ = {};
  std::uint64_t read_bytes_ = 0;
  int error_ = 0;
};

// Returns true if `file` is open and counts it in `report`. Otherwise warns, and counts it as not
// sent.
bool open_for_sending(const SourceFile& file, const ProjectEntry& entry, SendReport& report);

// Returns a BoardShell::Source that reads `file` and counts the bytes in `report`.
std::function<std::size_t(char* buffer, std::size_t size)> counted_reads(
    SourceFile& file, SendReport& report, const TransferProgress& progress);

// Call after the last byte: warns and returns true if the file changed during the transfer.
bool told_of_change(const SourceFile& file, const ProjectEntry& entry);

// Returns false for a name with a line break, which cannot be sent in a list with one name per
// line.
bool is_one_line(const std::string& name);

// Removes whatever occupies the path of an entry, except an existing folder if the entry is a
// folder, and never through a link. So a file that cannot be sent never leaves an earlier version
// in its place. Throws Error(cannot_write) with the board's reason, as do the functions below.
void make_room(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries);
// make_room() as one of several steps.
BoardStep room_step(const std::string& folder, const std::vector<ProjectEntry>& entries);

// make_room(), then creates the folders and links of `entries`. Warns about names with line breaks
// and counts them as not sent.
void make_tree(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries, SendReport& report);

// Throws Error(cannot_write) with the board, the folder, the reason and the free space there.
[[noreturn]] void throw_board_cannot_write(BoardShell& shell, const std::string& folder,
                                           const std::string& reason);

}  // namespace msprof
