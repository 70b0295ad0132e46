#include "base/folder_listing.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/error.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

fs::file_type to_file_type(unsigned char type) {
  if (type == DT_DIR) return fs::file_type::directory;
  if (type == DT_REG) return fs::file_type::regular;
  if (type == DT_LNK) return fs::file_type::symlink;
  return fs::file_type::unknown;
}

// Listing in the form that glob() needs; glob() ignores readdir() errors.
struct GlobFolder {
  FolderListing listing;
  std::size_t next = 0;
  dirent entry = {};
};

// Error for the first folder that glob() could not list. Global because glob() callbacks have no
// user-data argument.
thread_local std::string glob_problem;

void* open_for_glob(const char* folder) {
  auto open = std::make_unique<GlobFolder>();
  open->listing = list_folder(*folder == '\0' ? "." : folder);
  if (open->listing.is_cut() && glob_problem.empty())
    glob_problem = listing_problem(folder, open->listing.error_number);
  if (open->listing.error_number == 0) return open.release();
  errno = ENOENT;
  return nullptr;
}

dirent* read_for_glob(void* folder) {
  auto* const open = static_cast<GlobFolder*>(folder);
  if (open->next == open->listing.entries.size()) return nullptr;
  const std::string& name = open->listing.entries[open->next++].name;
  open->entry.d_ino = 1;  // 0 would mean a deleted entry
  open->entry.d_type = DT_UNKNOWN;
  open->entry.d_name[name.copy(open->entry.d_name, sizeof(open->entry.d_name) - 1)] = '\0';
  return &open->entry;
}

void close_for_glob(void* folder) {
  delete static_cast<GlobFolder*>(folder);
}

}  // namespace

bool FolderListing::is_absent() const {
  return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP;
}

FolderListing list_folder(const fs::path& folder, std::size_t limit) {
  FolderListing listing;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) {
    listing.error_number = errno;
    return listing;
  }
  while (listing.entries.size() < limit) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) {
      listing.error_number = errno;
      break;
    }
    std::string name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..")
      listing.entries.push_back({std::move(name), to_file_type(entry->d_type)});
  }
  std::sort(listing.entries.begin(), listing.entries.end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return listing;
}

std::vector<std::string> list_names(const fs::path& folder) {
  FolderListing listing = list_folder(folder);
  if (listing.is_cut())
    throw Error(Exit::partial_data, listing_problem(folder, listing.error_number));
  std::vector<std::string> names;
  names.reserve(listing.entries.size());
  for (FolderEntry& entry : listing.entries) names.push_back(std::move(entry.name));
  return names;
}

std::vector<std::string> list_matches(const std::string& pattern, int flags) {
  glob_t matches = {};
  matches.gl_opendir = open_for_glob;
  matches.gl_readdir = read_for_glob;
  matches.gl_closedir = close_for_glob;
  matches.gl_stat = ::stat;
  matches.gl_lstat = ::lstat;
  glob_problem.clear();
  const int code = ::glob(pattern.c_str(), flags | GLOB_ALTDIRFUNC, nullptr, &matches);
  std::vector<std::string> paths;
  if (code == 0) paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  if (!glob_problem.empty()) throw Error(Exit::partial_data, glob_problem);
  return paths;
}

std::string listing_problem(const fs::path& folder, int error_number) {
  return fmt::format("cannot list {}: {}", folder.string(), errno_text(error_number));
}

}  // namespace msprof
