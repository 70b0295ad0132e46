// TrackSource: the launched tasks of the host in order of time, with the turn of their task ids.
// For the host join. Source: cann_host.md 1.8 task_track.
#pragma once

#include "import/cann/join/host_batches.hpp"
#include "import/cann/join/host_rows.hpp"
#include "import/cann/record_stream.hpp"

namespace msprof::cann {

class TrackSource {
 public:
  TrackSource(RecordStream& stream, bool has_batches)
      : stream_(stream), has_batches_(has_batches) {}

  // Reads the slices once for the flips. `rows` outlives this.
  void open(const ImportContext& context, HostRows& rows);
  bool has_front() const { return batches_.has_front(); }
  const HostTrack& front() const { return batches_.front(); }
  void pop();

 private:
  void fetch();

  RecordStream& stream_;
  bool has_batches_;
  HostRows* rows_ = nullptr;
  HostBatches batches_;
  bool is_finished_ = false;
};

}  // namespace msprof::cann
