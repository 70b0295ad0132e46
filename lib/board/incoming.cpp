#include "board/incoming.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "board/names.hpp"

namespace msprof {

namespace {

// A board could send refusable names without end; beyond this only their number is kept.
constexpr std::size_t kMostNames = 10'000;
constexpr std::size_t kMostExamples = 5;
constexpr int kExampleWidth = 120;

}  // namespace

bool Incoming::admit(const NewFile& file) {
  const std::string_view objection = objection_to_board_path(file.path);
  if (objection.empty()) return true;
  refuse(file.path, objection);
  return false;
}

bool Incoming::make_folder(const NewFile& folder) {
  if (!admit(folder)) return false;
  const std::string objection = tree_.make_folder(folder);
  if (!objection.empty()) refuse(folder.path, objection);
  return objection.empty();
}

bool Incoming::open_file(const NewFile& file) {
  if (!admit(file)) return false;
  const std::string objection = tree_.open_file(file);
  if (!objection.empty()) {
    refuse(file.path, objection);
    return false;
  }
  refused_.erase(file.path);
  return true;
}

void Incoming::write(std::string_view bytes) {
  tree_.write(bytes);
  bytes_ += bytes.size();
}

void Incoming::refuse(std::string_view path, std::string_view reason) {
  if (refused_.size() < kMostNames) {
    refused_.emplace(path, reason);
  } else if (refused_.find(path) == refused_.end()) {
    ++unnamed_;
  }
}

std::vector<NewFile> Incoming::take_folders(const TreeListing& listing) {
  std::vector<NewFile> files;
  for (const auto& [path, listed] : listing.files) {
    const NewFile file = {path, listed.mode, listed.mtime_seconds, listed.size_bytes};
    if (listed.special) {
      refuse(path, kSpecialFile);
    } else if (listed.kind == EntryKind::link) {
      refuse(path, kLink);
    } else if (listed.kind == EntryKind::folder) {
      make_folder(file);
    } else {
      files.push_back(file);
    }
  }
  return files;
}

std::vector<std::string> Incoming::examples() const {
  std::vector<std::string> examples;
  for (const auto& [path, reason] : refused_) {
    if (examples.size() == kMostExamples) break;
    examples.push_back(fmt::format("{}: {}", shorten(printable(path), kExampleWidth), reason));
  }
  return examples;
}

}  // namespace msprof
