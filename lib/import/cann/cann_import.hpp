// CannImport: state shared by the kinds of one CANN import. Kinds whose records belong together
// collect their files here; join() reads them together, in order of time.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/work_ahead.hpp"
#include "import/cann/device_streams.hpp"
#include "import/cann/dictionaries.hpp"
#include "import/cann/host_streams.hpp"
#include "import/raw_kind.hpp"
#include "session/cann_session.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof {
namespace old {
struct ClassicData;
struct HostData;
}  // namespace old
}  // namespace msprof

namespace msprof::cann {

struct CannImport {
  explicit CannImport(const CannSession& capture) : session(capture) {}
  const CannSession& session;
  WorkAhead ahead;  // reads ahead for the joins
  Dictionaries dictionaries;
  HostInputs host;
  std::shared_ptr<old::HostData> cann5;       // captures of CANN 5 or older; else null
  std::shared_ptr<old::ClassicData> classic;  // captures of 2019 to 2021; else null
  std::map<std::int64_t, DeviceInputs> devices;
  // STARS chips use 15-bit stream ids (expand_stream_spec; stars_ids()).
  bool are_streams_expanded = false;
  // Number of rows so far in tables written by several kinds.
  std::int64_t step_mark_rows = 0;
  std::int64_t data_queue_rows = 0;
  std::int64_t tracks = 0;
  std::int64_t samples = 0;
  std::int64_t fusion_parts = 0;
};

// Makers of the CANN kinds, one per file, and the functions that join them.
#define KIND(name) std::unique_ptr<RawKind> make_##name##_kind(CannImport& import);
#include "import/cann/kinds.def"
#undef KIND

// Make the kinds listed in kHostStreams and in the table of device_streams.cpp. These kinds only
// collect files, so their order does not matter.
std::vector<std::unique_ptr<RawKind>> make_host_stream_kinds(CannImport& import);
std::vector<std::unique_ptr<RawKind>> make_device_stream_kinds(CannImport& import);

// Counts the files of a kind as they arrive. Records and lines may continue in the next slice, so
// reading must wait until all files have been seen.
class OwnedFiles {
 public:
  bool is_last(const ImportContext& context, const RawKind& kind);

 private:
  std::optional<std::size_t> missing_;  // files not seen yet
};

// Base of kinds whose records can be converted without other kinds. Collects the slices of each
// part of the capture and reads them after the last one has arrived.
class SliceKind : public RawKind {
 public:
  // Owns files with `stem` (cann_files.hpp) or with `other_stem`, a second name of the same
  // records.
  SliceKind(CannImport& import, std::string_view stem, const RecordFormat& format,
            std::string_view other_stem = {})
      : import_(import), stem_(stem), other_stem_(other_stem), format_(format) {}

  std::string_view name() const override { return format_.kind; }
  bool owns(const RawFile& file) const override {
    const std::string& stem = import_.session.parsed_name(file).stem;
    return stem == stem_ || (!other_stem_.empty() && stem == other_stem_);
  }
  void import(const ImportContext& context, const RawFile& file) override;

 protected:
  // Reads all records of one part and stem with stream.open(context, visit).
  virtual void read(const ImportContext& context, const CannPart& part, RecordStream& stream) = 0;
  // Record format of a file, for kinds that have several. Called once per part.
  virtual RecordFormat record_format(const RawFile&) const { return format_; }

  // Counts a file that is not passed to import(), so that reading still starts after the last file.
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
  // By names of the part and of the stem.
  std::map<std::pair<std::string_view, std::string_view>, Gathered> gathered_;
  OwnedFiles files_;
};

// Copies a wire struct out of a record. If the record is shorter, missing bytes are 0.
template <typename Wire>
Wire decode(std::span<const std::byte> record) {
  static_assert(std::is_trivially_copyable_v<Wire>);
  if (record.size() < sizeof(Wire)) {
    Wire part{};
    std::memcpy(&part, record.data(), record.size());
    return part;
  }
  // A copy of constant size compiles to loads of only the fields that are used.
  Wire wire;
  std::memcpy(&wire, record.data(), sizeof(Wire));
  return wire;
}

// Returns true if a record starts with kRecordMagic.
bool has_record_magic(std::span<const std::byte> record);
// Returns true if a record starts with the magic and a plausible level. The level is checked
// because msproftx records can contain the magic a second time.
bool has_record_head(std::span<const std::byte> record);

// Upper limit of times in microseconds: 142 years, more than any uptime or time since 1970.
inline constexpr std::uint64_t kMaxTimeUs = std::uint64_t{1} << 52;

std::uint64_t host_record_time(std::span<const std::byte> record);

// Text in a fixed-size field: up to the NUL, or all bytes if there is no NUL.
std::string_view fixed_text(const char* bytes, std::size_t room);

// Stores 64 bits unchanged in a cell, but increases the value that means "empty" by 1.
std::int64_t cell(std::uint64_t value);

}  // namespace msprof::cann
