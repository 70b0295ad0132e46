// Chunks of a timeline written by several threads have the same text as a timeline written by one
// thread.
#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <string>

#include "export/exporter.hpp"
#include "export/trace/timeline_pieces.hpp"
#include "timeline_events.hpp"

namespace msprof::test {
namespace {

using When = TimelinePiece::When;

LayerPiece make_piece(std::function<void(TraceWriter&)> write, When when = When::in_turn) {
  return {
      {[write = std::move(write)](const Database&, TraceWriter& out) { write(out); }, when}, 0, 0};
}

void write_slice(TraceWriter& out, const std::string& name) {
  if (!out.begin_slice(name, {1, 2}, 1000, 2000)) return;
  out.end_event();
}

std::string one_slice(const std::string& name) {
  return "{\"name\":\"" + name +
         "\",\"pid\":1,\"tid\":2,\"ts\":\"1.000\",\"dur\":2.0,\"ph\":\"X\",\"args\":{}}";
}

PieceCounts write(CannStore& store, const std::vector<LayerPiece>& pieces, std::size_t threads,
                  TextSink& sink) {
  return write_pieces(store.db().database(), pieces, threads, sink);
}

TEST_CASE("Chunks are output in order, whichever is written first") {
  CannStore store;
  std::latch second_has_begun(1);
  std::vector<LayerPiece> pieces;
  pieces.push_back(make_piece([](TraceWriter&) {}));
  pieces.push_back(make_piece([&](TraceWriter& out) {
    second_has_begun.wait();
    write_slice(out, "first");
  }));
  pieces.push_back(make_piece([&](TraceWriter& out) {
    second_has_begun.count_down();
    write_slice(out, "second");
    write_slice(out, "third");
  }));
  TextSink sink;
  const PieceCounts counts = write(store, pieces, 2, sink);
  CHECK(sink.text() == "[\n" + one_slice("first") + ",\n" + one_slice("second") + ",\n" +
                           one_slice("third") + "\n]\n");
  CHECK(counts.events == 3);
  CHECK(counts.slices == 3);
}

TEST_CASE("A timeline of chunks without events is an empty array") {
  CannStore store;
  TextSink sink;
  CHECK(write(store, {make_piece([](TraceWriter&) {})}, 2, sink).events == 0);
  CHECK(sink.text() == "[]\n");
}

TEST_CASE("A chunk that is not next buffers a limited amount of text, then waits") {
  CannStore store;
  std::latch second_has_begun(1);
  const std::string name(1 << 16, 'n');
  constexpr int kSlices = 500;  // 33 MB
  std::vector<LayerPiece> pieces;
  pieces.push_back(make_piece([&](TraceWriter& out) {
    second_has_begun.wait();
    write_slice(out, "first");
  }));
  pieces.push_back(make_piece([&](TraceWriter& out) {
    second_has_begun.count_down();
    for (int i = 0; i < kSlices; ++i) write_slice(out, name);
  }));
  TextSink sink;
  CHECK(write(store, pieces, 2, sink).events == kSlices + 1);
  const std::size_t line = one_slice(name).size() + 2;  // including its comma
  CHECK(sink.text().size() == 2 + one_slice("first").size() + kSlices * line + 3);
  CHECK(sink.text().ends_with(one_slice(name) + "\n]\n"));
}

TEST_CASE("Chunks that others wait for run first, and chunks with totals run last") {
  CannStore store;
  std::atomic<bool> is_made{false};
  std::atomic<int> written{0};
  std::vector<LayerPiece> pieces;
  for (int i = 0; i < 20; ++i)
    pieces.push_back(make_piece([&](TraceWriter& out) {
      write_slice(out, "one");
      ++written;
    }));
  int summed = 0;
  pieces.push_back(make_piece([&](TraceWriter&) { summed = written; }, When::after_others));
  pieces.push_back(make_piece([&](TraceWriter&) { is_made = written == 0; }, When::ahead));
  TextSink alone;
  write(store, pieces, 1, alone);
  CHECK(is_made);
  CHECK(summed == 20);
  written = 0;
  TextSink together;
  write(store, pieces, 3, together);
  CHECK(summed == 20);
  CHECK(together.text() == alone.text());
}

TEST_CASE("An exception of a chunk stops the others, including waiting ones") {
  CannStore store;
  std::latch second_has_begun(1);
  const std::string name(1 << 16, 'n');
  std::vector<LayerPiece> pieces;
  pieces.push_back(make_piece([&](TraceWriter&) {
    second_has_begun.wait();
    throw Error(Exit::partial_data, "the first one fails");
  }));
  pieces.push_back(make_piece([&](TraceWriter& out) {
    second_has_begun.count_down();
    // Exceeds the buffer limit: this chunk waits for its turn, which never comes.
    for (int i = 0; i < 500; ++i) write_slice(out, name);
  }));
  pieces.push_back(make_piece([](TraceWriter&) {}, When::after_others));
  TextSink sink;
  CHECK_THROWS_WITH(write(store, pieces, 2, sink), "the first one fails");
}

TEST_CASE("A timeline of several chunks per layer equals that of a single thread") {
  CannStore store;
  constexpr std::int64_t kRows = 2 * kPieceRows + 10;
  for (std::int64_t id = 1; id <= 3; ++id) add_op(store, id, "Add", "AI_CORE");
  // The first calls start before the collection.
  for (std::int64_t id = 1; id <= kRows; ++id) {
    add_call(store, id, id % 2 == 0 ? "launch" : "aclrtRecordEvent", id % 2 == 0 ? kNode : kAcl,
             kSecond + (id - 5) * 100, 50, id % 4 == 0 ? "Add_1" : nullptr);
  }
  for (std::int64_t id = 1; id <= kRows; ++id) {
    TaskRow row = task(store, id, "KERNEL_AICORE", kSecond + id * 100, 90);
    row.stream_id = id % 3;
    row.op_id = id % 3 + 1;
    row.api_id = id % 7 == 0 ? id : kNull;
    store.add(row);
  }
  add_run(store, kRows);
  store.add_marks();
  const TempFolder folder;
  const auto written = export_timelines(store.db(), folder.path(), {});
  REQUIRE(written.size() == 1);
  TextSink alone;
  TraceJsonWriter writer(alone);
  write_timeline_events(store.db().database(), {}, writer);
  CHECK(read_file(written[0].path) == alone.text());
  CHECK(alone.text().size() > 10 << 20);
}

}  // namespace
}  // namespace msprof::test
