#include "runtime/acl/prof/op_record.hpp"

#include <array>

#include "runtime/acl/include/acl/acl_prof.h"

namespace msprof::acl {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // CRC-32C, reflected

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
    table[byte] = value;
  }
  return table;
}

constexpr auto kCrcTable = crc_table();

}  // namespace

std::uint32_t signature_of(const OpRecord& record) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&record);
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::size_t i = sizeof record.signature; i < sizeof record; ++i)
    crc = crc >> 8 ^ kCrcTable[(crc ^ bytes[i]) & 0xFF];
  return crc;
}

OpRecord make_op_record(const RanTask& task, std::uint64_t op) {
  constexpr std::uint64_t kNsPerUs = 1000;
  constexpr std::uint64_t kFlopsPerMac = 2;
  OpRecord record{};
  record.model = task.model;
  record.flag = ACL_SUBSCRIBE_OP;
  record.op = op;
  record.start = task.begin_ns / kNsPerUs;
  record.end = task.end_ns / kNsPerUs;
  record.duration = record.end - record.start;
  record.execution_time = record.duration;
  if (task.op != nullptr) {
    record.cube_flops = kFlopsPerMac * static_cast<std::uint64_t>(task.op->work.macs) * task.images;
    record.vector_flops = static_cast<std::uint64_t>(task.op->work.vector_ops) * task.images;
  }
  record.device = task.ids.device;
  record.signature = signature_of(record);
  return record;
}

OpNames& OpNames::instance() {
  static OpNames* const names = new OpNames;
  return *names;
}

std::uint64_t OpNames::number_of(const OpInfo& op) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = numbers_.try_emplace({op.name, op.type}, texts_.size() + 1);
  if (added) texts_.push_back(std::make_unique<const Texts>(Texts{op.name, op.type}));
  return found->second;
}

const OpNames::Texts* OpNames::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return number == 0 || number > texts_.size() ? nullptr : texts_[number - 1].get();
}

}  // namespace msprof::acl
