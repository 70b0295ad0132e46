#include "import/cann/tlv_file.hpp"

#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kHeadBytes = 4;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

constexpr std::size_t kUnknown = SIZE_MAX;

// The length of a tag; 0 where any is good.
std::size_t length_of(std::uint8_t tag) {
  switch (tag) {
    case 3:  // time line
      return 32;
    case 4:  // event count
      return 112;
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

struct Head {
  std::uint8_t tag;
  std::size_t bytes;
};

Head head_at(std::span<const std::byte> bytes) {
  std::uint16_t length = 0;
  std::memcpy(&length, bytes.data() + 2, sizeof(length));
  return {std::to_integer<std::uint8_t>(bytes[1]), length};
}

bool looks_known(const Head& head) {
  const std::size_t length = length_of(head.tag);
  return length == 0 ? head.bytes >= kHeadBytes : head.bytes == length;
}

// What a search must not take for a record: a tag and any number are soon found.
bool has_any_length(const Head& head) {
  return length_of(head.tag) == 0;
}

// The bytes of all slices that are near the place of work.
class TlvReader {
 public:
  TlvReader(const ImportContext& context, std::string_view kind,
            std::span<const RawFile* const> slices,
            const std::function<void(const TlvRecord&)>& visit)
      : context_(context), kind_(kind), visit_(visit), slices_(slices) {}

  void run() {
    for (const RawFile* file : slices_) {
      file_ = file;
      records_ = 0;
      file_begin_ = place_ + bytes_.size();
      read_slice();
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
      const Head head = head_at(rest);
      if (looks_known(head) && !(searching_ && has_any_length(head))) {
        if (rest.size() < head.bytes) break;
        end_search();
        ++records_;
        visit_({head.tag, rest.first(head.bytes), file_, offset_of(at)});
        at += head.bytes;
      } else if (!searching_ && head.bytes >= kHeadBytes) {
        // Its length is believed where a known record follows.
        if (rest.size() < head.bytes + kHeadBytes) break;
        if (looks_known(head_at(rest.subspan(head.bytes)))) {
          context_.report.skip_record(
              kind_, file_->name,
              length_of(head.tag) == kUnknown ? "unknown tag" : "impossible length", offset_of(at));
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

  // A byte that belongs to no record.
  void lose(std::size_t at) {
    searching_ = true;
    if (lost_bytes_++ == 0) lost_offset_ = static_cast<std::int64_t>(offset_of(at));
  }

  void end_search() {
    searching_ = false;
    if (lost_bytes_ == 0) return;
    context_.report.add({FindingId::trailing_bytes, std::string(kind_), file_->name,
                         "bytes between records", lost_bytes_, lost_offset_, "", ""});
    lost_bytes_ = 0;
  }

  void finish() {
    end_search();
    if (bytes_.empty()) return;
    context_.report.add({FindingId::trailing_bytes, std::string(kind_), file_->name,
                         "incomplete record at the end", static_cast<std::int64_t>(bytes_.size()),
                         static_cast<std::int64_t>(offset_of(0)), "", ""});
  }

  // Of a record that begins in the slice before: the beginning of this one.
  std::uint64_t offset_of(std::size_t at) const {
    const std::uint64_t place = place_ + at;
    return place > file_begin_ ? place - file_begin_ : 0;
  }

  const ImportContext& context_;
  std::string_view kind_;
  const std::function<void(const TlvRecord&)>& visit_;
  std::span<const RawFile* const> slices_;
  const RawFile* file_ = nullptr;
  std::uint64_t records_ = 0;
  std::vector<std::byte> bytes_;  // not yet read
  std::uint64_t place_ = 0;       // of bytes_[0] in the row
  std::uint64_t file_begin_ = 0;  // of the slice in the row
  bool searching_ = false;
  std::int64_t lost_bytes_ = 0;
  std::int64_t lost_offset_ = 0;
};

}  // namespace

void for_each_tlv(const ImportContext& context, std::string_view kind,
                  std::span<const RawFile* const> slices,
                  const std::function<void(const TlvRecord&)>& visit) {
  TlvReader(context, kind, slices, visit).run();
}

}  // namespace msprof::cann
