// static_op_mem: device memory of the operators of graphs, from compilation. Source:
// cann_system.md 18.
#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

class CannStaticOpMem : public cann::CannTable {
 public:
  CannStaticOpMem()
      : CannTable({.name = "static_op_mem",
                   .title = "Static operator memory",
                   .help = "device memory assigned by graphs to their operators",
                   .exists = exists_counters("static_op_mem"),
                   .needs = {"static_op_mem"},
                   .group = kCounterLayers},
                  {"Device_id", "Op Name", "Model Name", "Graph ID", "Node Index Start",
                   "Node Index End", "Size(KB)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    // Graphs compiled before the collection started are included, because the run used them.
    CounterSamples samples(db, "static_op_mem", output_file.scope, true);
    std::int64_t bytes = 0;
    std::int64_t begin = 0;
    while (samples.next()) {
      const CounterTrack& track = *samples->track;
      if (track.counter == "Size") bytes = samples->value;
      if (track.counter == "Life Start") begin = samples->value;
      // The last of the three samples of a record.
      if (track.counter == "Life End") write_row(out, track, begin, samples->value, bytes);
    }
  }

 private:
  static void write_row(RowBuilder& out, const CounterTrack& track, std::int64_t begin,
                        std::int64_t end, std::int64_t bytes) {
    // Means "until the end of the graph"; the table shows the largest 32-bit number instead.
    constexpr std::int64_t kToTheEnd = 4294967294;
    constexpr std::int64_t kKilobyte = 1024;
    out.text("host");
    out.text(track.subject);
    out.text(track.detail);
    out.number(track.number.value_or(0));
    out.number(begin);
    out.number(end == kToTheEnd ? kToTheEnd + 1 : end);
    if (bytes % kKilobyte == 0) {
      out.number(bytes / kKilobyte);
    } else {
      out.real(static_cast<double>(bytes) / kKilobyte);
    }
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_static_op_mem() {
  return std::make_unique<CannStaticOpMem>();
}

}  // namespace msprof
