// More records of host/data: user marks, memory, streams, groups, by cann_host.md 1.8.7 to 1.8.16.
// Times are raw counts. For ProfFolder. No product code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/prof/host_records.hpp"

namespace msprof::test::prof {

// msproftx, 256 bytes. `is_ex`: a mark or range with a number, for which the device may write a
// time, too.
struct TxMark {
  static constexpr std::string_view kStem = "aging.additional.msproftx";
  bool is_ex = false;
  std::uint16_t segment = 0;
  std::uint32_t process = 4321, thread = 0, category = 0;
  std::uint32_t event = 2;  // 0 marker, 1 push/pop, 2 start/end, 3 marker_ex
  std::int32_t payload_type = 0;
  std::uint64_t payload = 0;
  std::uint64_t begin = 0, end = 0, mark = 0, domain = 0;
  std::int32_t message_type = 0;
  std::string message;
};
std::string bytes(const TxMark& record);

// 256 bytes. A positive size is an allocation, a negative one a release.
struct TaskMemory {
  static constexpr std::string_view kStem = "aging.additional.task_memory_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, address = 0;
  std::int64_t size = 0;
  std::uint64_t node = 0, allocated = 0, reserved = 0;
  std::uint32_t device = 0;
};
std::string bytes(const TaskMemory& record);

// 256 bytes.
struct LogicStream {
  static constexpr std::string_view kStem = "aging.additional.logic_stream_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint32_t logic = 0;
  std::vector<std::uint32_t> physical;  // at most 56
};
std::string bytes(const LogicStream& record);

// 256 bytes: the streams on which collectives run in parallel with the computation.
struct Mc2Comm {
  static constexpr std::string_view kStem = "aging.additional.mc2_comm_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, group = 0;
  std::uint32_t rank_size = 8, rank = 0, kfc_stream = 0;
  std::vector<std::uint32_t> comm_streams;  // at most 8
};
std::string bytes(const Mc2Comm& record);

// 64 bytes: the device's task ids use bits of the stream ids, too.
struct ExpandStream {
  static constexpr std::string_view kStem = "aging.compact.expand_stream_spec";
  std::uint64_t time = 0;
  std::uint8_t status = 1;
};
std::string bytes(const ExpandStream& record);

// Lines of type_info_dic and of hash_dic.
std::string type_line(std::uint32_t level, std::uint32_t type, std::string_view name);
std::string hash_line(std::uint64_t hash, std::string_view text);

}  // namespace msprof::test::prof
