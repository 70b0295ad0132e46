#include "board/tar_reader.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <new>

#include "base/text.hpp"
#include "board/names.hpp"

namespace msprof {

namespace {

// Behind the end of an archive tar pads to its block; more is not ours to wait for.
constexpr std::uint64_t kMostPadding = 1 << 20;

class TarReader {
 public:
  TarReader(const TarSource& source, Incoming& incoming)
      : source_(source), incoming_(incoming), archive_(archive_read_new()) {
    if (!archive_) throw std::bad_alloc();
    // Tar alone, and no decompression: nothing here unpacks to more than what was sent.
    archive_read_support_format_tar(archive_.get());
  }

  void read() {
    if (archive_read_open(archive_.get(), this, nullptr, give, nullptr) != ARCHIVE_OK) fail();
    while (next()) take_entry();
    std::uint64_t padding = 0;
    for (std::string_view rest = source_(); !rest.empty(); rest = source_()) {
      padding += rest.size();
      if (padding > kMostPadding) {
        throw Error(Exit::partial_data, "the board's tar stream goes on behind its end");
      }
    }
  }

 private:
  struct Closer {
    void operator()(struct archive* handle) const { archive_read_free(handle); }
  };

  static la_ssize_t give(struct archive* handle, void* self, const void** buffer) {
    auto& reader = *static_cast<TarReader*>(self);
    try {
      const std::string_view bytes = reader.source_();
      *buffer = bytes.data();
      return static_cast<la_ssize_t>(bytes.size());
    } catch (...) {
      // C code is between here and the caller.
      reader.error_ = std::current_exception();
      archive_set_error(handle, EIO, "the source failed");
      return ARCHIVE_FATAL;
    }
  }

  [[noreturn]] void fail() const {
    if (error_) std::rethrow_exception(error_);
    const char* const words = archive_error_string(archive_.get());
    throw Error(Exit::partial_data,
                fmt::format("the board's tar stream cannot be read: {}",
                            words == nullptr ? "it is empty or damaged" : printable(words)));
  }

  bool next() {
    const int result = archive_read_next_header(archive_.get(), &entry_);
    if (result == ARCHIVE_EOF) return false;
    if (result < ARCHIVE_WARN) fail();
    return true;
  }

  // Why an entry is none of the two kinds that come home.
  std::string_view objection_to_kind() const {
    if (archive_entry_hardlink(entry_) != nullptr) return "is a second name of another file";
    const auto kind = archive_entry_filetype(entry_);
    if (kind == AE_IFLNK) return kLink;
    if (kind != AE_IFREG && kind != AE_IFDIR) return kSpecialFile;
    // No board of ours makes these; a hole of any size costs its sender nothing.
    if (archive_entry_sparse_count(entry_) > 0) return "is a file with holes";
    return "";
  }

  void take_entry() {
    const char* const name = archive_entry_pathname(entry_);
    if (name == nullptr) {
      incoming_.refuse_unnamed(1);
      return;
    }
    NewFile file;
    file.path = plain_board_path(name);
    if (file.path.empty()) return;
    const std::string_view objection = objection_to_kind();
    if (!objection.empty()) {
      incoming_.refuse(file.path, objection);
      return;
    }
    file.mode = archive_entry_perm(entry_);
    if (archive_entry_mtime_is_set(entry_) != 0) file.mtime_seconds = archive_entry_mtime(entry_);
    if (archive_entry_filetype(entry_) == AE_IFDIR) {
      incoming_.make_folder(file);
    } else if (incoming_.open_file(file)) {
      take_bytes();
    }
  }

  void take_bytes() {
    const void* buffer = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    la_int64_t expected = 0;
    for (;;) {
      const int result = archive_read_data_block(archive_.get(), &buffer, &size, &offset);
      if (result == ARCHIVE_EOF) break;
      if (result < ARCHIVE_WARN || (size > 0 && offset != expected)) {
        incoming_.drop_file();
        fail();
      }
      incoming_.write({static_cast<const char*>(buffer), size});
      expected += static_cast<la_int64_t>(size);
    }
    incoming_.close_file();
  }

  const TarSource& source_;
  Incoming& incoming_;
  std::unique_ptr<struct archive, Closer> archive_;
  struct archive_entry* entry_ = nullptr;
  std::exception_ptr error_;
};

}  // namespace

void read_tar(const TarSource& source, Incoming& incoming) {
  TarReader(source, incoming).read();
}

}  // namespace msprof
