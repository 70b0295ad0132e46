// The record of one operator that a subscriber receives. Rules: docs/host_cann.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/model/operator.hpp"

namespace msprof::runtime {

struct __attribute__((packed)) OpRecord {
  std::uint32_t signature;  // checksum of the following bytes
  std::uint32_t model;
  std::uint32_t flag;      // aclprofSubscribeOpFlag
  std::uint32_t thread;    // 0: no operator has threads
  std::uint64_t op;        // number in OpNameIds
  std::uint64_t duration;  // times are microseconds of the host's clock
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t execution_time;
  std::uint64_t cube_flops;
  std::uint64_t vector_flops;
  std::uint32_t device;
  std::uint32_t padding;
};
static_assert(sizeof(OpRecord) == 80);

// Creates the record of an operator that ran on a device for `images` images. `op` is its number in
// OpNameIds, `work` the work per image or null.
OpRecord make_record(std::uint32_t model, std::uint32_t device, std::uint64_t op,
                     std::uint64_t begin_ns, std::uint64_t end_ns, const LayerWork* work,
                     std::uint64_t images);

// CRC-32C of the record without its signature field and without the final inversion.
std::uint32_t compute_signature(const OpRecord& record);

// Returns the whole record at `index` in `records`; empty if it does not exist or is damaged.
std::optional<OpRecord> find_record(const void* records, std::size_t bytes, std::uint32_t index);

// Maps operator numbers in records to names. A number keeps its texts until the process ends, since
// its records may be read late.
class OpNameIds {
 public:
  static OpNameIds& instance();
  struct NameAndType {
    std::string name;
    std::string type;
  };

  // Numbers start at 1.
  std::uint64_t find_or_add(const std::string& name, const std::string& type);
  // Null if this process has not assigned `number`.
  const NameAndType* find(std::uint64_t number);

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> numbers_;
  std::vector<std::unique_ptr<const NameAndType>> texts_;
};

// Accessors, used by both interfaces, for records that an application has read; they return codes
// of rules.hpp.
int count_records(const void* records, std::size_t bytes, std::uint32_t* count);
using OpText = std::string OpNameIds::NameAndType::*;
// Sets `size` to the length of the text including the terminating zero.
int text_size(OpText text, const void* records, std::size_t bytes, std::uint32_t index,
              std::size_t* size);
// Truncates a text longer than `room`.
int copy_text(OpText text, const void* records, std::size_t bytes, std::uint32_t index,
              char* buffer, std::size_t room);

}  // namespace msprof::runtime
