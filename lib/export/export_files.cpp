#include "export/export_files.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/findings.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/former_table.hpp"
#include "export/summary_file.hpp"

namespace msprof {

namespace fs = std::filesystem;

std::string FileNames::next(const std::string& stem) {
  std::string name = limited_file_name(stem, extension_);
  for (int number = 2; !taken_.insert(name).second; ++number) {
    name = limited_file_name(stem, name_suffix(number) + extension_);
  }
  return name;
}

fs::path product_folder(const fs::path& base, const std::string& name) {
  const fs::path folder = base / name;
  std::error_code error;
  if (fs::is_symlink(folder, error) &&
      fs::weakly_canonical(folder, error).parent_path() != fs::weakly_canonical(base, error)) {
    throw Error(Exit::cannot_write,
                fmt::format("{} is a link that leads out of {}; give another folder with --output",
                            folder.string(), base.string()));
  }
  return folder;
}

ProductFolder::ProductFolder(fs::path path, std::string kind, bool replaces_all)
    : path_(std::move(path)), claim_{std::move(kind), replaces_all, {}}, ledger_(path_) {}

ProductFolder::~ProductFolder() {
  std::error_code ignored;
  if (is_new_) fs::remove(path_, ignored);  // does nothing to a folder with files
}

const fs::path& ProductFolder::make() {
  std::call_once(once_, [this] {
    std::error_code ignored;
    is_new_ = !fs::exists(path_, ignored);
    create_output_folder(path_);
    remove_stale_temporaries(path_);
  });
  return path_;
}

void ProductFolder::publish(const std::string& product,
                            const std::vector<std::unique_ptr<AtomicFile>>& files) {
  std::vector<LedgerEntry> entries;
  for (const auto& file : files)
    entries.push_back(ledger_entry(claim_.kind, product, file->finish(), file->target()));
  ledger_.announce(entries);
  for (const auto& file : files) file->commit();
}

void ProductFolder::announce(const std::string& product, const fs::path& temporary,
                             const fs::path& target) {
  ledger_.announce({ledger_entry(claim_.kind, product, temporary, target)});
}

void ProductFolder::retire() {
  const auto retired = ledger_.retire(claim_);
  for (const fs::path& path : retired.removed)
    log::verbose("removed {}, of an earlier export", path.string());
  if (!retired.removed.empty()) {
    log::info("removed {} of an earlier export from {}", counted(retired.removed.size(), "file"),
              path_.string());
  }
  for (const fs::path& path : retired.changed) {
    log::warn(
        FindingId::product_changed,
        "{} is of an earlier export and was changed since: it stays, and viewers that load the "
        "folder show it, too",
        path.string());
  }
}

void ProductFolder::remove_former_table(const std::string& name,
                                        const std::vector<std::string>& columns) {
  const fs::path path = path_ / name;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error)) || ledger_.knows("timeline", name)) return;
  if (!is_json_table(path, columns)) {
    log::info("{} stays: it is not the table of an earlier export", path.string());
    return;
  }
  if (fs::remove(path, error))
    log::info("removed {}: tables are {} now", path.string(), kJsonTableExtension);
}

bool is_of_scope(const Database& db, const Document& document, const ExportScope& scope) {
  if (scope.devices.empty() || document.model_row == kNull) return true;
  Statement read = db.prepare("SELECT device_id FROM model WHERE id = ?");
  read.bind(1, document.model_row);
  return !read.step() || read.is_null(0) || scope.takes_device(read.integer(0));
}

void name_scope(Document& document) {
  document.product = document.stem;
  const ExportScope& scope = document.scope;
  if (!scope.model_number || !scope.iteration) return;
  const std::string device =
      scope.windows.size() == 1 ? fmt::format("_{}", scope.windows.front().device_id) : "";
  const std::string part = fmt::format("{}_{}_{}", device, *scope.model_number, *scope.iteration);
  const std::size_t at = document.slice_at > 0 ? document.slice_at : document.stem.size();
  document.stem.insert(at, part);
  if (document.slice_at > 0) document.slice_at += part.size();
}

std::string slice_stem(const Document& document, std::size_t number) {
  std::string stem = document.stem;
  const std::size_t at = document.slice_at > 0 ? document.slice_at : stem.size();
  return stem.insert(at, fmt::format("_slice_{}", number));
}

}  // namespace msprof
