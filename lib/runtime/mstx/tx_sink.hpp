// Where the recorder of mstx calls puts its records: the folder of libmsprof_mstx.so, or the
// recordings that an application of libascendcl.so has started.
#pragma once

#include <cstdint>
#include <string_view>

#include "wire/cann/device_wire.hpp"
#include "wire/cann/host_wire.hpp"
#include "wire/cann/ts_track_wire.hpp"

namespace msprof::mstx {

// Which edge the device of a stream passes: tags of its step records.
enum class StreamTag : std::uint16_t {
  mark = cann::step_tag::kMark,
  range = cann::step_tag::kRangeEdge
};

// Every function may be called by any thread at any time and never throws.
class TxSink {
 public:
  virtual ~TxSink() = default;

  // Whether records are kept now. Asked first: when false, a call costs nothing else.
  virtual bool is_open() const = 0;
  // The next number of a mark or range, from 1: no two extended records of a folder may share one.
  virtual std::uint64_t next_id() = 0;
  // The hash of a domain's name, which the dictionaries of all records have from then on.
  virtual std::uint64_t intern(std::string_view domain) = 0;
  virtual void append(const MsprofTxWire& record) = 0;
  // The call named a stream: its device shall record when it gets there.
  virtual void pass_on_stream(void* stream, std::uint64_t id, StreamTag tag) = 0;
};

}  // namespace msprof::mstx
