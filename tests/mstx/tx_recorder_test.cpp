// Rules of the recorder that are hard to show with a program: limits, filters, the bytes of
// records.
#include "runtime/mstx/tx_recorder.hpp"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace msprof;
using namespace msprof::mstx;

namespace {

class Kept : public TxSink {
 public:
  bool is_open() const override { return open; }
  std::uint64_t next_id() override { return ++ids; }
  std::uint64_t intern(std::string_view domain) override {
    return hashes.try_emplace(std::string(domain), hashes.size() + 100).first->second;
  }
  void append(const MsprofTxWire& record) override { records.push_back(record); }
  void pass_on_stream(void* stream, std::uint64_t id, StreamTag tag) override {
    passed.push_back({stream, id, tag});
  }

  struct Passed {
    void* stream;
    std::uint64_t id;
    StreamTag tag;
  };

  bool open = true;
  std::uint64_t ids = 0;
  std::map<std::string, std::uint64_t> hashes;
  std::vector<MsprofTxWire> records;
  std::vector<Passed> passed;
};

std::string message(const MsprofTxWire& record) {
  return {&record.message[0], strnlen(&record.message[0], kTxMessageBytes)};
}

// Counts records from any number of threads.
class Counted : public TxSink {
 public:
  bool is_open() const override { return open; }
  std::uint64_t next_id() override { return ++ids; }
  std::uint64_t intern(std::string_view) override { return 1; }
  void append(const MsprofTxWire& record) override {
    ++(record.event_type == 0 ? marks : ranges);
    if (record.end_count < record.start_count) ++backwards;
  }
  void pass_on_stream(void*, std::uint64_t, StreamTag) override {}

  std::atomic<bool> open{true};
  std::atomic<std::uint64_t> ids{0}, marks{0}, ranges{0}, backwards{0};
};

}  // namespace

TEST_CASE("a mark is one record with equal start and end") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  recorder.mark("here", nullptr);
  REQUIRE(kept.records.size() == 1);
  const MsprofTxWire& record = kept.records[0];
  CHECK(record.head.magic == kRecordMagic);
  CHECK(record.head.level == 20500);
  CHECK(record.head.data_len == 232);
  CHECK(record.info_type == 1);
  CHECK(record.event_type == 0);
  CHECK(record.mark_id == 1);
  CHECK(record.start_count == record.end_count);
  CHECK(record.domain == kept.hashes.at("default"));
  CHECK(message(record) == "here");
}

TEST_CASE("a long message is cut into segments that share an id") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  const auto make_message = [](std::size_t bytes) {
    std::string text(bytes, 'x');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 26);
    return text;
  };
  for (const std::size_t bytes : {1U, 155U, 156U, 157U, 310U, 311U, 16384U}) {
    kept.records.clear();
    const std::string text = make_message(bytes);
    recorder.mark(text.c_str(), nullptr);
    std::string joined;
    for (std::size_t i = 0; i < kept.records.size(); ++i) {
      CHECK(kept.records[i].segment == i);
      CHECK(kept.records[i].mark_id == kept.ids);
      joined += message(kept.records[i]);
    }
    CHECK(kept.records.size() == (bytes <= 156 ? 1 : (bytes + 154) / 155));
    CHECK(joined == text);
  }
  kept.records.clear();
  recorder.mark(make_message(kMaxMessageBytes + 1000).c_str(), nullptr);
  CHECK(kept.records.size() == (kMaxMessageBytes + 154) / 155);
}

TEST_CASE("a closed sink gets no record and ranges get no id") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  const std::uint64_t begun = recorder.start_range("begun while open", nullptr);
  CHECK(begun == 1);
  kept.open = false;
  recorder.mark("closed", nullptr);
  CHECK(recorder.start_range("closed", nullptr) == 0);
  TxRecorder::Domain* const domain = recorder.create_domain("made while closed");
  CHECK(domain != nullptr);
  CHECK(kept.records.empty());
  kept.open = true;
  recorder.mark(domain, "open again", nullptr);
  recorder.end_range(begun);
  REQUIRE(kept.records.size() == 2);
  CHECK(kept.records[0].domain == kept.hashes.at("made while closed"));
  CHECK(message(kept.records[1]) == "begun while open");
}

TEST_CASE("domains above the limit are refused, the others still work") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  TxRecorder::Domain* last = nullptr;
  for (std::size_t i = 0; i < kMaxDomains; ++i) {
    last = recorder.create_domain(("domain " + std::to_string(i)).c_str());
    REQUIRE(last != nullptr);
  }
  CHECK(recorder.create_domain("one more") == nullptr);
  recorder.mark(last, "in the last", nullptr);
  CHECK(kept.records.size() == 1);
  recorder.destroy_domain(last);
  recorder.mark(last, "in the last", nullptr);
  CHECK(kept.records.size() == 1);
  CHECK(recorder.create_domain("domain 1023") == last);
  recorder.mark(last, "in the last", nullptr);
  CHECK(kept.records.size() == 2);
}

TEST_CASE("ranges above the limit of open ones are refused until one ends") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  for (std::size_t i = 0; i < kMaxOpenRanges; ++i) {
    if (recorder.start_range("open", nullptr) == 0) FAIL("range " << i << " was refused");
  }
  CHECK(recorder.start_range("one more", nullptr) == 0);
  recorder.end_range(1);
  CHECK(recorder.start_range("one more", nullptr) != 0);
  recorder.forget_ranges();
  recorder.end_range(2);
  CHECK(kept.records.size() == 1);
  CHECK(recorder.start_range("after a fork", nullptr) != 0);
}

TEST_CASE("ranges with colliding numbers are all kept or get another number") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  std::vector<std::uint64_t> open;
  for (std::uint64_t round = 0; round < 4; ++round) {
    kept.ids = round * kMaxOpenRanges;
    open.push_back(recorder.start_range(std::to_string(round).c_str(), nullptr));
  }
  CHECK(open[2] == 2 * kMaxOpenRanges + 1);
  CHECK(open[3] == 3 * kMaxOpenRanges + 2);  // three slots were taken
  recorder.end_range(3 * kMaxOpenRanges + 1);
  CHECK(kept.records.empty());
  for (const std::uint64_t id : open) recorder.end_range(id);
  for (const std::uint64_t id : open) recorder.end_range(id);
  REQUIRE(kept.records.size() == 4);
  for (std::size_t round = 0; round < 4; ++round) {
    CHECK(kept.records[round].mark_id == open[round]);
    CHECK(message(kept.records[round]) == std::to_string(round));
  }
}

TEST_CASE("a range stays open if another domain tries to end it") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  TxRecorder::Domain* const other = recorder.create_domain("other");
  const std::uint64_t id = recorder.start_range("mine", nullptr);
  recorder.end_range(other, id);
  CHECK(kept.records.empty());
  recorder.end_range(id);
  CHECK(kept.records.size() == 1);
}

TEST_CASE("threads that share domains and end each other's ranges lose nothing") {
  Counted counted;
  TxRecorder recorder(counted, DomainFilter());
  constexpr std::size_t kThreads = 4, kRanges = 2000;
  std::array<std::atomic<std::uint64_t>, kRanges> handed_on{};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < kRanges; ++i) {
        TxRecorder::Domain* const domain =
            recorder.create_domain(("domain " + std::to_string(i % 50)).c_str());
        recorder.mark(domain, "mark", nullptr);
        // Replaces the range left here by another thread with a new one, and ends the former, if
        // any.
        recorder.end_range(handed_on[i].exchange(recorder.start_range("range", nullptr)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::atomic<std::uint64_t>& id : handed_on) recorder.end_range(id);
  CHECK(counted.marks == kThreads * kRanges);
  CHECK(counted.ranges == kThreads * kRanges);
  CHECK(counted.backwards == 0);
}

TEST_CASE("marks and ranges with a stream are passed to its device") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter());
  int stream = 0;
  recorder.mark("mark", &stream);
  const std::uint64_t id = recorder.start_range("range", &stream);
  recorder.end_range(id);
  REQUIRE(kept.passed.size() == 3);
  CHECK(kept.passed[0].id == 1);
  CHECK(kept.passed[0].tag == StreamTag::mark);
  for (const std::size_t edge : {1U, 2U}) {
    CHECK(kept.passed[edge].id == id);
    CHECK(kept.passed[edge].tag == StreamTag::range);
    CHECK(kept.passed[edge].stream == &stream);
  }
}

TEST_CASE("a list of domains selects which are recorded or not recorded") {
  CHECK(DomainFilter().takes("any"));
  const DomainFilter wanted("net, default ,,", "");
  CHECK(wanted.takes("net"));
  CHECK(wanted.takes("default"));
  CHECK_FALSE(wanted.takes("io"));
  const DomainFilter unwanted("", "io");
  CHECK(unwanted.takes("net"));
  CHECK(unwanted.takes("default"));
  CHECK_FALSE(unwanted.takes("io"));
  CHECK_FALSE(DomainFilter("net", "net").takes("io"));
  CHECK(DomainFilter("net", "net").takes("net"));
}

TEST_CASE("a domain that is not recorded has a handle but no range ids") {
  Kept kept;
  TxRecorder recorder(kept, DomainFilter("", "quiet,default"));
  TxRecorder::Domain* const quiet = recorder.create_domain("quiet");
  TxRecorder::Domain* const loud = recorder.create_domain("loud");
  REQUIRE(quiet != nullptr);
  CHECK(recorder.start_range(quiet, "range", nullptr) == 0);
  recorder.mark(quiet, "mark", nullptr);
  recorder.mark("mark", nullptr);
  CHECK(kept.records.empty());
  recorder.end_range(loud, recorder.start_range(loud, "range", nullptr));
  CHECK(kept.records.size() == 1);
}
