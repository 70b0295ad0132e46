// Samples /proc during a recording: CPU time and memory of a process and of the machine, as text
// files in host/data. For Recording. Source: cann_system.md 11, 16.1, 16.2.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/acl/prof/slice_file.hpp"
#include "runtime/acl/prof/text_file.hpp"

namespace msprof::acl {

struct HostUsageOptions {
  bool samples_process_cpu = false;     // HOST_SYS: each thread of the process
  bool samples_process_memory = false;  // HOST_SYS
  bool samples_all_cpus = false;        // HOST_SYS_USAGE: the machine and the process
  bool samples_all_memory = false;      // HOST_SYS_USAGE
  std::uint32_t hz = 50;
  pid_t process = 0;  // 0: the current process

  bool any() const {
    return samples_process_cpu || samples_process_memory || samples_all_cpus || samples_all_memory;
  }
};

class HostUsage {
 public:
  // Samples at once and then at the given frequency, in a thread with all signals blocked. If the
  // thread cannot be created, nothing is sampled and a message is printed.
  HostUsage(const HostUsageOptions& options, const std::string& folder, SpaceBudget& space);
  ~HostUsage() { stop(); }
  HostUsage(const HostUsage&) = delete;
  HostUsage& operator=(const HostUsage&) = delete;

  // Takes a last sample and completes the files.
  void stop();
  // Samples lost because there was no space.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  // One kind of samples, stored in slices.
  struct Series {
    std::string stem;
    std::unique_ptr<TextFile> slice;
    std::uint64_t slices = 0;
    std::uint64_t samples = 0;  // in the current slice
  };
  enum SeriesNumber { kHostCpu, kHostMemory, kAllCpus, kProcessCpu, kAllMemory, kProcessMemory };
  static constexpr std::size_t kSeries = 6;

  void run();
  void sample();
  void sample_process();
  void sample_machine();
  void append(SeriesNumber number, const std::string& text);
  void append_block(SeriesNumber number, std::uint64_t at_ns, const std::string& text);
  void complete(Series& series);

  const HostUsageOptions options_;
  const std::string proc_;  // "/proc/1402"
  std::string process_name_;
  SpaceBudget& space_;
  std::array<Series, kSeries> series_;
  std::uint64_t number_ = 0;  // of the current sample
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace msprof::acl
