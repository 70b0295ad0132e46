// Names and folders of the files of one export. For the planners.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "export/exporter.hpp"
#include "export/product_info.hpp"

namespace msprof {

// ProductLedger: the files that msprof has put into a folder, so that a later export can remove
// what it replaces and nothing else. For ProductFolder. The ledger is the dot file
// ".msprof_products" beside the products, a line a file: kind, bytes, mtime in ns, document, name,
// with tabs between. A file is named there before it appears, with the size and time that it will
// have, and what stood under its name before keeps its line until the next export: a killed export,
// or a power cut, leaves no file that the next one does not know. Lines of several commands at once
// do not get lost: the folder is locked while the ledger changes.

inline constexpr const char* kLedgerName = ".msprof_products";

// The timeline of a board's capture that has all others (TimelineOptions::is_merged).
inline constexpr std::string_view kMergedTimeline = "merged_timeline";

// A file as the ledger knows it.
struct LedgerEntry {
  std::string kind;         // "timeline", "csv", …: only files of one kind replace each other
  std::string output_file;  // the stem of its document, without iteration, slice and extension
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
};

// The entry for a whole file that still has a temporary name. Throws Error(cannot_write).
LedgerEntry ledger_entry(const std::string& kind, const std::string& output_file,
                         const TemporaryFile& temporary);

// Files that an export of one kind replaces: everything of its kind, or these documents.
struct ProductClaim {
  std::string kind;
  bool everything = false;
  std::set<std::string> output_files;
};

class ProductLedger {
 public:
  explicit ProductLedger(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Adds files to the ledger and gives them their names. Throws Error(cannot_write).
  void publish(const std::vector<LedgerEntry>& entries, std::vector<TemporaryFile>& files);

  // Removes, after all of them did, what earlier exports wrote of what is claimed and this one did
  // not write. Files that were changed since are left; so is everything where this one wrote
  // nothing.
  struct Retired {
    std::vector<std::filesystem::path> removed;
    std::vector<std::filesystem::path> changed;
  };
  Retired retire(const ProductClaim& claim);

  // True if the file `name` is, unchanged, one that an export of `kind` wrote.
  bool knows(const std::string& kind, const std::string& name) const;

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  bool is_begun_ = false;
  std::map<std::string, LedgerEntry> written_;  // by this export, by name
};

// No two documents share a file name.
class FileNames {
 public:
  explicit FileNames(std::string extension) : extension_(std::move(extension)) {}
  std::string next(const std::string& stem);

 private:
  std::string extension_;
  std::set<std::string> taken_;
};

// `base`/`name`; throws Error(cannot_write) when it is a link that leads out of `base`, which only
// a capture from elsewhere would have.
std::filesystem::path product_folder(const std::filesystem::path& base, const std::string& name);

// A folder that the jobs of one export write files of one kind to. It is made for the first file,
// and removed again where no job had anything to write.
class ProductFolder {
 public:
  // `kind` and `replaces_all` select the earlier files that this export replaces: all of their
  // kind, or those of the products that claim() names.
  ProductFolder(std::filesystem::path path, std::string kind, bool replaces_all);
  ~ProductFolder();
  ProductFolder(const ProductFolder&) = delete;
  ProductFolder& operator=(const ProductFolder&) = delete;

  // Adds a product, while the export is planned.
  void claim(const std::string& product) { claim_.output_files.insert(product); }
  const std::filesystem::path& make();

  // Takes files of `product` that are whole. They appear with release(), all known to the ledger of
  // the folder before the first does; some hundreds of them before that, as each is an open file.
  void publish(const std::string& product, std::vector<std::unique_ptr<AtomicFile>> files);
  void publish(const std::string& product, TemporaryFile file);
  // From now on they appear only with release(), however many they are.
  void hold() { is_held_ = true; }
  // Once all jobs are done: when this returns, the files and their names are on the disk.
  void release() { release_all({this}); }
  // Likewise for several: all files are on the disk before the first of them has its name.
  static void release_all(const std::vector<ProductFolder*>& folders);

  // Removes, once all jobs are done, what earlier exports wrote and this one replaces, and reports
  // it.
  void retire();

  // Removes `name`, a table as JSON by its former name, when it is one; anything else stays and is
  // named.
  void remove_former_table(const std::string& name, const std::vector<std::string>& columns);

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
  bool is_changed_ = false;  // it has new names since it was brought to the disk
  std::mutex mutex_;         // of what is kept
  std::vector<LedgerEntry> entries_;
  std::vector<TemporaryFile> files_;
};

// False for what is about a model of a device that the scope leaves out (captures of boards);
// documents of several devices ask the scope row by row.
bool is_of_scope(const Database& db, const OutputFile& output_file, const ExportScope& scope);

// Sets document.product; the stem with "_<model>_<iteration>" where document.scope is one
// iteration, the device in front where it is one device.
void name_scope(OutputFile& output_file);

// The stem of slice `number`: "op_summary_slice_1_20240515".
std::string slice_stem(const OutputFile& output_file, std::size_t number);

}  // namespace msprof
