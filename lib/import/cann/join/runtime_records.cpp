#include "import/cann/join/runtime_records.hpp"

#include <iterator>
#include <string_view>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

constexpr std::uint16_t kNoThreadDevice = 0xFFFF;

// Names of copy directions, for calls that copy once and for batch calls.
constexpr std::string_view kDirections[] = {
    "host to host",     "host to device", "device to host", "device to device",    "managed memory",
    "device to device", "host to device", "device to host", "decided by addresses"};
constexpr std::string_view kBatchDirections[] = {
    "host to host",     "host to device",       "device to host",
    "device to device", "decided by addresses", "host buffer to device",
    "inside a device",  "between devices",      "other"};
static_assert(std::size(kDirections) == std::size(kBatchDirections));

bool is_batch(std::string_view call) {
  return call == "MemcpyBatchAsync" || call == "SetMemcpyDesc";
}

RuntimeMemoryRow::Space to_memory_space(std::string_view acl) {
  if (acl.find("Physical") != std::string_view::npos) return RuntimeMemoryRow::Space::handle;
  if (acl == "aclrtReserveMemAddress" || acl == "aclrtReleaseMemAddress")
    return RuntimeMemoryRow::Space::reserved;
  return RuntimeMemoryRow::Space::memory;
}

std::int64_t device_cell(std::uint16_t device) {
  return device == kNoThreadDevice ? kNull : std::int64_t{device};
}

std::int64_t call_id(const HostCall* call) {
  return call != nullptr ? call->id : kNull;
}

}  // namespace

const HostCall* RuntimeRecords::find_call(const HostHeader& head) {
  const HostCall* call = calls_.find(head.thread);
  const bool is_within = call != nullptr && call->begin < head.time && head.time <= call->end;
  return is_within ? call : nullptr;
}

void RuntimeRecords::add(const MemmngInfoWire& wire, const HostCall* acl) {
  if (clock_ == nullptr) {
    ++timeless_;
    return;
  }
  RuntimeMemoryRow row;
  row.id = next_memory_++;
  row.time_ns = clock_->ns(wire.head.time);
  row.thread_id = wire.head.thread;
  row.device_id = device_cell(wire.device);
  row.kind = wire.kind;
  row.is_free = wire.is_free != 0 ? 1 : 0;
  row.address = cell(wire.address);
  row.size_bytes = cell(wire.bytes);
  if (acl != nullptr) {
    row.space =
        static_cast<std::int64_t>(to_memory_space(dictionaries_.type_name(acl->level, acl->type)));
  }
  row.runtime_call_id = call_id(find_call(wire.head));
  row.acl_call_id = call_id(acl);
  store_.add(row);
}

void RuntimeRecords::add(const MemcpyExtInfoWire& wire, const HostCall* acl) {
  RuntimeCopyRow row;
  const HostCall* call = find_call(wire.head);
  const bool batch = call != nullptr && is_batch(dictionaries_.type_name(call->level, call->type));
  const auto& names = batch ? kBatchDirections : kDirections;
  const std::uint16_t kind = wire.kind;
  row.direction_name_id =
      store_.name_id(kind < std::size(names) ? std::string(names[kind]) : std::to_string(kind));
  row.device_id = device_cell(wire.device);
  row.size_bytes = cell(wire.bytes);
  add_transfer(row, wire.head, wire.stream, acl);
}

void RuntimeRecords::add(const MemsetInfoWire& wire, const HostCall* acl) {
  RuntimeCopyRow row;
  row.direction_name_id = store_.name_id("set");
  row.value = wire.value;
  row.device_id = device_cell(wire.device);
  row.size_bytes = cell(wire.bytes);
  add_transfer(row, wire.head, wire.stream, acl);
}

void RuntimeRecords::add_transfer(RuntimeCopyRow row, const HostHeader& head, std::uint32_t stream,
                                  const HostCall* acl) {
  if (clock_ == nullptr) {
    ++timeless_;
    return;
  }
  row.id = next_copy_++;
  row.time_ns = clock_->ns(head.time);
  row.thread_id = head.thread;
  if (stream != kInvalidId) row.stream_id = stream;
  row.runtime_call_id = call_id(find_call(head));
  row.acl_call_id = call_id(acl);
  store_.add(row);
}

void RuntimeRecords::report(ImportReport& report) const {
  if (timeless_ > 0)
    report.add(FindingId::no_clock, "memmng_info", "", "no clock data for the host",
               "memory and copies of the runtime have no times and are omitted", timeless_);
}

}  // namespace msprof::cann
