// Raw kind host_cpu.data: usage of each host CPU by the threads of the process. A block has a time,
// the host's uptime, and one line of /proc/<pid>/stat per thread. Source: cann_system.md 16.1.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/number.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"

namespace msprof::cann {

namespace {

constexpr std::int64_t kMillionths = 1'000'000;
// Limits that keep products within 128 bits.
constexpr std::int64_t kMaxUptimeUs = std::int64_t{1} << 53;
constexpr std::int64_t kMaxTickHz = kMillionths;
constexpr std::uint64_t kMaxHostTicks = std::uint64_t{1} << 62;
constexpr std::uint64_t kMaxHostCpus = 4096;
constexpr std::size_t kMaxHostThreads = std::size_t{1} << 20;

struct ThreadLine {
  std::uint64_t id = 0;
  std::uint64_t ticks = 0;  // CPU time in user and kernel mode
  std::uint64_t cpu = 0;    // CPU on which it last ran
};

// Parses "4321 (my program) S 1 …". The name may contain blanks and brackets.
bool read_thread(std::string_view line, ThreadLine& thread) {
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos) return false;
  // Word indexes count from the end of the name: field number in the whole line minus 3 (proc(5)).
  const LineWords words(line.substr(name_end + 1));
  std::uint64_t user = 0;
  std::uint64_t kernel = 0;
  if (!LineWords(line.substr(0, line.find('('))).number(0, thread.id) || !words.number(11, user) ||
      !words.number(12, kernel) || !words.number(36, thread.cpu))
    return false;
  thread.ticks = user + kernel;
  return user < kMaxHostTicks && kernel < kMaxHostTicks && thread.cpu < kMaxHostCpus;
}

// Returns part / whole in millionths, rounded half to even.
int128 millionths(int128 part, int128 whole) {
  const int128 scaled = part * kMillionths;
  int128 rounded = scaled / whole;
  const int128 twice = (scaled - rounded * whole) * 2;
  if (twice > whole || (twice == whole && rounded % 2 != 0)) ++rounded;
  return rounded;
}

class CpuBlocks {
 public:
  CpuBlocks(CannImport& import, const ImportContext& context, const CannPart& part,
            std::string_view kind, SliceLines& lines)
      : import_(import),
        context_(context),
        part_(part),
        kind_(kind),
        lines_(lines),
        tracks_(import, context, kind) {}

  std::string_view take(std::string_view line) {
    if (line.starts_with("time ")) return begin(line);
    if (line.empty() || state_ == State::lost) return {};
    if (state_ == State::none) return kNotTheForm;
    if (state_ == State::uptime) return take_uptime(line);
    ThreadLine thread;
    if (!read_thread(line, thread)) return kNotTheForm;
    return add(thread);
  }

  void finish() {
    end_interval();
    if (unticked_ > 0) report_finding("no tick between two samples", unticked_);
    if (too_busy_ > 0) report_finding("more than 100 % of a CPU", too_busy_);
    tracks_.write();
  }

 private:
  // The line expected next. `lost`: the rest of a damaged block is skipped.
  enum class State { none, lost, uptime, threads };

  std::string_view begin(std::string_view line) {
    end_interval();
    state_ = State::lost;
    std::uint64_t ns = 0;
    if (LineWords words(line); words.size() != 2 || !words.number(1, ns)) return kNotTheForm;
    const std::int64_t time_ns = part_.start->of_host(ns);
    if (!is_time(import_.session, time_ns)) return kImpossibleTime;
    if (block_ > 0 && time_ns <= time_ns_) return kNoInterval;
    before_ns_ = time_ns_;
    time_ns_ = time_ns;
    state_ = State::uptime;
    return {};
  }

  std::string_view take_uptime(std::string_view line) {
    state_ = State::lost;
    const LineWords words(line);
    const auto uptime_us = words.size() == 2 ? parse_scaled_decimal(words[0], 6) : std::nullopt;
    if (!uptime_us || *uptime_us > kMaxUptimeUs) return kNotTheForm;
    const bool fell = block_ > 0 && *uptime_us < uptime_us_;
    span_us_ = block_ > 0 && !fell ? *uptime_us - uptime_us_ : 0;
    if (block_ > 0 && span_us_ == 0 && !fell) ++unticked_;
    uptime_us_ = *uptime_us;
    state_ = State::threads;
    if (block_++ == 0 && part_.info.cpu_count > 0) {
      tracks_.add(tracks_.open({.device = {}, .subject = "CPUs", .counter = "Total", .unit = {}}),
                  time_ns_, part_.info.cpu_count);
    }
    if (threads_.size() > kMaxHostThreads)
      std::erase_if(threads_, [this](const auto& at) { return at.second.block + 1 < block_; });
    return fell ? kCounterFell : std::string_view();
  }

  std::string_view add(const ThreadLine& line) {
    if (threads_.size() >= 2 * kMaxHostThreads) return "more threads than a host has";
    const auto [at, is_new] = threads_.try_emplace(line.id);
    Thread& thread = at->second;
    const bool goes_on = !is_new && thread.block + 1 == block_ && span_us_ > 0;
    const std::uint64_t before = thread.ticks;
    thread = {line.ticks, block_};
    lines_.count();
    if (!goes_on) return {};
    if (line.ticks < before) return kCounterFell;
    // In millionths of a tick; at most the elapsed time.
    const int128 used = std::min(int128{line.ticks - before} * kMillionths, whole());
    if (line.cpu >= cpus_.size()) cpus_.resize(static_cast<std::size_t>(line.cpu) + 1);
    Cpu& cpu = cpus_[static_cast<std::size_t>(line.cpu)];
    if (cpu.block != block_) used_cpus_.push_back(static_cast<std::size_t>(line.cpu));
    cpu.used += used;
    cpu.block = block_;
    all_ += used;
    return {};
  }

  // Returns the length of the interval in millionths of a tick.
  int128 whole() const { return int128{span_us_} * part_.info.cpu_time_hz; }

  void end_interval() {
    if (used_cpus_.empty()) return;
    std::sort(used_cpus_.begin(), used_cpus_.end());
    for (const std::size_t number : used_cpus_) {
      Cpu& cpu = cpus_[number];
      const int128 usage = millionths(cpu.used * 100, whole());
      cpu.used = 0;
      if (usage > int128{100} * kMillionths) {
        ++too_busy_;
        continue;
      }
      if (!cpu.track) cpu.track = open(fmt::format("CPU {}", number), number);
      tracks_.add(*cpu.track, before_ns_, time_ns_, static_cast<std::int64_t>(usage));
    }
    if (part_.info.cpu_count > 0) {
      if (!mean_track_) mean_track_ = open("CPU Avg", {});
      const int128 usage = millionths(all_ * 100, whole() * part_.info.cpu_count);
      tracks_.add(*mean_track_, before_ns_, time_ns_, static_cast<std::int64_t>(usage));
    }
    all_ = 0;
    used_cpus_.clear();
  }

  std::size_t open(std::string_view subject, std::optional<std::size_t> number) {
    return tracks_.open({.device = {},
                         .subject = subject,
                         .counter = "Usage",
                         .unit = "%",
                         .number = number ? static_cast<std::int64_t>(*number) : kNull,
                         .divisor = kMillionths});
  }

  void report_finding(const char* reason, std::int64_t count) {
    context_.report.add(FindingId::untold_usage, kind_, part_.name, reason, "", count);
  }

  struct Thread {
    std::uint64_t ticks = 0;
    std::uint64_t block = 0;  // last block that contains the thread
  };
  struct Cpu {
    int128 used = 0;
    std::uint64_t block = 0;  // last block in which the CPU was used
    std::optional<std::size_t> track;
  };

  const CannImport& import_;
  const ImportContext& context_;
  const CannPart& part_;
  std::string_view kind_;
  SliceLines& lines_;
  CounterTracks tracks_;
  std::unordered_map<std::uint64_t, Thread> threads_;
  std::vector<Cpu> cpus_;
  std::vector<std::size_t> used_cpus_;  // in the current interval
  std::optional<std::size_t> mean_track_;
  State state_ = State::none;
  std::uint64_t block_ = 0;  // number of blocks so far
  std::int64_t before_ns_ = 0;
  std::int64_t time_ns_ = 0;
  std::int64_t uptime_us_ = 0;
  std::int64_t span_us_ = 0;
  int128 all_ = 0;
  std::int64_t unticked_ = 0;
  std::int64_t too_busy_ = 0;
};

class HostCpuKind : public TextKind {
 public:
  explicit HostCpuKind(CannImport& import) : TextKind(import, "host_cpu", "host_cpu.data") {}

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    if (part.info.cpu_time_hz <= 0 || part.info.cpu_time_hz > kMaxTickHz) {
      context.report.add(FindingId::events_not_said, name(), part.name, "no sysClockFreq",
                         "the tick length of CPU times is not in info.json");
      return;
    }
    CpuBlocks blocks(import_, context, part, name(), lines);
    lines.read([&](std::string_view line) { return blocks.take(line); });
    blocks.finish();
  }
};

}  // namespace

std::unique_ptr<RawKind> make_host_cpu_kind(CannImport& import) {
  return std::make_unique<HostCpuKind>(import);
}

}  // namespace msprof::cann
