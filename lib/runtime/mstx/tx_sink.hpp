// Destination of mstx records: the folder of libmsprof_mstx.so, or the active recordings of a
// libascendcl.so application.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/cann/device_wire.hpp"
#include "wire/cann/host_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof::mstx {

// Event for which the device of a stream writes a step record: a mark, or the start or end of a
// range.
enum class StreamTag : std::uint16_t {
  mark = cann::step_tag::kMark,
  range = cann::step_tag::kRangeEdge
};

// Every function may be called by any thread at any time and never throws.
class TxSink {
 public:
  virtual ~TxSink() = default;

  // Returns true if records are currently kept. mstx calls check this first and do nothing if it is
  // false.
  virtual bool is_open() const = 0;
  // Returns the next id of a mark or range, from 1. Ids of extended records are unique in a folder.
  virtual std::uint64_t next_id() = 0;
  // Returns the hash of a domain's name and adds the name to the dictionaries of current and later
  // recordings.
  virtual std::uint64_t intern(std::string_view domain) = 0;
  virtual void append(const MsprofTxWire& record) = 0;
  // Called for marks and ranges with a stream: the device writes a record when the stream reaches
  // this point.
  virtual void pass_on_stream(void* stream, std::uint64_t id, StreamTag tag) = 0;
};

}  // namespace msprof::mstx
