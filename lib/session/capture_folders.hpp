// CaptureFolders lists the folders of one capture and records listing errors. Each folder is listed
// only once, so that dialect detection and the session see the same names, and a transient error is
// still reported. Not thread-safe.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace msprof {

class CaptureFolders {
 public:
  // Returns the sorted names in a folder; after an error, only the names read before it.
  const std::vector<std::string>& names(const std::filesystem::path& folder);
  // False if the folder does not exist or its type cannot be determined.
  bool is_folder(const std::filesystem::path& path);

  // Paths that could not be read, each with a sentence that describes the error.
  const std::map<std::filesystem::path, std::string>& problems() const { return problems_; }
  // Records that a file could not be read. For files that decide the dialect.
  void add_problem(const std::filesystem::path& path, std::string sentence);

 private:
  std::map<std::filesystem::path, std::vector<std::string>> names_;
  std::map<std::filesystem::path, std::string> problems_;
};

}  // namespace msprof
