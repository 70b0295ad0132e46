// What a process used of its host, as the vendor's products have it, from the samples of host_cpu,
// host_mem, host_disk and host_network. Intervals that began before the collection are left out.
// For the tables, layers and databases that show them. Source: cann_system.md 16.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "export/counter_samples.hpp"

namespace msprof {

// Samples about intervals of the collection.
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

// What a track of a single sample has; empty where there is none.
std::optional<std::int64_t> constant_of(const Database& db, std::string_view kind,
                                        std::string_view counter);

// Parts of the memory, in percent with six decimals.
struct MemoryUse {
  std::int64_t time_ns = 0;
  double percent = 0;
};
void for_each_memory_use(const Database& db, const ExportScope& scope,
                         const std::function<void(const MemoryUse&)>& visit);

// An interval; kilobytes are of 1024 bytes.
struct DiskUse {
  std::int64_t begin_ns = 0;
  double read_kb_s = 0;
  double write_kb_s = 0;
  double percent = 0;  // of the time: waiting
};
void for_each_disk_use(const Database& db, const ExportScope& scope,
                       const std::function<void(const DiskUse&)>& visit);

// An interval, of all cards whose speed is known.
struct NetworkUse {
  std::int64_t begin_ns = 0;
  double kb_s = 0;     // received and sent, added up
  double percent = 0;  // mean of what each card used of its own speed; six decimals
};
void for_each_network_use(const Database& db, const ExportScope& scope,
                          const std::function<void(const NetworkUse&)>& visit);

// Largest value, and one that is enough with a reserve of a fifth for 98 % of those above 0.
class Recommended {
 public:
  void add(double value);
  bool empty() const { return count_ == 0; }
  double peak() const { return peak_; }
  double enough();

 private:
  std::vector<double> values_;  // above 0
  std::size_t count_ = 0;
  double peak_ = 0;
};

// Whether products show a system call, or a call of the thread library, of that name: those that
// may wait. The store has all. Source: cann_system.md 17.
bool shows_call(std::string_view kind, std::string_view name);

}  // namespace msprof
