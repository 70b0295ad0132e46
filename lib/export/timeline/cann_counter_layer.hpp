// CounterLayer: a process of the timeline with the counters of one kind, its samples as counter
// events. Layers whose events are not one a sample draw them themselves. For --layers counters.
// Source: cann_system.md 1.5.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "export/counter_samples.hpp"
#include "export/timeline/cann_trace.hpp"

namespace msprof::cann {

struct CounterProcess {
  std::string_view kind;  // of the tracks
  TraceProcess process = TraceProcess::frequency;
  std::string_view name;
  bool only_with_samples = false;  // no process for a device without any
};

// Writes the metadata of a process: of all devices of the capture where the tracks are of devices,
// as the vendor's tool does, which viewers group by.
class CounterProcesses {
 public:
  CounterProcesses(const Database& db, const OutputFile& output_file, const CounterProcess& process,
                   const std::vector<CounterTrack>& tracks, TraceJsonWriter& out);
  // Before the first event of a device.
  void begin(const CounterTrack& track);
  TraceLane lane(const CounterTrack& track, std::int64_t tid = 0) const;

 private:
  void write(std::int64_t device);
  TraceProcesses processes_;
  CounterProcess process_;
  TraceJsonWriter& out_;
  std::vector<std::int64_t> devices_;
  std::set<std::int64_t> written_;
};

class CounterLayer : public Layer {
 public:
  CounterLayer(const LayerInfo& info, const CounterProcess& process)
      : Layer(info), process_(process) {}

  void write(const Database& db, const OutputFile& output_file,
             TraceJsonWriter& out) const override;

 protected:
  // The name of the events of a track, and the key of their value: "HBM 0/Read" and "Read(MB/s)".
  virtual std::string event_name(const CounterTrack& track) const;
  virtual std::string value_key(const CounterTrack& track) const;
  // Writes the value: with three decimals at most.
  virtual void write_value(TraceJsonWriter& out, JsonText key, const CounterSample& sample) const;
  // Tracks that have no events.
  virtual bool draws(const CounterTrack&) const { return true; }
  const CounterProcess& process() const { return process_; }

 private:
  CounterProcess process_;
};

}  // namespace msprof::cann
