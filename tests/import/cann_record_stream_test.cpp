// RecordStream: finds records again after damage, and returns them in time order.
#include "import/cann/record_stream.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::cann;

namespace {

constexpr std::size_t kBytes = 64;

bool sound(std::span<const std::byte> record) {
  return record[0] == std::byte{0x5A} && record[1] == std::byte{0x5A};
}
std::uint64_t record_time(std::span<const std::byte> record) {
  std::uint64_t time = 0;
  std::memcpy(&time, record.data() + 16, sizeof(time));
  return time;
}
constexpr RecordFormat kMarked{"track", kBytes, sound, "bad magic", record_time};
constexpr RecordFormat kUnmarked{"plain", kBytes, nullptr, "", record_time};

std::string record(std::uint64_t time) {
  std::string bytes(kBytes, '\x11');
  bytes[0] = bytes[1] = '\x5A';
  std::memcpy(bytes.data() + 16, &time, sizeof(time));
  return bytes;
}
std::string records(std::uint64_t first, std::uint64_t last) {
  std::string bytes;
  for (std::uint64_t time = first; time <= last; ++time) bytes += record(time);
  return bytes;
}

class StreamSession : public Session {
 public:
  StreamSession() : Session(Dialect::cann, "PROF_1", {}) {}
};

struct Reading {
  test::TempFolder folder;
  StreamSession session;
  ImportReport report;
  TraceDbWriter store{folder / "msprof.db"};
  ImportContext context{session, store, report, nullptr};
  RecordStream stream;
  int files = 0;

  explicit Reading(const RecordFormat& format = kMarked) : stream(format) {}

  std::filesystem::path add(const std::string& bytes, bool is_unaging = false) {
    const std::string name = "slice_" + std::to_string(files++);
    test::write_file(folder / name, bytes);
    stream.add(RawFile{folder / name, name, bytes.size(), std::nullopt}, is_unaging);
    return folder / name;
  }
  std::vector<std::uint64_t> open() {
    std::vector<std::uint64_t> seen;
    stream.open(context, [&](const StreamRecord& shown) { seen.push_back(shown.time); });
    return seen;
  }
  std::vector<std::uint64_t> times() {
    std::vector<std::uint64_t> all;
    for (; const StreamRecord* next = stream.peek(); stream.next()) {
      CHECK(record_time(next->bytes) == next->time);
      all.push_back(next->time);
    }
    return all;
  }
  std::int64_t count(const std::string& reason) const {
    std::int64_t sum = 0;
    for (const Finding& finding : report.findings()) {
      if (finding.reason == reason) sum += finding.count;
    }
    return sum;
  }
};

using Times = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("each record is read once, in reading order and in order of time") {
  Reading reading;
  reading.add(record(5) + record(3) + record(9));
  reading.add(record(1) + record(7), true);
  CHECK(reading.open() == Times{1, 7, 5, 3, 9});
  CHECK(reading.times() == Times{1, 3, 5, 7, 9});
  CHECK(reading.report.findings().empty());
  CHECK(reading.report.records() == 5);
}

TEST_CASE("records with equal times are in reading order, unaging slices first") {
  Reading reading;
  reading.add(record(4) + record(4));
  reading.add(record(4), true);
  reading.open();
  std::vector<std::pair<bool, std::uint64_t>> order;
  for (; const StreamRecord* next = reading.stream.peek(); reading.stream.next())
    order.emplace_back(next->is_unaging, next->offset);
  CHECK(order == std::vector<std::pair<bool, std::uint64_t>>{{true, 0}, {false, 0}, {false, 64}});
}

TEST_CASE("many chunks of one slice, far out of order, are sorted by time") {
  Reading reading;
  std::string bytes;
  constexpr std::uint64_t kCount = 20'000;
  for (std::uint64_t i = 0; i < kCount; ++i) bytes += record(i * 7919 % kCount + 1);
  reading.add(bytes);
  reading.open();
  const Times times = reading.times();
  REQUIRE(times.size() == kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) REQUIRE(times[i] == i + 1);
}

TEST_CASE("series of records whose times drift apart are sorted by time") {
  // More chunks wait for their time than fit in memory.
  Reading reading;
  std::string bytes;
  constexpr std::uint64_t kEach = 150'000;
  for (std::uint64_t i = 0; i < kEach; ++i) bytes += record(2 * i + 2) + record(6 * i + 1);
  reading.add(bytes);
  reading.open();
  Times expected;
  for (std::uint64_t i = 0; i < kEach; ++i) {
    expected.push_back(2 * i + 2);
    expected.push_back(6 * i + 1);
  }
  std::sort(expected.begin(), expected.end());
  CHECK(reading.times() == expected);

  // The file may be truncated before a chunk is read again: the remaining records are returned
  // once, in order.
  Reading other;
  const auto cut = other.add(bytes);
  other.open();
  Times seen;
  for (; const StreamRecord* next = other.stream.peek(); other.stream.next()) {
    seen.push_back(next->time);
    if (seen.size() == kEach / 2) std::filesystem::resize_file(cut, bytes.size() / 4);
  }
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  CHECK(seen.size() > kEach / 2);
  CHECK(seen.size() < 2 * kEach);
  CHECK(other.count("changed while it was being read") > 0);
}

TEST_CASE("slices that do not fit in memory are swapped") {
  Reading reading;
  constexpr std::uint64_t kSlices = 50;
  constexpr std::uint64_t kEach = 500;
  for (std::uint64_t slice = 0; slice < kSlices; ++slice) {
    std::string bytes;
    for (std::uint64_t i = 0; i < kEach; ++i) bytes += record(i * kSlices + slice + 1);
    reading.add(bytes);
  }
  reading.open();
  const Times times = reading.times();
  REQUIRE(times.size() == kSlices * kEach);
  for (std::uint64_t i = 0; i < times.size(); ++i) REQUIRE(times[i] == i + 1);
}

TEST_CASE("a record can span two slices of one aging class, but not of two classes") {
  Reading reading;
  const std::string all = records(1, 4);
  reading.add(all.substr(0, 100));
  reading.add(all.substr(100, 90));
  reading.add(all.substr(190));
  CHECK(reading.open() == Times{1, 2, 3, 4});
  CHECK(reading.times() == Times{1, 2, 3, 4});
  CHECK(reading.report.findings().empty());

  Reading classes;
  classes.add(all.substr(0, 100), true);
  classes.add(all.substr(100));
  CHECK(classes.open() == Times{1, 3, 4});
  CHECK(classes.count("ends in the middle of a record") == 36);
  CHECK(classes.count("starts in the middle of a record") == 28);
}

TEST_CASE("the start of an overwritten ring is skipped and counted") {
  Reading reading;
  reading.add(records(1, 5).substr(40));
  CHECK(reading.open() == Times{2, 3, 4, 5});
  CHECK(reading.count("starts in the middle of a record") == 24);
}

TEST_CASE("a byte lost at the end of any slice loses one record") {
  for (const bool has_next : {false, true}) {
    Reading reading;
    std::string bytes = records(1, 5);
    bytes.pop_back();
    reading.add(bytes);
    if (has_next) reading.add(records(6, 9));
    CHECK(reading.open() == (has_next ? Times{1, 2, 3, 4, 6, 7, 8, 9} : Times{1, 2, 3, 4}));
    CHECK(reading.times() == (has_next ? Times{1, 2, 3, 4, 6, 7, 8, 9} : Times{1, 2, 3, 4}));
    CHECK(reading.count("ends in the middle of a record") == 63);
  }
}

TEST_CASE("bad magics lose only their records, at any position") {
  const std::vector<std::vector<std::size_t>> bad_ones = {
      {0}, {4}, {9}, {3, 4}, {0, 1}, {8, 9}, {0, 2, 4, 6, 8}};
  for (const auto& bad : bad_ones) {
    Reading reading;
    std::string bytes = records(1, 10);
    Times left;
    for (std::uint64_t i = 0; i < 10; ++i) {
      if (std::find(bad.begin(), bad.end(), i) == bad.end()) {
        left.push_back(i + 1);
      } else {
        bytes[i * kBytes] = '\0';
      }
    }
    reading.add(bytes);
    CAPTURE(bad);
    CHECK(reading.open() == left);
    CHECK(reading.times() == left);
    CHECK(reading.count("bad magic") == static_cast<std::int64_t>(bad.size()));
  }
}

TEST_CASE("bytes lost or added within a record lose only that record") {
  for (const std::size_t damaged : {std::size_t{0}, std::size_t{4}, std::size_t{8}}) {
    for (const int change : {-30, -5, -1, 1, 5, 30}) {
      Reading reading;
      std::string bytes = records(1, 10);
      const std::size_t at = damaged * kBytes + 24;
      if (change < 0) {
        bytes.erase(at, static_cast<std::size_t>(-change));
      } else {
        bytes.insert(at, std::string(static_cast<std::size_t>(change), '\x33'));
      }
      reading.add(bytes);
      Times left;
      for (std::uint64_t time = 1; time <= 10; ++time) {
        if (time != damaged + 1) left.push_back(time);
      }
      CAPTURE(damaged, change);
      CHECK(reading.open() == left);
      CHECK(reading.times() == left);
      CHECK(reading.report.is_partial());
    }
  }
}

TEST_CASE("bytes lost in one of the last two records do not lose the other") {
  for (const std::size_t damaged : {std::size_t{8}, std::size_t{9}}) {
    Reading reading;
    std::string bytes = records(1, 10);
    bytes.erase(damaged * kBytes + 30, 3);
    reading.add(bytes);
    Times left{1, 2, 3, 4, 5, 6, 7, 8};
    left.push_back(damaged == 8 ? 10 : 9);
    CAPTURE(damaged);
    CHECK(reading.open() == left);
  }
}

TEST_CASE("a slice without any valid record is counted and loses no other slice") {
  Reading reading;
  reading.add(std::string(640, '\0'));
  reading.add(records(1, 3));
  CHECK(reading.open() == Times{1, 2, 3});
  CHECK(reading.report.is_partial());
}

TEST_CASE("empty slices are accepted") {
  Reading reading;
  reading.add("");
  reading.add(records(1, 2));
  reading.add("", true);
  CHECK(reading.open() == Times{1, 2});
  CHECK(reading.times() == Times{1, 2});
  CHECK_FALSE(reading.report.is_partial());

  Reading nothing;
  CHECK(nothing.open().empty());
  CHECK(nothing.stream.peek() == nullptr);
}

TEST_CASE("a kind without a magic is aligned to the start of the slice") {
  Reading reading(kUnmarked);
  std::string bytes = records(1, 3);
  bytes[0] = '\0';
  reading.add(bytes + "rest");
  CHECK(reading.open() == Times{1, 2, 3});
  CHECK(reading.count("ends in the middle of a record") == 4);
}

TEST_CASE("an unreadable slice loses no other slice") {
  Reading reading;
  std::filesystem::remove(reading.add(records(1, 3)));
  reading.add(records(4, 6));
  CHECK(reading.open() == Times{4, 5, 6});
  CHECK(reading.count("unreadable") == 1);
}

TEST_CASE("a slice that is truncated between the passes ends early, with a finding") {
  Reading reading;
  const auto path = reading.add(records(1, 10));
  reading.open();
  Reading other;
  const auto cut = other.add(records(1, 10) + records(11, 9000));
  std::filesystem::resize_file(cut, 64 * 4500);
  other.open();
  std::filesystem::resize_file(cut, 64 * 4200);
  CHECK(other.times().size() < 4500);
  CHECK(other.count("changed while it was being read") == 1);
  CHECK(reading.times().size() == 10);
}

TEST_CASE("a record skipped by its reader is counted with its offset") {
  Reading reading;
  reading.add(records(1, 3));
  reading.open();
  reading.stream.next();
  reading.stream.skip(reading.context, *reading.stream.peek(), "too many");
  REQUIRE(reading.report.findings().size() == 1);
  CHECK(reading.report.findings()[0].first_offset == 64);
  CHECK(reading.report.findings()[0].file == "slice_0");
}

TEST_CASE("one damaged time far ahead does not disturb the order of the others") {
  Reading reading;
  reading.add(records(1, 2) + record(UINT64_MAX) + records(3, 9000));
  reading.open();
  const Times times = reading.times();
  REQUIRE(times.size() == 9001);
  CHECK(times[8999] == 9000);
  CHECK(times[9000] == UINT64_MAX);
}

TEST_CASE(
    "records with an impossible time are skipped in both passes, and counted with their offset") {
  ClockStart start;
  start.count = 1000;
  start.frequency_hz = 1000;
  const ClockMap clock(start);
  Reading reading;
  reading.stream.limit_times(clock);
  reading.add(record(7) + record(~std::uint64_t{0}) + record(5) + record(clock.latest()) +
              record(clock.latest() + 1));
  reading.add(record(6));
  CHECK(reading.open() == Times{7, 5, clock.latest(), 6});
  CHECK(reading.times() == Times{5, 6, 7, clock.latest()});
  CHECK(reading.count("impossible time") == 2);
  REQUIRE(reading.report.findings().size() == 1);
  CHECK(reading.report.findings()[0].id == FindingId::damaged_record);
  CHECK(reading.report.findings()[0].file == "slice_0");
  CHECK(reading.report.findings()[0].first_offset == 64);
  CHECK(reading.report.records() == 4);
  CHECK(reading.report.is_partial());
}

TEST_CASE("the time field of a record type without a time is not checked") {
  ClockStart start;
  start.frequency_hz = 1000;
  RecordFormat format = kMarked;
  format.has_time = [](std::span<const std::byte> record) { return record[2] != std::byte{9}; };
  Reading reading(format);
  reading.stream.limit_times(ClockMap(start));
  std::string other = record(~std::uint64_t{0});
  other[2] = 9;
  reading.add(record(7) + other + record(~std::uint64_t{0} - 1));
  CHECK(reading.open() == Times{7, ~std::uint64_t{0}});
  CHECK(reading.times() == Times{7, ~std::uint64_t{0}});
  CHECK(reading.count("impossible time") == 1);
}
