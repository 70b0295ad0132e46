// One operator that ran, as a subscriber gets it. Rules: docs/host_cann.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

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

OpRecord make_op_record(const RanTask& task, std::uint64_t op);

// CRC-32C of the record behind its signature, without the final inversion.
std::uint32_t signature_of(const OpRecord& record);

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
  std::uint64_t number_of(const OpInfo& op);
  // Null for no number of this process.
  const Texts* find(std::uint64_t number);

  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> numbers_;
  std::vector<std::unique_ptr<const Texts>> texts_;
};

}  // namespace msprof::acl
