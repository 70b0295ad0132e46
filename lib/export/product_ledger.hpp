// ProductLedger: which files msprof has put into a folder, so that a later export can remove what
// it replaces and nothing else. For ProductFolder. The ledger is the dot file ".msprof_products"
// beside the products, a line a file: kind, bytes, mtime in ns, document, name, with tabs between.
// A file is named there before it appears, with the size and time that it will have, and what stood
// under its name before keeps its line until the export ends: a killed export leaves no file that
// the next one does not know. Lines of several commands at once do not get lost: the folder is
// locked while the ledger changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace msprof {

inline constexpr const char* kLedgerName = ".msprof_products";

// A file as the ledger knows it.
struct LedgerEntry {
  std::string kind;      // "timeline", "csv", …: only files of one kind replace each other
  std::string document;  // the stem of its document, without iteration, slice and extension
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
};

// The entry for a whole file that still has a temporary name. Throws Error(cannot_write).
LedgerEntry ledger_entry(const std::string& kind, const std::string& document,
                         const std::filesystem::path& temporary,
                         const std::filesystem::path& target);

// What an export of one kind replaces: everything of its kind, or these documents.
struct ProductClaim {
  std::string kind;
  bool everything = false;
  std::set<std::string> documents;
};

class ProductLedger {
 public:
  explicit ProductLedger(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Before the files appear. Throws Error(cannot_write).
  void announce(const std::vector<LedgerEntry>& entries);

  // After all of them did: removes what earlier exports wrote of what is claimed and this one did
  // not write. Files that were changed since are left; so is everything where this one wrote
  // nothing.
  struct Retired {
    std::vector<std::filesystem::path> removed;
    std::vector<std::filesystem::path> changed;
  };
  Retired retire(const ProductClaim& claim);

  // Whether the file `name` is, unchanged, one that an export of `kind` wrote.
  bool knows(const std::string& kind, const std::string& name) const;

 private:
  std::filesystem::path folder_;
  std::mutex mutex_;
  bool is_begun_ = false;
  std::map<std::string, LedgerEntry> written_;  // by this export, by name
};

}  // namespace msprof
