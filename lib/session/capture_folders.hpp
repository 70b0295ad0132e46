// CaptureFolders: lists the folders of one capture and remembers what could not be read. For Session
// and what recognises one. A folder is listed once, so that the dialect and the session rest on the
// same names, and an error that does not come again is still reported. Not for several threads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace msprof {

class CaptureFolders {
 public:
  // The names in a folder, sorted; those that were read, if it cannot be listed.
  const std::vector<std::string>& names(const std::filesystem::path& folder);
  // False if there is no such folder, or if that cannot be found out.
  bool is_folder(const std::filesystem::path& path);

  // What could not be read, with a sentence that names it.
  const std::map<std::filesystem::path, std::string>& problems() const { return problems_; }
  // Adds a file on which the dialect depends.
  void add_problem(const std::filesystem::path& path, std::string sentence);

 private:
  std::map<std::filesystem::path, std::vector<std::string>> names_;
  std::map<std::filesystem::path, std::string> problems_;
};

}  // namespace msprof
