#include "import/cann/tlv_reader.hpp"

#include <string>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "import/cann/cann_import.hpp"
#include "wire/cann/device_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kHeadBytes = 4;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;
constexpr std::size_t kUnknown = SIZE_MAX;  // record length of an unknown tag

// Record length of a tag; 0 if any length is valid.
std::size_t record_length(std::uint8_t tag) {
  switch (tag) {
    case 3:  // timeline
      return 32;
    case kEventCountTag:
      return sizeof(EventCountWire);
    case 6:  // runtime, usage and status records
    case 7:
    case 8:
    case 9:
      return 0;
    case 10:  // step trace, memcpy
    case 11:
      return 40;
    default:
      return kUnknown;
  }
}

bool is_known_head(const TsHeadWire& head) {
  const std::size_t length = record_length(head.tag);
  return length == 0 ? head.bytes >= kHeadBytes : head.bytes == length;
}

// Event counts may be longer than the known fields; then all event counts of a file have the same
// length.
bool is_longer_count(const TsHeadWire& head) {
  return head.tag == kEventCountTag && head.bytes > sizeof(EventCountWire);
}

bool is_like(const TsHeadWire& head, const TsHeadWire& next) {
  return is_known_head(next) || (next.tag == head.tag && next.bytes == head.bytes);
}

// A record whose tag allows any length cannot end a search: random bytes match too easily.
bool has_any_length(const TsHeadWire& head) {
  return record_length(head.tag) == 0;
}

class TlvReader {
 public:
  TlvReader(const ImportContext& context, std::string_view kind,
            std::span<const RawFile* const> slices, const TlvVisit& visit)
      : context_(context), kind_(kind), visit_(visit), slices_(slices) {}

  void run() {
    for (const RawFile* file : slices_) {
      file_ = file;
      records_ = 0;
      file_begin_ = place_ + bytes_.size();
      read_slice();
      if (file == slices_.back()) {
        take_last();
        search_last();
      }
      context_.report.count_file(kind_, records_);
    }
    finish();
  }

 private:
  void read_slice() {
    try {
      FileReader reader(file_->path);
      std::size_t count = kReadBytes;
      while (count == kReadBytes) {
        interrupt::check();
        const std::size_t kept = bytes_.size();
        bytes_.resize(kept + kReadBytes);
        count = reader.read(std::span(bytes_).subspan(kept));
        bytes_.resize(kept + count);
        take_whole_records();
      }
    } catch (const Error& error) {
      if (error.code() != Exit::partial_data) throw;
      context_.report.add(FindingId::unreadable_file, kind_, file_->name, "unreadable",
                          error.what());
    }
  }

  void take_whole_records() {
    std::size_t at = 0;
    while (bytes_.size() - at >= kHeadBytes) {
      const auto rest = std::span<const std::byte>(bytes_).subspan(at);
      const auto head = decode<TsHeadWire>(rest);
      if (is_known_head(head) && !(is_searching_ && has_any_length(head))) {
        if (rest.size() < head.bytes) break;
        show(at, head);
        at += head.bytes;
      } else if (!is_searching_ && head.bytes >= kHeadBytes) {
        // Trusts the length if a known record follows.
        if (rest.size() < head.bytes + kHeadBytes) {
          if (!is_end_) break;
          lose(at++);
          continue;
        }
        if (is_longer_count(head) && is_like(head, decode<TsHeadWire>(rest.subspan(head.bytes)))) {
          show(at, head);
          at += head.bytes;
          continue;
        }
        if (is_known_head(decode<TsHeadWire>(rest.subspan(head.bytes)))) {
          context_.report.skip_record(
              kind_, file_->name,
              record_length(head.tag) == kUnknown ? "unknown tag" : "impossible length",
              slice_offset(at));
          at += head.bytes;
        } else {
          lose(at++);
        }
      } else {
        lose(at++);
      }
    }
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    place_ += at;
  }

  void show(std::size_t at, const TsHeadWire& head) {
    end_search();
    ++records_;
    visit_({head.tag, std::span<const std::byte>(bytes_).subspan(at, head.bytes), file_,
            slice_offset(at)});
  }

  // Counts a byte that belongs to no record.
  void lose(std::size_t at) {
    is_searching_ = true;
    if (lost_bytes_++ == 0) lost_offset_ = static_cast<std::int64_t>(slice_offset(at));
  }

  void end_search() {
    is_searching_ = false;
    if (lost_bytes_ == 0) return;
    context_.report.add({FindingId::trailing_bytes, std::string(kind_), file_->name,
                         "bytes between records", lost_bytes_, lost_offset_, "", ""});
    lost_bytes_ = 0;
  }

  // Handles a longer event count at the end of the data.
  void take_last() {
    if (is_searching_ || bytes_.size() < sizeof(EventCountWire)) return;
    const auto head = decode<TsHeadWire>(bytes_);
    if (!is_longer_count(head) || head.bytes != bytes_.size()) return;
    show(0, head);
    place_ += bytes_.size();
    bytes_.clear();
  }

  // Searches the end of the data: records may follow a damaged head whose length exceeds the data.
  void search_last() {
    const auto before =
        std::tuple(bytes_, place_, is_searching_, lost_bytes_, lost_offset_, records_);
    is_end_ = true;
    take_whole_records();
    if (records_ == std::get<5>(before))
      std::tie(bytes_, place_, is_searching_, lost_bytes_, lost_offset_, records_) = before;
  }

  void finish() {
    end_search();
    if (bytes_.empty()) return;
    context_.report.add({FindingId::trailing_bytes, std::string(kind_), file_->name,
                         "incomplete record at the end", static_cast<std::int64_t>(bytes_.size()),
                         static_cast<std::int64_t>(slice_offset(0)), "", ""});
  }

  // Returns the offset in the current slice; 0 for a record that started in the previous slice.
  std::uint64_t slice_offset(std::size_t at) const {
    const std::uint64_t place = place_ + at;
    return place > file_begin_ ? place - file_begin_ : 0;
  }

  const ImportContext& context_;
  std::string_view kind_;
  const TlvVisit& visit_;
  std::span<const RawFile* const> slices_;
  const RawFile* file_ = nullptr;
  std::uint64_t records_ = 0;
  std::vector<std::byte> bytes_;  // not processed yet
  std::uint64_t place_ = 0;       // position of bytes_[0] in the concatenated slices
  std::uint64_t file_begin_ = 0;  // position of the slice in the concatenated slices
  bool is_end_ = false;
  bool is_searching_ = false;
  std::int64_t lost_bytes_ = 0;
  std::int64_t lost_offset_ = 0;
};

}  // namespace

void read_tlv_records(const ImportContext& context, std::string_view kind,
                      std::span<const RawFile* const> slices, const TlvVisit& visit) {
  TlvReader(context, kind, slices, visit).run();
}

}  // namespace msprof::cann
