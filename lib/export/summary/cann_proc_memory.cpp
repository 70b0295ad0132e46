// sys_mem and process_mem: mean memory use of devices and host, and of their processes. Source:
// cann_system.md 11.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

// Means of counters, one row per subject. Fractions are truncated, as by the vendor's tool.
class MemoryMeans {
 public:
  explicit MemoryMeans(std::span<const std::string_view> counters) : counters_(counters) {}

  struct Cell {
    int128 sum = 0;
    std::int64_t count = 0;
    std::int64_t mean() const { return static_cast<std::int64_t>(count == 0 ? 0 : sum / count); }
  };
  struct Row {
    const CounterTrack* track = nullptr;
    std::vector<Cell> cells;

    int128 size() const {
      int128 sum = 0;
      for (const Cell& cell : cells) sum += cell.mean();
      return sum;
    }
  };

  // Rows are in the order of the tracks.
  const std::vector<Row>& read(CounterSamples& samples) {
    const auto& tracks = samples.tracks();
    std::vector<std::pair<std::size_t, std::size_t>> places;  // row and cell of a track
    for (const CounterTrack& track : tracks) {
      const auto counter = std::find(counters_.begin(), counters_.end(), track.counter);
      places.emplace_back(find_or_add_row(track),
                          static_cast<std::size_t>(counter - counters_.begin()));
    }
    while (samples.next()) {
      const auto [row, cell] = places[samples->track->index];
      if (cell == counters_.size()) continue;
      rows_[row].cells[cell].sum += samples->value;
      ++rows_[row].cells[cell].count;
    }
    std::erase_if(rows_, [](const Row& row) {
      return std::all_of(row.cells.begin(), row.cells.end(),
                         [](const Cell& cell) { return cell.count == 0; });
    });
    return rows_;
  }

  // Sorts by device, largest first. Call after read().
  void sort_by_size() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      if (a.track->device != b.track->device)
        return a.track->device.value_or(INT64_MAX) < b.track->device.value_or(INT64_MAX);
      return a.size() > b.size();
    });
  }

  static void write_cells(RowBuilder& out, const Row& row) {
    for (const Cell& cell : row.cells) cell.count == 0 ? out.missing() : out.number(cell.mean());
  }

 private:
  std::size_t find_or_add_row(const CounterTrack& track) {
    // Tracks of a subject are consecutive.
    if (rows_.empty() || rows_.back().track->device != track.device ||
        rows_.back().track->number != track.number)
      rows_.push_back({&track, std::vector<Cell>(counters_.size())});
    return rows_.size() - 1;
  }

  std::span<const std::string_view> counters_;
  std::vector<Row> rows_;
};

constexpr std::array<std::string_view, 9> kSystemMemoryCounters = {
    "Memory Total", "Memory Free",  "Buffers",          "Cached",         "Share Memory",
    "Commit Limit", "Committed AS", "Huge Pages Total", "Huge Pages Free"};

class CannSystemMemory : public cann::CannTable {
 public:
  CannSystemMemory()
      : CannTable({.name = "sys_mem",
                   .title = "Memory",
                   .help = "mean memory usage of devices and host",
                   .exists = exists_counters("sys_mem"),
                   .needs = {"sys_mem"},
                   .group = kCounterLayers},
                  {"Device_id", "Memory Total(kB)", "Memory Free(kB)", "Buffers(kB)", "Cached(kB)",
                   "Share Memory(kB)", "Commit Limit(kB)", "Committed AS(kB)",
                   "Huge Pages Total(pages)", "Huge Pages Free(pages)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "sys_mem", output_file.scope);
    MemoryMeans means(kSystemMemoryCounters);
    for (const MemoryMeans::Row& row : means.read(samples)) {
      cann::device_cell(out, *row.track);
      MemoryMeans::write_cells(out, row);
      out.end_row();
    }
  }
};

constexpr std::array<std::string_view, 3> kProcessMemoryCounters = {"Size", "Resident", "Shared"};

class CannProcessMemory : public cann::CannTable {
 public:
  CannProcessMemory()
      : CannTable({.name = "process_mem",
                   .title = "Memory of processes",
                   .help = "mean memory of each process",
                   .exists = exists_counters("process_mem"),
                   .needs = {"process_mem"},
                   .group = kCounterLayers},
                  {"Device_id", "PID", "Name", "Size(pages)", "Resident(pages)", "Shared(pages)"}) {
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CounterSamples samples(db, "process_mem", output_file.scope);
    MemoryMeans means(kProcessMemoryCounters);
    const std::vector<MemoryMeans::Row>& rows = means.read(samples);
    means.sort_by_size();
    for (const MemoryMeans::Row& row : rows) {
      cann::device_cell(out, *row.track);
      out.number(row.track->number.value_or(0));
      out.text(row.track->detail);
      MemoryMeans::write_cells(out, row);
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_sys_mem() {
  return std::make_unique<CannSystemMemory>();
}

std::unique_ptr<SummaryTable> make_cann_process_mem() {
  return std::make_unique<CannProcessMemory>();
}

}  // namespace msprof
