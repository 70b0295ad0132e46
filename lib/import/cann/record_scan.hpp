// RecordScan: positions of the records of a row of slices, found in one pass over their bytes.
// For RecordStream alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_reader.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

// The writer stores the first 8 bytes of a record last.
bool is_unwritten(std::span<const std::byte> record);

// One slice, and what the scan found in it.
struct Slice {
  struct Loss {
    std::int64_t count = 0;
    std::uint64_t bytes = 0;
    std::int64_t first_offset = kNull;
  };

  RawFile file;
  bool is_unaging = false;
  std::uint64_t begin = 0;  // its position in the row of bytes
  std::uint64_t end = UINT64_MAX;
  std::uint64_t records = 0;
  Loss unsound;            // records that cannot be one
  Loss mistimed;           // sound records of an impossible time
  Loss shifted;            // records within which bytes were lost or added
  Loss trailing;           // parts of a record at the end
  Loss head;               // the part of a record at the beginning of a row
  std::string unreadable;  // why it could not be read to its end; empty: it was
};

// The slices of a row one behind the other, as bytes; those near the current position are in
// memory.
class SliceBytes {
 public:
  explicit SliceBytes(std::span<Slice> slices) : slices_(slices) {}

  // Returns the bytes [at, at + count); empty if the row ends before.
  std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) {
    if (at + count > end_ && !fill(at + count)) return {};
    return std::span<const std::byte>(buffer_).subspan(static_cast<std::size_t>(at - begin_),
                                                       count);
  }
  // Returns the bytes from `at`, at most `count`, to the end of the row.
  std::span<const std::byte> rest(std::uint64_t at, std::size_t count);
  // Allows the bytes before `at` to be dropped.
  void keep_from(std::uint64_t at) { keep_ = at; }
  // End of the row, once all of it has been read.
  std::uint64_t end() const { return end_; }
  // Number of the slice of a byte that has been read.
  Slice& slice_at(std::uint64_t at) { return slices_[slice_number(at)]; }
  std::size_t slice_number(std::uint64_t at);

 private:
  bool fill(std::uint64_t end);
  bool open_next();
  std::size_t read_some(std::size_t count);

  std::span<Slice> slices_;
  std::size_t next_ = 0;    // the slice to be opened next
  std::size_t looked_ = 0;  // last result of slice_number()
  std::optional<FileReader> reader_;
  std::uint64_t unread_ = 0;  // bytes of the open slice
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;  // of the buffer, in the row
  std::uint64_t end_ = 0;
  std::uint64_t keep_ = 0;
};

class RecordScan {
 public:
  // A sound record: its position in the row, its slice, and the flag that it goes on in the next
  // slice.
  using Found = std::function<void(std::uint64_t at, std::size_t slice,
                                   std::span<const std::byte> record, bool straddles)>;
  RecordScan(const RecordFormat& format, std::span<Slice> slices, Found found);
  void run();

 private:
  bool sound(std::uint64_t at);
  // True for space of a file that its writer did not fill (RawFile::has_space).
  bool is_space(std::uint64_t at, std::span<const std::byte> record);
  // True if a row of sound records begins here, as far as can be seen.
  bool sound_from(std::uint64_t at);
  bool rest_is_sound(std::uint64_t at);
  // Where records without a mark go on at the alignment of the unsound one at `at`.
  std::optional<std::uint64_t> aligned_behind(std::uint64_t at);
  std::optional<std::uint64_t> search(std::uint64_t from, std::uint64_t to);

  std::uint64_t find_start();
  // Position of the next record to inspect; nothing at the end of the row.
  std::optional<std::uint64_t> step(std::uint64_t at);
  std::optional<std::uint64_t> skip_unsound(std::uint64_t at);
  std::optional<std::uint64_t> skip_before_unsound(std::uint64_t at);
  std::optional<std::uint64_t> skip_last(std::uint64_t at);
  void emit(std::uint64_t at, std::span<const std::byte> record);
  void lose(Slice::Loss Slice::*kind, std::uint64_t at, std::uint64_t bytes);

  const RecordFormat& format_;
  std::size_t size_;
  bool has_space_;  // any of the slices
  SliceBytes bytes_;
  Found found_;
  std::vector<std::byte> held_;
};

}  // namespace msprof::cann
