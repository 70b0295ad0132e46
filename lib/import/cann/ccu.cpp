// Raw kind ccu: ccu<die>.instr and ccu<die>.stat, the instructions that a die's communication unit
// executed and the delays of its channels; also the host's records about them: ccu_task_info,
// ccu_wait_signal_info and ccu_group_info. Source: cann_new_kinds.md 4.3.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "base/number.hpp"
#include "import/cann/cann_import.hpp"
#include "wire/cann/host_wire.hpp"

namespace msprof::cann {

namespace {

constexpr std::string_view kCcuKind = "ccu";
constexpr std::size_t kCcuRanks = 16;
constexpr std::size_t kCcuChannels = 128;
constexpr std::uint16_t kNoChannel = 0xFFFF;
constexpr std::uint8_t kNoReduce = 255;
constexpr std::uint64_t kTicksOfWait = 4;  // unit of CcuInstrWire::ends in ticks

struct __attribute__((packed)) CcuInstrWire {
  std::uint16_t ends[kCcuRanks];  // waits: ends of the ranks, relative to the start; rank 0 is last
  std::uint64_t wait_start;       // 0: a loop group
  std::uint16_t wait_instruction;
  std::uint64_t loop_end;
  std::uint64_t loop_start;
  std::uint16_t loop_instruction;
  std::uint16_t task_low;
  std::uint16_t task_high;
};
static_assert(sizeof(CcuInstrWire) == 64);

constexpr std::size_t kStatWords = 704;
struct __attribute__((packed)) CcuStatWire {
  std::uint32_t words[kStatWords];
};
static_assert(sizeof(CcuStatWire) == 2816);

// ccu_wait_signal_info and ccu_group_info, which differ from offset 72 on.
struct __attribute__((packed)) CcuHostWire {
  HostHeader head;
  std::uint8_t common[32];
  std::uint8_t work_flow;
  std::uint8_t reserved;
  std::uint16_t stream;
  std::uint32_t task;
  std::uint8_t die;
  std::uint8_t reserved_65;
  std::uint16_t instruction;
  std::uint8_t mission;
  std::uint8_t reduce_type;  // groups only: table T5
  std::uint8_t input_type;   // table T4
  std::uint8_t output_type;
  std::uint32_t size_low;  // group: low half of the size; wait: its signal
  std::uint32_t size_high_or_mask;
  std::uint16_t channels[kCcuRanks];
  std::uint32_t ranks[kCcuRanks];
};
static_assert(sizeof(CcuHostWire) == 176);

enum class CcuFile { task, wait, group, instr, stat };
struct CcuStem {
  std::string_view stem;
  CcuFile file;
  std::int64_t die;
};
constexpr CcuStem kCcuStems[] = {
    {"ccu_task_info", CcuFile::task, 0},   {"ccu_wait_signal_info", CcuFile::wait, 0},
    {"ccu_group_info", CcuFile::group, 0}, {"ccu0.instr", CcuFile::instr, 0},
    {"ccu1.instr", CcuFile::instr, 1},     {"ccu0.stat", CcuFile::stat, 0},
    {"ccu1.stat", CcuFile::stat, 1}};

RecordFormat ccu_format(const CcuStem& stem) {
  constexpr std::size_t kHostBytes = 256;
  if (stem.file == CcuFile::instr) return {kCcuKind, sizeof(CcuInstrWire)};
  if (stem.file == CcuFile::stat) return {kCcuKind, sizeof(CcuStatWire)};
  return {kCcuKind, kHostBytes, has_record_head};
}

// Index of a channel's first word within a sample.
std::array<std::size_t, kCcuChannels> channel_places() {
  std::array<std::size_t, kCcuChannels> places{};
  std::size_t at = 0;
  for (std::size_t channel = 0; channel < kCcuChannels; ++channel) {
    constexpr std::size_t kFirstTail = 120;
    // From channel 120 on, every fourth channel is 6 words later.
    const bool is_shifted = channel >= kFirstTail && channel % 4 == 0;
    places[channel] = at + (is_shifted ? 6 : 0);
    if (channel < kFirstTail) {
      at += channel % 12 == 11 ? 9U : 5U;
    } else {
      at += channel % 4 == 0 || channel % 4 == 3 ? 11U : 5U;
    }
  }
  return places;
}

class CcuKind : public RawKind {
 public:
  explicit CcuKind(CannImport& import) : import_(import) {}

  std::string_view name() const override { return kCcuKind; }
  bool owns(const RawFile& file) const override { return find_stem(file) != nullptr; }

  void import(const ImportContext&, const RawFile& file) override {
    const CcuStem& stem = *find_stem(file);
    const CannPart& part = import_.session.find_part(file);
    const std::int64_t device = part.device.value_or(-1);
    const auto at = files_.try_emplace({stem.file, device, stem.die}, part, stem).first;
    at->second.stream.add(file, import_.session.parsed_name(file).is_unaging);
  }

  // Runs in finish() because the streams of the tasks are known only then. Reads the host's records
  // and the channels first, as the instructions refer to them.
  void finish(const ImportContext& context) override {
    for (auto& [key, gathered] : files_) {
      if (gathered.stem.file < CcuFile::instr) read_host(context, gathered);
    }
    for (auto& [key, gathered] : files_) {
      if (gathered.stem.file == CcuFile::stat) read_channels(context, gathered);
    }
    for (auto& [key, gathered] : files_) {
      if (gathered.stem.file == CcuFile::instr) read_instructions(context, gathered);
    }
  }

 private:
  struct Gathered {
    Gathered(const CannPart& of, const CcuStem& kind)
        : part(of), stem(kind), stream(ccu_format(kind)) {}
    const CannPart& part;
    const CcuStem& stem;
    RecordStream stream;
  };
  struct Said {
    std::int64_t size_bytes = kNull;
    std::int64_t reduce_type = kNull;
    std::int64_t input_type = kNull;
    std::int64_t output_type = kNull;
    std::int64_t mask = kNull;
    std::array<std::uint16_t, kCcuRanks> channels{};
  };
  using SaidKey = std::tuple<bool, std::uint32_t, std::uint16_t>;  // wait, task, instruction
  struct Delay {
    std::uint64_t ticks = 0;
    std::int64_t mean = 0;
  };

  const CcuStem* find_stem(const RawFile& file) const {
    const std::string& name = import_.session.parsed_name(file).stem;
    const auto* found = std::find_if(std::begin(kCcuStems), std::end(kCcuStems),
                                     [&](const CcuStem& stem) { return stem.stem == name; });
    return found == std::end(kCcuStems) ? nullptr : found;
  }

  void read_host(const ImportContext& context, Gathered& gathered) {
    const bool is_wait = gathered.stem.file == CcuFile::wait;
    gathered.stream.open(context, [&](const StreamRecord& record) {
      // Not needed: the stream is looked up by task.
      if (gathered.stem.file == CcuFile::task) return;
      const auto wire = decode<CcuHostWire>(record.bytes);
      Said& said = said_[{is_wait, wire.task, wire.instruction}];
      if (is_wait) {
        said.mask = wire.size_high_or_mask;
      } else {
        said.size_bytes =
            cell(std::uint64_t{wire.size_high_or_mask} << 32U | std::uint64_t{wire.size_low});
        if (wire.reduce_type != kNoReduce) {
          said.reduce_type = wire.reduce_type;
          said.input_type = wire.input_type;
          said.output_type = wire.output_type;
        }
      }
      // Element by element: a reference to an array in a packed struct refers to a copy.
      for (std::size_t i = 0; i < kCcuRanks; ++i) said.channels[i] = wire.channels[i];
    });
  }

  // Returns false and adds a finding if the part has no clock: its records then have no times.
  bool has_clock(const ImportContext& context, const Gathered& gathered) {
    if (gathered.part.clock) return true;
    context.report.add(FindingId::no_clock, kCcuKind, gathered.part.name,
                       "no clock data for the device", "its records have no times and are omitted");
    return false;
  }

  void read_channels(const ImportContext& context, Gathered& gathered) {
    if (!has_clock(context, gathered)) return;
    const auto places = channel_places();
    const ClockMap& clock = *gathered.part.clock;
    const std::int64_t device = gathered.part.device.value_or(0);
    gathered.stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<CcuStatWire>(record.bytes);
      for (std::size_t channel = 0; channel < kCcuChannels; ++channel) {
        const std::size_t at = places[channel];
        const std::uint64_t ticks =
            std::uint64_t{wire.words[at + 1]} << 32U | std::uint64_t{wire.words[at]};
        if (ticks == 0) continue;
        if (!clock.is_possible(ticks)) {
          gathered.stream.skip(context, record, kImpossibleTime);
          continue;
        }
        CcuChannelRow row;
        row.id = ++channel_rows_;
        row.device_id = device;
        row.die = gathered.stem.die;
        row.channel = static_cast<std::int64_t>(channel);
        row.time_ns = clock.ns(ticks);
        row.mean_delay_ps = ticks_to_ps(clock, wire.words[at + 2]);
        row.min_delay_ps = ticks_to_ps(clock, wire.words[at + 3]);
        row.max_delay_ps = ticks_to_ps(clock, wire.words[at + 4]);
        context.store.add(row);
        delays_[{device, static_cast<std::uint16_t>(channel)}].push_back(
            {ticks, std::int64_t{wire.words[at + 2]}});
      }
    });
  }

  static std::int64_t ticks_to_ps(const ClockMap& clock, std::uint32_t ticks) {
    const std::int64_t hz = std::max<std::int64_t>(clock.start().frequency_hz, 1);
    return static_cast<std::int64_t>(
        std::min<int128>(divide_rounded(int128{ticks} * 1'000'000'000'000, int128{hz}), INT64_MAX));
  }

  void read_instructions(const ImportContext& context, Gathered& gathered) {
    if (!has_clock(context, gathered)) return;
    const ClockMap& clock = *gathered.part.clock;
    const std::int64_t device = gathered.part.device.value_or(0);
    const auto& streams = import_.devices[device].ccu_streams;
    gathered.stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<CcuInstrWire>(record.bytes);
      if (!clock.is_possible(wire.wait_start != 0
                                 ? std::uint64_t{wire.wait_start}
                                 : std::max<std::uint64_t>(wire.loop_start, wire.loop_end)))
        return gathered.stream.skip(context, record, kImpossibleTime);
      const std::uint32_t task = unique_task_id(wire.task_low, wire.task_high);
      CcuSpanRow row;
      row.device_id = device;
      row.die = gathered.stem.die;
      row.task_number = task;
      const auto stream = streams.find(task);
      row.stream_id = stream == streams.end() ? kUnknownStream : stream->second;
      row.is_wait = wire.wait_start != 0 ? 1 : 0;
      const std::uint16_t instruction =
          row.is_wait != 0 ? wire.wait_instruction : wire.loop_instruction;
      row.instruction_id = instruction;
      const auto said = said_.find({row.is_wait != 0, task, instruction});
      const Said* known = said == said_.end() ? nullptr : &said->second;
      if (row.is_wait != 0) {
        return add_wait(context, clock, row, wire, known);
      }
      if (wire.loop_end < wire.loop_start)
        return gathered.stream.skip(context, record, "end before start");
      row.id = ++spans_;
      row.start_ns = clock.ns(wire.loop_start);
      row.end_ns = clock.ns(wire.loop_end);
      if (known != nullptr) {
        row.size_bytes = known->size_bytes;
        row.reduce_type = known->reduce_type;
        row.input_type = known->input_type;
        row.output_type = known->output_type;
      }
      context.store.add(row);
    });
  }

  void add_wait(const ImportContext& context, const ClockMap& clock, CcuSpanRow& row,
                const CcuInstrWire& wire, const Said* said) {
    row.id = ++spans_;
    const std::uint64_t start = wire.wait_start;
    row.start_ns = clock.ns(start);
    std::uint64_t longest = 0;
    for (std::size_t rank = kCcuRanks; rank-- > 0;) {
      const std::uint64_t ticks = wire.ends[kCcuRanks - 1 - rank] * kTicksOfWait;
      CcuRankRow part;
      part.id = ++ranks_;
      part.ccu_span_id = row.id;
      part.rank = static_cast<std::int64_t>(rank);
      part.duration_ns = clock.duration_ns(ticks);
      context.store.add(part);
      if (ticks > longest) {
        longest = ticks;
        row.rank = part.rank;
      }
    }
    const std::uint64_t end = longest > UINT64_MAX - start ? UINT64_MAX : start + longest;
    row.end_ns = clock.ns(end);
    if (said != nullptr) {
      row.mask = said->mask;
      find_channel(row, *said, end);
    }
    context.store.add(row);
  }

  // Finds the channel with the largest mean delay up to the end of the wait.
  void find_channel(CcuSpanRow& row, const Said& said, std::uint64_t end) const {
    for (const std::uint16_t channel : said.channels) {
      if (channel == kNoChannel) continue;
      const auto delays = delays_.find({row.device_id, channel});
      if (delays == delays_.end()) continue;
      for (const Delay& delay : delays->second) {
        if (delay.ticks > end || (row.channel != kNull && delay.mean <= row.channel_delay))
          continue;
        row.channel = channel;
        row.channel_delay = delay.mean;
      }
    }
  }

  CannImport& import_;
  std::map<std::tuple<CcuFile, std::int64_t, std::int64_t>, Gathered> files_;
  std::map<SaidKey, Said> said_;
  std::map<std::pair<std::int64_t, std::uint16_t>, std::vector<Delay>> delays_;
  std::int64_t spans_ = 0;
  std::int64_t ranks_ = 0;
  std::int64_t channel_rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_ccu_kind(CannImport& import) {
  return std::make_unique<CcuKind>(import);
}

}  // namespace msprof::cann
