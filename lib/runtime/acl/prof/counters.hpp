// Task counters computed by the machine model (README.md): the events of each metrics set, and how
// often each occurs in an operator. For the recorder. Source: cann_device.md 12 (events and how
// readers use them); the sets are those of acl_prof.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/acl/prof/recording.hpp"
#include "runtime/engine/machine_model.hpp"

namespace msprof::acl {

// Values of aclprofAicoreMetrics.
enum class Metrics : std::uint32_t {
  arithmetic,
  pipe,
  memory,
  memory_l0,
  conflicts,
  memory_ub,
  l2_cache,
  pipe_execute,
  memory_access,
  kCount
};

// Returns the metrics set of a recording; null if it has none.
const Metrics* find_metrics(const RecordingOptions& options);

// Texts for sample.json: the name, such as "PipeUtilization", and the events, such as "0x8,0xa", in
// the order of the counters of a record.
struct CounterSet {
  std::string name;
  std::string events;
};
CounterSet counter_set(Metrics metrics, int chip, bool is_vector_core);

inline constexpr std::size_t kCounters = 8;
using CounterValues = std::array<std::uint64_t, kCounters>;

// Returns the counters of an operator that ran for `total_cycles` (1 cycle is 1 ns) with `images`
// images.
CounterValues count_events(Metrics metrics, int chip, bool is_vector_core,
                           const runtime::LayerWork& work, std::uint64_t images,
                           std::uint64_t total_cycles);

// Events of l2_cache.data on `chip`; how often an operator causes each.
std::string l2_cache_events(int chip);
CounterValues count_l2_cache(int chip, const runtime::LayerWork& work, std::uint64_t images);

}  // namespace msprof::acl
