// Raw kinds Memory.data of a device, host_sys_mem.data, and <pid>-Memory.data of both: dumps of
// /proc/meminfo and /proc/<pid>/statm. Source: cann_system.md 11.
#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "import/cann/counters/counter_tracks.hpp"
#include "import/cann/counters/proc_blocks.hpp"
#include "import/cann/counters/text_kind.hpp"
#include "import/cann/counters/time_order.hpp"

namespace msprof::cann {

namespace {

struct MemoryField {
  std::string_view key;  // in /proc/meminfo
  std::string_view counter;
  std::string_view unit;
};

constexpr std::array kMemoryFields = {
    MemoryField{"MemTotal", "Memory Total", "kB"},
    MemoryField{"MemFree", "Memory Free", "kB"},
    MemoryField{"Buffers", "Buffers", "kB"},
    MemoryField{"Cached", "Cached", "kB"},
    MemoryField{"Shmem", "Share Memory", "kB"},
    MemoryField{"CommitLimit", "Commit Limit", "kB"},
    MemoryField{"Committed_AS", "Committed AS", "kB"},
    MemoryField{"HugePages_Total", "Huge Pages Total", "pages"},
    MemoryField{"HugePages_Free", "Huge Pages Free", "pages"},
};

// kNull if the block does not contain the field.
using MemoryValues = std::array<std::int64_t, kMemoryFields.size()>;
constexpr MemoryValues no_memory_values() {
  MemoryValues values{};
  values.fill(kNull);
  return values;
}

// Parses a line such as "MemFree:   8040503 kB". Other keys are valid but ignored.
bool read_field(std::string_view line, MemoryValues& values) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const LineWords words(line.substr(colon + 1));
  std::uint64_t value = 0;
  if (words.size() == 0 || words.size() > 2 || !words.number(0, value)) return false;
  const auto field =
      std::find_if(kMemoryFields.begin(), kMemoryFields.end(),
                   [&](const MemoryField& wanted) { return wanted.key == line.substr(0, colon); });
  if (field == kMemoryFields.end()) return true;
  if ((field->unit == "kB") != (words.size() == 2) || (words.size() == 2 && words[1] != "kB"))
    return false;
  values[static_cast<std::size_t>(field - kMemoryFields.begin())] = sample_value(value);
  return true;
}

class SystemMemoryKind : public TextKind {
 public:
  explicit SystemMemoryKind(CannImport& import) : TextKind(import, "sys_mem", "Memory.data") {}

  bool owns(const RawFile& file) const override {
    return TextKind::owns(file) || import_.session.parsed_name(file).stem == "host_sys_mem.data";
  }

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string&,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    const std::size_t first_track = tracks.next();
    for (const MemoryField& field : kMemoryFields) {
      tracks.open({.device = part.device,
                   .subject = "Memory",
                   .counter = field.counter,
                   .unit = field.unit});
    }
    const auto take = [&](std::int64_t time_ns, const MemoryValues& values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != kNull) tracks.add(first_track + i, time_ns, values[i]);
      }
    };
    TimeOrder<MemoryValues> order;
    ProcFrame frame(import_.session, *part.start);
    MemoryValues block = no_memory_values();
    bool is_open = false;  // has lines but no end yet
    lines.read([&](std::string_view line) -> std::string_view {
      const bool ends = line.empty() && is_open;
      if (begins_block(line) && is_open) lines.skip(kCutBlock);
      if (begins_block(line) || ends) is_open = false;
      if (ends) {
        const MemoryValues whole = std::exchange(block, no_memory_values());
        if (!frame.time_ns()) return kNoTimeStamp;
        if (whole == no_memory_values()) return kNotTheForm;
        if (!order.add(*frame.time_ns(), whole, take)) return kTooLate;
        lines.count();
        return {};
      }
      if (begins_block(line)) block = no_memory_values();
      if (const auto reason = frame.take(line)) return *reason;
      is_open = true;
      return read_field(line, block) ? std::string_view() : kNotTheForm;
    });
    if (is_open) lines.skip(kCutBlock);
    order.finish(take);
    tracks.write();
  }
};

constexpr std::string_view kMemoryEnding = "-Memory.data";
constexpr std::array<std::string_view, 3> kProcessSizes = {"Size", "Resident", "Shared"};
using ProcessSizes = std::array<std::int64_t, kProcessSizes.size()>;

// Parses a line such as "20134 6711 2237 1006 0 5033 0".
bool read_statm(std::string_view line, ProcessSizes& sizes) {
  constexpr std::size_t kWordsOfStatm = 7;
  const LineWords words(line);
  if (words.size() != kWordsOfStatm) return false;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kWordsOfStatm; ++i) {
    if (!words.number(i, value)) return false;
    if (i < sizes.size()) sizes[i] = sample_value(value);
  }
  return true;
}

class ProcessMemoryKind : public TextKind {
 public:
  explicit ProcessMemoryKind(CannImport& import) : TextKind(import, "process_mem", {}) {}

  bool owns(const RawFile& file) const override {
    return parse_pid_in_stem(import_.session.parsed_name(file).stem, kMemoryEnding).has_value();
  }

 private:
  void read(const ImportContext& context, const CannPart& part, const std::string& stem,
            SliceLines& lines) override {
    if (!check_start(context, part, name())) return;
    CounterTracks tracks(import_, context, name());
    std::optional<std::size_t> first_track;  // tracks of the other sizes follow
    const std::int64_t pid = *parse_pid_in_stem(stem, kMemoryEnding);
    std::string process_name;
    const auto take = [&](std::int64_t time_ns, const ProcessSizes& sizes) {
      if (!first_track) first_track = open(tracks, part, pid, process_name);
      for (std::size_t i = 0; i < sizes.size(); ++i)
        tracks.add(*first_track + i, time_ns, sizes[i]);
    };
    TimeOrder<ProcessSizes> order;
    ProcFrame frame(import_.session, *part.start);
    std::optional<ProcessSizes> block;  // set until the end of the block
    lines.read([&](std::string_view line) -> std::string_view {
      if (begins_block(line) && block) lines.skip(kCutBlock);
      if (begins_block(line)) block.reset();
      if (line.empty() && block) {
        const ProcessSizes whole = *block;
        block.reset();
        if (!frame.time_ns()) return kNoTimeStamp;
        if (!order.add(*frame.time_ns(), whole, take)) return kTooLate;
        lines.count();
        return {};
      }
      if (const auto reason = frame.take(line)) return *reason;
      if (names_process(line)) {
        if (process_name.empty()) process_name = process_name_in(line);
        return {};
      }
      ProcessSizes sizes{};
      if (block || !read_statm(line, sizes)) return kNotTheForm;
      block = sizes;
      return {};
    });
    if (block) lines.skip(kCutBlock);
    order.finish(take);
    tracks.write();
  }

  // Returns the first track.
  static std::size_t open(CounterTracks& tracks, const CannPart& part, std::int64_t pid,
                          const std::string& process_name) {
    const std::size_t first = tracks.next();
    for (const std::string_view size : kProcessSizes) {
      tracks.open({.device = part.device,
                   .subject = process_subject(process_name, pid),
                   .counter = size,
                   .unit = "pages",
                   .number = pid,
                   .detail = process_name});
    }
    return first;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_sys_mem_kind(CannImport& import) {
  return std::make_unique<SystemMemoryKind>(import);
}

std::unique_ptr<RawKind> make_process_mem_kind(CannImport& import) {
  return std::make_unique<ProcessMemoryKind>(import);
}

}  // namespace msprof::cann
