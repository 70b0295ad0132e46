#include "runtime/prof/op_record.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/prof/rules.hpp"

namespace msprof::runtime {
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

const OpNameIds::NameAndType* find_texts(const void* records, std::size_t bytes,
                                         std::uint32_t index) {
  const auto record = find_record(records, bytes, index);
  return record ? OpNameIds::instance().find(record->op) : nullptr;
}

}  // namespace

std::uint32_t compute_signature(const OpRecord& record) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&record);
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::size_t i = sizeof record.signature; i < sizeof record; ++i)
    crc = crc >> 8 ^ kCrcTable[(crc ^ bytes[i]) & 0xFF];
  return crc;
}

OpRecord make_record(std::uint32_t model, std::uint32_t device, std::uint64_t op,
                     std::uint64_t begin_ns, std::uint64_t end_ns, const LayerWork* work,
                     std::uint64_t images) {
  constexpr std::uint64_t kNsPerUs = 1000;
  constexpr std::uint64_t kFlopsPerMac = 2;
  OpRecord record{};
  record.model = model;
  record.op = op;
  record.start = begin_ns / kNsPerUs;
  record.end = end_ns / kNsPerUs;
  record.duration = record.end - record.start;
  record.execution_time = record.duration;
  if (work != nullptr) {
    record.cube_flops = kFlopsPerMac * static_cast<std::uint64_t>(work->macs) * images;
    record.vector_flops = static_cast<std::uint64_t>(work->vector_ops) * images;
  }
  record.device = device;
  record.signature = compute_signature(record);
  return record;
}

std::optional<OpRecord> find_record(const void* records, std::size_t bytes, std::uint32_t index) {
  if (records == nullptr || bytes % sizeof(OpRecord) != 0 || index >= bytes / sizeof(OpRecord))
    return std::nullopt;
  OpRecord record;
  std::memcpy(&record, static_cast<const char*>(records) + index * sizeof record, sizeof record);
  if (record.signature != compute_signature(record)) return std::nullopt;
  return record;
}

int count_records(const void* records, std::size_t bytes, std::uint32_t* count) {
  if (records == nullptr || count == nullptr || bytes % sizeof(OpRecord) != 0)
    return kProfInvalidParam;
  *count = static_cast<std::uint32_t>(bytes / sizeof(OpRecord));
  return kProfSuccess;
}

int text_size(OpText text, const void* records, std::size_t bytes, std::uint32_t index,
              std::size_t* size) {
  const auto* const texts = find_texts(records, bytes, index);
  if (texts == nullptr || size == nullptr) return kProfInvalidParam;
  *size = (texts->*text).size() + 1;
  return kProfSuccess;
}

int copy_text(OpText text, const void* records, std::size_t bytes, std::uint32_t index,
              char* buffer, std::size_t room) {
  const auto* const texts = find_texts(records, bytes, index);
  if (texts == nullptr || buffer == nullptr || room == 0) return kProfInvalidParam;
  const std::string& whole = texts->*text;
  const std::size_t size = std::min(whole.size(), room - 1);
  std::memcpy(buffer, whole.data(), size);
  buffer[size] = '\0';
  return kProfSuccess;
}

OpNameIds& OpNameIds::instance() {
  static OpNameIds* const names = new OpNameIds;
  return *names;
}

std::uint64_t OpNameIds::find_or_add(const std::string& name, const std::string& type) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = numbers_.try_emplace({name, type}, texts_.size() + 1);
  if (added) texts_.push_back(std::make_unique<const NameAndType>(NameAndType{name, type}));
  return found->second;
}

const OpNameIds::NameAndType* OpNameIds::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  return number == 0 || number > texts_.size() ? nullptr
                                               : texts_[static_cast<std::size_t>(number - 1)].get();
}

}  // namespace msprof::runtime
