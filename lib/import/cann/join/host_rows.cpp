#include "import/cann/join/host_rows.hpp"

#include <cmath>
#include <string>

#include "import/cann/join/enum_names.hpp"
#include "import/cann/slice_kind.hpp"

namespace msprof::cann {

namespace {

TaskClass class_of(std::string_view name) {
  if (name == "KERNEL_AICORE") return TaskClass::aicore;
  if (name == "KERNEL_AICPU") return TaskClass::aicpu;
  if (name == "KERNEL_AIVEC") return TaskClass::aivec;
  if (name == "KERNEL_SIMT") return TaskClass::simt;
  if (name == "KERNEL_MIX_AIC") return TaskClass::mix_aic;
  if (name == "KERNEL_MIX_AIV") return TaskClass::mix_aiv;
  if (name.starts_with("KERNEL")) return TaskClass::other_kernel;
  if (name == "STARS_COMMON") return TaskClass::stars_common;
  if (name == "FFTS_PLUS") return TaskClass::ffts_plus;
  if (name == "MEMCPY_ASYNC") return TaskClass::memcpy_async;
  return TaskClass::other;
}

// Picoseconds; kNull where they do not fit.
std::int64_t ps_of_us(double us) {
  constexpr double kPsPerUs = 1e6;
  const double ps = us * kPsPerUs;
  constexpr double kMost = 9.2e18;
  return ps > -kMost && ps < kMost ? std::llround(ps) : kNull;
}

}  // namespace

HostRows::HostRows(TraceDbWriter& store, Dictionaries& dictionaries, const ClockMap* clock,
                   std::int64_t process_id, const CapturedStreams& captured, HostOps& ops,
                   HostTaskStore& tasks)
    : store_(store),
      dictionaries_(dictionaries),
      clock_(clock),
      process_id_(process_id),
      captured_(captured),
      ops_(ops),
      tasks_(tasks) {}

const HostRows::CallType& HostRows::call_type(std::uint16_t level, std::uint32_t type) {
  const auto [found, is_new] =
      call_types_.try_emplace(std::uint64_t{level} << 32 | type, CallType());
  CallType& call = found->second;
  if (!is_new) return call;
  const std::string name = dictionaries_.type_name(level, type);
  call.name_id = store_.name_id(name);
  call.mode_id = level == host_level::kAcl ? store_.name_id(acl_class_name(type)) : call.name_id;
  call.is_step_info = name == "step_info";
  call.is_master = name == "master";
  return call;
}

const HostRows::TaskType& HostRows::task_type(std::uint64_t type) {
  const auto [found, is_new] = task_types_.try_emplace(type, TaskType());
  if (is_new) {
    const std::string name = dictionaries_.type_name(host_level::kRuntime, type);
    found->second = {class_of(name), store_.name_id(name)};
  }
  return found->second;
}

HostRows::Item HostRows::item(std::uint64_t hash) {
  const std::uint32_t known = items_.find(hash);
  if (known != FlatTable::kNone) return {std::int64_t{known >> 1}, (known & 1) != 0};
  const auto text = dictionaries_.known_hash_text(hash);
  Item made;
  made.is_lccl = text && text->starts_with("Lccl");
  made.name_id = hash != 0 ? dictionaries_.hash_name_id(store_, hash) : store_.name_id("0");
  constexpr std::int64_t kMostIds = INT32_MAX - 1;
  if (made.name_id < kMostIds)
    items_.set(hash, static_cast<std::uint32_t>(made.name_id) << 1 | (made.is_lccl ? 1U : 0U));
  return made;
}

std::int64_t HostRows::number_name_id(std::uint64_t number) {
  const auto [found, is_new] = number_names_.try_emplace(number, kNull);
  if (is_new) found->second = store_.name_id(std::to_string(number));
  return found->second;
}

HostCall HostRows::add(const ApiEventWire& wire) {
  HostCall call;
  call.begin = wire.head.time;
  call.end = wire.end;
  call.item = wire.item;
  call.thread = wire.head.thread;
  call.type = wire.head.type;
  call.level = wire.head.level;
  const CallType& type = call_type(call.level, call.type);
  call.is_step_info = type.is_step_info;
  call.is_master = type.is_master;
  const bool is_number =
      call.level == host_level::kModel || (call.level == host_level::kNode && type.is_step_info);
  const Item named = is_number ? Item() : item(call.item);
  call.is_lccl = call.level == host_level::kNode && named.is_lccl;
  if (clock_ == nullptr) return call;
  call.id = next_call_++;
  ApiCallRow row;
  row.id = call.id;
  row.process_id = process_id_;
  row.thread_id = call.thread;
  row.type_name_id = type.mode_id;
  row.item_name_id = is_number ? number_name_id(call.item) : named.name_id;
  row.name_id = call.level == host_level::kCommunication ? row.item_name_id : type.name_id;
  row.start_ns = clock_->ns(call.begin);
  row.end_ns = clock_->ns(call.end);
  row.level = call.level;
  store_.add(row);
  return call;
}

std::int64_t HostRows::comm_call_id(const HostComm& call) {
  CommCallRow row;
  row.id = next_comm_call_++;
  row.host_count = cell(call.launch_count);
  row.api_id = call.call_id;
  row.op_begin_count = cell(call.call_begin);
  row.thread_id = call.thread;
  row.op_name_id = item(call.call_item).name_id;
  row.op_type_name_id = call_type(host_level::kNode, call.call_type).name_id;
  row.is_master = call.is_master ? 1 : 0;
  if (call.has_op_info) add_op_info(row, call);
  if (call.has_task_info) add_task_info(row, call);
  if (call.has_kind) row.op_kind_name_id = dictionaries_.hash_name_id(store_, call.kind_hash);
  store_.add(row);
  return row.id;
}

void HostRows::add_task_info(CommCallRow& row, const HostComm& call) {
  const HcclInfoWire& task = call.task;
  row.item_name_id = dictionaries_.hash_name_id(store_, task.item);
  if (task.group != 0 || row.group_hash == kNull) {
    row.group_hash = cell(task.group);
    row.group_name_id = dictionaries_.hash_name_id(store_, task.group);
  }
  row.plane_id = task.plane_id;
  row.local_rank = task.local_rank;
  row.remote_rank = task.remote_rank;
  row.rank_size = task.rank_size;
  row.notify_id = cell(task.notify_id);
  row.duration_estimated_ps = ps_of_us(task.duration_estimated_us);
  row.size_bytes = cell(task.size_bytes);
  row.data_type = task.data_type;
  row.link_type = task.link_type;
  row.transport_type = task.transport_type;
  row.rdma_type = task.rdma_type;
}

void HostRows::add_op_info(CommCallRow& row, const HostComm& call) {
  const HcclOpInfoWire& op = call.op;
  row.group_hash = cell(op.group);
  row.group_name_id = dictionaries_.hash_name_id(store_, op.group);
  row.op_group_name_id = row.group_name_id;
  row.op_relay = (op.flags & kRelayFlag) != 0 ? 1 : 0;
  row.op_retry = (op.flags & kRetryFlag) != 0 ? 1 : 0;
  row.op_data_type = op.data_type;
  row.op_algorithm_name_id = dictionaries_.hash_name_id(store_, op.algorithm);
  row.op_count = cell(op.count);
}

}  // namespace msprof::cann
