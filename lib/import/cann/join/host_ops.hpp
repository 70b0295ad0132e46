// HostOps: the operators that nodes describe, equal ones once, as rows of `op`.
// For the host join, and as OpTable for the device association.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "import/cann/dictionaries.hpp"
#include "import/cann/join/flat_table.hpp"
#include "import/cann/join/host_sink.hpp"
#include "import/cann/join/op_table.hpp"

namespace msprof::cann {

class HostOps : public OpTable {
 public:
  HostOps(TraceDbWriter& store, Dictionaries& dictionaries);
  HostOps(const HostOps&) = delete;
  HostOps& operator=(const HostOps&) = delete;

  std::int64_t id_of(const HostOp& op);
  // Tensors that are neither input nor output: they are in no column.
  std::uint64_t odd_tensors() const { return odd_tensors_; }

  std::int64_t block_num(std::int64_t op_id) const override;
  std::int64_t mix_block_num(std::int64_t op_id) const override;
  std::int64_t name_id(std::int64_t op_id) const override;
  std::int64_t unit_name_id(std::int64_t op_id) const override;
  std::int64_t with_blocks(std::int64_t op_id, std::int64_t block_num,
                           std::int64_t mix_block_num) override;

 private:
  // What makes operators equal. Tensors and dimensions by number; 0 is none.
  struct Key {
    std::uint64_t name_hash = 0;
    std::uint64_t type_hash = 0;
    std::uint64_t attribute_hash = 0;
    std::uint32_t tensors = 0;
    std::uint32_t dims = 0;
    std::uint32_t task_type = 0;
    std::uint32_t block_num = 0;
    std::uint32_t mix_block_num = 0;
    std::int8_t is_dynamic = -1;
    std::int8_t is_hf32 = -1;
    bool operator==(const Key&) const = default;
  };
  // 128 bits stand for the bytes of a tensor list.
  struct TensorHash {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    bool operator==(const TensorHash&) const = default;
  };
  // Shapes, types, formats of inputs, then of outputs; kNull: none.
  using TensorNames = std::array<std::int64_t, 6>;
  struct Names {
    std::int64_t name_id = kNull;
    std::int64_t unit_name_id = kNull;
  };

  static std::uint64_t hash_of(const Key& key);
  static TensorHash hash_of(std::span<const std::byte> tensors);
  std::uint32_t tensors_number(std::span<const std::byte> tensors);
  TensorNames make_names(std::span<const std::byte> tensors);
  std::uint32_t dims_number(const HostOp& op);
  std::int64_t intern(const Key& key);
  void write(const Key& key);
  const Key* find(std::int64_t op_id) const;

  TraceDbWriter& store_;
  Dictionaries& dictionaries_;
  std::vector<Key> keys_;
  std::vector<Names> names_;
  FlatTable numbers_;         // of keys_, by hash
  FlatTable tensor_numbers_;  // of tensor_names_, by hash
  std::vector<TensorHash> tensor_hashes_;
  std::vector<TensorNames> tensor_names_;
  std::unordered_map<std::uint64_t, std::uint32_t> dims_numbers_;  // by both names
  std::vector<std::pair<std::int64_t, std::int64_t>> dims_names_;
  std::uint64_t odd_tensors_ = 0;
};

}  // namespace msprof::cann
