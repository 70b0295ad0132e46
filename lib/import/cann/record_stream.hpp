// RecordStream: the slices of one kind as one stream of fixed-size records: found again behind lost
// bytes, counted where they are damaged, given in order of time in bounded memory.
// For the CANN kinds. Sources: cann_host.md 1.3, cann_device.md 2.
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

// Format of the records of a kind from outside.
struct RecordFormat {
  std::string_view kind;  // "task_track", for reports
  std::size_t bytes = 0;
  // Test that every sound record passes: a magic, a known tag. One that does not is skipped and
  // counted under `unsound_reason`; when the records behind it are sound at another offset, bytes
  // were lost or added, and reading goes on there.
  bool (*is_sound)(std::span<const std::byte> record) = nullptr;
  std::string_view unsound_reason = "bad magic";
  // Sort key; null: reading order.
  std::uint64_t (*time)(std::span<const std::byte> record) = nullptr;
  // False where records pass that test only because their values are plausible. Then the row begins
  // with a record, and what follows at the same alignment is preferred.
  bool has_mark = true;
  // False for a record of a type that has something else where others have the time; null: all have
  // it.
  bool (*has_time)(std::span<const std::byte> record) = nullptr;
};

inline constexpr std::string_view kImpossibleTime = "impossible time";

struct StreamRecord {
  std::span<const std::byte> bytes;
  std::uint64_t time = 0;
  std::uint64_t sequence = 0;  // position in reading order: unaging slices before aging ones
  bool is_unaging = false;
  std::size_t file = 0;  // for file_name()
  std::uint64_t offset = 0;
};

class RecordStream {
 public:
  explicit RecordStream(const RecordFormat& format);
  ~RecordStream();
  RecordStream(RecordStream&&) noexcept;
  RecordStream& operator=(RecordStream&&) noexcept;

  // Slices in reading order. The slices of one kind, of one aging class, are one row of bytes:
  // records may straddle them, and the head may be a part of a record (an overwritten ring).
  void add(const RawFile& file, bool is_unaging);
  bool empty() const;

  // Leaves out the records whose time is no possible count of `clock`, and counts them as damaged;
  // before scan() and open(). For formats with a time.
  void limit_times(const ClockMap& clock);

  using Visit = std::function<void(const StreamRecord&)>;

  // Has `ahead`, which outlives this, read what comes next; before open().
  void read_ahead(WorkAhead& ahead);
  // Reads all slices once as open() does, without a report; after the last add(), by any thread.
  // open() comes when it is done, and reports what was found in the slices.
  void scan(const Visit& visit = {});
  // scan() on the thread of `ahead`; open() waits for it.
  void scan_ahead();

  // Reads all slices once: finds the records, counts files, records and damage in the report, and
  // shows each sound record to `visit` (may be empty) in reading order. Before peek().
  void open(const ImportContext& context, const Visit& visit = {});

  // The records in order of (time, sequence), read a second time. Null at the end. Only stretches
  // of the files whose times overlap are in memory; of many, those whose turn is next, and the
  // others are read once more. A record is there until the next one is asked for.
  const StreamRecord* peek() const { return front_ == end_ ? nullptr : front_; }
  void next() {
    if (++front_ == end_) next_batch();
  }

  const std::string& file_name(const StreamRecord& record) const;
  // Counts a record that is sound from outside but impossible inside.
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
