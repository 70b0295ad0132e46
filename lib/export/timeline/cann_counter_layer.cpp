#include "export/timeline/cann_counter_layer.hpp"

#include <algorithm>

#include "export/summary/cann_counter_tables.hpp"

namespace msprof::cann {

CounterProcesses::CounterProcesses(const Database& db, const OutputFile& output_file,
                                   const CounterProcess& process,
                                   const std::vector<CounterTrack>& tracks, TraceWriter& out)
    : processes_(db), process_(process), out_(out) {
  const bool is_of_devices = std::any_of(tracks.begin(), tracks.end(),
                                         [](const CounterTrack& track) { return !!track.device; });
  if (!is_of_devices || process.only_with_samples) return;
  Statement read = db.prepare("SELECT id FROM device ORDER BY id");
  while (read.step()) {
    if (output_file.scope.takes_device(read.integer(0))) devices_.push_back(read.integer(0));
  }
}

void CounterProcesses::begin(const CounterTrack& track) {
  for (const std::int64_t device : devices_) write(device);
  devices_.clear();
  write(track.device.value_or(kHostDevice));
}

void CounterProcesses::write(std::int64_t device) {
  if (written_.insert(device).second)
    processes_.write(out_, process_.process, device, process_.name);
}

TraceLane CounterProcesses::lane(const CounterTrack& track, std::int64_t tid) const {
  return {processes_.pid(process_.process, track.device.value_or(kHostDevice)), tid};
}

void CounterLayer::write(const Database& db, const OutputFile& output_file,
                         TraceWriter& out) const {
  CounterSamples samples(db, process_.kind, output_file.scope);
  CounterProcesses processes(db, output_file, process_, samples.tracks(), out);
  struct Event {
    bool is_drawn = false;
    bool is_begun = false;
    std::string name;
    std::string key;
    TraceLane lane;
  };
  std::vector<Event> events;
  for (const CounterTrack& track : samples.tracks()) {
    events.push_back(
        {draws(track), false, event_name(track), value_key(track), processes.lane(track)});
  }
  while (samples.next()) {
    Event& event = events[samples->track->index];
    if (!event.is_drawn) continue;
    if (!event.is_begun) processes.begin(*samples->track);
    event.is_begun = true;
    out.begin_counter(event.name, event.lane, samples->time_ns);
    write_value(out, event.key, *samples);
    out.end_event();
  }
}

std::string CounterLayer::event_name(const CounterTrack& track) const {
  return track.subject + "/" + track.counter;
}

std::string CounterLayer::value_key(const CounterTrack& track) const {
  return track.counter + "(" + track.unit + ")";
}

void CounterLayer::write_value(TraceWriter& out, TraceText key, const CounterSample& sample) const {
  out.argument_number(key, rounded3(sample));
}

}  // namespace msprof::cann
