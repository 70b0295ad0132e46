// Ids, from 1, of extended msproftx records: marks and ranges of mstx, and marks on streams. One
// counter per library keeps the ids unique in a folder.
#pragma once

#include <atomic>
#include <cstdint>

namespace msprof::mstx {

inline std::uint64_t next_mark_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace msprof::mstx
