#include "export/product_ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "export/products.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHeader = "msprof products 1";
// A run with an interval of 1 has ten thousand products of some 200 bytes each.
constexpr std::uint64_t kMostLedgerBytes = 64 << 20;

using Entries = std::vector<LedgerEntry>;

// Holds the folder of products against other commands that change its ledger. Where the file system
// knows no locks, each command goes on alone.
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

// A ledger can come with a capture from elsewhere: what it names is touched only where it is a file
// of this very folder that has the name of a product.
bool is_ours(const LedgerEntry& entry) {
  return is_plain(entry.kind) && is_plain(entry.document) && is_plain(entry.name) &&
         entry.name.find('/') == std::string::npos && is_product_name(entry.name);
}

std::string line_of(const LedgerEntry& entry) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", entry.kind, entry.bytes, entry.mtime_ns,
                     entry.document, entry.name);
}

bool parse_line(std::string_view line, LedgerEntry& entry) {
  const auto parts = split(line, '\t');
  if (parts.size() != 5) return false;
  const std::string_view time = parts[2];
  const auto [end, error] = std::from_chars(time.data(), time.data() + time.size(), entry.mtime_ns);
  if (error != std::errc() || end != time.data() + time.size()) return false;
  if (!parse_u64(parts[1], entry.bytes)) return false;
  entry.kind = parts[0];
  entry.document = parts[3];
  entry.name = parts[4];
  return is_ours(entry);
}

// None where there is no ledger, or none of ours; a line that a kill cut short is passed over.
Entries read_entries(const fs::path& folder) {
  const fs::path path = folder / kLedgerName;
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) return {};
  std::string text;
  try {
    text = read_text_file(path, kMostLedgerBytes);
  } catch (const Error&) {
    return {};
  }
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
  file.commit();
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
}

std::int64_t mtime_ns_of(const struct stat& file) {
  return static_cast<std::int64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec;
}

bool is_same(const LedgerEntry& entry, const struct stat& file) {
  return S_ISREG(file.st_mode) && static_cast<std::uint64_t>(file.st_size) == entry.bytes &&
         mtime_ns_of(file) == entry.mtime_ns;
}

bool is_claimed(const ProductClaim& claim, const LedgerEntry& entry) {
  return entry.kind == claim.kind &&
         (claim.everything || claim.documents.count(entry.document) > 0);
}

}  // namespace

LedgerEntry ledger_entry(const std::string& kind, const std::string& document,
                         const fs::path& temporary, const fs::path& target) {
  struct stat file = {};
  if (::lstat(temporary.c_str(), &file) != 0) throw_cannot_write(target, errno);
  // A rename changes neither.
  return {kind, document, target.filename().string(), static_cast<std::uint64_t>(file.st_size),
          mtime_ns_of(file)};
}

void ProductLedger::announce(const std::vector<LedgerEntry>& entries) {
  const std::lock_guard guard(mutex_);
  const FolderLock lock(folder_);
  if (!lock) throw_cannot_write(folder_, errno);
  for (const LedgerEntry& entry : entries) written_[entry.name] = entry;
  // The first time as a whole, which also mends what a killed command left of a line.
  if (!is_begun_) {
    Entries all = read_entries(folder_);
    all.insert(all.end(), entries.begin(), entries.end());
    write_entries(folder_, all);
    is_begun_ = true;
    return;
  }
  std::string lines;
  for (const LedgerEntry& entry : entries) lines += line_of(entry);
  append_lines(lock, folder_ / kLedgerName, lines);
}

ProductLedger::Retired ProductLedger::retire(const ProductClaim& claim) {
  const std::lock_guard guard(mutex_);
  Retired retired;
  if (written_.empty()) return retired;
  const FolderLock lock(folder_);
  if (!lock) throw_cannot_write(folder_, errno);
  std::map<std::string, Entries> others;
  for (LedgerEntry& entry : read_entries(folder_)) {
    if (written_.count(entry.name) == 0) others[entry.name].push_back(std::move(entry));
  }
  Entries kept;
  for (const auto& [name, entry] : written_) kept.push_back(entry);
  for (const auto& [name, entries] : others) {
    struct stat file = {};
    if (::fstatat(lock.folder(), name.c_str(), &file, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const auto same = std::find_if(entries.rbegin(), entries.rend(),
                                   [&](const LedgerEntry& entry) { return is_same(entry, file); });
    const LedgerEntry& entry = same == entries.rend() ? entries.back() : *same;
    if (is_claimed(claim, entry) && same != entries.rend()) {
      if (::unlinkat(lock.folder(), name.c_str(), 0) != 0)
        throw_cannot_write(folder_ / name, errno);
      retired.removed.push_back(folder_ / name);
      continue;
    }
    if (is_claimed(claim, entry)) retired.changed.push_back(folder_ / name);
    kept.push_back(entry);
  }
  write_entries(folder_, kept);
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

}  // namespace msprof
