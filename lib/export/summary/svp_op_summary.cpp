// op_summary: one row per layer of a capture, with the load of each unit, and a total row.
#include <fmt/format.h>

#include <algorithm>

#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"

namespace msprof {

namespace {

using svp::LayerTotal;
using svp::SvpCapture;
using OptionalSum = std::optional<int128>;

constexpr std::array<std::string_view, 18> kOpSummaryColumns = {
    "Layer Id",       "Ori Layer Name",  "Layer Name",     "Layer Type",     "Time(us)",
    "Time Ratio",     "Mac Busy Ratio",  "Mac Ppen Ratio", "Vec Busy Ratio", "Vec Ppen Ratio",
    "Dstr Ratio",     "Dtrans Ratio",    "DLD Ratio",      "WLD Ratio",      "Memory Bound",
    "DDR Read(byte)", "DDR Write(byte)", "DDR Total(byte)"};
constexpr std::size_t kTimeColumn = 4;
constexpr std::size_t kTimeRatioColumn = 5;
constexpr std::size_t kFirstUnitColumn = 6;

using UnitSums = std::array<OptionalSum, svp::kWld + 1>;  // by Counter

UnitSums unit_sums(const LayerTotal& layer) {
  UnitSums sums;
  if (!layer.is_on_cpu) std::copy_n(layer.counters.begin(), sums.size(), sums.begin());
  return sums;
}

// Sums over the layers that ran on the cores; empty if one of them has no value for the counter.
UnitSums unit_sums(const std::vector<LayerTotal>& layers) {
  UnitSums sums;
  bool first = true;
  for (const LayerTotal& layer : layers) {
    if (layer.is_on_cpu) continue;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const bool known = layer.counters[i] && (first || sums[i]);
      sums[i] = known ? OptionalSum(sums[i].value_or(0) + *layer.counters[i]) : std::nullopt;
    }
    first = false;
  }
  return sums;
}

void write_units(RowBuilder& out, const UnitSums& sums) {
  const OptionalSum total = sums[svp::kTotalCycles];
  for (std::size_t unit = svp::kMacBusy; unit <= svp::kWld; ++unit) {
    if (!sums[unit] || !total || *total == 0) {
      out.missing();
    } else {
      out.number(fixed(*sums[unit] * 100, *total, 3));
    }
  }
  // max(Dstr, DLD, WLD) / max(Mac Busy, Vec Ppen): the total cycles cancel out.
  const auto all_known = [&](std::initializer_list<svp::SvpCounter> units) {
    return std::all_of(units.begin(), units.end(),
                       [&](auto unit) { return sums[unit].has_value(); });
  };
  if (!all_known({svp::kDstr, svp::kDld, svp::kWld, svp::kMacBusy, svp::kVecPpen}))
    return out.missing();
  const int128 memory = std::max({*sums[svp::kDstr], *sums[svp::kDld], *sums[svp::kWld]});
  const int128 compute = std::max(*sums[svp::kMacBusy], *sums[svp::kVecPpen]);
  compute == 0 ? out.missing() : out.number(fixed(memory, compute, 3));
}

// Returns the mean bytes per execution; a Fraction, so that the total row adds unrounded means.
std::optional<Fraction> mean_bytes(const LayerTotal& layer, svp::SvpCounter counter) {
  if (layer.is_on_cpu || !layer.counters[counter]) return std::nullopt;
  return Fraction(*layer.counters[counter], layer.execution_count);
}

void write_ddr(RowBuilder& out, const std::optional<Fraction>& read,
               const std::optional<Fraction>& written) {
  const auto total = svp::sum({read, written});
  for (const auto& bytes : {read, written, total}) {
    bytes ? out.number(bytes->fixed(1, 0)) : out.missing();
  }
}

std::optional<Fraction> ddr_of_all(const std::vector<LayerTotal>& layers, svp::SvpCounter counter) {
  std::vector<std::optional<Fraction>> parts;
  for (const LayerTotal& layer : layers) {
    if (!layer.is_on_cpu) parts.push_back(mean_bytes(layer, counter));
  }
  return svp::sum(parts);
}

std::optional<std::string> mean_us(const LayerTotal& layer,
                                   std::optional<std::int64_t> frequency_hz) {
  const auto time = layer.time_ns(frequency_hz);
  if (!time) return std::nullopt;
  return Fraction(time->numerator(), time->denominator() * layer.execution_count * 1000)
      .fixed(1, 3);
}

class SvpOpSummary : public SummaryTable {
 public:
  SvpOpSummary()
      : SummaryTable({.name = "op_summary",
                      .title = "AA core metric",
                      .help = "time, unit load and DDR traffic of every layer",
                      .needs = {"aicore|aicpu", true},
                      .is_shown = true,
                      .unit_loads = std::span(kOpSummaryColumns).subspan(kFirstUnitColumn),
                      .dialect = Dialect::svp}) {}
  std::vector<std::string> columns(const Database&) const override {
    return {kOpSummaryColumns.begin(), kOpSummaryColumns.end()};
  }
  // Without a frequency there are no times, but the ratios give the same order.
  std::vector<std::size_t> heat_columns() const override { return {kTimeColumn, kTimeRatioColumn}; }

  std::vector<OutputFile> output_files(const Database& db) const override {
    return collect_files(db);
  }
  void visit_files(const Database& db, const FileVisitor& visit) const override {
    svp::visit_captures(db, [&](const SvpCapture& capture) {
      const std::string frequency = svp::frequency_mhz(capture.model.frequency_hz);
      return visit({fmt::format("op_summary_{}.{}.{}.{}.{}.{}", svp::model_stem(capture.model),
                                capture.batch_num, capture.input_pic_num, capture.current_pic_count,
                                svp::or_na(svp::icache_miss_rate(capture)), svp::or_na(frequency)),
                    capture.step_id, capture.model.row, 0});
    });
  }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    const SvpCapture capture = svp::capture(db, output_file.step_id);
    const auto layers = svp::layer_totals(db, capture);
    const auto frequency = capture.model.frequency_hz;
    const auto shares = svp::weights(layers, frequency, true);
    const auto whole = svp::sum(shares);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LayerTotal& layer = layers[i];
      out.number_or_missing(layer.layer_id);
      out.text(*layer.original_names);
      out.text(*layer.name);
      out.text(*layer.type);
      out.number_or_missing(mean_us(layer, frequency));
      out.number_or_missing(svp::percent(shares[i], whole));
      write_units(out, unit_sums(layer));
      write_ddr(out, mean_bytes(layer, svp::kDdrRead), mean_bytes(layer, svp::kDdrWrite));
      out.end_row();
    }
    write_total(out, layers, frequency, whole);
  }

 private:
  static void write_total(RowBuilder& out, const std::vector<LayerTotal>& layers,
                          std::optional<std::int64_t> frequency,
                          const std::optional<Fraction>& whole) {
    for (int i = 0; i < 4; ++i) out.text("-");
    const bool has_time =
        whole && std::all_of(layers.begin(), layers.end(), [&](const auto& layer) {
          return layer.time_ns(frequency).has_value();
        });
    has_time ? out.number(Fraction(whole->numerator(), whole->denominator() * 1000).fixed(1, 3))
             : out.missing();
    out.number_or_missing(svp::percent(whole, whole));
    write_units(out, unit_sums(layers));
    write_ddr(out, ddr_of_all(layers, svp::kDdrRead), ddr_of_all(layers, svp::kDdrWrite));
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_svp_op_summary() {
  return std::make_unique<SvpOpSummary>();
}

}  // namespace msprof
