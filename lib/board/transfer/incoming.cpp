#include "board/transfer/incoming.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/read_write.hpp"
#include "base/text.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/transfer_ways.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// SECURE_NOABSOLUTEPATHS is not set: the absolute paths here are msprof's own, below `into`;
// absolute paths from a board are refused earlier.
constexpr int kFlags =
    ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_SECURE_SYMLINKS;

struct FreeEntry {
  void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};

// Returns true if an entry of the tree blocks the path. A board can cause this by sending a file
// `a` and then a file `a/b`. libarchive reports 0 for a path through a link.
bool is_in_the_way(int error_number) {
  return error_number == 0 || error_number == EEXIST || error_number == ENOTDIR ||
         error_number == EISDIR || error_number == ENOTEMPTY || error_number == ENAMETOOLONG;
}

// A board could send invalid names without end; beyond this limit names are only counted.
constexpr std::size_t kMaxNames = 10'000;
constexpr std::size_t kMaxExamples = 5;
constexpr int kExampleWidth = 120;

// Limits for the growth of all files together, beyond the listed sizes, and for entries that were
// not listed.
constexpr std::uint64_t kMaxGrowthOfAll = 4 * kMaxGrowth;
constexpr std::uint64_t kMaxNewEntries = 1'000;
// Overhead of an entry in a tar stream: headers, a long name, padding.
constexpr std::uint64_t kMaxHeaderBytes = 8 << 10;
constexpr std::size_t kMaxRefusedName = 4 << 10;  // longer names are only counted; PATH_MAX

[[noreturn]] void throw_cannot_write_here(const std::string& path, const std::string& reason,
                                          int error_number) {
  throw CannotWriteHere(fmt::format("cannot write {}: {} (another folder can be given with "
                                    "--output)",
                                    printable(path), reason),
                        error_number);
}

}  // namespace

bool CannotWriteHere::is_full() const {
  return error_number_ == ENOSPC || error_number_ == EDQUOT;
}

void TreeWriter::Closer::operator()(struct archive* handle) const {
  archive_write_free(handle);
}

TreeWriter::TreeWriter(const fs::path& into) : disk_(archive_write_disk_new()) {
  if (!disk_) throw std::bad_alloc();
  archive_write_disk_set_options(disk_.get(), kFlags);
  // Resolves links above `into`: they are the user's own and must not be mistaken for links from
  // the board.
  std::error_code error;
  into_ = fs::canonical(into, error);
  if (error) {
    throw CannotWriteHere(fmt::format("cannot write {}: {}", into.string(), error.message()),
                          error.value());
  }
}

TreeWriter::~TreeWriter() {
  drop_file();
}

void TreeWriter::fail(const std::string& path) const {
  const int error_number = archive_errno(disk_.get());
  const char* const words = archive_error_string(disk_.get());
  const std::string reason = error_number > 0   ? errno_text(error_number)
                             : words != nullptr ? printable(words)
                                                : "unknown reason";
  throw_cannot_write_here(path, reason, error_number);
}

std::string TreeWriter::make(const NewFile& file, unsigned kind) {
  const std::string path = into_ / file.path;
  if (path.size() >= PATH_MAX) return "its path is too long on this machine";
  const std::unique_ptr<struct archive_entry, FreeEntry> entry(archive_entry_new());
  if (!entry) throw std::bad_alloc();
  const std::uint32_t owner = kind == AE_IFDIR ? 0700 : 0600;
  archive_entry_copy_pathname(entry.get(), path.c_str());
  archive_entry_set_mode(entry.get(), kind | (file.mode & 0777) | owner);
  if (file.mtime_seconds != 0) archive_entry_set_mtime(entry.get(), file.mtime_seconds, 0);
  // Sets no size: libarchive would extend a file that ends before its announced size.
  const int result = archive_write_header(disk_.get(), entry.get());
  if (result >= ARCHIVE_WARN) return "";
  if (!is_in_the_way(archive_errno(disk_.get()))) fail(path);
  const char* const words = archive_error_string(disk_.get());
  return words == nullptr ? "its name is already in use" : printable(words);
}

std::string TreeWriter::make_folder(const NewFile& folder) {
  return make(folder, AE_IFDIR);
}

std::string TreeWriter::open_file(const NewFile& file) {
  std::string objection = make(file, AE_IFREG);
  if (objection.empty()) open_path_ = into_ / file.path;
  return objection;
}

// The tree contains only files that this program created, and no links.
bool TreeWriter::open_part(const NewFile& file, std::uint64_t part_bytes) {
  const std::string path = into_ / file.path;
  FileDescriptor part(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  struct stat status = {};
  if (part.get() < 0 || ::fstat(part.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != part_bytes) {
    return false;
  }
  part_ = std::move(part);
  part_mtime_seconds_ = file.mtime_seconds;
  open_path_ = path;
  return true;
}

void TreeWriter::write_part(std::string_view bytes) {
  if (const int error = write_all(part_.get(), bytes))
    throw_cannot_write_here(open_path_, errno_text(error), error);
}

void TreeWriter::close_part() {
  if (part_mtime_seconds_ != 0) {
    const struct timespec times[2] = {{part_mtime_seconds_, 0}, {part_mtime_seconds_, 0}};
    ::futimens(part_.get(), times);
  }
  part_.reset();
  open_path_.clear();
}

void TreeWriter::write(std::string_view bytes) {
  if (part_.get() >= 0) return write_part(bytes);
  while (!bytes.empty()) {
    const la_ssize_t written = archive_write_data(disk_.get(), bytes.data(), bytes.size());
    if (written <= 0) fail(open_path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void TreeWriter::close_file() {
  if (part_.get() >= 0) return close_part();
  if (archive_write_finish_entry(disk_.get()) < ARCHIVE_WARN) fail(open_path_);
  open_path_.clear();
}

void TreeWriter::drop_file() noexcept {
  if (open_path_.empty()) return;
  if (part_.get() >= 0) {
    part_.reset();
  } else {
    archive_write_finish_entry(disk_.get());
  }
  if (!keeps_part_) ::unlink(open_path_.c_str());
  open_path_.clear();
}

void TreeWriter::finish() {
  if (archive_write_close(disk_.get()) < ARCHIVE_WARN) fail(into_.string());
}

bool Incoming::admit(const NewFile& file) {
  const std::string_view objection = objection_to_board_path(file.path);
  if (objection.empty()) return true;
  refuse(file.path, objection);
  return false;
}

void Incoming::count_entry() {
  if (++entries_ <= saturating_sum(allowed_.entries, kMaxNewEntries)) return;
  throw TooMuchSent(fmt::format("the board sends more than the {} files and folders that it listed",
                                with_thousands(allowed_.entries)));
}

std::uint64_t Incoming::room() const {
  const std::uint64_t listed = file_size_ - std::min(file_size_, file_bytes_);
  const std::uint64_t grown = file_bytes_ - std::min(file_bytes_, file_size_);
  return saturating_sum(listed,
                        std::min(kMaxGrowth - std::min(kMaxGrowth, grown),
                                 kMaxGrowthOfAll - std::min(kMaxGrowthOfAll, grown_bytes_)));
}

std::uint64_t Incoming::most_stream_bytes() const {
  const std::uint64_t entries = std::min<std::uint64_t>(
      saturating_sum(allowed_.entries, kMaxNewEntries), ~std::uint64_t{0} / kMaxHeaderBytes);
  return saturating_sum(saturating_sum(allowed_.bytes, kMaxGrowthOfAll), entries * kMaxHeaderBytes);
}

bool Incoming::make_folder(const NewFile& folder) {
  count_entry();
  if (!admit(folder)) return false;
  const std::string objection = tree_.make_folder(folder);
  if (!objection.empty()) refuse(folder.path, objection);
  return objection.empty();
}

bool Incoming::open_file(const NewFile& file) {
  count_entry();
  if (!admit(file)) return false;
  file_bytes_ = 0;
  file_size_ = file.size_bytes;
  const std::string objection = tree_.open_file(file);
  if (!objection.empty()) {
    refuse(file.path, objection);
    return false;
  }
  refused_.erase(file.path);
  return true;
}

bool Incoming::open_part(const NewFile& file, std::uint64_t part_bytes) {
  file_bytes_ = part_bytes;
  file_size_ = file.size_bytes;
  return tree_.open_part(file, part_bytes);
}

void Incoming::write(std::string_view bytes) {
  taken_bytes_ += bytes.size();
  if (taken_bytes_ > saturating_sum(allowed_.bytes, kMaxGrowthOfAll)) {
    tree_.drop_file();
    throw TooMuchSent(fmt::format("the board sends more than the {} that it listed",
                                  human_bytes(allowed_.bytes)));
  }
  tree_.write(bytes);
  const std::uint64_t before = std::max(file_bytes_, file_size_);
  file_bytes_ += bytes.size();
  grown_bytes_ += file_bytes_ - std::min(file_bytes_, before);
  bytes_ += bytes.size();
}

void Incoming::refuse(std::string_view path, std::string_view reason) {
  if (path.size() > kMaxRefusedName) {
    ++unnamed_;
  } else if (refused_.size() < kMaxNames) {
    refused_.emplace(path, reason);
  } else if (refused_.find(path) == refused_.end()) {
    ++unnamed_;
  }
}

std::vector<NewFile> Incoming::take_folders(const TreeListing& listing) {
  std::vector<NewFile> files;
  for (const auto& [path, listed] : listing.files) {
    const NewFile file = {path, listed.mode, listed.mtime_seconds, listed.size_bytes};
    if (listed.is_special) {
      refuse(path, kSpecialFile);
    } else if (listed.kind == EntryKind::link) {
      refuse(path, kLink);
    } else if (listed.kind == EntryKind::folder) {
      make_folder(file);
    } else {
      files.push_back(file);
    }
  }
  return files;
}

std::vector<std::string> Incoming::examples() const {
  std::vector<std::string> examples;
  for (const auto& [path, reason] : refused_) {
    if (examples.size() == kMaxExamples) break;
    examples.push_back(fmt::format("{}: {}", shorten(printable(path), kExampleWidth), reason));
  }
  return examples;
}

}  // namespace msprof
