// RecordScan: finds the positions of records in concatenated slices, in one pass over their bytes.
// Used by RecordStream.
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

// Returns true if the first 8 bytes are zero. The writer stores these bytes last.
bool is_unwritten(std::span<const std::byte> record);

struct ScannedSlice {
  struct Loss {
    std::int64_t count = 0;
    std::uint64_t bytes = 0;
    std::int64_t first_offset = kNull;
  };

  RawFile file;
  bool is_unaging = false;
  std::uint64_t begin = 0;  // position in the concatenated slices, as is `end`
  std::uint64_t end = UINT64_MAX;
  std::uint64_t records = 0;
  Loss unsound;            // records that fail the format's test
  Loss mistimed;           // sound records with an impossible time
  Loss shifted;            // records in which bytes were lost or added
  Loss trailing;           // partial records at the end
  Loss head;               // partial record at the start of the data
  std::string unreadable;  // why it could not be read to the end; empty on success
};

// The concatenated slices as one byte sequence. Only bytes near the current position are in memory.
class SliceBytes {
 public:
  explicit SliceBytes(std::span<ScannedSlice> slices) : slices_(slices) {}

  // Returns the bytes [at, at + count); empty if the data ends earlier.
  std::span<const std::byte> bytes(std::uint64_t at, std::size_t count) {
    if (at + count > end_ && !fill(at + count)) return {};
    return std::span<const std::byte>(buffer_).subspan(static_cast<std::size_t>(at - begin_),
                                                       count);
  }
  // Returns the bytes from `at` to the end of the data, at most `count`.
  std::span<const std::byte> rest(std::uint64_t at, std::size_t count);
  // Allows bytes before `at` to be released.
  void keep_from(std::uint64_t at) { keep_ = at; }
  // End of the data; valid once all of it has been read.
  std::uint64_t end() const { return end_; }
  ScannedSlice& slice_at(std::uint64_t at) { return slices_[slice_number(at)]; }
  std::size_t slice_number(std::uint64_t at);

 private:
  bool fill(std::uint64_t end);
  bool open_next();
  std::size_t read_some(std::size_t count);

  std::span<ScannedSlice> slices_;
  std::size_t next_ = 0;
  std::size_t looked_ = 0;  // last result of slice_number()
  std::optional<FileReader> reader_;
  std::uint64_t unread_ = 0;  // unread bytes of the open slice
  std::vector<std::byte> buffer_;
  std::uint64_t begin_ = 0;  // the buffer holds bytes [begin_, end_) of the data
  std::uint64_t end_ = 0;
  std::uint64_t keep_ = 0;
};

class RecordScan {
 public:
  // Called for each sound record with its position, its slice, and whether it continues in the next
  // slice.
  using Found = std::function<void(std::uint64_t at, std::size_t slice,
                                   std::span<const std::byte> record, bool straddles)>;
  RecordScan(const RecordFormat& format, std::span<ScannedSlice> slices, Found found);
  void run();

 private:
  bool is_sound(std::uint64_t at);
  // Returns true for preallocated space that the writer did not fill (RawFile::has_space).
  bool is_space(std::uint64_t at, std::span<const std::byte> record);
  // Returns true if sound records follow each other from here, as far as can be seen.
  bool is_sound_from(std::uint64_t at);
  bool rest_is_sound(std::uint64_t at);
  // For records without a magic: skips whole records from the unsound one at `at`; returns the
  // position where records are sound again.
  std::optional<std::uint64_t> aligned_behind(std::uint64_t at);
  std::optional<std::uint64_t> search(std::uint64_t from, std::uint64_t to);

  std::uint64_t find_start();
  // Handles the record at `at` and returns the next position; nullopt at the end of the data.
  std::optional<std::uint64_t> step(std::uint64_t at);
  std::optional<std::uint64_t> skip_unsound(std::uint64_t at);
  std::optional<std::uint64_t> skip_before_unsound(std::uint64_t at);
  std::optional<std::uint64_t> skip_last(std::uint64_t at);
  void emit(std::uint64_t at, std::span<const std::byte> record);
  void lose(ScannedSlice::Loss ScannedSlice::*kind, std::uint64_t at, std::uint64_t bytes);

  const RecordFormat& format_;
  std::size_t size_;
  bool has_space_;  // true if any slice has space
  SliceBytes bytes_;
  Found found_;
  std::vector<std::byte> held_;
};

}  // namespace msprof::cann
