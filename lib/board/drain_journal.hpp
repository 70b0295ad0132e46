// DrainJournal: what has come home of the files of a run that is not over, so that it is never lost
// and never asked for again, whoever is killed. For the drain.
//
// In the folder: `raw/<path>`, the files by their paths in the board's output folder, and
// `journal`, a text of lines that is only appended to:
//
//   msprof drain 1
//   punching <length> <inode> <path>   the first <length> bytes are here; what of them is on the
//                                      board may be freed from now on
//   freed <length> <path>              the board has freed what it may of the first <length>
//   kept <length> <path>               only <length> bytes are here: behind, the board's count
//   moved <path> TAB <path>            the application has renamed it
//   forgotten <path>                   it is the board's alone
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
  std::uint64_t length = 0;  // bytes that are here, flushed; the board may have freed them
  std::uint64_t freed = 0;   // of them those that it has surely freed, but for the first block
};

class DrainJournal {
 public:
  // Makes the folder, or goes on with one. Throws Error(cannot_write).
  explicit DrainJournal(std::filesystem::path folder);
  // True for a file that begins as a journal.
  static bool is_one(const std::filesystem::path& file);

  const std::filesystem::path& folder() const { return folder_; }
  // Of this machine; acceptable paths only.
  std::filesystem::path file(const std::string& path) const { return folder_ / "raw" / path; }
  const std::map<std::string, DrainedFile>& files() const { return files_; }

  // Returns when the line is on the disk: the bytes of the file must be there before.
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
