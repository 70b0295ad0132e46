// A project on its way to a board: its files while they are sent (SourceFile), and its folders, its
// links and the removal of what is in the way, by the board's shell. For the ways of BoardTransfer.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file_reader.hpp"
#include "board/shell.hpp"
#include "board/transfer.hpp"

namespace msprof {

// A file that may change while it is sent; its sender learns of it.
class SourceFile {
 public:
  // Opens a regular file, not through a link; error() is 0 or an errno value.
  explicit SourceFile(const std::filesystem::path& path);
  int error() const { return error_; }

  std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(status_.st_size); }
  // Time that its copy on the board gets; BoardTransfer::send() explains why it may differ.
  std::int64_t copied_mtime_seconds() const;

  // Reads on while there is something within the size that it had when it was opened. Throws
  // Error(interrupted): what has come of it on the board by then is seen to be shorter.
  std::size_t read(std::span<char> buffer);
  // True if it is not what it was when it was opened, or could not be read to its end.
  bool has_changed() const;

 private:
  FileDescriptor fd_;
  struct stat status_ = {};
  std::uint64_t read_bytes_ = 0;
  int error_ = 0;
};

// Counts it in `report`. If it could not be opened: warns, notes it as not sent, returns false.
bool open_for_sending(const SourceFile& file, const ProjectEntry& entry, SendReport& report);

// Gives the next bytes of `file`, counted in `report`, like a BoardShell::Source.
std::function<std::size_t(char* buffer, std::size_t size)> counted_reads(
    SourceFile& file, SendReport& report, const TransferProgress& progress);

// Warns and returns true, after the last byte, if it changed meanwhile.
bool told_of_change(const SourceFile& file, const ProjectEntry& entry);

// Lists of names go to a board a line each; a name that has a line break itself cannot.
bool is_one_line(const std::string& name);

// Removes what stands where an entry will be, except a folder for a folder, and never through a
// link; so no earlier version stands for a file that then cannot be sent. Throws
// Error(cannot_write) with the board's reason, as all of these.
void make_room(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries);
// The same as one of several steps.
BoardStep room_step(const std::string& folder, const std::vector<ProjectEntry>& entries);

// make_room(), then the folders and links of `entries`. What is not one line is warned of and noted
// as not sent.
void make_tree(BoardShell& shell, const std::string& folder,
               const std::vector<ProjectEntry>& entries, SendReport& report);

// Error(cannot_write): the board, the folder, the reason and the space that is free there.
[[noreturn]] void throw_board_cannot_write(BoardShell& shell, const std::string& folder,
                                           const std::string& reason);

}  // namespace msprof
