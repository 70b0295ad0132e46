// OpTable: what the device association asks about operators that the host association interned.
#pragma once

#include <cstdint>

#include "store/bulk_insert.hpp"

namespace msprof {

class OpTable {
 public:
  virtual ~OpTable() = default;

  // Of OpRow; kNull where it is not known. `op_id` is an id that a HostTask carries.
  virtual std::int64_t block_num(std::int64_t op_id) const = 0;
  virtual std::int64_t mix_block_num(std::int64_t op_id) const = 0;
  virtual std::int64_t name_id(std::int64_t op_id) const = 0;
  virtual std::int64_t unit_name_id(std::int64_t op_id) const = 0;
  // The same operator with the blocks that became known at launch (TS_BLOCK_NUM); equal ones share
  // a row.
  virtual std::int64_t with_blocks(std::int64_t op_id, std::int64_t block_num,
                                   std::int64_t mix_block_num) = 0;
};

}  // namespace msprof
