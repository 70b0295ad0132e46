// Derives memory_block: pairs allocations with releases. Source: cann_host.md 1.8, 2.4.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/number.hpp"
#include "derive/passes.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

struct Allocation {
  std::int64_t id = 0;
  std::int64_t host_count = 0;
};

// Converts a difference of counts to ns, rounded as the vendor does with microseconds in a double.
std::int64_t nanoseconds(std::int64_t counts, std::int64_t frequency_hz) {
  if (frequency_hz <= 0) return kNull;
  const double us = static_cast<double>(counts) / static_cast<double>(frequency_hz) * 1e6;
  return ns_from_us(us);
}

}  // namespace

// Reads events in file order. A second allocation by the same operator at the same address replaces
// the first one, whose release was not recorded. Rows are in order of release, followed by
// unreleased blocks in order of allocation.
void derive_memory_blocks(TraceDbWriter& store) {
  const Database& db = store.readable();
  const std::int64_t frequency_hz = read_meta_integer(db, "host.frequency_hz").value_or(0);
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Allocation> open;
  std::int64_t id = 0;
  Statement read = db.prepare(
      "SELECT id, name_hash, address, device_id, size_bytes, host_count FROM memory_event"
      " ORDER BY id");
  while (read.step()) {
    const std::tuple key(read.integer(1), read.integer(2), read.integer(3));
    const std::int64_t size = read.integer(4);
    if (size > 0) {
      open.insert_or_assign(key, Allocation{read.integer(0), read.integer(5)});
      continue;
    }
    const auto found = size < 0 ? open.find(key) : open.end();
    if (found == open.end()) continue;
    store.add(MemoryBlockRow{
        ++id, found->second.id, read.integer(0),
        nanoseconds(saturating_subtract(read.integer(5), found->second.host_count), frequency_hz)});
    open.erase(found);
  }
  std::vector<std::int64_t> left;
  left.reserve(open.size());
  for (const auto& [key, allocation] : open) left.push_back(allocation.id);
  std::sort(left.begin(), left.end());
  for (const std::int64_t allocation : left) {
    store.add(MemoryBlockRow{++id, allocation, kNull, kNull});
  }
}

}  // namespace msprof
