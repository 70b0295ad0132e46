// runtime_memory, runtime_memory_peak, runtime_copy: memory that runtime calls allocated, released,
// copied and set. Source: cann_new_kinds.md 3.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/number.hpp"
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

using BlockEnd = RuntimeBlockRow::End;

std::string kind_text(std::int64_t kind) {
  constexpr std::string_view kKinds[] = {"unknown", "host", "device", "managed"};
  return kind >= 0 && kind < 4 ? std::string(kKinds[kind]) : std::to_string(kind);
}

std::string space_text(std::int64_t space) {
  constexpr std::string_view kSpaces[] = {"memory", "physical memory", "reserved addresses"};
  return space >= 0 && space < 3 ? std::string(kSpaces[space]) : std::to_string(space);
}

std::string_view state_text(std::int64_t end) {
  switch (static_cast<BlockEnd>(end)) {
    case BlockEnd::held:
      return "held";
    case BlockEnd::released:
      return "released";
    case BlockEnd::replaced:
      return "release not recorded";
    case BlockEnd::unknown:
      return "allocated before";
  }
  return "";
}

// Selects each block with its allocation, and each release whose allocation was not recorded.
constexpr const char* kSelectBlocks =
    "SELECT runtime_block.end_kind, runtime_block.end_ns, allocation_id IS NULL, time_ns, "
    "device_id, kind, space,"
    " address, size_bytes, runtime_memory.thread_id, api_call.name_id FROM runtime_block"
    " JOIN runtime_memory ON runtime_memory.id = ifnull(allocation_id, release_id)"
    " LEFT JOIN api_call ON api_call.id = ifnull(acl_call_id, runtime_call_id)"
    " ORDER BY runtime_block.id";
struct BlockCell {
  enum : int {
    kEnd,
    kEndTime,
    kIsReleaseAlone,
    kTime,
    kDevice,
    kKind,
    kSpace,
    kAddress,
    kSize,
    kThread,
    kCall
  };
};

class CannRuntimeMemory : public cann::CannTable {
 public:
  CannRuntimeMemory()
      : CannTable({.name = "runtime_memory",
                   .title = "Runtime memory",
                   .help = "allocations of the runtime, with their lifetimes",
                   .exists = "SELECT 1 FROM runtime_block",
                   .needs = {"memmng_info"},
                   .group = kRuntimeTables},
                  {"Device_id", "Kind", "Space", "Address", "Size(Byte)", "Allocation Time(us)",
                   "Release Time(us)", "Lifetime(us)", "State", "API", "Thread ID"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    cann::Texts texts(db);
    const ScopeFilter scope(output_file.scope);
    Statement read = db.prepare(kSelectBlocks);
    while (read.step()) {
      const std::int64_t start = read.integer(BlockCell::kTime);
      const std::int64_t end = read.maybe_integer(BlockCell::kEndTime).value_or(INT64_MAX);
      if (!scope.takes(read.maybe_integer(BlockCell::kDevice).value_or(cann::kHostDevice), start,
                       end))
        continue;
      const bool has_start = read.integer(BlockCell::kIsReleaseAlone) == 0;
      out.number_or_missing(read.maybe_integer(BlockCell::kDevice));
      out.text(kind_text(read.integer(BlockCell::kKind)));
      out.text(space_text(read.integer(BlockCell::kSpace)));
      out.text(fmt::format("{:#x}", static_cast<std::uint64_t>(read.integer(BlockCell::kAddress))));
      out.number_or_missing(has_start ? read.maybe_integer(BlockCell::kSize) : std::nullopt);
      has_start ? cann::us_timestamp(out, start) : out.missing();
      read.is_null(BlockCell::kEndTime) ? out.missing() : cann::us_timestamp(out, end);
      if (has_start && !read.is_null(BlockCell::kEndTime)) {
        cann::us_number(out, saturating_subtract(end, start));
      } else {
        out.missing();
      }
      out.text(state_text(read.integer(BlockCell::kEnd)));
      cann::text_or_missing(out, texts, read.maybe_integer(BlockCell::kCall));
      out.number_or_missing(read.maybe_integer(BlockCell::kThread));
      out.end_row();
    }
  }
};

// Host memory is not counted for a device.
using MemoryKey = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // device, kind, space

class CannRuntimeMemoryPeak : public cann::CannTable {
 public:
  CannRuntimeMemoryPeak()
      : CannTable({.name = "runtime_memory_peak",
                   .title = "Runtime memory at its peak",
                   .help = "peak allocation, memory still held, and gaps between blocks",
                   .exists = "SELECT 1 FROM runtime_block",
                   .needs = {"memmng_info"},
                   .is_shown = true,
                   .group = kRuntimeTables},
                  {"Device_id", "Kind", "Space", "Allocations", "Releases", "Releases of Earlier",
                   "Releases Not Recorded", "Peak(Byte)", "Peak Time(us)", "Peak API", "Held(Byte)",
                   "Held Blocks", "Holes", "Holes(Byte)", "Largest Hole(Byte)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    std::map<MemoryKey, Sum> sums;
    const ScopeFilter scope(output_file.scope);
    read_blocks(db, scope, sums);
    cann::Texts texts(db);
    for (auto& [key, sum] : sums) {
      sum.find_peak();
      sum.find_holes();
      const auto& [device, kind, space] = key;
      device == cann::kHostDevice ? out.text("host") : out.number(device);
      out.text(kind_text(kind));
      out.text(space_text(space));
      for (const std::int64_t count : {sum.allocations, sum.releases, sum.earlier, sum.lost})
        out.number(count);
      out.number(sum.peak);
      sum.peak > 0 ? cann::us_timestamp(out, sum.peak_ns) : out.missing();
      cann::text_or_missing(out, texts, given(sum.peak_call));
      out.number(sum.held);
      out.number(static_cast<std::int64_t>(sum.held_blocks.size()));
      // Handles have no address.
      const bool has_places = space != static_cast<std::int64_t>(RuntimeMemoryRow::Space::handle);
      for (const std::int64_t value : {sum.holes, sum.hole_bytes, sum.largest_hole})
        out.number_or_missing(has_places ? std::optional(value) : std::nullopt);
      out.end_row();
    }
  }

 private:
  struct Change {
    std::int64_t time_ns = 0;
    std::int64_t bytes = 0;  // negative: a release
    std::int64_t call_name_id = kNull;
  };
  struct Sum {
    std::int64_t allocations = 0, releases = 0, earlier = 0, lost = 0;
    std::vector<Change> changes;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> held_blocks;  // address, bytes
    std::int64_t held = 0, peak = 0, peak_ns = 0, peak_call = kNull;
    std::int64_t holes = 0, hole_bytes = 0, largest_hole = 0;

    // Applies releases before allocations of the same time.
    void find_peak() {
      std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
        return std::pair(a.time_ns, a.bytes >= 0) < std::pair(b.time_ns, b.bytes >= 0);
      });
      for (const Change& change : changes) {
        held = saturating_add(held, change.bytes);
        if (held <= peak) continue;
        peak = held;
        peak_ns = change.time_ns;
        peak_call = change.call_name_id;
      }
    }
    void find_holes() {
      std::sort(held_blocks.begin(), held_blocks.end());
      for (std::size_t i = 1; i < held_blocks.size(); ++i) {
        const auto& [address, bytes] = held_blocks[i - 1];
        const std::uint64_t next = held_blocks[i].first;
        if (next - address <= bytes) continue;
        const auto hole =
            static_cast<std::int64_t>(std::min<std::uint64_t>(next - address - bytes, INT64_MAX));
        ++holes;
        hole_bytes = saturating_add(hole_bytes, hole);
        largest_hole = std::max(largest_hole, hole);
      }
    }
  };

  static void read_blocks(const Database& db, const ScopeFilter& scope,
                          std::map<MemoryKey, Sum>& sums) {
    constexpr std::int64_t kHost = 1;
    Statement read = db.prepare(kSelectBlocks);
    while (read.step()) {
      const std::int64_t start = read.integer(BlockCell::kTime);
      const std::int64_t device =
          read.integer(BlockCell::kKind) == kHost
              ? cann::kHostDevice
              : read.maybe_integer(BlockCell::kDevice).value_or(cann::kHostDevice);
      if (!scope.takes(device, start, read.maybe_integer(BlockCell::kEndTime).value_or(INT64_MAX)))
        continue;
      Sum& sum = sums[{device, read.integer(BlockCell::kKind), read.integer(BlockCell::kSpace)}];
      if (read.integer(BlockCell::kIsReleaseAlone) != 0) {
        ++sum.earlier;
        continue;
      }
      const std::int64_t bytes = std::max<std::int64_t>(read.integer(BlockCell::kSize), 0);
      ++sum.allocations;
      sum.changes.push_back({start, bytes, read.maybe_integer(BlockCell::kCall).value_or(kNull)});
      if (read.is_null(BlockCell::kEndTime)) {
        sum.held_blocks.emplace_back(static_cast<std::uint64_t>(read.integer(BlockCell::kAddress)),
                                     static_cast<std::uint64_t>(bytes));
        continue;
      }
      ++(read.integer(BlockCell::kEnd) == static_cast<std::int64_t>(BlockEnd::replaced)
             ? sum.lost
             : sum.releases);
      sum.changes.push_back({read.integer(BlockCell::kEndTime), -bytes, kNull});
    }
  }
};

class CannRuntimeCopy : public cann::CannTable {
 public:
  CannRuntimeCopy()
      : CannTable({.name = "runtime_copy",
                   .title = "Copies of the runtime",
                   .help = "copies and memsets by runtime calls, by direction",
                   .exists = "SELECT 1 FROM runtime_copy",
                   .needs = {"memcpy_ext_info|memset_info"},
                   .is_shown = true,
                   .group = kRuntimeTables},
                  {"Device_id", "Direction", "Mode", "Count", "Size(Byte)", "API Time(us)",
                   "Device Time(us)", "Bandwidth(GB/s)"}) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const auto calls = read_calls(db);
    const ScopeFilter scope(output_file.scope);
    std::vector<std::pair<CopyKey, Sum>> sums;  // by first copy
    std::map<CopyKey, std::size_t> places;
    Statement read = db.prepare(
        "SELECT device_id, direction_name_id, stream_id IS NULL, size_bytes, time_ns, acl_call_id,"
        " api_call.end_ns - api_call.start_ns FROM runtime_copy"
        " LEFT JOIN api_call ON api_call.id = runtime_call_id ORDER BY runtime_copy.id");
    while (read.step()) {
      const std::int64_t device = read.maybe_integer(0).value_or(cann::kHostDevice);
      if (!scope.takes(device, read.integer(4), read.integer(4))) continue;
      const CopyKey key{device, read.integer(1), read.integer(2) != 0};
      const auto [at, is_new] = places.try_emplace(key, sums.size());
      if (is_new) sums.emplace_back(key, Sum());
      Sum& sum = sums[at->second].second;
      ++sum.count;
      sum.bytes += read.integer(3);
      sum.api_ns += read.maybe_integer(6).value_or(0);
      const auto call = calls.find(read.maybe_integer(5).value_or(kNull));
      if (call != calls.end() && call->second.bytes > 0)
        sum.device_ns += int128{call->second.device_ns} * read.integer(3) / call->second.bytes;
    }
    cann::Texts texts(db);
    for (const auto& [key, sum] : sums) write_sum(out, texts, key, sum);
  }

 private:
  using CopyKey = std::tuple<std::int64_t, std::int64_t, bool>;  // device, direction, waits
  struct Sum {
    std::int64_t count = 0;
    int128 bytes = 0;
    int128 api_ns = 0;
    int128 device_ns = 0;
  };
  struct Call {
    std::int64_t device_ns = 0;
    int128 bytes = 0;
  };

  // Returns the device time of each call's tasks and the total size of its copies; copies of a
  // batch share one call.
  static std::unordered_map<std::int64_t, Call> read_calls(const Database& db) {
    std::unordered_map<std::int64_t, Call> calls;
    Statement tasks = db.prepare(
        "SELECT api_id, sum(duration_ns) FROM memcpy_task CROSS JOIN task ON task.id = task_id"
        " WHERE api_id IS NOT NULL GROUP BY api_id ORDER BY api_id");
    while (tasks.step()) calls[tasks.integer(0)].device_ns = tasks.integer(1);
    Statement copies = db.prepare(
        "SELECT acl_call_id, size_bytes FROM runtime_copy WHERE acl_call_id IS NOT NULL"
        " ORDER BY id");
    while (copies.step()) {
      const auto at = calls.find(copies.integer(0));
      if (at != calls.end()) at->second.bytes += copies.integer(1);
    }
    return calls;
  }

  static void write_sum(RowBuilder& out, cann::Texts& texts, const CopyKey& key, const Sum& sum) {
    const auto& [device, direction, waits] = key;
    device == cann::kHostDevice ? out.missing() : out.number(device);
    out.text(texts(direction));
    out.text(waits ? "sync" : "async");
    out.number(sum.count);
    out.number(cann::trimmed3(sum.bytes, 1));
    out.number(cann::trimmed3(sum.api_ns, 1000));
    sum.device_ns > 0 ? out.number(cann::trimmed3(sum.device_ns, 1000)) : out.missing();
    // A call that waits takes as long as its copy; for other calls only tasks have the time.
    const int128 ns = sum.device_ns > 0 ? sum.device_ns : waits ? sum.api_ns : int128{0};
    ns > 0 ? out.number(cann::trimmed3(sum.bytes, ns)) : out.missing();
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_runtime_memory() {
  return std::make_unique<CannRuntimeMemory>();
}

std::unique_ptr<SummaryTable> make_cann_runtime_memory_peak() {
  return std::make_unique<CannRuntimeMemoryPeak>();
}

std::unique_ptr<SummaryTable> make_cann_runtime_copy() {
  return std::make_unique<CannRuntimeCopy>();
}

}  // namespace msprof
