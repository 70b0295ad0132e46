// CounterLayer: draws the counters of one kind as a process of the timeline, one counter event per
// sample. Layers with other events override write(). For --layers counters. Source:
// cann_system.md 1.5.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "export/scope/counter_samples.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof::cann {

struct CounterProcess {
  std::string_view kind;  // of the tracks
  TraceProcess process = TraceProcess::frequency;
  std::string_view name;
  bool only_with_samples = false;  // no process for a device without samples
};

// Writes the metadata of a process. If the tracks belong to devices, writes it for all devices of
// the capture, as the vendor's tool does, because viewers group by it.
class CounterProcesses {
 public:
  CounterProcesses(const Database& db, const OutputFile& output_file, const CounterProcess& process,
                   const std::vector<CounterTrack>& tracks, TraceWriter& out);
  // Call before the first event of a device.
  void begin(const CounterTrack& track);
  TraceLane lane(const CounterTrack& track, std::int64_t tid = 0) const;

 private:
  void write(std::int64_t device);
  TraceProcesses processes_;
  CounterProcess process_;
  TraceWriter& out_;
  std::vector<std::int64_t> devices_;
  std::set<std::int64_t> written_;
};

class CounterLayer : public CannLayer {
 public:
  CounterLayer(const LayerInfo& info, const CounterProcess& process)
      : CannLayer(info), process_(process) {}

  void write(const Database& db, const OutputFile& output_file, TraceWriter& out) const override;

 protected:
  // Name of the events of a track, and key of their value: "HBM 0/Read" and "Read(MB/s)".
  virtual std::string event_name(const CounterTrack& track) const;
  virtual std::string value_key(const CounterTrack& track) const;
  // Writes the value with at most three decimals.
  virtual void write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const;
  // Returns false for tracks without events.
  virtual bool draws(const CounterTrack&) const { return true; }
  const CounterProcess& process() const { return process_; }

 private:
  CounterProcess process_;
};

}  // namespace msprof::cann
