#include "board/tar_writer.hpp"

#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::size_t kChunk = 128 << 10;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

struct FreeEntry {
  void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};

unsigned kind_of(const ProjectEntry& entry) {
  switch (entry.kind) {
    case EntryKind::folder:
      return AE_IFDIR;
    case EntryKind::link:
      return AE_IFLNK;
    case EntryKind::file:
      break;
  }
  return AE_IFREG;
}

}  // namespace

TarWriter::TarWriter(const std::vector<ProjectEntry>& entries,
                     const std::function<void(std::uint64_t)>& progress)
    : entries_(entries), progress_(progress), buffer_(kChunk), archive_(archive_write_new()) {
  if (!archive_) throw std::bad_alloc();
  require(archive_write_set_format_gnutar(archive_.get()));
  // No blocks: what is written is there at once.
  require(archive_write_set_bytes_per_block(archive_.get(), 0));
  require(archive_write_open(archive_.get(), this, nullptr, take, nullptr));
}

// An archive that goes before its end would fill the file under way to its announced size.
TarWriter::~TarWriter() {
  given_up_ = true;
  archive_.reset();
}

void TarWriter::require(la_ssize_t result) const {
  if (result >= ARCHIVE_WARN) return;
  const char* const words = archive_error_string(archive_.get());
  throw Error(Exit::internal_error, fmt::format("cannot make a tar stream of the project: {}",
                                                words == nullptr ? "unknown reason" : words));
}

la_ssize_t TarWriter::take(struct archive* handle, void* self, const void* bytes,
                           std::size_t size) {
  auto& writer = *static_cast<TarWriter*>(self);
  try {
    if (!writer.given_up_) {
      writer.made_.append(static_cast<const char*>(bytes), size);
      return static_cast<la_ssize_t>(size);
    }
  } catch (const std::exception&) {
    // C code is between here and the caller.
  }
  archive_set_error(handle, ENOMEM, "out of memory");
  return -1;
}

std::size_t TarWriter::fill(char* buffer, std::size_t size) {
  while (taken_ == made_.size() && !finished_) {
    made_.clear();
    taken_ = 0;
    step();
  }
  const std::size_t count = made_.copy(buffer, size, taken_);
  taken_ += count;
  return count;
}

void TarWriter::step() {
  if (file_) {
    continue_file();
  } else if (next_ < entries_.size()) {
    begin(entries_[next_++]);
  } else if (next_again_ < again_.size()) {
    begin(*again_[next_again_++]);
  } else {
    require(archive_write_close(archive_.get()));
    finished_ = true;
  }
}

void TarWriter::begin(const ProjectEntry& entry) {
  interrupt::check();
  if (entry.kind != EntryKind::file) {
    write_header(entry, 0, entry.mtime_ns / kNsPerSecond);
    return;
  }
  file_.emplace(entry.source);
  if (!open_for_sending(*file_, entry, report_)) {
    file_.reset();
    return;
  }
  entry_ = &entry;
  left_bytes_ = file_->size_bytes();
  // The second time it is in doubt whatever happens: 1970 gets it sent again.
  const bool second = next_again_ > 0;
  write_header(entry, left_bytes_, second ? 0 : file_->copied_mtime_seconds());
  if (second) --report_.files;  // counted before
}

void TarWriter::write_header(const ProjectEntry& entry, std::uint64_t size_bytes,
                             std::int64_t mtime) {
  const std::unique_ptr<struct archive_entry, FreeEntry> header(archive_entry_new());
  if (!header) throw std::bad_alloc();
  const unsigned owner = entry.kind == EntryKind::folder ? 0700U : 0U;
  archive_entry_copy_pathname(header.get(), entry.path.c_str());
  archive_entry_set_mode(header.get(), kind_of(entry) | (entry.mode & 0777U) | owner);
  archive_entry_set_size(header.get(), static_cast<la_int64_t>(size_bytes));
  archive_entry_set_mtime(header.get(), mtime, 0);
  if (entry.kind == EntryKind::link) archive_entry_copy_symlink(header.get(), entry.link.c_str());
  require(archive_write_header(archive_.get(), header.get()));
}

void TarWriter::continue_file() {
  if (left_bytes_ == 0) {
    finish_file();
    return;
  }
  std::size_t count = file_->read(buffer_);
  if (count == 0) {
    // It became shorter: the stream keeps the size that it announced.
    count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left_bytes_));
    std::fill_n(buffer_.begin(), count, '\0');
  }
  require(archive_write_data(archive_.get(), buffer_.data(), count));
  left_bytes_ -= count;
  report_.bytes += count;
  if (progress_) progress_(report_.bytes);
}

void TarWriter::finish_file() {
  if (next_again_ > 0) {
    told_of_change(*file_, *entry_);
  } else if (file_->has_changed()) {
    log::verbose("{} changed while it was sent, and is sent once more",
                 printable(entry_->path.string()));
    again_.push_back(entry_);
  }
  file_.reset();
}

}  // namespace msprof
