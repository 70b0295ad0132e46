// CannImport: state that the kinds of one CANN import share. The files of kinds that belong
// together are gathered here; join() then reads them side by side, in order of time.
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
class HostTaskStore;
namespace cann5 {
struct HostData;
}
namespace classic {
struct ClassicData;
}
}  // namespace msprof

namespace msprof::cann {

struct CannImport {
  explicit CannImport(const CannSession& capture) : session(capture) {}
  const CannSession& session;
  WorkAhead ahead;  // reads for the joins
  Dictionaries dictionaries;
  HostInputs host;
  std::shared_ptr<cann5::HostData> cann5;         // of a capture of CANN 5 or older; else null
  std::shared_ptr<classic::ClassicData> classic;  // of one of 2019 to 2021
  std::map<std::int64_t, DeviceInputs> devices;   // by device number
  // Stream ids of STARS chips have 15 bits (expand_stream_spec; stars_ids()).
  bool streams_expanded = false;
  // Rows so far, of tables that several kinds write.
  std::int64_t step_mark_rows = 0;
  std::int64_t data_queue_rows = 0;
  std::int64_t tracks = 0;
  std::int64_t samples = 0;
  std::int64_t fusion_parts = 0;
};

// Makers of the CANN kinds, one file each, and the functions that join them. For builtin_kinds.cpp.
#define KIND(name) std::unique_ptr<RawKind> make_##name##_kind(CannImport& import);
#include "import/cann/kinds.def"
#undef KIND

// The kinds that are rows of kHostStreams and of the table in device_streams.cpp. They only gather
// files, so that their order among the kinds does not matter.
std::vector<std::unique_ptr<RawKind>> make_host_stream_kinds(CannImport& import);
std::vector<std::unique_ptr<RawKind>> make_device_stream_kinds(CannImport& import);

// Writes the devices and the contents of the info files: rows `device`, and in meta
// "time_stamp", "chip", "window.begin_ns", "window.end_ns", "window.has_end" (0 or 1), "host.pid",
// "host.pid_name", "host.hostname", "host.frequency_hz". At the start of join.
void write_devices(const CannImport& import, const ImportContext& context);

// The names of the counters in task_pmu.
void write_pmu_columns(const CannImport& import, const ImportContext& context);
// Finding for metric sets that are not known.
void report_unknown_sets(const CannImport& import, const ImportContext& context,
                         const CannPart& part, const DeviceInputs& inputs);
// Begins to read the host's streams, on the thread ahead.
void begin_host(CannImport& import);
// Reads the host's streams in order of time: calls, operators, fused operators, and the host tasks,
// which come to `tasks`.
void join_host(CannImport& import, const ImportContext& context, HostTaskStore& tasks);
// First passes over the records of devices, by device number; of those that can be joined.
class DeviceFirstPass;
using DeviceFirstPasses = std::map<std::int64_t, std::unique_ptr<DeviceFirstPass>>;
// Begins to read the streams of every device, on the thread ahead.
DeviceFirstPasses begin_devices(CannImport& import);
// Reads the streams of every device in order of time: tasks with their operators and counters.
void join_devices(CannImport& import, const ImportContext& context, HostTaskStore& tasks,
                  DeviceFirstPasses passes);

// Counts the files of a kind as they arrive: records and lines may go on in the next slice, so that
// none is read before all are there.
class OwnedFiles {
 public:
  // True for the last of the files that `kind` owns.
  bool is_last(const ImportContext& context, const RawKind& kind);

 private:
  std::optional<std::size_t> missing_;  // not yet seen
};

// A kind whose records are rows by themselves: it gathers the slices of each part of the
// capture and reads them once the last of them is known. For the small CANN kinds.
class SliceKind : public RawKind {
 public:
  // Owns the files with this stem (cann_files.hpp), and with another name of the same records.
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
  // Reads all records of one part and stem, by stream.open(context, visit).
  virtual void read(const ImportContext& context, const CannPart& part, RecordStream& stream) = 0;
  // Format of the records of a file, for kinds that have several; determined once a part.
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
  // Keys: the names of the part and the stem.
  std::map<std::pair<std::string_view, std::string_view>, Gathered> gathered_;
  OwnedFiles files_;
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
  // Copies a constant size, which costs a few loads of what is used.
  Wire wire;
  std::memcpy(&wire, record.data(), sizeof(Wire));
  return wire;
}

// Whether a record begins with kRecordMagic.
bool has_record_magic(std::span<const std::byte> record);
// The magic and behind it what may be a level: msproftx has the magic a second time within a
// record.
bool has_record_head(std::span<const std::byte> record);

// No machine runs for more microseconds than these, 142 years, nor is it later since 1970.
inline constexpr std::uint64_t kMaxTimeUs = std::uint64_t{1} << 52;

// The time in the head of a record of the host.
std::uint64_t host_record_time(std::span<const std::byte> record);

// Text in a field of fixed size: up to the NUL; without one every byte counts.
std::string_view fixed_text(const char* bytes, std::size_t room);

// 64 bits as they are, for a cell. The one value that means "empty" becomes its neighbour.
std::int64_t cell(std::uint64_t value);

}  // namespace msprof::cann
