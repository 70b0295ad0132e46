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
#include "export/scope/product_info.hpp"

namespace msprof {

// ProductLedger: the files that msprof has put into a folder, so that a later export can remove
// what it replaces and nothing else. For ProductFolder. The ledger is the dot file
// ".msprof_products" beside the products, a line a file: kind, bytes, mtime in ns, document, name,
// with tabs between. A file is named there before it appears, with the size and time that it will
// have, and what stood under its name before keeps its line until the next export: a killed export,
// or a power cut, leaves no file that the next one does not know. Lines of several commands at once
// do not get lost: the folder is locked while the ledger changes.

inline constexpr const char* kLedgerName = ".msprof_products";

// The timeline that merges all files of a board's capture (TimelineOptions::is_merged).
inline constexpr std::string_view kMergedTimeline = "merged_timeline";

struct LedgerEntry {
  std::string kind;         // "timeline", "csv", …: files only replace files of the same kind
  std::string output_file;  // stem of its document, without iteration, slice and extension
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
};

// Returns the entry for a complete file that still has a temporary name. Throws
// Error(cannot_write).
LedgerEntry ledger_entry(const std::string& kind, const std::string& output_file,
                         const TemporaryFile& temporary);

// Files replaced by an export: all of `kind`, or only `output_files`.
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

  // Removes the claimed files of earlier exports that this one did not write. Call when all files
  // of this export have appeared. Keeps files that were changed since, and all files if this export
  // wrote none.
  struct Retired {
    std::vector<std::filesystem::path> removed;
    std::vector<std::filesystem::path> changed;
  };
  Retired retire(const ProductClaim& claim);

  // Returns true if an export of `kind` wrote the file `name` and it is unchanged.
  bool knows(const std::string& kind, const std::string& name) const;

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  bool is_begun_ = false;
  std::map<std::string, LedgerEntry> written_;  // files of this export, by name
};

// Makes file names that are unique within an export.
class FileNames {
 public:
  explicit FileNames(std::string extension) : extension_(std::move(extension)) {}
  std::string next(const std::string& stem);

 private:
  std::string extension_;
  std::set<std::string> taken_;
};

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

  // Call while the export is planned.
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

  // Removes the files of earlier exports that this one replaces, and logs them. Call once all jobs
  // are done.
  void retire();

  // Removes `name` if it is a JSON table under its former name; else keeps it and logs its name.
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

// Returns false if the document is about a device's model that is out of scope (board captures).
// Documents about several devices check the scope row by row.
bool is_of_scope(const Database& db, const OutputFile& output_file, const ExportScope& scope);

// Sets output_file.product. If output_file.scope is one iteration, adds "_<model>_<iteration>" to
// the stem, preceded by the device if the scope is one device.
void name_scope(OutputFile& output_file);

// Returns the stem of slice `number`: "op_summary_slice_1_20240515".
std::string slice_stem(const OutputFile& output_file, std::size_t number);

}  // namespace msprof
