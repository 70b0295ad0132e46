// SliceKind: a kind whose records are rows by themselves: it gathers the slices of each part of the
// capture and reads them once the last of them is known. For the small CANN kinds.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

class SliceKind : public RawKind {
 public:
  // Owns the files with this stem (cann_names.hpp), and with another name of the same records.
  SliceKind(CannImport& import, std::string_view stem, const RecordFormat& format,
            std::string_view other_stem = {})
      : import_(import), stem_(stem), other_stem_(other_stem), format_(format) {}

  std::string_view name() const override { return format_.kind; }
  bool owns(const RawFile& file) const override {
    const std::string& stem = import_.session.name_of(file).stem;
    return stem == stem_ || (!other_stem_.empty() && stem == other_stem_);
  }
  void import(const ImportContext& context, const RawFile& file) override;

 protected:
  // All records of one part and stem, by stream.open(context, visit).
  virtual void read(const ImportContext& context, const CannPart& part, RecordStream& stream) = 0;
  // How the records of a file look, where that is not always the same; asked once a part.
  virtual RecordFormat format_of(const RawFile&) const { return format_; }

  // Counts a file of this stem that import() does not get, so that reading begins after the last.
  void arrive(const ImportContext& context);

  CannImport& import_;

 private:
  std::string_view stem_;
  std::string_view other_stem_;
  RecordFormat format_;
  struct Gathered {
    const CannPart* part = nullptr;
    RecordStream stream;
  };
  // By the names of the part and the stem.
  std::map<std::pair<std::string_view, std::string_view>, Gathered> gathered_;
  std::optional<std::size_t> missing_;  // files not yet seen
};

// Copies a wire struct out of a record; bytes that the record does not have stay 0.
template <typename Wire>
Wire decode(std::span<const std::byte> record) {
  static_assert(std::is_trivially_copyable_v<Wire>);
  if (record.size() < sizeof(Wire)) {
    Wire part{};
    std::memcpy(&part, record.data(), record.size());
    return part;
  }
  // Of constant size, which costs a few loads of what is used.
  Wire wire;
  std::memcpy(&wire, record.data(), sizeof(Wire));
  return wire;
}

// The mark of every host record and of aicpu.data (cann_host.md 1.4).
inline constexpr std::uint16_t kRecordMagic = 0x5A5A;
bool has_record_magic(std::span<const std::byte> record);
// The magic and behind it what may be a level: msproftx has the magic a second time within a
// record.
bool has_record_head(std::span<const std::byte> record);

// Text of fixed room: up to the NUL; without one every byte counts.
std::string_view fixed_text(const char* bytes, std::size_t room);

// 64 bits as they are, for a cell. The one value that says "empty" becomes its neighbour.
std::int64_t cell(std::uint64_t value);

}  // namespace msprof::cann
