// RowFilter: selects rows of a table. For RowCursor and its readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace msprof {

// Conditions on rows; columns are indexes.
struct RowFilter {
  std::int64_t first_id = INT64_MIN;
  std::int64_t last_id = INT64_MAX;
  std::vector<std::size_t> not_null;
  std::optional<std::pair<std::size_t, std::int64_t>> equal;
  bool is_backwards = false;  // read rows from the largest id to the smallest
};

}  // namespace msprof
