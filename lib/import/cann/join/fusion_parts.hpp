// FusionParts: writes the parts of fused tasks on V6 chips, with their start and end on an engine.
// Source: cann_new_kinds.md 4.2.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>

#include "import/cann/device_log.hpp"
#include "session/clock_map.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof::cann {

class FusionParts {
 public:
  // Row numbers continue from `rows`. `find_stream` returns the stream of a task.
  FusionParts(TraceDbWriter& store, std::int64_t& rows, std::int64_t device, const ClockMap& clock,
              std::function<std::uint32_t(std::uint32_t)> find_stream)
      : store_(store),
        rows_(rows),
        device_(device),
        clock_(clock),
        stream_of_(std::move(find_stream)) {}

  // Adds a start or an end, in order of time. The parts of a task may end in any order; an end is
  // paired with the start on its engine.
  void add(const DeviceLog& log);
  // Returns the number of starts and ends without a counterpart.
  std::uint64_t finish() const { return ends_alone_ + open_.size(); }

 private:
  using FusionPartKey =
      std::tuple<std::uint32_t, std::uint16_t, std::uint16_t>;  // task, engine, acc id

  TraceDbWriter& store_;
  std::int64_t& rows_;
  std::int64_t device_;
  const ClockMap& clock_;
  std::function<std::uint32_t(std::uint32_t)> stream_of_;
  std::multimap<FusionPartKey, std::uint64_t> open_;  // start ticks
  std::uint64_t ends_alone_ = 0;
};

}  // namespace msprof::cann
