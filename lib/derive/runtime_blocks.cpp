// Derives runtime_block: pairs allocations by the runtime with releases. Source: cann_new_kinds.md
// 3.1.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "derive/passes.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

using Space = RuntimeMemoryRow::Space;
using End = RuntimeBlockRow::End;

// The blocks allocated in one address space, by address. Blocks do not overlap.
class AddressSpace {
 public:
  // Adds a block. Calls `replace` with the row of every block that [address, end) overlaps.
  template <typename Replace>
  void allocate(std::uint64_t address, std::uint64_t end, std::size_t row, const Replace& replace) {
    auto at = blocks_.lower_bound(address);
    if (at != blocks_.begin() && std::prev(at)->second.end > address) --at;
    while (at != blocks_.end() && at->first < end) {
      replace(at->second.row);
      at = blocks_.erase(at);
    }
    blocks_[address] = {end, row};
  }
  // Removes the block at an address and returns its row; SIZE_MAX if there is none.
  std::size_t release(std::uint64_t address) {
    const auto at = blocks_.find(address);
    if (at == blocks_.end()) return SIZE_MAX;
    const std::size_t row = at->second.row;
    blocks_.erase(at);
    return row;
  }

 private:
  struct Block {
    std::uint64_t end = 0;  // address after the last byte
    std::size_t row = 0;
  };
  std::map<std::uint64_t, Block> blocks_;
};

}  // namespace

// Host memory is one address space. Each device has one for memory and one for handles.
void derive_runtime_blocks(TraceDbWriter& store) {
  constexpr std::int64_t kHost = 1;  // RuntimeMemoryRow::kind
  std::map<std::pair<std::int64_t, std::int64_t>, AddressSpace> spaces;
  std::vector<RuntimeBlockRow> rows;
  Statement read = store.readable().prepare(
      "SELECT id, time_ns, ifnull(device_id, -1), kind, space, is_free, address, size_bytes"
      " FROM runtime_memory ORDER BY id");
  while (read.step()) {
    const std::int64_t id = read.integer(0);
    const std::int64_t time = read.integer(1);
    const bool is_handle = read.integer(4) == static_cast<std::int64_t>(Space::handle);
    const bool is_host = read.integer(3) == kHost;
    AddressSpace& space = spaces[{is_handle ? 2 : is_host ? 1 : 0, is_host ? 0 : read.integer(2)}];
    const auto address = static_cast<std::uint64_t>(read.integer(6));
    const auto close = [&](std::size_t row, End end) {
      rows[row].end_kind = static_cast<std::int64_t>(end);
      rows[row].end_ns = time;
      rows[row].release_id = id;
    };
    if (read.integer(5) != 0) {
      const std::size_t row = space.release(address);
      if (row != SIZE_MAX) {
        close(row, End::released);
      } else {
        rows.emplace_back();
        close(rows.size() - 1, End::unknown);
      }
      continue;
    }
    auto bytes = static_cast<std::uint64_t>(read.integer(7));
    if (is_handle || bytes == 0) bytes = 1;
    const std::uint64_t end = bytes > UINT64_MAX - address ? UINT64_MAX : address + bytes;
    space.allocate(address, end, rows.size(),
                   [&](std::size_t replaced) { close(replaced, End::replaced); });
    rows.emplace_back().allocation_id = id;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = static_cast<std::int64_t>(i) + 1;
    store.add(rows[i]);
  }
}

}  // namespace msprof
