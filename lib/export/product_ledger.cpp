#include "export/product_ledger.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "base/durable.hpp"
#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"
#include "export/products.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kHeader = "msprof products 1";
// A board run with an interval of 1 has ten thousand products, each with a line of about 200 bytes.
constexpr std::uint64_t kMaxLedgerBytes = 64 << 20;

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

std::string ledger_line(const LedgerEntry& entry) {
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

// Returns nothing if there is no ledger or it is not ours. Ignores a line cut short by a killed
// command. Throws Error(partial_data) if the ledger cannot be read: its files would never be
// removed.
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
  for (const LedgerEntry& entry : entries) file.write(ledger_line(entry));
  TemporaryFile ledger = file.finish();
  ledger.sync();
  ledger.rename();
}

void append_lines(const FolderLock& folder, const fs::path& path, std::string_view lines) {
  const FileDescriptor fd(
      ::openat(folder.folder(), kLedgerName, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) throw_cannot_write(path, errno);
  if (const int error = write_all(fd.get(), lines)) throw_cannot_write(path, error);
  sync_file(fd.get(), path);
}

std::int64_t modification_ns(const struct stat& file) {
  return static_cast<std::int64_t>(file.st_mtim.tv_sec) * 1'000'000'000 + file.st_mtim.tv_nsec;
}

bool is_same(const LedgerEntry& entry, const struct stat& file) {
  return S_ISREG(file.st_mode) && static_cast<std::uint64_t>(file.st_size) == entry.bytes &&
         modification_ns(file) == entry.mtime_ns;
}

// Returns one entry per existing file: the one that matches the file, else the last.
Entries existing_entries(const FolderLock& folder, Entries entries) {
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
         (claim.replaces_everything || claim.output_files.count(entry.output_file) > 0);
}

}  // namespace

LedgerEntry ledger_entry(const std::string& kind, const std::string& output_file,
                         const TemporaryFile& temporary) {
  struct stat file = {};
  if (::fstat(temporary.fd(), &file) != 0) throw_cannot_write(temporary.target(), errno);
  // A rename changes neither size nor mtime.
  return {kind, output_file, temporary.target().filename().string(),
          static_cast<std::uint64_t>(file.st_size), modification_ns(file)};
}

void ProductLedger::publish(const std::vector<LedgerEntry>& entries,
                            std::vector<TemporaryFile>& files) {
  const std::lock_guard guard(mutex_);
  const FolderLock lock(folder_);
  if (!lock) throw_cannot_write(folder_, errno);
  for (const LedgerEntry& entry : entries) written_[entry.name] = entry;
  // The first publish() rewrites the ledger, without missing files and truncated lines.
  if (!is_begun_) {
    Entries all = existing_entries(lock, read_entries(folder_));
    all.insert(all.end(), entries.begin(), entries.end());
    write_entries(folder_, all);
    is_begun_ = true;
  } else {
    std::string lines;
    for (const LedgerEntry& entry : entries) lines += ledger_line(entry);
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
  for (const LedgerEntry& entry : existing_entries(lock, read_entries(folder_))) {
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

}  // namespace msprof
