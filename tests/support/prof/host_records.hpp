// The records of host/data of a PROF folder, byte by byte, by cann_host.md 1.8. Times are raw
// counts. For ProfFolder and for tests that damage a field. No product code.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test::prof {

inline constexpr std::uint16_t kHostMagic = 0x5A5A;
inline constexpr std::uint32_t kInvalidId = 0xFFFFFFFF;
inline constexpr std::uint64_t kEventEnd = ~std::uint64_t{0};

// Levels of calls.
inline constexpr std::uint16_t kTx = 20500, kAcl = 20000, kModel = 15000, kNode = 10000,
                               kAicpu = 6000, kHccl = 5500, kRuntime = 5000;

// 40 bytes. If `end` is kEventEnd: half of an event pair.
struct Api {
  static constexpr std::string_view kStem = "aging.api_event.data";
  std::uint16_t level = kAcl;
  std::uint32_t type = 0, thread = 0;
  std::uint64_t begin = 0, end = 0, item = 0;
  std::uint32_t request = 0;
};
std::string bytes(const Api& record);

// 64 bytes: header and 40 bytes of payload.
struct NodeBasic {
  static constexpr std::string_view kStem = "aging.compact.node_basic_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, op_name = 0;
  std::uint32_t task_type = 0;  // T1 of cann_host.md 1.9
  std::uint64_t op_type = 0;
  std::uint16_t blocks = 0, mix_ratio = 0;
  std::uint32_t op_flag = 0;
};
std::string bytes(const NodeBasic& record);

struct NodeAttr {
  static constexpr std::string_view kStem = "aging.compact.node_attr_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, op_name = 0;
  std::uint32_t attr_type = 0;
  std::uint64_t attr = 0;
};
std::string bytes(const NodeAttr& record);

struct TaskTrack {
  static constexpr std::string_view kStem = "aging.compact.task_track";
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint16_t device = 0, stream = 0, task = 0, batch = 0;
  std::uint64_t task_type = 0, kernel_name = 0;
  std::uint16_t blocks = 0;
  std::uint8_t mix_ratio = 0;
  bool has_launch_info = true;  // true: dataLen is 40; false: it is 24 and the tail is unused
};
std::string bytes(const TaskTrack& record);

struct MemcpyInfo {
  static constexpr std::string_view kStem = "aging.compact.memcpy_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, size = 0, max_size = 0;
  std::uint16_t direction = 1;
};
std::string bytes(const MemcpyInfo& record);

struct HcclOp {
  static constexpr std::string_view kStem = "aging.compact.hccl_op_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint8_t flags = 0, data_type = 4;
  std::uint64_t algorithm = 0, count = 0, group = 0;
};
std::string bytes(const HcclOp& record);

struct CaptureStream {
  static constexpr std::string_view kStem = "aging.compact.capture_stream_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0;
  std::uint16_t status = 0, model_stream = 0, original_stream = 0, model = 0, device = 0;
};
std::string bytes(const CaptureStream& record);

// 256 bytes: header and 232 bytes of payload.
struct Tensor {
  std::uint32_t type = 0;  // 0 input, 1 output
  std::uint32_t format = 2, data_type = 0;
  std::array<std::uint32_t, 8> shape{};
};
struct TensorInfo {
  static constexpr std::string_view kStem = "aging.additional.tensor_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, op_name = 0;
  std::vector<Tensor> tensors;  // at most 5
};
std::string bytes(const TensorInfo& record);

struct GraphIdMap {
  static constexpr std::string_view kStem = "unaging.additional.graph_id_map";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, model_name = 0;
  std::uint32_t graph = 0, model = 0;
};
std::string bytes(const GraphIdMap& record);

struct FusionOp {
  static constexpr std::string_view kStem = "unaging.additional.fusion_op_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, op_name = 0;
  std::uint64_t input = 0, output = 0, weight = 0, workspace = 0, total = 0;
  std::vector<std::uint64_t> fused;  // at most 8
};
std::string bytes(const FusionOp& record);

// A list of ids at node level, a range at communication level.
struct ContextId {
  static constexpr std::string_view kStem = "aging.additional.context_id_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, op_name = 0;
  std::vector<std::uint32_t> ids{0};  // at most 55
  std::uint16_t level = kNode;
};
std::string bytes(const ContextId& record);

struct HcclInfo {
  static constexpr std::string_view kStem = "aging.additional.hccl_info";
  std::uint32_t thread = 0;
  std::uint64_t time = 0, item = 0, tag = 0, group = 0;
  std::uint32_t local_rank = 0, remote_rank = 1, rank_size = 8, plane = 0, context = kInvalidId;
  std::uint64_t notify = ~std::uint64_t{0};
  double estimated_us = 0;
  std::uint64_t size = 0;
  std::uint32_t data_type = 4, link = 1, transport = 0, rdma = 255;
};
std::string bytes(const HcclInfo& record);

}  // namespace msprof::test::prof
