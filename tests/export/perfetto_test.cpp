// Timelines as Perfetto's protobuf: protobuf's own reader finds the same contents as in the JSON.
#include "export/trace/perfetto_writer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "export/perfetto_trace.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

using Draw = std::function<void(TraceWriter&)>;

// Writes chunks, which are finished in `order`; ascending if it is empty.
std::string written(const std::vector<Draw>& chunks, std::vector<std::size_t> order = {}) {
  const TempFolder folder;
  const auto path = folder / "a.perfetto-trace";
  {
    AtomicFile file(path);
    const auto trace = make_perfetto_file(file);
    const Database db = Database::create(folder / "a.db", 4096);
    OrderedChunks ordered(chunks.size(), 1, 16 << 20);
    ordered.run(
        db,
        [&](const Database&, std::size_t chunk) {
          const auto writer = trace->make_writer(ordered, chunk);
          chunks[chunk](*writer);
          writer->finish();
        },
        std::move(order));
    trace->finish();
    file.commit();
  }
  return read_file(path);
}

PerfettoTrace traced(const Draw& draw) {
  return read_perfetto_trace(written({draw}));
}

// Tracks with slices, by number of their slices.
std::vector<std::size_t> slices_by_track(const PerfettoTrace& trace) {
  std::map<std::uint64_t, std::size_t> counts;
  for (const PerfettoSlice& slice : trace.slices) ++counts[slice.track_uuid];
  std::vector<std::size_t> all;
  for (const auto& [track, count] : counts) all.push_back(count);
  return all;
}

void draw_slice(TraceWriter& out, const std::string& name, TraceLane lane, std::int64_t begin_ns,
                std::int64_t length_ns) {
  if (out.begin_slice(name, lane, begin_ns, length_ns)) out.end_event();
}

}  // namespace

TEST_CASE("a slice in protobuf has the name, times and arguments of the JSON slice") {
  const auto trace = traced([](TraceWriter& out) {
    out.process(5, std::string("Host \"a\""), "CPU", 3);
    out.thread({5, 8}, "Thread 8", 1);
    REQUIRE(out.begin_slice(std::string("op \"x\""), {5, 8}, 1'715'760'307'201'793'880, 12'345));
    out.argument("count", std::int64_t{-7});
    out.argument("text", std::string("a\n\"b\" \x01 ü"));
    out.argument_number("part", 0.5);
    out.argument_number("none", NAN);
    out.argument_us("length", 12'000);
    out.argument_time("start", 1'715'760'307'201'793'880);
    out.argument_digits("large", "18446744073709551615");
    SharedArguments shared;
    shared.add("thread", 7);
    shared.add("mode", "a\"b");
    out.arguments(shared);
    out.end_event();
  });
  CHECK(trace.faults.empty());
  REQUIRE(trace.slices.size() == 1);
  const PerfettoSlice& slice = trace.slices[0];
  CHECK(slice.process == "Host \"a\"");
  CHECK(slice.track == "Thread 8");
  CHECK(slice.name == "op \"x\"");
  CHECK(slice.begin_ns == 1'715'760'307'201'793'880);
  CHECK(slice.length_ns == 12'345);
  CHECK(slice.arguments ==
        std::vector<std::string>{"count=-7", "text=a\n\"b\" \x01 ü", "part=0.500000", "none=null",
                                 "length=12.000000", "start=1715760307201793.880",
                                 "large=18446744073709551616.000000", "thread=7", "mode=a\"b"});
  CHECK(trace.labels.at("Host \"a\"") == std::vector<std::string>{"CPU"});
}

TEST_CASE("slices that touch, nest or have no duration keep their end times") {
  const std::vector<std::pair<std::int64_t, std::int64_t>> times = {
      {0, 100}, {0, 50}, {10, 0}, {50, 50}, {60, 40}, {100, 5}, {105, 0}, {105, 0}, {105, 3}};
  const auto trace = traced([&](TraceWriter& out) {
    for (std::size_t i = 0; i < times.size(); ++i)
      draw_slice(out, "s" + std::to_string(i), {1, 1}, times[i].first, times[i].second);
  });
  CHECK(trace.faults.empty());
  REQUIRE(trace.slices.size() == times.size());
  std::set<std::string> tracks;
  for (const PerfettoSlice& slice : trace.slices) {
    CAPTURE(slice.name);
    const auto& [begin, length] = times[static_cast<std::size_t>(std::stoi(slice.name.substr(1)))];
    CHECK(slice.begin_ns == begin);
    CHECK(slice.length_ns == length);
    tracks.insert(slice.track);
  }
  CHECK(tracks == std::set<std::string>{"Thread 1"});
}

TEST_CASE("slices that overlap or are out of order keep their times, on tracks of the same name") {
  const auto trace = traced([](TraceWriter& out) {
    out.process_name({0}, "AA Core device 0");
    out.thread_name({0, 0}, "AA CORE");
    draw_slice(out, "a", {0, 0}, 1000, 10'000);
    draw_slice(out, "b", {0, 0}, 5000, 10'000);
    draw_slice(out, "c", {0, 0}, 2000, 500);
    draw_slice(out, "d", {0, 0}, 20'000, 1000);
  });
  CHECK(trace.faults.empty());
  REQUIRE(trace.slices.size() == 4);
  const std::vector<std::string> order = {"a", "c", "b", "d"};
  const std::vector<std::int64_t> lengths = {10'000, 500, 10'000, 1000};
  for (std::size_t i = 0; i < order.size(); ++i) {
    CHECK(trace.slices[i].name == order[i]);
    CHECK(trace.slices[i].length_ns == lengths[i]);
    CHECK(trace.slices[i].track == "AA CORE");
    CHECK(trace.slices[i].process == "AA Core device 0");
  }
  // Process id 0 is reserved for idle, so device 0 gets another process id.
  CHECK(trace.processes.at("AA Core device 0") > (1 << 21));
}

TEST_CASE("arrows are flows of the slices at both ends") {
  const auto trace = traced([](TraceWriter& out) {
    const TraceArrow arrow{"HostToDevice4294967296", "HostToDevice", std::uint64_t{1} << 32};
    draw_slice(out, "call", {1, 1}, 1000, 100);
    out.arrow('s', arrow, {1, 1}, 1000);
    draw_slice(out, "task", {2, 1}, 3000, 100);
    out.arrow('t', arrow, {2, 1}, 3000);
    draw_slice(out, "last", {2, 2}, 4000, 100);
    out.arrow('f', arrow, {2, 2}, 4000);
    out.arrow('s', {"Beside", "x", 0, "odd id"}, {2, 2}, 9000);
  });
  CHECK(trace.faults.empty());
  REQUIRE(trace.slices.size() == 3);
  REQUIRE(trace.slices[0].flows.size() == 1);
  CHECK(trace.slices[1].flows == trace.slices[0].flows);
  CHECK(trace.slices[1].last_flows.empty());
  CHECK(trace.slices[2].last_flows == trace.slices[0].flows);
  // An arrow end outside any slice is drawn as a mark.
  REQUIRE(trace.marks.size() == 1);
  CHECK(trace.marks[0].name == "Beside");
  CHECK(trace.marks[0].begin_ns == 9000);
  CHECK(trace.marks[0].flows.size() == 1);
  CHECK(trace.marks[0].flows != trace.slices[0].flows);
}

TEST_CASE("counter samples have one track per value, even if their times go back") {
  const auto trace = traced([](TraceWriter& out) {
    out.process_name({4}, "HBM");
    out.begin_counter("HBM 0", {4, 0}, 5000);
    out.argument_number("Read", 1.25);
    out.argument("Write", "7.5");
    out.argument("None", "N/A");
    out.end_event();
    out.counter("HBM 0", {4, 0}, 2000, "Read", 9);
  });
  CHECK(trace.faults.empty());
  REQUIRE(trace.samples.size() == 3);
  const auto has = [&](const std::string& track, std::int64_t time_ns, double value) {
    return std::any_of(trace.samples.begin(), trace.samples.end(), [&](const auto& sample) {
      return sample.process == "HBM" && sample.track == track && sample.time_ns == time_ns &&
             sample.value == value;
    });
  };
  CHECK(has("HBM 0 Read", 5000, 1.25));
  CHECK(has("HBM 0 Write", 5000, 7.5));
  CHECK(has("HBM 0 Read", 2000, 9));
}

TEST_CASE("chunks share their tracks, whichever is finished first") {
  using Times = std::vector<std::pair<std::int64_t, std::int64_t>>;
  const auto draw = [](const Times& times) {
    return [times](TraceWriter& out) {
      for (const auto& [begin, length] : times) {
        const std::string name = std::to_string(begin);
        if (!out.begin_slice(name, {1, 1}, begin, length)) continue;
        SharedArguments shared;
        shared.add("mode", name);
        out.arguments(shared);
        out.end_event();
        out.counter("all", {1, 0}, begin, "length", length);
      }
    };
  };
  // The first slice ends in the third chunk and contains most others.
  const Times first = {{0, 1000}, {100, 200}};
  const Times second = {{200, 100}, {300, 50}, {310, 10}, {400, 100}};
  const Times third = {{500, 500}, {1000, 20}, {1010, 5}};
  Draw names = [](TraceWriter& out) {
    out.process_name({1}, "P");
    out.thread_name({1, 1}, "T");
  };
  const std::string bytes = written({draw(first), draw(second), draw(third), names});
  CHECK(written({draw(first), draw(second), draw(third), names}, {3, 2, 1, 0}) == bytes);
  const PerfettoTrace trace = read_perfetto_trace(bytes);
  CHECK(trace.faults.empty());
  REQUIRE(trace.slices.size() == 9);
  CHECK(trace.samples.size() == 9);
  Times all;
  for (const PerfettoSlice& slice : trace.slices) {
    CHECK(slice.process == "P");
    CHECK(slice.track == "T");
    CHECK(slice.name == std::to_string(slice.begin_ns));
    CHECK(slice.arguments == std::vector<std::string>{"mode=" + slice.name});
    all.emplace_back(slice.begin_ns, slice.length_ns);
  }
  Times expected = first;
  expected.insert(expected.end(), second.begin(), second.end());
  expected.insert(expected.end(), third.begin(), third.end());
  CHECK(all == expected);
  CHECK(slices_by_track(trace) == std::vector<std::size_t>{9});
}

TEST_CASE("slices that overlap those of an earlier chunk go to another track") {
  const auto slice = [](std::int64_t begin, std::int64_t length) {
    return [=](TraceWriter& out) { draw_slice(out, "s", {1, 1}, begin, length); };
  };
  const PerfettoTrace trace = read_perfetto_trace(
      written({slice(0, 100), slice(50, 100), slice(120, 10), slice(140, 60), slice(130, 5)}));
  CHECK(trace.faults.empty());
  REQUIRE(trace.slices.size() == 5);
  const std::vector<std::int64_t> lengths = {100, 100, 10, 5, 60};
  for (std::size_t i = 0; i < lengths.size(); ++i) CHECK(trace.slices[i].length_ns == lengths[i]);
  CHECK(slices_by_track(trace) == std::vector<std::size_t>{3, 2});
}

TEST_CASE("texts beyond the interned ones are written in full") {
  const int count = 5000;
  const auto trace = traced([&](TraceWriter& out) {
    for (int i = 0; i < count; ++i) {
      if (!out.begin_slice("s", {1, 1}, i * 10, 5)) continue;
      out.argument("id", "text " + std::to_string(i));
      out.end_event();
    }
  });
  CHECK(trace.faults.empty());
  REQUIRE(trace.slices.size() == count);
  for (const std::size_t i : {0u, 4095u, 4096u, 4999u})
    CHECK(trace.slices[i].arguments == std::vector<std::string>{"id=text " + std::to_string(i)});
}

TEST_CASE("a timeline without events is an empty trace") {
  const auto trace = traced([](TraceWriter&) {});
  CHECK(trace.faults.empty());
  CHECK(trace.packets == 0);
}
