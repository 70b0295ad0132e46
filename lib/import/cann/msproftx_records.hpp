// What a record of msproftx looks like. For msproftx.cpp. Source: cann_host.md 1.8.
#pragma once

#include <cstdint>

namespace msprof::cann {

enum class TxInfo : std::uint16_t { stamp = 0, extended = 1 };

inline constexpr std::size_t kTxMessageBytes = 156;

struct __attribute__((packed)) MsprofTxWire {
  std::uint8_t head[24];
  std::uint16_t info_type;  // TxInfo
  std::uint16_t segment;    // of the message; extended records only
  std::uint32_t reserved;
  std::uint16_t inner_magic;
  std::uint16_t data_tag;
  std::uint32_t process_id;
  std::uint32_t thread_id;
  std::uint32_t category;
  std::uint32_t event_type;  // 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
  std::int32_t payload_type;
  std::uint64_t payload;
  std::uint64_t start_count;  // of the host's counter
  std::uint64_t end_count;
  std::uint64_t mark_id;
  std::uint64_t domain;  // hash
  std::int32_t message_type;
  char message[kTxMessageBytes];  // NUL where it is shorter
};
static_assert(sizeof(MsprofTxWire) == 256);

}  // namespace msprof::cann
