// What op_summary prints of an operator, formatted once for all its tasks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "export/summary/cann_tables.hpp"

namespace msprof::cann {

class OpRows {
 public:
  static constexpr std::size_t kCells = 13;
  struct Op {
    std::array<std::int64_t, kCells> cells{};  // numbers and ids of texts; kNull: none
    bool is_printed = true;    // false for collectives and what is no operator at all
    bool has_counters = true;  // false for what never runs on the cores
    std::int64_t block_num = 0;
    std::int64_t mix_block_num = 0;
    std::string front;  // cells Op Name … Task Type, as this table's writer formats them
    std::string back;   // cells Block Num … Output Formats
  };

  OpRows(const Database& db, bool has_mix);

  // Valid until the next call. Throws for an operator that is not there.
  Op& of(std::int64_t op_id);

  void write_front(TableWriter& out, Op& op);
  void write_back(TableWriter& out, Op& op);
  std::size_t back_cells() const { return has_mix_ ? 9 : 8; }

 private:
  void load(Op& op, std::int64_t op_id);

  const Database& db_;
  bool has_mix_;
  Texts texts_;
  Statement read_;
  std::unordered_map<std::int64_t, Op> known_;
};

}  // namespace msprof::cann
