// ProductLedger: records the files that msprof put into a folder, so that a later export can remove
// exactly those that it replaces. For ProductFolder. The ledger is the hidden file
// ".msprof_products" in that folder, with one line per file: kind, bytes, mtime in ns, document and
// name, separated by tabs. A file is listed, with its final size and time, before it appears; the
// line of a file that it replaces stays until the next export. So a killed export or a power cut
// leaves no unlisted file. The folder is locked while the ledger changes, so concurrent commands
// lose no lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"

namespace msprof {

inline constexpr const char* kLedgerName = ".msprof_products";

struct LedgerEntry {
  std::string kind;         // "timeline", "csv", …: files only replace files of the same kind
  std::string output_file;  // stem without iteration, slice and extension
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
  bool replaces_everything = false;
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

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  bool is_begun_ = false;
  std::map<std::string, LedgerEntry> written_;  // files of this export, by name
};

}  // namespace msprof
