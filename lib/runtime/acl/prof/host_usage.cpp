#include "runtime/acl/prof/host_usage.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/clock.hpp"
#include "runtime/engine/files.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::acl {
namespace {

// Returns the content of a file in /proc; empty if it cannot be read, for example because the
// thread has ended.
std::string proc_file(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  return runtime::read_whole_file(path, kMaxBytes).value_or("");
}

// Returns the lines of `text` that `takes` accepts.
template <typename Takes>
std::string filter_lines(std::string_view text, Takes takes) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (takes(line)) lines.append(line).append("\n");
    begin = end + 1;
  }
  return lines;
}

// Replaces blanks and line ends in the process name of a stat line: readers split at them.
std::string stat_line(std::string text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  const auto at = [&](std::size_t place) {
    return text.begin() + static_cast<std::ptrdiff_t>(place);
  };
  std::replace_if(
      at(open), at(close), [](char c) { return static_cast<unsigned char>(c) <= ' '; }, '_');
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

// Converts a line of statm to pages of 4 KiB, the size that readers assume.
std::string statm_line(const std::string& text) {
  constexpr std::uint64_t kReadersPage = 4096;
  static const std::uint64_t factor =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / kReadersPage, 1);
  std::string line;
  for (std::size_t at = text.find_first_not_of(" \n"); at < text.size();
       at = text.find_first_not_of(" \n", at)) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::uint64_t pages = std::stoull(text.substr(at, end - at)) * factor;
    line += (line.empty() ? "" : " ") + std::to_string(pages);
    at = end;
  }
  return line.empty() ? line : line + "\n";
}

std::string read_process_name(const std::string& proc) {
  std::array<char, PATH_MAX> path;
  const ssize_t length = readlink((proc + "/exe").c_str(), path.data(), path.size());
  std::string name = length > 0 ? std::string(path.data(), static_cast<std::size_t>(length))
                                : proc_file(proc + "/comm");
  name = name.substr(name.rfind('/') + 1);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) <= ' '; }, '_');
  return name;
}

// Returns the stat lines of all threads; empty if they cannot be listed.
std::string read_thread_stats(const std::string& proc) {
  const std::string folder = proc + "/task";
  DIR* const threads = opendir(folder.c_str());
  if (threads == nullptr) return "";
  std::string lines;
  errno = 0;
  while (const dirent* const entry = readdir(threads)) {
    if (entry->d_name[0] != '.')
      lines += stat_line(proc_file(folder + "/" + entry->d_name + "/stat"));
    errno = 0;
  }
  // An incomplete list would look like a process that uses less CPU time.
  if (errno != 0) lines.clear();
  closedir(threads);
  return lines;
}

// Lines of /proc/meminfo that readers use.
constexpr std::array<std::string_view, 9> kMemoryLines = {
    "MemTotal:",    "MemFree:",      "Buffers:",         "Cached:",        "Shmem:",
    "CommitLimit:", "Committed_AS:", "HugePages_Total:", "HugePages_Free:"};

bool is_memory_line(std::string_view line) {
  return std::any_of(kMemoryLines.begin(), kMemoryLines.end(),
                     [&](std::string_view key) { return line.starts_with(key); });
}

}  // namespace

HostUsage::HostUsage(const HostUsageOptions& options, const std::string& folder, SpaceBudget& space)
    : options_(options),
      proc_("/proc/" + std::to_string(options.process > 0 ? options.process : getpid())),
      process_name_(read_process_name(proc_)),
      space_(space) {
  const std::string process = proc_.substr(proc_.rfind('/') + 1);
  series_[kHostCpu].stem = folder + "host_cpu.data";
  series_[kHostMemory].stem = folder + "host_mem.data";
  series_[kAllCpus].stem = folder + "host_sys_cpu.data";
  series_[kProcessCpu].stem = folder + process + "-CpuUsage.data";
  series_[kAllMemory].stem = folder + "host_sys_mem.data";
  series_[kProcessMemory].stem = folder + process + "-Memory.data";
  try {
    const runtime::BlockedSignals inherited;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    runtime::say(std::string("the load of the host is not recorded: cannot start its thread: ") +
                 error.what());
  }
}

void HostUsage::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
  for (Series& series : series_) complete(series);
}

void HostUsage::run() {
  using Clock = std::chrono::steady_clock;
  const auto interval = std::chrono::nanoseconds(std::chrono::seconds(1)) / options_.hz;
  for (bool is_last = false;;) {
    const Clock::time_point next = Clock::now() + interval;
    sample();
    if (is_last) return;
    std::unique_lock lock(mutex_);
    is_last = changed_.wait_until(lock, next, [this] { return stops_; });
  }
}

void HostUsage::sample() {
  try {
    if (options_.samples_process_cpu || options_.samples_process_memory) sample_process();
    if (options_.samples_all_cpus || options_.samples_all_memory) sample_machine();
  } catch (const std::exception&) {  // out of memory: the next sample may succeed
    lost_.fetch_add(1, std::memory_order_relaxed);
  }
  ++number_;
}

void HostUsage::sample_process() {
  if (options_.samples_process_cpu) {
    const std::uint64_t at_ns = runtime::monotonic_ns();
    const std::string uptime = proc_file("/proc/uptime");
    const std::string threads = read_thread_stats(proc_);
    if (!uptime.empty() && !threads.empty())
      append(kHostCpu, "time " + std::to_string(at_ns) + "\n" + uptime + threads);
  }
  if (options_.samples_process_memory) {
    const std::uint64_t at_ns = runtime::monotonic_ns();
    const std::string memory = statm_line(proc_file(proc_ + "/statm"));
    if (!memory.empty()) append(kHostMemory, std::to_string(at_ns) + " " + memory);
  }
}

void HostUsage::sample_machine() {
  const std::string name = "ProcessName:" + process_name_ + "\n";
  if (options_.samples_all_cpus) {
    const std::uint64_t at_ns = runtime::monotonic_ns();
    const std::string cpus = filter_lines(
        proc_file("/proc/stat"), [](std::string_view line) { return line.starts_with("cpu"); });
    if (!cpus.empty()) append_block(kAllCpus, at_ns, cpus);
    const std::string process = stat_line(proc_file(proc_ + "/stat"));
    const std::string together = cpus.substr(0, cpus.find('\n') + 1);
    if (!process.empty() && !together.empty())
      append_block(kProcessCpu, at_ns, process + name + together);
  }
  if (options_.samples_all_memory) {
    const std::uint64_t at_ns = runtime::monotonic_ns();
    const std::string all = filter_lines(proc_file("/proc/meminfo"), is_memory_line);
    if (!all.empty()) append_block(kAllMemory, at_ns, all);
    const std::string memory = statm_line(proc_file(proc_ + "/statm"));
    if (!memory.empty()) append_block(kProcessMemory, at_ns, name + memory);
  }
}

void HostUsage::append_block(SeriesNumber number, std::uint64_t at_ns, const std::string& text) {
  append(number, "TimeStamp:" + std::to_string(at_ns) + "\nIndex:" + std::to_string(number_) +
                     "\nDataLen:" + std::to_string(text.size()) + "\n" + text + "\n");
}

void HostUsage::append(SeriesNumber number, const std::string& text) {
  Series& series = series_[number];
  if (series.slice != nullptr && series.slice->bytes() + text.size() > space_.slice_bytes())
    complete(series);
  if (series.slice == nullptr)
    series.slice =
        std::make_unique<TextFile>(series.stem + ".slice_" + std::to_string(series.slices));
  if (space_.take(text.size())) {
    if (series.slice->append(text)) {
      ++series.samples;
      return;
    }
    space_.give_back(text.size());
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
}

// Writes the `.done` of the slice, which may then be removed at the storage limit.
void HostUsage::complete(Series& series) {
  if (series.slice == nullptr) return;
  series.slice->finish();
  if (series.slice->bytes() > 0)
    space_.offer({series.slice->path(), series.slice->bytes(), series.samples});
  series.slice.reset();
  series.samples = 0;
  ++series.slices;
}

}  // namespace msprof::acl
