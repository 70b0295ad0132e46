// CallSource: calls recorded as one record or as two events, in order.
#include "import/cann/join/host_sources.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "import/cann/cann_import.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::cann;

namespace {

class EmptySession : public Session {
 public:
  EmptySession() : Session(Dialect::cann, "PROF_1", {}) {}
};

std::string call(std::uint16_t level, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t item = 0, std::uint32_t request = 0) {
  ApiEventWire wire{};
  wire.head.magic = kRecordMagic;
  wire.head.level = level;
  wire.head.time = begin;
  wire.head.data_len = request;
  wire.end = end;
  wire.item = item;
  return {reinterpret_cast<const char*>(&wire), sizeof(wire)};
}

struct Calls {
  std::vector<std::string> seen;  // "level begin end"
  ImportReport report;

  explicit Calls(const std::string& bytes, std::uint64_t latest_end = UINT64_MAX) {
    test::TempFolder folder;
    test::write_file(folder / "slice", bytes);
    EmptySession session;
    TraceDbWriter store(folder / "msprof.db");
    const ImportContext context{session, store, report, nullptr};
    RecordStream stream(host_record_format(HostStream::api_event));
    stream.add(RawFile{folder / "slice", "slice", bytes.size(), std::nullopt}, false);
    CallSource source(stream);
    source.set_latest_end(latest_end);
    source.open(context);
    for (; !source.peek().empty(); source.next(context)) {
      for (const CallSource::Call& made : source.peek()) {
        const HostHeader& head = made.wire.head;
        seen.push_back(std::to_string(head.level) + " " + std::to_string(head.time) + " " +
                       std::to_string(made.wire.end));
      }
    }
  }
  std::vector<std::string> reasons() const {
    std::vector<std::string> all;
    for (const Finding& finding : report.findings()) all.push_back(finding.reason);
    return all;
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "calls are in order of start, and those with the same start from the highest level down") {
  const Calls calls(call(5000, 20, 30) + call(10000, 10, 50) + call(20000, 10, 60) +
                    call(10000, 10, 20));
  CHECK(calls.seen == Texts{"20000 10 60", "10000 10 50", "10000 10 20", "5000 20 30"});
  CHECK(calls.report.findings().empty());
}

TEST_CASE("two events of a key are a call, a third opens a new call, and an open one is reported") {
  const Calls calls(call(15000, 40, kIsEvent, 7, 1) + call(15000, 41, kIsEvent, 7, 2) +
                    call(20000, 45, 50) + call(15000, 60, kIsEvent, 7, 1) +
                    call(15000, 61, kIsEvent, 7, 1));
  CHECK(calls.seen == Texts{"15000 40 60", "20000 45 50"});
  CHECK(calls.reasons() == Texts{"event without its counterpart"});
  CHECK(calls.report.findings()[0].count == 2);
}

TEST_CASE("impossible calls are counted by reason") {
  const Calls calls(call(20000, 0, 10) + call(20000, 20, 10) + call(20000, 30, 5000) +
                        call(20000, 40, 45) + call(20000, 2000, 2010),
                    1000);
  // The start of the last call is equally late, so the clock is wrong, not the record.
  CHECK(calls.seen == Texts{"20000 40 45", "20000 2000 2010"});
  CHECK(calls.reasons() ==
        Texts{"start is 0", "end before start", "end long after the collection"});
}
