// Host usage of a process as the vendor's products show it, from the samples of host_cpu, host_mem,
// host_disk and host_network. Intervals that start before the collection are left out. Source:
// cann_system.md 16.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "export/scope/counter_samples.hpp"

namespace msprof {

// Reads samples whose interval lies within the collection.
class WholeIntervals {
 public:
  WholeIntervals(const Database& db, std::string_view kind, const ExportScope& scope);
  const std::vector<CounterTrack>& tracks() const { return samples_.tracks(); }
  bool next();
  const CounterSample& operator*() const { return *samples_; }
  const CounterSample* operator->() const { return &*samples_; }

 private:
  CounterSamples samples_;
  std::int64_t begin_ns_;
};

// SQL for `exists` of a product about one counter of a kind.
std::string_view exists_counter(std::string_view kind, std::string_view counter);

// Returns the value of a track that has a single sample; empty if there is no such track.
std::optional<std::int64_t> read_constant(const Database& db, std::string_view kind,
                                          std::string_view counter);

// Memory use of the process in percent of the total, with six decimals.
struct MemoryUse {
  std::int64_t time_ns = 0;
  double percent = 0;
};
void for_each_memory_use(const Database& db, const ExportScope& scope,
                         const std::function<void(const MemoryUse&)>& visit);

// Disk use in an interval; 1 KB is 1024 bytes.
struct DiskUse {
  std::int64_t begin_ns = 0;
  double read_kb_s = 0;
  double write_kb_s = 0;
  double percent = 0;  // of the interval spent waiting
};
void for_each_disk_use(const Database& db, const ExportScope& scope,
                       const std::function<void(const DiskUse&)>& visit);

// Network use in an interval, over all cards whose speed is known.
struct NetworkUse {
  std::int64_t begin_ns = 0;
  double kb_s = 0;     // received plus sent
  double percent = 0;  // mean of the cards' use of their own speed; six decimals
};
void for_each_network_use(const Database& db, const ExportScope& scope,
                          const std::function<void(const NetworkUse&)>& visit);

// Collects values and returns the largest, and the capacity that covers 98 % of the positive ones
// with a reserve of one fifth.
class Recommended {
 public:
  void add(double value);
  bool empty() const { return count_ == 0; }
  double peak() const { return peak_; }
  double enough();

 private:
  std::vector<double> values_;  // only positive ones
  std::size_t count_ = 0;
  double peak_ = 0;
};

// Returns true if products show the system call or pthread call of that name, that is, if it can
// block. The store has all calls. Source: cann_system.md 17.
bool shows_call(std::string_view kind, std::string_view name);

}  // namespace msprof
