#include "session/capture_folders.hpp"

#include <system_error>
#include <utility>

#include "base/folder_listing.hpp"

namespace msprof {

namespace fs = std::filesystem;

const std::vector<std::string>& CaptureFolders::names(const fs::path& folder) {
  const auto [at, is_new] = names_.try_emplace(folder);
  if (!is_new) return at->second;
  FolderListing listing = list_folder(folder);
  if (listing.is_cut()) add_problem(folder, listing_problem(folder, listing.error_number));
  for (FolderEntry& entry : listing.entries) at->second.push_back(std::move(entry.name));
  return at->second;
}

void CaptureFolders::add_problem(const fs::path& path, std::string sentence) {
  problems_.emplace(path, std::move(sentence));
}

bool CaptureFolders::is_folder(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  // A symbolic link to itself is neither a folder nor an error.
  if (type == fs::file_type::none && error != std::errc::too_many_symbolic_link_levels)
    add_problem(path, listing_problem(path, error.value()));
  return type == fs::file_type::directory;
}

}  // namespace msprof
