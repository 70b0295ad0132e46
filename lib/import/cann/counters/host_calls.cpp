// Raw kinds host_syscall.data and host_pthreadcall.data: system calls and thread library calls of
// the process, as printed by perf trace and ltrace, one line per call. Each file has a separate
// clock: like the vendor's tool, this assumes that its first line is at the start of the
// collection. Source: cann_system.md 17.
#include <fmt/format.h>

#include <unordered_map>

#include "base/number.hpp"
#include "base/text_map.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kMaxCallTracks = 65536;  // per file: pairs of thread and call

// A parsed line; times are of the file's clock.
struct CallLine {
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> duration_ns;  // empty if the line is only one half of a call
  std::uint64_t thread = 0;
  std::string_view name;
};

enum class LineIs { call, other, damaged };

bool is_call_name(std::string_view name) {
  constexpr std::size_t kMaxNameBytes = 64;
  return !name.empty() && name.size() <= kMaxNameBytes &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool read_thread_number(std::string_view digits, std::uint64_t& value) {
  const LineWords words(digits);
  return words.size() == 1 && words.number(0, value);
}

// Parses "1234576.633 ( 1.507 ms): python3/4321 read(fd: 26) = 0". If the thread is absent, it is
// the process id.
LineIs read_syscall(std::string_view line, std::uint64_t process, CallLine& call) {
  constexpr int kMsDecimals = 6;
  const std::size_t open = line.find(" (");
  const std::size_t close = line.find("):", open);
  if (open == std::string_view::npos || close == std::string_view::npos) return LineIs::damaged;
  const auto start = parse_scaled_decimal(without_blanks(line.substr(0, open)), kMsDecimals);
  if (!start) return LineIs::damaged;
  call.start_ns = *start;
  std::string_view duration = without_blanks(line.substr(open + 2, close - open - 2));
  if (!duration.empty()) {
    if (!duration.ends_with("ms")) return LineIs::damaged;
    duration.remove_suffix(2);
    call.duration_ns = parse_scaled_decimal(without_blanks(duration), kMsDecimals);
    if (!call.duration_ns) return LineIs::damaged;
  }
  std::string_view rest = line.substr(close + 2);
  constexpr std::string_view kContinued = "[continued]:";
  if (rest.find(kContinued) != std::string_view::npos) {
    call.duration_ns = std::nullopt;
    return LineIs::call;
  }
  const std::size_t bracket = rest.find('(');
  if (bracket == std::string_view::npos) return LineIs::damaged;
  rest = without_blanks(rest.substr(0, bracket));
  const std::size_t blank = rest.rfind(' ');
  call.name = blank == std::string_view::npos ? rest : rest.substr(blank + 1);
  rest =
      blank == std::string_view::npos ? std::string_view() : without_blanks(rest.substr(0, blank));
  const std::size_t slash = rest.rfind('/');
  call.thread = process;
  if (slash != std::string_view::npos && !read_thread_number(rest.substr(slash + 1), call.thread))
    return LineIs::damaged;
  return is_call_name(call.name) ? LineIs::call : LineIs::damaged;
}

// Parses "[pid 4322] 1715760307.208008 python3->pthread_once(0x1234) = 0 <0.000027>".
LineIs read_pthread_call(std::string_view line, std::uint64_t process, CallLine& call) {
  constexpr int kSecondDecimals = 9;
  constexpr std::string_view kPid = "[pid ";
  call.thread = process;
  line = without_blanks(line);
  if (line.starts_with(kPid)) {
    const std::size_t close = line.find(']');
    if (close == std::string_view::npos ||
        !read_thread_number(line.substr(kPid.size(), close - kPid.size()), call.thread))
      return LineIs::damaged;
    line = without_blanks(line.substr(close + 1));
  }
  const std::size_t blank = line.find(' ');
  const auto start = blank == std::string_view::npos
                         ? std::nullopt
                         : parse_scaled_decimal(line.substr(0, blank), kSecondDecimals);
  if (!start) return LineIs::damaged;
  call.start_ns = *start;
  line = without_blanks(line.substr(blank));
  // Program exits and signals.
  if (line.starts_with("+++") || line.starts_with("---")) return LineIs::other;
  if (line.ends_with("<unfinished ...>") || line.starts_with("<... ")) return LineIs::call;
  const std::size_t arrow = line.find("->");
  const std::size_t bracket = line.find('(', arrow);
  const std::size_t less = line.rfind('<');
  if (arrow == std::string_view::npos || bracket == std::string_view::npos ||
      less == std::string_view::npos || less < bracket || !line.ends_with('>'))
    return LineIs::damaged;
  call.name = line.substr(arrow + 2, bracket - arrow - 2);
  call.duration_ns =
      parse_scaled_decimal(line.substr(less + 1, line.size() - less - 2), kSecondDecimals);
  return call.duration_ns && is_call_name(call.name) ? LineIs::call : LineIs::damaged;
}

// The tracks of one file: one per thread and call.
class CallTracks {
 public:
  CallTracks(CannImport& import, const ImportContext& context, std::string_view kind)
      : tracks_(import, context, kind) {}

  // Returns nullopt if there are too many tracks.
  std::optional<std::size_t> find(std::uint64_t thread, std::string_view name) {
    auto at = numbers_.find(name);
    if (at == numbers_.end()) {
      if (numbers_.size() == kMaxCallTracks) return std::nullopt;
      at = numbers_.emplace(name, numbers_.size()).first;
    }
    const CallTrackKey key{thread, at->second};
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (known_.size() == kMaxCallTracks) return std::nullopt;
    const std::size_t track = tracks_.open({.device = {},
                                            .subject = fmt::format("Thread {}", thread),
                                            .counter = name,
                                            .unit = "us",
                                            .number = sample_value(thread),
                                            .divisor = 1000});
    known_.emplace(key, track);
    return track;
  }
  void add(std::size_t track, std::int64_t begin_ns, std::int64_t end_ns) {
    tracks_.add(track, begin_ns, end_ns, saturating_subtract(end_ns, begin_ns));
  }
  void write() { tracks_.write(); }

 private:
  struct CallTrackKey {
    std::uint64_t thread = 0;
    std::size_t name = 0;
    bool operator==(const CallTrackKey&) const = default;
  };
  struct CallTrackKeyHash {
    std::size_t operator()(const CallTrackKey& key) const {
      return static_cast<std::size_t>((key.thread * 0x9e3779b97f4a7c15u) ^ key.name);
    }
  };
  CounterTracks tracks_;
  TextMap<std::size_t> numbers_;
  std::unordered_map<CallTrackKey, std::size_t, CallTrackKeyHash> known_;
};

using ReadCall = LineIs (*)(std::string_view line, std::uint64_t process, CallLine& call);

class HostCallKind : public TextKind {
 public:
  HostCallKind(CannImport& import, std::string_view kind, std::string_view stem, ReadCall read_call)
      : TextKind(import, kind, stem), read_call_(read_call) {}

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    CallTracks tracks(import_, context, name());
    struct Call {
      std::size_t track = 0;
      std::int64_t begin_ns = 0;
    };
    // Lines are in the order in which calls ended.
    TimeOrder<Call> order;
    const auto take = [&](std::int64_t end_ns, const Call& call) {
      tracks.add(call.track, call.begin_ns, end_ns);
    };
    const auto process = static_cast<std::uint64_t>(std::max<std::int64_t>(part.info.pid, 0));
    std::optional<std::int64_t> first_ns;
    std::int64_t halves = 0;
    lines.read([&](std::string_view line) -> std::string_view {
      if (line.empty()) return {};
      CallLine call;
      const LineIs is = read_call_(line, process, call);
      if (is == LineIs::damaged) return kNotTheForm;
      if (is == LineIs::other) return {};
      if (!first_ns) first_ns = call.start_ns;
      if (!call.duration_ns) {
        ++halves;
        return {};
      }
      const std::int64_t begin_ns =
          saturating_add(import_.session.begin_ns(), call.start_ns - *first_ns);
      const std::int64_t end_ns = saturating_add(begin_ns, *call.duration_ns);
      if (!is_time(import_.session, end_ns)) return kImpossibleTime;
      const auto track = tracks.find(call.thread, call.name);
      if (!track) return "more threads and calls than a file may have";
      if (!order.add(end_ns, {*track, begin_ns}, take)) return kTooLate;
      lines.count();
      return {};
    });
    order.finish(take);
    tracks.write();
    if (halves > 0) {
      context.report.add(FindingId::half_call, name(), part.name,
                         "calls without their start or end",
                         "started but not ended, or ended but not started", halves);
    }
  }

  ReadCall read_call_;
};

}  // namespace

std::unique_ptr<RawKind> make_host_syscall_kind(CannImport& import) {
  return std::make_unique<HostCallKind>(import, "host_syscall", "host_syscall.data", read_syscall);
}

std::unique_ptr<RawKind> make_host_pthreadcall_kind(CannImport& import) {
  return std::make_unique<HostCallKind>(import, "host_pthreadcall", "host_pthreadcall.data",
                                        read_pthread_call);
}

}  // namespace msprof::cann
