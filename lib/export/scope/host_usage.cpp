#include "export/scope/host_usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "base/number.hpp"
#include "base/vendor_real.hpp"
#include "export/scope/cann_rules.hpp"

namespace msprof {

namespace {

constexpr double kUsageMillion = 1e6;

// Returns part / whole in percent with six decimals, rounding halves to even. `whole` must be
// positive.
double usage_percent(int128 part, int128 whole) {
  const int128 scaled = part * 100'000'000;
  int128 rounded = divide_rounded(scaled, whole);
  const int128 twice = scaled * 2 - rounded * 2 * whole;
  if ((twice == whole || twice == -whole) && rounded % 2 != 0) rounded += twice > 0 ? 1 : -1;
  return static_cast<double>(rounded) / kUsageMillion;
}

std::optional<std::int64_t> read_first_sample_value(const Database& db, const CounterTrack& track) {
  Statement read = db.prepare("SELECT value FROM counter WHERE id = ?");
  read.bind(1, track.first_sample_id);
  return read.step() ? read.maybe_integer(0) : std::nullopt;
}

}  // namespace

WholeIntervals::WholeIntervals(const Database& db, std::string_view kind, const ExportScope& scope)
    : samples_(db, kind, scope), begin_ns_(cann::window_begin_ns(db)) {}

bool WholeIntervals::next() {
  while (samples_.next()) {
    if (samples_->begin_ns && *samples_->begin_ns >= begin_ns_) return true;
  }
  return false;
}

std::string_view exists_counter(std::string_view kind, std::string_view counter) {
  static std::mutex mutex;
  static std::map<std::string, std::string> made;
  const std::lock_guard lock(mutex);
  std::string& select = made[fmt::format("{}/{}", kind, counter)];
  if (select.empty()) {
    select = fmt::format(
        "SELECT 1 FROM track JOIN name AS kind ON kind.id = kind_name_id JOIN name AS counter ON"
        " counter.id = name_id WHERE kind.text = '{}' AND counter.text = '{}'",
        kind, counter);
  }
  return select;
}

std::optional<std::int64_t> read_constant(const Database& db, std::string_view kind,
                                          std::string_view counter) {
  for (const CounterTrack& track : counter_tracks(db, kind)) {
    if (track.counter == counter) return read_first_sample_value(db, track);
  }
  return std::nullopt;
}

void for_each_memory_use(const Database& db, const ExportScope& scope,
                         const std::function<void(const MemoryUse&)>& visit) {
  const auto total = read_constant(db, "host_mem", "Total");
  if (!total || *total <= 0) return;
  CounterSamples samples(db, "host_mem", scope);
  while (samples.next()) {
    if (samples->track->counter == "Used")
      visit({samples->time_ns, usage_percent(samples->value, *total)});
  }
}

void for_each_disk_use(const Database& db, const ExportScope& scope,
                       const std::function<void(const DiskUse&)>& visit) {
  WholeIntervals samples(db, "host_disk", scope);
  DiskUse use;
  while (samples.next()) {
    const std::string& counter = samples->track->counter;
    use.begin_ns = *samples->begin_ns;
    if (counter == "Read") use.read_kb_s = samples->shown();
    if (counter == "Write") use.write_kb_s = samples->shown();
    // Usage is the last of an interval's three samples.
    if (counter != "Usage") continue;
    use.percent = samples->shown();
    visit(use);
    use = {};
  }
}

void for_each_network_use(const Database& db, const ExportScope& scope,
                          const std::function<void(const NetworkUse&)>& visit) {
  WholeIntervals samples(db, "host_network", scope);
  std::map<std::string, std::int64_t> speeds;
  for (const CounterTrack& track : samples.tracks()) {
    if (track.counter == "Speed")
      speeds[track.subject] = read_first_sample_value(db, track).value_or(0);
  }
  std::vector<std::int64_t> speed_of;
  for (const CounterTrack& track : samples.tracks()) {
    const auto speed = speeds.find(track.subject);
    const bool is_moved = track.counter == "Rx" || track.counter == "Tx";
    speed_of.push_back(is_moved && speed != speeds.end() ? speed->second : 0);
  }

  struct Interval {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    int128 bytes = 0;
    double used_seconds = 0;  // sum over the cards of the time they would need at full speed
    std::int64_t cards = 0;
  };
  Interval now;
  const auto end = [&] {
    const double seconds = static_cast<double>(saturating_subtract(now.end_ns, now.begin_ns)) / 1e9;
    if (now.cards > 0 && seconds > 0) {
      const double used = now.used_seconds / static_cast<double>(now.cards) / seconds;
      visit({now.begin_ns, static_cast<double>(now.bytes) / seconds / 1024,
             python_round(used * 100, 6)});
    }
    now = {};
  };
  while (samples.next()) {
    const std::int64_t speed = speed_of[samples->track->index];
    if (speed <= 0) continue;
    if (*samples->begin_ns != now.begin_ns || samples->time_ns != now.end_ns) end();
    now.begin_ns = *samples->begin_ns;
    now.end_ns = samples->time_ns;
    now.bytes += samples->value;
    now.used_seconds += static_cast<double>(samples->value) / static_cast<double>(speed);
    if (samples->track->counter == "Rx") ++now.cards;
  }
  end();
}

void Recommended::add(double value) {
  ++count_;
  peak_ = std::max(peak_, value);
  if (value > 0) values_.push_back(value);
}

double Recommended::enough() {
  if (values_.empty()) return 0;
  const double last = static_cast<double>(values_.size() - 1);
  const auto place = static_cast<std::ptrdiff_t>(std::ceil(0.98 * last));
  std::nth_element(values_.begin(), values_.begin() + place, values_.end());
  return values_[static_cast<std::size_t>(place)] / 0.8;
}

bool shows_call(std::string_view kind, std::string_view name) {
  if (kind == "host_pthreadcall") return name != "pthread_once";
  // A call is shown if its name contains one of these, as pread64 and preadv2 do.
  constexpr std::string_view kNames[] = {"accept",
                                         "acct",
                                         "alarm",
                                         "bind",
                                         "bpf",
                                         "brk",
                                         "chroot",
                                         "connect",
                                         "copy_file_range",
                                         "creat",
                                         "dup",
                                         "fallocate",
                                         "fcntl",
                                         "flock",
                                         "fork",
                                         "futex",
                                         "ioctl",
                                         "ioperm",
                                         "iopl",
                                         "kill",
                                         "listen",
                                         "membarrier",
                                         "mlock",
                                         "mmap",
                                         "mount",
                                         "move_pages",
                                         "mprotect",
                                         "mq_notify",
                                         "mq_receive",
                                         "mq_timedreceive",
                                         "mremap",
                                         "msgctl",
                                         "msgget",
                                         "msgrcv",
                                         "msgsnd",
                                         "munmap",
                                         "nanosleep",
                                         "nfsservctl",
                                         "open",
                                         "pause",
                                         "pipe",
                                         "pivot_root",
                                         "poll",
                                         "prctl",
                                         "ptrace",
                                         "read",
                                         "reboot",
                                         "recv",
                                         "rt_sigqueueinfo",
                                         "sched_yield",
                                         "seccomp",
                                         "select",
                                         "semctl",
                                         "semget",
                                         "semop",
                                         "semtimedop",
                                         "send",
                                         "shmat",
                                         "shmctl",
                                         "shmdt",
                                         "shmget",
                                         "shutdown",
                                         "sigaction",
                                         "sigsuspend",
                                         "socket",
                                         "splice",
                                         "swapoff",
                                         "swapon",
                                         "sync",
                                         "tee",
                                         "tgsigqueueinfo",
                                         "truncate",
                                         "unshare",
                                         "uselib",
                                         "vhangup",
                                         "wait",
                                         "write",
                                         "_sysctl"};
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

}  // namespace msprof
