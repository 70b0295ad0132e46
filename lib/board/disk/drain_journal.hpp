// DrainJournal: records which parts of the files of an unfinished run have been downloaded, so that
// they are neither lost nor downloaded again if msprof is killed. Used by the drain.
//
// The folder contains `raw/<path>`, the files by their paths in the board's output folder, and
// `journal`, an append-only text file of lines:
//
//   msprof drain 1
//   punching <length> <inode> <path>   the first <length> bytes are stored locally; the board may
//                                      free them from now on
//   freed <length> <path>              the board has freed what it can of the first <length> bytes
//   kept <length> <path>               only <length> bytes are stored locally; the board's file is
//                                      authoritative after them
//   moved <path> TAB <path>            the application has renamed the file
//   forgotten <path>                   only the board has the file
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/file_reader.hpp"

namespace msprof {

struct DrainedFile {
  std::uint64_t inode = 0;
  std::uint64_t length = 0;  // bytes stored and flushed locally, which the board may have freed
  std::uint64_t freed = 0;   // bytes that the board has freed for certain, except for the first
                             // block
};

class DrainJournal {
 public:
  // Creates the folder, or opens an existing one. Throws Error(cannot_write).
  explicit DrainJournal(std::filesystem::path folder);
  // Returns true if `file` starts with a journal's header.
  static bool is_one(const std::filesystem::path& file);

  const std::filesystem::path& folder() const { return folder_; }
  // Local path; `path` must have passed is_acceptable_board_path().
  std::filesystem::path file(const std::string& path) const { return folder_ / "raw" / path; }
  const std::map<std::string, DrainedFile>& files() const { return files_; }

  // Each returns once the line is on disk; the bytes of the file must be on disk before the call.
  void punching(const std::string& path, std::uint64_t inode, std::uint64_t length);
  void freed(const std::string& path, std::uint64_t length);
  void kept(const std::string& path, std::uint64_t length);
  void moved(const std::string& from, const std::string& to);
  void forgotten(const std::string& path);

 private:
  void load();
  void take(std::string_view line);
  void append(const std::string& line, bool flush);

  std::filesystem::path folder_;
  std::map<std::string, DrainedFile> files_;
  FileDescriptor fd_;
};

}  // namespace msprof
