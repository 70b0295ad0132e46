// Raw kinds ai_ctrl_cpu.data and tscpu.data: samples of a device's CPUs: the running function, and
// how often an event occurred since the previous sample. Source: cann_system.md 21.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "base/text_map.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/text_kind.hpp"

namespace msprof::cann {

namespace {

// Limits per file.
constexpr std::size_t kMaxFunctions = 65536;
constexpr std::size_t kMaxFunctionTracks = 4 * kMaxFunctions;
constexpr std::size_t kMaxFunctionBytes = std::size_t{16} << 20;
constexpr std::string_view kTooManyFunctions = "more functions than a file may have";

void tell_clock(const ImportContext& context, const CannPart& part, std::string_view kind) {
  context.report.add(
      FindingId::unchecked_clock, kind, part.name, "times not checked",
      "all samples are counted: their clock was not checked against that of the collection");
}

// The tracks of one group of CPUs: one per function and event.
class FunctionTracks {
 public:
  FunctionTracks(CannImport& import, const ImportContext& context, const CannPart& part,
                 std::string_view kind)
      : part_(part), tracks_(import, context, kind) {}

  // Returns the number of a function. `text` is function and module, separated by NUL. Returns
  // nullopt if there are too many functions.
  std::optional<std::size_t> function(std::string_view text) {
    const auto at = functions_.find(text);
    if (at != functions_.end()) return at->second;
    bytes_ += text.size();
    if (functions_.size() == kMaxFunctions || bytes_ > kMaxFunctionBytes) return std::nullopt;
    names_.emplace_back(text);
    functions_.emplace(names_.back(), functions_.size());
    return functions_.size() - 1;
  }

  // `place` is the index of `event` among the requested events, kNull if it was not requested.
  // Returns false if there are too many tracks.
  bool add(std::size_t function, std::uint64_t event, std::int64_t place, std::int64_t time_ns,
           std::uint64_t count) {
    const std::uint64_t key = function << kEventBits | event;
    auto at = known_.find(key);
    if (at == known_.end()) {
      if (known_.size() == kMaxFunctionTracks) return false;
      at = known_.emplace(key, open(names_[function], event, place)).first;
    }
    tracks_.add(at->second, time_ns, sample_value(count));
    return true;
  }
  void write() { tracks_.write(); }

  static constexpr std::uint64_t kEventBits = 16;  // events are less than 1 << kEventBits

 private:
  std::size_t open(const std::string& text, std::uint64_t event, std::int64_t place) {
    const std::size_t nul = std::min(text.find('\0'), text.size());
    const std::string function = printable(std::string_view(text).substr(0, nul));
    const std::string module =
        nul < text.size() ? printable(std::string_view(text).substr(nul + 1)) : std::string();
    return tracks_.open({.device = part_.device,
                         .subject = function,
                         .counter = fmt::format("0x{:x}", event),
                         .unit = {},
                         .number = static_cast<std::int64_t>(event),
                         .part = place,
                         .detail = module});
  }

  const CannPart& part_;
  CounterTracks tracks_;
  std::vector<std::string> names_;
  TextMap<std::size_t> functions_;
  std::unordered_map<std::uint64_t, std::size_t> known_;  // by function and event
  std::size_t bytes_ = 0;
};

// ai_ctrl_cpu.data

// Head of a sample, for example "aicpu_sched 1402/1404 [002] 9691379.007847: 396680 r11:".
struct SampleHead {
  std::int64_t time_ns = 0;  // time of the file's clock
  std::uint64_t core = 0;
  std::uint64_t event = 0;
  std::uint64_t count = 0;
};

// Parses a hexadecimal event: "r11:", "0x11:" or "r11:k:".
bool read_event(std::string_view word, std::uint64_t& event) {
  word = word.substr(0, word.find(':'));
  if (word.starts_with("0x")) word.remove_prefix(2);
  if (word.starts_with("r")) word.remove_prefix(1);
  if (word.empty() || word.size() > FunctionTracks::kEventBits / 4) return false;
  event = 0;
  for (const char digit : word) {
    constexpr std::string_view kHexadecimal = "0123456789abcdef";
    const std::size_t value = kHexadecimal.find(digit);
    if (value == std::string_view::npos) return false;
    event = event * 16 + value;
  }
  return true;
}

// The program name may contain blanks, so the fields are searched after its end.
bool read_head(std::string_view line, SampleHead& head) {
  constexpr int kSecondDecimals = 9;
  const std::size_t open = line.find(" [");
  const std::size_t close = line.find("] ", open);
  if (open == std::string_view::npos || close == std::string_view::npos) return false;
  const LineWords core(line.substr(open + 2, close - open - 2));
  const LineWords words(line.substr(close + 2));
  if (core.size() != 1 || !core.number(0, head.core) || words.size() < 3 || words.size() > 4 ||
      !words[0].ends_with(':') || !words[words.size() - 1].ends_with(':'))
    return false;
  // The word "raw" can be between count and event.
  if (words.size() == 4 && words[2] != "raw") return false;
  const auto time = parse_scaled_decimal(words[0].substr(0, words[0].size() - 1), kSecondDecimals);
  if (!time || !words.number(1, head.count) || !read_event(words[words.size() - 1], head.event))
    return false;
  head.time_ns = *time;
  return true;
}

// Converts "ffff80eb4 do_work+0xbf (/var/aicpu_scheduler)" to function, NUL and module. Function
// names may contain blanks and brackets.
bool read_frame(std::string_view line, std::string& text) {
  line = trim(line);
  const std::size_t begin = line.find(' ');
  if (begin == std::string_view::npos || !line.ends_with(')')) return false;
  const std::size_t offset = line.rfind("+0x");
  const std::size_t open =
      offset == std::string_view::npos ? line.rfind(" (") : line.find(" (", offset);
  if (open == std::string_view::npos || open <= begin) return false;
  std::string_view function = line.substr(begin + 1, open - begin - 1);
  if (offset != std::string_view::npos && offset > begin)
    function = line.substr(begin + 1, offset - begin - 1);
  if (function == "[unknown]") function = "unknown";
  const std::string_view module = line.substr(open + 2, line.size() - open - 3);
  if (function.empty() || function.find('\0') != std::string_view::npos) return false;
  text.assign(function);
  text += '\0';
  text += module;
  return true;
}

class AiCtrlCpuKind : public TextKind {
 public:
  explicit AiCtrlCpuKind(CannImport& import)
      : TextKind(import, "ai_ctrl_cpu", "ai_ctrl_cpu.data") {}

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    FunctionTracks ctrl(import_, context, part, "ctrl_cpu");
    FunctionTracks ai(import_, context, part, "ai_cpu");
    const std::vector<FunctionTracks*> groups = groups_by_core(part.info, ctrl, ai);
    std::optional<SampleHead> head;  // sample whose first frame comes next
    bool is_inside = false;          // in a sample whose first frame was read
    std::string text;
    std::int64_t others = 0;
    bool has_sample = false;
    lines.read([&](std::string_view line) -> std::string_view {
      if (trim(line).empty()) {
        const bool lacks_frame = std::exchange(head, std::nullopt).has_value();
        is_inside = false;
        return lacks_frame ? "a sample without a function" : std::string_view();
      }
      SampleHead next;
      if (is_inside) {
        // Ignores further frames. The empty line after the last frame may have been lost.
        if (line.starts_with('\t') || !read_head(line, next)) return {};
        is_inside = false;
        head = next;
        return {};
      }
      if (!head) {
        if (!read_head(line, next)) {
          is_inside = !line.starts_with('\t') && !line.starts_with(' ');
          return kNotTheForm;
        }
        head = next;
        return {};
      }
      const SampleHead sample = *head;
      head.reset();
      is_inside = true;
      if (!read_frame(line, text)) return kNotTheForm;
      lines.count();
      FunctionTracks* group =
          sample.core < groups.size() ? groups[static_cast<std::size_t>(sample.core)] : nullptr;
      if (group == nullptr) {
        ++others;
        return {};
      }
      const auto function = group->function(text);
      has_sample = true;
      const std::int64_t time_ns =
          part.start->of_device(static_cast<std::uint64_t>(sample.time_ns));
      if (!is_time(import_.session, time_ns)) return kImpossibleTime;
      const bool is_kept =
          function && group->add(*function, sample.event, kNull, time_ns, sample.count);
      return is_kept ? std::string_view() : kTooManyFunctions;
    });
    if (head) lines.skip("a sample without a function");
    ctrl.write();
    ai.write();
    if (others > 0) {
      context.report.add(FindingId::other_cores, name(), part.name, "samples of other cores",
                         "info.json lists their cores neither as control CPUs nor as AI CPUs",
                         others);
    }
    if (has_sample) tell_clock(context, part, name());
  }

  // Indexed by core number.
  static std::vector<FunctionTracks*> groups_by_core(const Info& info, FunctionTracks& ctrl,
                                                     FunctionTracks& ai) {
    std::vector<FunctionTracks*> groups;
    const auto add = [&groups](const std::vector<std::int64_t>& cores, FunctionTracks& group) {
      for (const std::int64_t core : cores) {
        const auto place = static_cast<std::size_t>(core);
        if (place >= groups.size()) groups.resize(place + 1);
        groups[place] = &group;
      }
    };
    add(info.ai_cpus, ai);
    add(info.ctrl_cpus, ctrl);
    return groups;
  }
};

// tscpu.data

constexpr std::uint32_t kTsCpuMagic = 0xABABABAB;
constexpr std::uint64_t kMaxTsCpuEvent = 0xEC;

struct TsCpuCount {
  std::uint64_t event;
  std::uint64_t count;
};

struct __attribute__((packed)) TsCpuWire {
  static constexpr std::size_t kCounts = 7;
  std::uint32_t magic;
  std::uint32_t reserved;
  std::uint64_t backtrace[20];
  std::uint32_t unused[2];
  std::uint64_t address;  // address of the sampled instruction
  std::uint64_t time_ns;
  TsCpuCount counts[kCounts];
};
static_assert(sizeof(TsCpuWire) == 304);

// Record size of a format of another machine, which has the same magic; its field offsets are
// unknown.
constexpr std::size_t kShortTsCpuBytes = 184;

bool has_ts_cpu_magic(std::span<const std::byte> record) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, record.data(), sizeof(magic));
  return magic == kTsCpuMagic;
}

bool is_ts_cpu_sound(std::span<const std::byte> record) {
  const auto wire = decode<TsCpuWire>(record);
  if (wire.magic != kTsCpuMagic) return false;
  for (std::size_t i = 0; i < TsCpuWire::kCounts; ++i) {
    const TsCpuCount count = wire.counts[i];
    if (count.event > kMaxTsCpuEvent) return false;
  }
  return true;
}

constexpr std::string_view kBadTsCpu = "bad magic or event";
constexpr RecordFormat kTsCpuFormat{"tscpu", sizeof(TsCpuWire), is_ts_cpu_sound, kBadTsCpu};
constexpr RecordFormat kTsCpuShortFormat{"tscpu", kShortTsCpuBytes, has_ts_cpu_magic, kBadTsCpu};

class TsCpuKind : public SliceKind {
 public:
  explicit TsCpuKind(CannImport& import) : SliceKind(import, "tscpu.data", kTsCpuFormat) {}

 private:
  // Short format if the magic appears again after kShortTsCpuBytes.
  RecordFormat record_format(const RawFile& file) const override {
    FileReader reader(file.path);
    std::array<std::byte, kShortTsCpuBytes + sizeof(std::uint32_t)> head{};
    if (reader.read(head) != head.size()) return kTsCpuFormat;
    std::uint32_t magic = 0;
    std::memcpy(&magic, head.data() + kShortTsCpuBytes, sizeof(magic));
    return magic == kTsCpuMagic ? kTsCpuShortFormat : kTsCpuFormat;
  }

  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_start(context, part, name())) return;
    tell_unexpected(import_, context, part, name(), {0, 1, 2, 3, 4, 5, 7, 8, 11});
    FunctionTracks tracks(import_, context, part, "ts_cpu");
    // Indexed by event.
    std::vector<std::int64_t> places(kMaxTsCpuEvent + 1, kNull);
    const auto& asked = part.info.ts_cpu_events;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (asked[i] < places.size()) places[asked[i]] = static_cast<std::int64_t>(i);
    }
    std::int64_t records = 0;
    std::int64_t short_records = 0;
    stream.open(context, [&](const StreamRecord& record) {
      if (record.bytes.size() == kShortTsCpuBytes) {
        ++short_records;
        return;
      }
      ++records;
      const auto wire = decode<TsCpuWire>(record.bytes);
      const std::int64_t time_ns = part.start->of_device(wire.time_ns);
      if (!is_time(import_.session, time_ns)) return stream.skip(context, record, kImpossibleTime);
      std::array<char, 20> text{};
      const char* const end =
          fmt::format_to(text.data(), "0x{:x}", static_cast<std::uint64_t>(wire.address));
      const auto number =
          tracks.function({text.data(), static_cast<std::size_t>(end - text.data())});
      if (!number) return stream.skip(context, record, kTooManyFunctions);
      for (std::size_t i = 0; i < TsCpuWire::kCounts; ++i) {
        const TsCpuCount count = wire.counts[i];
        // Unused entry.
        if (count.event == 0 && count.count == 0) continue;
        if (!tracks.add(*number, count.event, places[count.event], time_ns, count.count))
          return stream.skip(context, record, kTooManyFunctions);
      }
    });
    tracks.write();
    if (records > 0) tell_clock(context, part, name());
    if (short_records > 0) {
      context.report.add(FindingId::unread_records, name(), part.name,
                         "records of 184 bytes, not read",
                         "the offsets of their fields are unknown", short_records);
    }
  }
};

}  // namespace

std::unique_ptr<RawKind> make_ai_ctrl_cpu_kind(CannImport& import) {
  return std::make_unique<AiCtrlCpuKind>(import);
}

std::unique_ptr<RawKind> make_tscpu_kind(CannImport& import) {
  return std::make_unique<TsCpuKind>(import);
}

}  // namespace msprof::cann
