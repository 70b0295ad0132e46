// OpTable: the operators of the host tasks. Filled by the host association, used when the tasks of
// the devices are written.
#pragma once

#include <cstdint>

namespace msprof {

class OpTable {
 public:
  virtual ~OpTable() = default;

  // Returns this column of OpRow; kNull if unknown. `op_id` is the id of a HostTask.
  virtual std::int64_t block_num(std::int64_t op_id) const = 0;
  virtual std::int64_t mix_block_num(std::int64_t op_id) const = 0;
  virtual std::int64_t name_id(std::int64_t op_id) const = 0;
  virtual std::int64_t unit_name_id(std::int64_t op_id) const = 0;
  // Returns the operator with the block numbers that became known at launch (TS_BLOCK_NUM). Equal
  // operators share a row.
  virtual std::int64_t with_blocks(std::int64_t op_id, std::int64_t block_num,
                                   std::int64_t mix_block_num) = 0;
};

}  // namespace msprof
