#include "import/cann/record_scan.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kScanReadBytes = std::size_t{1} << 18;
// Consecutive sound records needed to rule out coincidence, even with a two-byte magic.
constexpr std::uint64_t kInARow = 3;
// Records without a magic: number of consecutive unsound records after which alignment is given up.
constexpr std::uint64_t kUnsoundInARow = 16;

}  // namespace

bool is_unwritten(std::span<const std::byte> record) {
  const auto head = record.first(std::min<std::size_t>(record.size(), sizeof(std::uint64_t)));
  return std::all_of(head.begin(), head.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

bool SliceBytes::open_next() {
  while (next_ < slices_.size()) {
    ScannedSlice& slice = slices_[next_++];
    slice.begin = end_;
    try {
      reader_.emplace(slice.file.path);
      // If the file grows during the scan, the additional bytes are ignored.
      unread_ = reader_->size_bytes();
      return true;
    } catch (const Error& error) {
      if (error.code() != Exit::partial_data) throw;
      slice.end = end_;
      slice.unreadable = error.what();
    }
  }
  return false;
}

// Appends up to `count` bytes to the buffer. Returns how many; 0 at the end of a slice.
std::size_t SliceBytes::read_some(std::size_t count) {
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, unread_));
  const auto used = static_cast<std::size_t>(end_ - begin_);
  if (buffer_.size() < used + wanted) buffer_.resize(used + wanted);
  try {
    const std::size_t got = reader_->read(std::span(buffer_).subspan(used, wanted));
    unread_ = got < wanted ? 0 : unread_ - got;
    return got;
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) throw;
    slices_[next_ - 1].unreadable = error.what();
    return 0;
  }
}

bool SliceBytes::fill(std::uint64_t end) {
  interrupt::check();
  if (keep_ > begin_) {
    const std::uint64_t from = std::min(keep_, end_);
    std::memmove(buffer_.data(), buffer_.data() + (from - begin_), end_ - from);
    begin_ = from;
  }
  while (end_ < end) {
    if (!reader_ && !open_next()) return false;
    const std::size_t got = read_some(kScanReadBytes);
    end_ += got;
    if (got == 0 || unread_ == 0) {
      slices_[next_ - 1].end = end_;
      reader_.reset();
    }
  }
  return true;
}

std::span<const std::byte> SliceBytes::rest(std::uint64_t at, std::size_t count) {
  if (at + count > end_) fill(at + count);
  if (at >= end_) return {};
  const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(count, end_ - at));
  return std::span<const std::byte>(buffer_).subspan(static_cast<std::size_t>(at - begin_), length);
}

std::size_t SliceBytes::slice_number(std::uint64_t at) {
  while (looked_ > 0 && at < slices_[looked_].begin) --looked_;
  while (looked_ + 1 < slices_.size() && at >= slices_[looked_].end) ++looked_;
  return looked_;
}

RecordScan::RecordScan(const RecordFormat& format, std::span<ScannedSlice> slices, Found found)
    : format_(format),
      size_(format.bytes),
      has_space_(std::any_of(slices.begin(), slices.end(),
                             [](const ScannedSlice& slice) { return slice.file.has_space; })),
      bytes_(slices),
      found_(std::move(found)),
      held_(format.bytes) {}

bool RecordScan::is_space(std::uint64_t at, std::span<const std::byte> record) {
  return has_space_ && bytes_.slice_at(at).file.has_space && is_unwritten(record);
}

bool RecordScan::is_sound(std::uint64_t at) {
  const auto record = bytes_.bytes(at, size_);
  if (record.empty()) return false;
  return format_.is_sound == nullptr || is_space(at, record) || format_.is_sound(record);
}

// Returns true if the data ends within the record at `at` and the bytes that exist could start one.
bool RecordScan::rest_is_sound(std::uint64_t at) {
  const auto part = bytes_.rest(at, size_);
  if (part.empty() || format_.is_sound == nullptr) return true;
  std::vector<std::byte> padded(size_);
  std::copy(part.begin(), part.end(), padded.begin());
  return format_.is_sound(padded);
}

bool RecordScan::is_sound_from(std::uint64_t at) {
  if (!is_sound(at)) return false;
  for (std::uint64_t i = 1; i < kInARow; ++i) {
    const std::uint64_t next = at + i * size_;
    if (bytes_.bytes(next, size_).empty()) return rest_is_sound(next);
    if (!is_sound(next)) return false;
  }
  return true;
}

// Finds the first position in [from, to) where sound records start. A search with no upper limit
// releases the bytes it has passed; if it fails, all data has been read.
std::optional<std::uint64_t> RecordScan::search(std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t at = from; at < to; ++at) {
    if (is_sound_from(at)) return at;
    if (bytes_.bytes(at, size_).empty()) return std::nullopt;
    if (to == UINT64_MAX) bytes_.keep_from(at);
  }
  return std::nullopt;
}

void RecordScan::lose(ScannedSlice::Loss ScannedSlice::*kind, std::uint64_t at,
                      std::uint64_t bytes) {
  ScannedSlice& slice = bytes_.slice_at(at);
  ScannedSlice::Loss& loss = slice.*kind;
  if (loss.count == 0) loss.first_offset = static_cast<std::int64_t>(at - slice.begin);
  loss.count += static_cast<std::int64_t>(std::max<std::uint64_t>(1, (bytes + size_ / 2) / size_));
  loss.bytes += bytes;
}

void RecordScan::emit(std::uint64_t at, std::span<const std::byte> record) {
  const std::size_t number = bytes_.slice_number(at);
  found_(at, number, record, at + size_ > bytes_.slice_at(at).end);
}

// Returns the position of the first record. An overwritten ring buffer can start in the middle of a
// record. Formats without a magic cannot be searched: their data starts with a record.
std::uint64_t RecordScan::find_start() {
  if (format_.is_sound == nullptr || !format_.has_mark || bytes_.bytes(0, size_).empty()) return 0;
  // If good records follow at their expected positions, the first record is merely bad.
  if (is_sound_from(0) || is_sound_from(size_)) return 0;
  const auto start = search(1, size_);
  if (!start) return 0;
  lose(&ScannedSlice::head, 0, *start);
  return *start;
}

void RecordScan::run() {
  std::optional<std::uint64_t> at = find_start();
  while (at) {
    bytes_.keep_from(*at);
    at = step(*at);
  }
}

std::optional<std::uint64_t> RecordScan::step(std::uint64_t at) {
  const auto record = bytes_.bytes(at, size_);
  if (record.empty()) {
    const auto part = bytes_.rest(at, size_);
    if (!part.empty()) lose(&ScannedSlice::trailing, at, part.size());
    return std::nullopt;
  }
  if (is_space(at, record)) return at + size_;
  if (format_.is_sound == nullptr) {
    emit(at, record);
    return at + size_;
  }
  if (!format_.is_sound(record)) return skip_unsound(at);
  const std::uint64_t next = at + size_;
  const auto next_record = bytes_.bytes(next, size_);
  if (!next_record.empty() && (is_space(next, next_record) || format_.is_sound(next_record))) {
    // Looking ahead may have moved the buffer.
    emit(at, bytes_.bytes(at, size_));
    return next;
  }
  // The slice may end within a record while the next slice starts with a whole one.
  const std::uint64_t border = bytes_.slice_at(at).end;
  if (border < next && is_sound_from(border)) {
    lose(&ScannedSlice::trailing, at, border - at);
    return border;
  }
  return next_record.empty() ? skip_last(at) : skip_before_unsound(at);
}

// Handles the last sound record. If bytes were lost within it, a whole record ends exactly at the
// end of the data.
std::optional<std::uint64_t> RecordScan::skip_last(std::uint64_t at) {
  const std::uint64_t next = at + size_;
  const auto part = bytes_.rest(next, size_);
  if (!part.empty() && !rest_is_sound(next)) {
    const std::uint64_t last = at + part.size();
    if (is_sound(last)) {
      lose(&ScannedSlice::shifted, at, part.size());
      return last;
    }
  }
  emit(at, bytes_.bytes(at, size_));
  return next;
}

std::optional<std::uint64_t> RecordScan::aligned_behind(std::uint64_t at) {
  if (format_.has_mark) return std::nullopt;
  for (std::uint64_t i = 1; i <= kUnsoundInARow; ++i) {
    const std::uint64_t next = at + i * size_;
    if (bytes_.bytes(next, size_).empty()) return std::nullopt;
    if (is_sound_from(next)) return next;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> RecordScan::skip_unsound(std::uint64_t at) {
  if (is_sound(at + size_)) {
    lose(&ScannedSlice::unsound, at, size_);
    return at + size_;
  }
  if (const auto found = aligned_behind(at)) {
    lose(&ScannedSlice::unsound, at, *found - at);
    return found;
  }
  if (const auto found = search(at + 1, UINT64_MAX)) {
    lose(&ScannedSlice::unsound, at, *found - at);
    return found;
  }
  lose(&ScannedSlice::unsound, at, bytes_.end() - at);
  return std::nullopt;
}

// Handles a sound record followed by an unsound one. Determines whether the next one is bad or
// whether this one has too few or too many bytes.
std::optional<std::uint64_t> RecordScan::skip_before_unsound(std::uint64_t at) {
  const std::uint64_t next = at + size_;
  if (is_sound(next + size_) || aligned_behind(next)) {
    emit(at, bytes_.bytes(at, size_));
    return next;
  }
  if (const auto found = search(at + 1, next)) {
    lose(&ScannedSlice::shifted, at, *found - at);
    return found;
  }
  const auto record = bytes_.bytes(at, size_);
  std::copy(record.begin(), record.end(), held_.begin());
  const auto found = search(next + 1, UINT64_MAX);
  // If records resume a few bytes later, the extra bytes are within this record. If they resume
  // almost one record later, the next record lost bytes, including its magic.
  if (found && *found - next <= size_ / 2) {
    lose(&ScannedSlice::shifted, at, *found - at);
    return found;
  }
  emit(at, held_);
  lose(&ScannedSlice::unsound, next, found.value_or(bytes_.end()) - next);
  return found;
}

}  // namespace msprof::cann
