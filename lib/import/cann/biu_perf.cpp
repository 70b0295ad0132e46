// Raw kind instr.biu_perf_group<g>_<core>: busy units of a core, as a sequence of words. A word
// contains the cycles since the previous word, and what changed. Source: cann_new_kinds.md 4.5.
#include <array>
#include <optional>
#include <string>

#include "base/number.hpp"
#include "base/text.hpp"
#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

struct __attribute__((packed)) BiuWordWire {
  std::uint16_t value;    // cycles, or 16 bits of a stamp
  std::uint16_t control;  // high 4 bits: type of the word
};
static_assert(sizeof(BiuWordWire) == 4);

constexpr std::uint32_t kBiuEnd = 0xEFFFFFFF;
constexpr std::uint32_t kBiuFill = 0xDDDDDDDD;
enum : unsigned { kBiuStamp = 14, kBiuState = 15 };
constexpr std::size_t kBiuUnits = 7;
constexpr std::string_view kBiuStem = "instr.biu_perf_group";

class BiuPerfKind : public RawKind {
 public:
  explicit BiuPerfKind(CannImport& import) : import_(import) {}

  std::string_view name() const override { return "biu_perf"; }
  bool owns(const RawFile& file) const override {
    return import_.session.parsed_name(file).stem.starts_with(kBiuStem);
  }

  // A slice continues where the previous one ended.
  void import(const ImportContext& context, const RawFile& file) override {
    const CannPart& part = import_.session.find_part(file);
    const std::string& stem = import_.session.parsed_name(file).stem;
    if (part.name != part_ || stem != stem_) {
      part_ = part.name;
      stem_ = stem;
      core_ = Core();
    }
    if (!part.clock || part.info.aic_frequency_hz <= 0) {
      context.report.add(FindingId::no_clock, name(), file.name, "no clock data for the cores",
                         "its words have no times and are omitted");
      return;
    }
    const std::size_t split = std::min(stem.find('_', kBiuStem.size()), stem.size());
    const auto group = parse_i64(stem.substr(kBiuStem.size(), split - kBiuStem.size()));
    BiuSpanRow row;
    row.device_id = part.device.value_or(0);
    row.core_group = group.value_or(0);
    row.core_name_id =
        context.store.name_id(split < stem.size() ? stem.substr(split + 1) : std::string());
    std::uint64_t words = 0;
    std::uint64_t unknown = 0;
    FileReader reader(file.path);
    const std::uint64_t rest =
        for_each_record(reader, 0, sizeof(BiuWordWire), [&](auto record, std::uint64_t) {
          const auto whole = decode<std::uint32_t>(record);
          if (whole == kBiuEnd || whole == kBiuFill) return;
          ++words;
          if (!take(context, part, row, decode<BiuWordWire>(record))) ++unknown;
        });
    context.report.count_file(name(), words);
    if (unknown > 0)
      context.report.add({FindingId::damaged_record, std::string(name()), file.name, "invalid word",
                          static_cast<std::int64_t>(unknown), kNull, "", ""});
    if (rest > 0)
      context.report.add({FindingId::trailing_bytes, std::string(name()), file.name,
                          "incomplete record at the end", static_cast<std::int64_t>(rest),
                          static_cast<std::int64_t>(file.size_bytes - rest), "", ""});
  }

 private:
  struct Core {
    std::size_t stamp_words = 0;  // words read of an incomplete stamp
    std::uint64_t stamp = 0;      // device ticks
    std::uint64_t cycles = 0;     // cycles since `stamp`
    bool has_stamp = false;
    std::int64_t block = 0;
    // start of the unit's busy interval
    std::array<std::optional<std::int64_t>, kBiuUnits> since;
  };

  // Processes a word. Returns false if its type is unknown.
  bool take(const ImportContext& context, const CannPart& part, BiuSpanRow& row,
            const BiuWordWire& word) {
    const unsigned what = word.control >> 12U;
    if (what == kBiuStamp) {
      take_stamp(word);
      return true;
    }
    core_.stamp_words = 0;
    core_.cycles += word.value;
    if (what < kBiuUnits) return true;  // a checkpoint
    if (what != kBiuState) return false;
    if (!core_.has_stamp) return true;
    const std::int64_t now = current_ns(part);
    for (std::size_t unit = 0; unit < kBiuUnits; ++unit) {
      const bool is_busy = (word.control >> unit & 1U) != 0;
      auto& since = core_.since[unit];
      if (is_busy && !since) since = now;
      if (is_busy || !since) continue;
      row.id = ++rows_;
      row.unit = static_cast<std::int64_t>(unit);
      row.block_id = core_.block;
      row.start_ns = *since;
      row.end_ns = std::max(now, *since);
      context.store.add(row);
      since.reset();
    }
    return true;
  }

  // Reads one of the four words of a stamp, lowest bits first. The first two also contain the
  // block.
  void take_stamp(const BiuWordWire& word) {
    constexpr std::uint16_t kBlockMask = 0xFF;
    constexpr std::size_t kStampWords = 4;
    if (core_.stamp_words == 0) {
      core_.stamp = 0;
      core_.cycles = 0;
      core_.block = 0;
      core_.has_stamp = false;
    }
    const std::size_t at = core_.stamp_words++;
    core_.stamp |= std::uint64_t{word.value} << (16 * at);
    if (at < 2) core_.block |= std::int64_t{word.control & kBlockMask} << (8 * at);
    if (core_.stamp_words < kStampWords) return;
    core_.has_stamp = true;
    core_.stamp_words = 0;
  }

  std::int64_t current_ns(const CannPart& part) const {
    const int128 ns = int128{core_.cycles} * 1'000'000'000 / part.info.aic_frequency_hz;
    return saturating_add(part.clock->ns(core_.stamp),
                          static_cast<std::int64_t>(std::min<int128>(ns, INT64_MAX)));
  }

  CannImport& import_;
  std::string part_;
  std::string stem_;
  Core core_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RawKind> make_biu_perf_kind(CannImport& import) {
  return std::make_unique<BiuPerfKind>(import);
}

}  // namespace msprof::cann
