// Raw kind <pid>-CpuUsage.data: dumps of /proc/<pid>/stat, each with the times of all CPUs. Source:
// cann_system.md 11.
#include <array>

#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/proc_blocks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kCpuUsageEnding = "-CpuUsage.data";

// In 1/100 s (USER_HZ). The first four count since the process started, the last since the machine
// started.
constexpr std::array<std::string_view, 5> kProcessTimes = {
    "User Time", "Sys Time", "Children User Time", "Children Sys Time", "All CPUs"};
constexpr std::int64_t kTicksPerSecond = 100;
constexpr std::size_t kOfAllCpus = 4;

struct ProcessTimes {
  std::array<std::uint64_t, kProcessTimes.size()> ticks{};
};

struct ProcessBlock {
  bool has_stat = false;
  bool is_damaged = false;  // already counted
  std::int64_t pid = 0;
  ProcessTimes times;
};

// Gets the name from "1402 (a name) S 1 …". It may contain anything, including blanks and brackets.
std::string name_in_stat(std::string_view line) {
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  return printable(valid_utf8(line.substr(open + 1, close - open - 1)));
}

bool read_stat(std::string_view line, ProcessBlock& block) {
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return false;
  const auto pid = parse_i64(trim(line.substr(0, open)));
  if (!pid) return false;
  const LineWords words(line.substr(close + 1));
  constexpr std::size_t kUserTime = 11;  // index after the name, from 0
  for (std::size_t i = 0; i < kOfAllCpus; ++i) {
    if (!words.number(kUserTime + i, block.times.ticks[i])) return false;
  }
  block.pid = *pid;
  block.has_stat = true;
  return true;
}

// Sums a line such as "cpu  12 0 …".
bool read_all_cpus(std::string_view line, std::uint64_t& sum) {
  const LineWords words(line);
  if (words.size() < 2 || words.size() > LineWords::kMaxCount || words[0] != "cpu") return false;
  sum = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::uint64_t ticks = 0;
    if (!words.number(i, ticks) || __builtin_add_overflow(sum, ticks, &sum)) return false;
  }
  return true;
}

class ProcessCpuUsageKind : public TextKind {
 public:
  explicit ProcessCpuUsageKind(CannImport& import) : TextKind(import, "process_cpu_usage", {}) {}

  bool owns(const RawFile& file) const override {
    return parse_pid_in_stem(import_.session.parsed_name(file).stem, kCpuUsageEnding).has_value();
  }

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string& stem,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    std::size_t first_track = 0;  // tracks of the other times follow, then usage
    std::size_t usage = 0;
    std::optional<std::pair<std::int64_t, ProcessTimes>> last;
    std::int64_t pid = *parse_pid_in_stem(stem, kCpuUsageEnding);
    std::string process_name;
    std::string short_name;  // fallback name, at most 15 bytes
    const auto take = [&](std::int64_t time_ns, const ProcessTimes& times) {
      if (!last) {
        first_track = open(tracks, part, pid, process_name.empty() ? short_name : process_name);
        usage = first_track + kProcessTimes.size();
      }
      for (std::size_t i = 0; i < times.ticks.size(); ++i)
        tracks.add(first_track + i, time_ns, sample_value(times.ticks[i]));
      if (last && time_ns <= last->first) return lines.skip(kNoInterval);
      if (last) {
        const std::uint64_t now = sum_own_times(times);
        const std::uint64_t before = sum_own_times(last->second);
        if (now < before) {
          lines.skip(kCounterFell);
        } else {
          tracks.add(usage, last->first, time_ns, sample_value(now - before));
        }
      }
      last = {time_ns, times};
    };
    TimeOrder<ProcessTimes> order;
    ProcFrame frame(import_.session, *part.start);
    ProcessBlock block;
    bool has_pid = false;
    lines.read([&](std::string_view line) -> std::string_view {
      if (begins_block(line)) {
        if (block.has_stat) lines.skip(kCutBlock);
        block.has_stat = block.is_damaged = false;
      }
      if (const auto reason = frame.take(line)) return *reason;
      if (names_process(line)) {
        if (process_name.empty()) process_name = process_name_in(line);
        return {};
      }
      if (!line.starts_with("cpu")) {
        block.has_stat = false;
        if (!read_stat(line, block) || (has_pid && block.pid != pid)) {
          block.has_stat = false;
          block.is_damaged = true;
          return kNotTheForm;
        }
        if (short_name.empty()) short_name = name_in_stat(line);
        return {};
      }
      if (block.is_damaged) return {};
      const bool is_whole = block.has_stat;
      block.has_stat = false;
      if (!is_whole || !read_all_cpus(line, block.times.ticks[kOfAllCpus])) return kNotTheForm;
      if (!frame.time_ns()) return kNoTimeStamp;
      pid = block.pid;
      has_pid = true;
      if (!order.add(*frame.time_ns(), block.times, take)) return kTooLate;
      lines.count();
      return {};
    });
    if (block.has_stat) lines.skip(kCutBlock);
    order.finish(take);
    tracks.write();
  }

  static std::uint64_t sum_own_times(const ProcessTimes& times) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(times.ticks[0], times.ticks[1], &sum) ? UINT64_MAX : sum;
  }

  // Returns the first track.
  static std::size_t open(CounterTracks& tracks, const CannPart& part, std::int64_t pid,
                          const std::string& process_name) {
    const std::string subject = process_subject(process_name, pid);
    const std::size_t first = tracks.next();
    for (const std::string_view time : kProcessTimes) {
      tracks.open({.device = part.device,
                   .subject = subject,
                   .counter = time,
                   .unit = "s",
                   .number = pid,
                   .detail = process_name,
                   .divisor = kTicksPerSecond});
    }
    // Usage by the process's own threads, in percent of one CPU.
    tracks.open({.device = part.device,
                 .subject = subject,
                 .counter = "Usage",
                 .unit = "%",
                 .number = pid,
                 .detail = process_name,
                 .is_rate = true});
    return first;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_process_cpu_usage_kind(CannImport& import) {
  return std::make_unique<ProcessCpuUsageKind>(import);
}

}  // namespace msprof::cann
