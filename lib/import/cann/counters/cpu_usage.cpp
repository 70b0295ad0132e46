// Raw kind SystemCpuUsage.data of a device and host_sys_cpu.data: dumps of /proc/stat with the time
// that each core, and all cores together, spent in each state since the machine started. Source:
// cann_system.md 11.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/proc_blocks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

// Columns of /proc/stat. The unit is always 1/100 s (USER_HZ), independent of the kernel's clock,
// so the increase per second is the percentage of one CPU.
constexpr std::array<std::string_view, 10> kCpuStates = {
    "User", "Nice", "Sys", "Idle", "IoWait", "Irq", "Soft", "Steal", "Guest", "Guest Nice"};

constexpr std::uint64_t kMaxCores = 1024;

// Other lines in /proc/stat.
constexpr std::array<std::string_view, 9> kOtherStatLines = {
    "intr ",          "ctxt ",    "btime ", "processes ", "procs_running ",
    "procs_blocked ", "softirq ", "page ",  "swap "};

struct CpuTimes {
  std::size_t core = 0;  // 0: all cores; otherwise core number + 1
  std::array<std::uint64_t, kCpuStates.size()> states{};
};

// Parses a line such as "cpu3 12 0 …".
bool read_times(std::string_view line, CpuTimes& times) {
  const LineWords words(line);
  if (words.size() < 1 + kCpuStates.size() || words.size() > LineWords::kMaxCount) return false;
  const std::string_view digits = words[0].substr(std::string_view("cpu").size());
  if (!digits.empty()) {
    std::uint64_t core = 0;
    if (!parse_u64(digits, core) || core >= kMaxCores) return false;
    times.core = static_cast<std::size_t>(core) + 1;
  }
  for (std::size_t i = 0; i < times.states.size(); ++i) {
    if (!words.number(i + 1, times.states[i])) return false;
  }
  return true;
}

class CpuUsageKind : public TextKind {
 public:
  explicit CpuUsageKind(CannImport& import)
      : TextKind(import, "cpu_usage", "SystemCpuUsage.data") {}

  bool owns(const RawFile& file) const override {
    return TextKind::owns(file) || import_.session.parsed_name(file).stem == "host_sys_cpu.data";
  }

 private:
  struct Core {
    std::size_t first_track = 0;  // tracks of the other states follow
    std::optional<std::int64_t> last_ns;
    CpuTimes last;
  };

  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    std::vector<Core> cores;
    const auto take = [&](std::int64_t time_ns, const CpuTimes& times) {
      if (times.core >= cores.size()) cores.resize(times.core + 1);
      Core& core = cores[times.core];
      if (!core.last_ns) {
        core.first_track = open(tracks, part, times.core);
      } else if (time_ns <= *core.last_ns) {
        return lines.skip(kNoInterval);
      } else {
        for (std::size_t i = 0; i < times.states.size(); ++i) {
          const std::uint64_t before = core.last.states[i];
          if (times.states[i] < before) {
            lines.skip(kCounterFell);
            continue;
          }
          tracks.add(core.first_track + i, *core.last_ns, time_ns,
                     sample_value(times.states[i] - before));
        }
      }
      core.last_ns = time_ns;
      core.last = times;
    };
    TimeOrder<CpuTimes> order;
    ProcFrame frame(import_.session, *part.start);
    lines.read([&](std::string_view line) -> std::string_view {
      if (const auto reason = frame.take(line)) return *reason;
      if (!line.starts_with("cpu")) {
        const bool is_known =
            std::any_of(kOtherStatLines.begin(), kOtherStatLines.end(),
                        [line](std::string_view head) { return line.starts_with(head); });
        return is_known ? std::string_view() : kNotTheForm;
      }
      CpuTimes times;
      if (!read_times(line, times)) return kNotTheForm;
      if (!frame.time_ns()) return kNoTimeStamp;
      if (!order.add(*frame.time_ns(), times, take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    tracks.write();
  }

  // Returns the first track.
  static std::size_t open(CounterTracks& tracks, const CannPart& part, std::size_t core) {
    const auto number = static_cast<std::int64_t>(core) - 1;
    const std::string subject = core == 0 ? "CPU" : fmt::format("CPU {}", number);
    const std::size_t first = tracks.next();
    for (const std::string_view state : kCpuStates) {
      tracks.open({.device = part.device,
                   .subject = subject,
                   .counter = state,
                   .unit = "%",
                   .number = core == 0 ? kNull : number,
                   .detail = core_type(part, number),
                   .is_rate = true});
    }
    return first;
  }

  // Returns what a core is used for, as named in tables; empty if unknown.
  static std::string_view core_type(const CannPart& part, std::int64_t core) {
    const auto has = [core](const auto& cores) {
      return std::find(cores.begin(), cores.end(), core) != cores.end();
    };
    if (part.is_host()) return "host";
    if (has(part.info.ctrl_cpus)) return "ctrlcpu";
    return has(part.info.ai_cpus) ? "aicpu" : "";
  }
};

}  // namespace

std::unique_ptr<RawKind> make_cpu_usage_kind(CannImport& import) {
  return std::make_unique<CpuUsageKind>(import);
}

}  // namespace msprof::cann
