// RecordStream: reads the slices of one kind as one stream of fixed-size records, in order of time
// and in bounded memory. Resynchronizes after lost bytes and counts damaged records. Sources:
// cann_host.md 1.3, cann_device.md 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/work_ahead.hpp"
#include "import/raw_kind.hpp"
#include "session/clock_map.hpp"

namespace msprof::cann {

// Describes how to recognize the records of a kind without interpreting them.
struct RecordFormat {
  std::string_view kind;  // for reports, for example "task_track"
  std::size_t bytes = 0;
  // Returns true for every sound record: checks a magic or a known tag. Other records are skipped
  // and counted under `unsound_reason`. If the following records are sound at another offset, bytes
  // were lost or added, and reading resumes there.
  bool (*is_sound)(std::span<const std::byte> record) = nullptr;
  std::string_view unsound_reason = "bad magic";
  // Sort key; null: reading order.
  std::uint64_t (*time)(std::span<const std::byte> record) = nullptr;
  // False if the test only checks that values are plausible. Then the data must start with a
  // record, and after damage the same alignment is preferred.
  bool has_mark = true;
  // False for a record of a type that has no time in the time field; null if all have one.
  bool (*has_time)(std::span<const std::byte> record) = nullptr;
};

inline constexpr std::string_view kImpossibleTime = "impossible time";

struct StreamRecord {
  std::span<const std::byte> bytes;
  std::uint64_t time = 0;
  std::uint64_t sequence = 0;  // position in reading order; unaging slices come before aging ones
  bool is_unaging = false;
  std::size_t file = 0;  // index for file_name()
  std::uint64_t offset = 0;
};

class RecordStream {
 public:
  explicit RecordStream(const RecordFormat& format);
  ~RecordStream();
  RecordStream(RecordStream&&) noexcept;
  RecordStream& operator=(RecordStream&&) noexcept;

  // Adds slices in reading order. The slices of one kind and aging class form one byte sequence:
  // records may span slices, and the first one may be partial (an overwritten ring buffer).
  void add(const RawFile& file, bool is_unaging);
  bool empty() const;

  // Leaves out records whose time is not a possible count of `clock`, and counts them as damaged.
  // For formats with a time. Call before scan() and open().
  void limit_times(const ClockMap& clock);

  using Visit = std::function<void(const StreamRecord&)>;

  // Lets `ahead`, which must outlive this, read the next records. Call before open().
  void read_ahead(WorkAhead& ahead);
  // Does the first pass of open() without reporting. Call after the last add(), on any thread.
  // open() must follow; it reports what the first pass found.
  void scan(const Visit& visit = {});
  // Runs scan() on the thread of `ahead`; open() waits for it.
  void scan_ahead();

  // First pass over all slices: finds the records, adds the numbers of files, records and damage to
  // the report, and calls `visit` (may be empty) for each sound record in reading order. Call
  // before peek().
  void open(const ImportContext& context, const Visit& visit = {});

  // Second pass: the records in order of (time, sequence). peek() returns null at the end; a record
  // is valid until next(). Only file ranges whose times overlap are in memory. If there are too
  // many, the ranges that are needed last are unloaded and read again later.
  const StreamRecord* peek() const { return front_ == end_ ? nullptr : front_; }
  void next() {
    if (++front_ == end_) next_batch();
  }

  const std::string& file_name(const StreamRecord& record) const;
  // Counts a record that is well-formed but has impossible values.
  void skip(const ImportContext& context, const StreamRecord& record,
            std::string_view reason) const;

 private:
  struct State;
  void next_batch();

  std::unique_ptr<State> state_;
  const StreamRecord* front_ = nullptr;
  const StreamRecord* end_ = nullptr;
};

}  // namespace msprof::cann
