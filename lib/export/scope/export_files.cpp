#include "export/scope/export_files.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include "base/atomic_file.hpp"
#include "base/durable.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/findings.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "export/exporter.hpp"
#include "export/planners.hpp"
#include "export/products.hpp"
#include "export/table/table_writers.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHeader = "msprof products 1";
// A board run with an interval of 1 has ten thousand products, whose lines have about 200 bytes.
constexpr std::uint64_t kMaxLedgerBytes = 64 << 20;

// The most files of a folder that are whole and wait for the others: each is open, and a process
// may have some hundreds.
std::size_t max_kept() {
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return 8;
  return static_cast<std::size_t>(std::clamp<rlim_t>(files.rlim_cur / 8, 8, 256));
}

using Entries = std::vector<LedgerEntry>;

// Locks the folder against other commands that change its ledger. Without effect on file systems
// that do not support locks.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : fd_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (fd_ && ::flock(fd_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  int folder() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }

 private:
  FileDescriptor fd_;
};

bool is_plain(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// The ledger can come with a capture, so it is untrusted: only files in this folder with the name
// of a product are touched.
bool is_ours(const LedgerEntry& entry) {
  return is_plain(entry.kind) && is_plain(entry.output_file) && is_plain(entry.name) &&
         entry.name.find('/') == std::string::npos && is_product_name(entry.name);
}

std::string line_of(const LedgerEntry& entry) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", entry.kind, entry.bytes, entry.mtime_ns,
                     entry.output_file, entry.name);
}

bool parse_line(std::string_view line, LedgerEntry& entry) {
  const auto parts = split(line, '\t');
  if (parts.size() != 5) return false;
  const std::string_view time = parts[2];
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), entry.mtime_ns);
  if (error != std::errc() || end != time.data() + time.size()) return false;
  if (!parse_u64(parts[1], entry.bytes)) return false;
  entry.kind = parts[0];
  entry.output_file = parts[3];
  entry.name = parts[4];
  return is_ours(entry);
}

// Empty if there is no ledger or it is not ours. Ignores a line cut short by a killed command.
// Throws Error(partial_data) if the ledger cannot be read: its files would never be removed.
Entries read_entries(const fs::path& folder) {
  const fs::path path = folder / kLedgerName;
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) return {};
  if (fs::file_size(path, error) > kMaxLedgerBytes) return {};
  const std::string text = read_text_file(path, kMaxLedgerBytes);
  const std::size_t last = text.rfind('\n');
  const auto lines = split(std::string_view(text).substr(0, last == text.npos ? 0 : last), '\n');
  if (lines.empty() || lines.front() != kHeader) return {};
  Entries entries;
  for (const std::string_view line : lines) {
    LedgerEntry entry;
    if (parse_line(line, entry)) entries.push_back(std::move(entry));
  }
  return entries;
}

void write_entries(const fs::path& folder, const Entries& entries) {
  AtomicFile file(folder / kLedgerName);
  file.write(fmt::format("{}\n", kHeader));
  for (const LedgerEntry& entry : entries) file.write(line_of(entry));
  TemporaryFile ledger = file.finish();
  ledger.sync();
  ledger.rename();
}

void append_lines(const FolderLock& folder, const fs::path& path, std::string_view lines) {
  const FileDescriptor fd(
      ::openat(folder.folder(), kLedgerName, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  while (fd && !lines.empty()) {
    const ssize_t count = ::write(fd.get(), lines.data(), lines.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    lines.remove_prefix(static_cast<std::size_t>(count));
  }
  if (!lines.empty()) throw_cannot_write(path, errno);
  sync_file(fd.get(), path);
}

std::int64_t mtime_ns_of(const struct stat& file) {
  return static_cast<std::int64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec;
}

bool is_same(const LedgerEntry& entry, const struct stat& file) {
  return S_ISREG(file.st_mode) && static_cast<std::uint64_t>(file.st_size) == entry.bytes &&
         mtime_ns_of(file) == entry.mtime_ns;
}

// Entries of files that are there: of each name the one that the file is as, else the last.
Entries entries_of_files(const FolderLock& folder, Entries entries) {
  std::map<std::string, Entries> by_name;
  for (LedgerEntry& entry : entries) by_name[entry.name].push_back(std::move(entry));
  Entries kept;
  for (const auto& [name, all] : by_name) {
    struct stat file = {};
    if (::fstatat(folder.folder(), name.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const auto same = std::find_if(all.rbegin(), all.rend(),
                                   [&](const LedgerEntry& entry) { return is_same(entry, file); });
    kept.push_back(same == all.rend() ? all.back() : *same);
  }
  return kept;
}

bool is_claimed(const ProductClaim& claim, const LedgerEntry& entry) {
  return entry.kind == claim.kind &&
         (claim.everything || claim.output_files.count(entry.output_file) > 0);
}

}  // namespace

LedgerEntry ledger_entry(const std::string& kind, const std::string& output_file,
                         const TemporaryFile& temporary) {
  struct stat file = {};
  if (::fstat(temporary.fd(), &file) != 0) throw_cannot_write(temporary.target(), errno);
  // A rename changes neither.
  return {kind, output_file, temporary.target().filename().string(),
          static_cast<std::uint64_t>(file.st_size), mtime_ns_of(file)};
}

void ProductLedger::publish(const std::vector<LedgerEntry>& entries,
                            std::vector<TemporaryFile>& files) {
  const std::lock_guard guard(mutex_);
  const FolderLock lock(folder_);
  if (!lock) throw_cannot_write(folder_, errno);
  for (const LedgerEntry& entry : entries) written_[entry.name] = entry;
  // The first time as a whole, without what is gone and what a killed command left of a line.
  if (!is_begun_) {
    Entries all = entries_of_files(lock, read_entries(folder_));
    all.insert(all.end(), entries.begin(), entries.end());
    write_entries(folder_, all);
    is_begun_ = true;
  } else {
    std::string lines;
    for (const LedgerEntry& entry : entries) lines += line_of(entry);
    append_lines(lock, folder_ / kLedgerName, lines);
  }
  for (TemporaryFile& file : files) file.rename();
}

ProductLedger::Retired ProductLedger::retire(const ProductClaim& claim) {
  const std::lock_guard guard(mutex_);
  Retired retired;
  if (written_.empty()) return retired;
  const FolderLock lock(folder_);
  if (!lock) throw_cannot_write(folder_, errno);
  for (const LedgerEntry& entry : entries_of_files(lock, read_entries(folder_))) {
    struct stat file = {};
    if (written_.count(entry.name) > 0 || !is_claimed(claim, entry) ||
        ::fstatat(lock.folder(), entry.name.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (!is_same(entry, file)) {
      retired.changed.push_back(folder_ / entry.name);
      continue;
    }
    if (::unlinkat(lock.folder(), entry.name.c_str(), 0) != 0)
      throw_cannot_write(folder_ / entry.name, errno);
    retired.removed.push_back(folder_ / entry.name);
  }
  return retired;
}

bool ProductLedger::knows(const std::string& kind, const std::string& name) const {
  struct stat file = {};
  if (::lstat((folder_ / name).c_str(), &file) != 0) return false;
  const Entries entries = read_entries(folder_);
  return std::any_of(entries.begin(), entries.end(), [&](const LedgerEntry& entry) {
    return entry.kind == kind && entry.name == name && is_same(entry, file);
  });
}

// Recognizes JSON tables under the name they had in earlier versions, which a timeline can have,
// too. For ProductFolder.

namespace {

// Longer than any row that msprof writes.
constexpr std::size_t kMaxRowBytes = 1 << 20;

std::string bytes_at(int fd, off_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  const ssize_t got = ::pread(fd, bytes.data(), count, offset);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

// A row has every key, in the order of the columns.
bool is_row(std::string_view line, const std::vector<std::string>& keys) {
  if (!line.starts_with('{')) return false;
  std::size_t at = 0;
  for (const std::string& key : keys) {
    const std::size_t found = line.find(key, at);
    const bool is_first = at == 0;
    if (found == line.npos || (is_first ? found != 1 : line[found - 1] != ',')) return false;
    at = found + key.size();
  }
  return line.ends_with('}') || line.ends_with("},");
}

// Returns true if the file looks like a table with these columns written by JsonTableWriter. Reads
// only its first row and its end.
bool is_json_table(const std::filesystem::path& path, std::span<const std::string> columns) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat file = {};
  if (!fd || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
  constexpr std::string_view kBegin = "[\n";
  constexpr std::string_view kEnd = "\n]\n";
  const std::string head = bytes_at(fd.get(), 0, kMaxRowBytes);
  if (head == "[]\n") return true;
  if (!head.starts_with(kBegin) || file.st_size < static_cast<off_t>(kEnd.size())) return false;
  if (bytes_at(fd.get(), file.st_size - static_cast<off_t>(kEnd.size()), kEnd.size()) != kEnd)
    return false;
  const std::size_t row_end = head.find('\n', kBegin.size());
  if (row_end == head.npos) return false;
  const auto row = std::string_view(head).substr(kBegin.size(), row_end - kBegin.size());
  return is_row(row, json_table_keys(columns));
}

}  // namespace

std::string FileNames::next(const std::string& stem) {
  std::string name = limited_file_name(stem, extension_);
  for (int number = 2; !taken_.insert(name).second; ++number) {
    name = limited_file_name(stem, name_suffix(number) + extension_);
  }
  return name;
}

fs::path product_folder(const fs::path& base, const std::string& name) {
  fs::path folder = base / name;
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

// The files are on the disk.
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
    log::verbose("removed {}, of an earlier export", path.string());
  if (!retired.removed.empty()) {
    log::info("removed {} of an earlier export from {}", counted(retired.removed.size(), "file"),
              path_.string());
  }
  for (const fs::path& path : retired.changed) {
    log::warn(FindingId::product_changed,
              "{} is from an earlier export and has been changed since: it is kept, and viewers "
              "that load the folder show it, too",
              path.string());
  }
}

void ProductFolder::remove_former_table(const std::string& name,
                                        const std::vector<std::string>& columns) {
  const fs::path path = path_ / name;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error)) || ledger_.knows("timeline", name)) return;
  if (!is_json_table(path, columns)) {
    log::info("{} is kept: it is not the table of an earlier export", path.string());
    return;
  }
  if (fs::remove(path, error))
    log::info("removed {}: tables are {} now", path.string(), kJsonTableExtension);
}

bool is_of_scope(const Database& db, const OutputFile& output_file, const ExportScope& scope) {
  if (scope.devices.empty() || output_file.model_row == kNull) return true;
  Statement read = db.prepare("SELECT device_id FROM model WHERE id = ?");
  read.bind(1, output_file.model_row);
  return !read.step() || read.is_null(0) || scope.takes_device(read.integer(0));
}

void name_scope(OutputFile& output_file) {
  output_file.product = output_file.stem;
  const ExportScope& scope = output_file.scope;
  if (!scope.model_number || !scope.iteration) return;
  const auto& windows = scope.windows;
  const bool is_of_one_device =
      !windows.empty() && std::all_of(windows.begin(), windows.end(), [&](const auto& window) {
        return window.device_id == windows.front().device_id;
      });
  const std::string device = is_of_one_device ? fmt::format("_{}", windows.front().device_id) : "";
  const std::string part = fmt::format("{}_{}_{}", device, *scope.model_number, *scope.iteration);
  const std::size_t at = output_file.slice_at > 0 ? output_file.slice_at : output_file.stem.size();
  output_file.stem.insert(at, part);
  if (output_file.slice_at > 0) output_file.slice_at += part.size();
}

std::string slice_stem(const OutputFile& output_file, std::size_t number) {
  std::string stem = output_file.stem;
  const std::size_t at = output_file.slice_at > 0 ? output_file.slice_at : stem.size();
  return stem.insert(at, fmt::format("_slice_{}", number));
}

// Products that a store gives, and products on disk that are older than the store.

namespace {

// "op_summary_", …
const std::vector<std::string>& product_prefixes() {
  static const auto prefixes = [] {
    std::vector<std::string> all{"msprof_", "msprof.", "prof_rule_", std::string(kMergedTimeline)};
    for (const auto& table : all_summary_tables()) all.push_back(fmt::format("{}_", table->name()));
    for (const auto& table : cann5_tables("all")) all.push_back(fmt::format("{}_", table->name()));
    for (const auto& layer : all_timeline_layers())
      all.push_back(fmt::format("{}_", layer->name()));
    for (const auto& topic : cann5_timelines()) all.push_back(fmt::format("{}_", topic.name));
    return all;
  }();
  return prefixes;
}

}  // namespace

bool is_product_name(const std::string& name) {
  const auto& prefixes = product_prefixes();
  return (name.ends_with(".csv") || name.ends_with(".json") || name.ends_with(".json.gz") ||
          name.ends_with(".perfetto-trace") || name.ends_with(".db")) &&
         std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
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

namespace {

// Returns true if a raw kind that the product needs was read.
bool needs_any(const RawNeeds& needs, const std::set<std::string>& kinds) {
  for (const std::string_view group : split(needs.kinds, ' ')) {
    for (const std::string_view kind : split(group, '|')) {
      if (kinds.contains(std::string(kind))) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<std::string> empty_products(const Database& db, const std::set<std::string>& kinds) {
  const auto is_expected = [&](const auto& info) {
    // Most chips do not have these engines, so missing data is normal.
    if (info.group == kEngineLayers) return false;
    return info.group.empty() || needs_any(info.needs, kinds);
  };
  std::vector<std::string> names;
  for (const auto& table : default_tables(db)) {
    if (is_of_its_time(db, table->info()) && is_expected(table->info()) &&
        table->output_files(db).empty()) {
      names.push_back(fmt::format("summary {}", table->name()));
    }
  }
  if (is_old_capture(db)) return names;
  for (const auto& layer : timeline_layers(db)) {
    if (layer->info().is_default && is_expected(layer->info()) && layer->output_files(db).empty())
      names.push_back(fmt::format("timeline {}", layer->name()));
  }
  return names;
}

}  // namespace msprof
