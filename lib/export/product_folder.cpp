#include "export/product_folder.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/durable.hpp"
#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "export/exporter.hpp"
#include "export/products.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Limit for complete files that wait for the others: each is open, and a process may open only some
// hundreds.
std::size_t max_kept() {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 8;
  return static_cast<std::size_t>(std::clamp<rlim_t>(files.rlim_cur / 8, 8, 256));
}

}  // namespace

fs::path product_folder(const fs::path& base, const std::string& name) {
  fs::path folder = base / name;
  std::error_code error;
  if (fs::is_symlink(folder, error) &&
      fs::weakly_canonical(folder, error).parent_path() != fs::weakly_canonical(base, error)) {
    throw Error(
        Exit::cannot_write,
        fmt::format("{} is a link that leads out of {}; choose another folder with --output",
                    folder.string(), base.string()));
  }
  return folder;
}

ProductFolder::ProductFolder(fs::path path, std::string kind, bool replaces_all)
    : path_(std::move(path)), claim_{std::move(kind), replaces_all, {}}, ledger_(path_) {}

ProductFolder::~ProductFolder() {
  files_.clear();
  std::error_code ignored;
  if (is_new_) fs::remove(path_, ignored);  // no effect if the folder has files
}

const fs::path& ProductFolder::make() {
  std::call_once(once_, [this] {
    std::error_code ignored;
    is_new_ = !fs::exists(path_, ignored);
    create_output_folder(path_);
  });
  return path_;
}

void ProductFolder::publish(const std::string& product,
                            std::vector<std::unique_ptr<AtomicFile>> files) {
  const std::lock_guard lock(mutex_);
  for (const auto& file : files) keep(product, file->finish());
  if (is_held_ || files_.size() <= max_kept()) return;
  std::vector<std::function<void()>> syncs;
  add_syncs(syncs);
  sync_together(syncs);
  publish_kept();
}

void ProductFolder::publish(const std::string& product, TemporaryFile file) {
  const std::lock_guard lock(mutex_);
  keep(product, std::move(file));
}

void ProductFolder::keep(const std::string& product, TemporaryFile file) {
  entries_.push_back(ledger_entry(claim_.kind, product, file));
  files_.push_back(std::move(file));
}

void ProductFolder::add_syncs(std::vector<std::function<void()>>& syncs) {
  for (const TemporaryFile& file : files_) syncs.emplace_back([&file] { file.sync(); });
}

// Requires the files to be on disk.
void ProductFolder::publish_kept() {
  if (files_.empty()) return;
  ledger_.publish(entries_, files_);
  entries_.clear();
  files_.clear();
  is_changed_ = true;
}

void ProductFolder::release_all(const std::vector<ProductFolder*>& folders) {
  std::vector<std::function<void()>> syncs;
  for (ProductFolder* folder : folders) folder->add_syncs(syncs);
  sync_together(std::exchange(syncs, {}));
  for (ProductFolder* folder : folders) {
    syncs.emplace_back([folder] {
      folder->publish_kept();
      if (!std::exchange(folder->is_changed_, false)) return;
      sync_folder(folder->path_);
      if (folder->is_new_) sync_folder(folder->path_.parent_path());
    });
  }
  sync_together(syncs);
}

void ProductFolder::retire() {
  const auto retired = ledger_.retire(claim_);
  for (const fs::path& path : retired.removed)
    log::verbose("removed {} of an earlier export", path.string());
  if (!retired.removed.empty()) {
    log::info("removed {} of an earlier export from {}", counted(retired.removed.size(), "file"),
              path_.string());
  }
  for (const fs::path& path : retired.changed) {
    log::warn(FindingId::product_changed,
              "{} is from an earlier export and was modified since: it is kept, and viewers that "
              "load the folder show it as well",
              path.string());
  }
}

std::vector<fs::path> outdated_products(const TraceDb& store,
                                        const std::vector<ExportedFile>& written) {
  std::set<fs::path> fresh;
  std::set<fs::path> folders;
  for (const ExportedFile& file : written) {
    fresh.insert(file.path);
    folders.insert(file.path.parent_path());
  }
  std::error_code error;
  const auto made = fs::last_write_time(store.path(), error);
  std::vector<fs::path> outdated;
  for (const fs::path& folder : folders) {
    for (const auto& [name, type] : list_folder(folder).entries) {
      const fs::path path = folder / name;
      if (is_product_name(name) && !fresh.contains(path) && fs::last_write_time(path, error) < made)
        outdated.push_back(path);
    }
  }
  std::sort(outdated.begin(), outdated.end());
  return outdated;
}

}  // namespace msprof
