// ProductFolder: the folder into which an export writes the files of one kind. For the planners.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"
#include "export/product_ledger.hpp"
#include "store/database.hpp"

namespace msprof {

// Returns `base`/`name`. Throws Error(cannot_write) if it is a link that leads out of `base`, which
// only an untrusted capture would have.
std::filesystem::path product_folder(const std::filesystem::path& base, const std::string& name);

// The folder for the files of one kind that an export writes. It is created for the first file and
// removed if no job wrote one.
class ProductFolder {
 public:
  // `kind` and `replaces_all` select the earlier files that this export replaces: all of that kind,
  // or those of the products passed to claim().
  ProductFolder(std::filesystem::path path, std::string kind, bool replaces_all);
  ~ProductFolder();
  ProductFolder(const ProductFolder&) = delete;
  ProductFolder& operator=(const ProductFolder&) = delete;

  // Call during planning.
  void claim(const std::string& product) { claim_.output_files.insert(product); }
  const std::filesystem::path& make();

  // Takes complete files of `product`. They appear with release(), once all are in the ledger;
  // earlier if some hundreds wait, because each is an open file.
  void publish(const std::string& product, std::vector<std::unique_ptr<AtomicFile>> files);
  void publish(const std::string& product, TemporaryFile file);
  // From now on files appear only with release(), regardless of their number.
  void hold() { is_held_ = true; }
  // Call once all jobs are done. On return, the files and their names are on disk.
  void release() { release_all({this}); }
  // Releases several folders: all files are on disk before the first gets its name.
  static void release_all(const std::vector<ProductFolder*>& folders);

  // Removes the files of earlier exports that this one replaces, and logs them. Call once all jobs
  // are done.
  void retire();

 private:
  void keep(const std::string& product, TemporaryFile file);
  void add_syncs(std::vector<std::function<void()>>& syncs);
  void publish_kept();

  std::filesystem::path path_;
  ProductClaim claim_;
  ProductLedger ledger_;
  std::once_flag once_;
  bool is_new_ = false;
  bool is_held_ = false;
  bool is_changed_ = false;  // names not yet synced to disk
  std::mutex mutex_;         // for the kept files
  std::vector<LedgerEntry> entries_;
  std::vector<TemporaryFile> files_;
};

}  // namespace msprof
