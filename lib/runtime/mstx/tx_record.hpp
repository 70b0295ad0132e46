// Header of an msproftx record, used by stamps and mstx. Source: cann_host.md 1.4, 1.8.16.
#pragma once

#include <cstdint>

#include "wire/cann/host_wire.hpp"

namespace msprof::mstx {

enum class TxEvent : std::uint32_t { marker = 0, push_pop = 1, start_end = 2, marker_ex = 3 };

// Returns a record without a message; times are nanoseconds.
inline MsprofTxWire tx_record(TxEvent event, std::uint32_t process, std::uint32_t thread,
                              std::uint64_t begin_ns, std::uint64_t end_ns) {
  constexpr std::uint16_t kLevel = 20500;
  constexpr std::uint16_t kDataTag = 120;
  MsprofTxWire record = {};
  record.head.magic = kRecordMagic;
  record.head.level = kLevel;
  record.head.thread = thread;
  record.head.data_len = sizeof(MsprofTxWire) - sizeof(HostHeader);
  record.head.time = begin_ns;
  record.inner_magic = kRecordMagic;
  record.data_tag = kDataTag;
  record.process_id = process;
  record.thread_id = thread;
  record.event_type = static_cast<std::uint32_t>(event);
  record.start_count = begin_ns;
  record.end_count = end_ns;
  return record;
}

}  // namespace msprof::mstx
