// One operator that ran, as a subscriber gets it. Rules: docs/host_cann.md.
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
  std::uint32_t signature;  // of the bytes behind it
  std::uint32_t model;
  std::uint32_t flag;      // aclprofSubscribeOpFlag
  std::uint32_t thread;    // of a flag that has threads
  std::uint64_t op;        // number in OpNames
  std::uint64_t duration;  // us, as all times; of the host's clock
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t execution_time;
  std::uint64_t cube_flops;
  std::uint64_t vector_flops;
  std::uint32_t device;
  std::uint32_t padding;
};
static_assert(sizeof(OpRecord) == 80);

// A whole record of what ran on a device for `images` images; `op` is its number in OpNames, `work`
// that of one image or null.
OpRecord make_record(std::uint32_t model, std::uint32_t device, std::uint64_t op,
                     std::uint64_t begin_ns, std::uint64_t end_ns, const LayerWork* work,
                     std::uint64_t images);

// CRC-32C of the record behind its signature, without the final inversion.
std::uint32_t signature_of(const OpRecord& record);

// The record of that index among the whole ones in `bytes`; nothing for one that is damaged, too.
std::optional<OpRecord> record_at(const void* records, std::size_t bytes, std::uint32_t index);

// Numbers of operators in records, and their names; once given, a number keeps its texts to the end
// of the process, since its records may be read late.
class OpNames {
 public:
  static OpNames& instance();
  struct Texts {
    std::string name;
    std::string type;
  };

  // From 1.
  std::uint64_t number_of(const std::string& name, const std::string& type);
  // Null for no number of this process.
  const Texts* find(std::uint64_t number);

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> numbers_;
  std::vector<std::unique_ptr<const Texts>> texts_;
};

// What the interfaces give of the records that an application has read; codes as in rules.hpp.
int count_records(const void* records, std::size_t bytes, std::uint32_t* count);
using OpText = std::string OpNames::Texts::*;
// Bytes of the text with its end.
int size_of_text(OpText text, const void* records, std::size_t bytes, std::uint32_t index,
                 std::size_t* size);
// A text longer than `room` is cut.
int copy_text(OpText text, const void* records, std::size_t bytes, std::uint32_t index,
              char* buffer, std::size_t room);

}  // namespace msprof::runtime
