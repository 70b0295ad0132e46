// The frequency table of `show`: the clock of each device's cores.
#include <array>

#include "export/products.hpp"
#include "export/summary/svp_tables.hpp"

namespace msprof {

namespace {

constexpr std::array<std::string_view, 3> kFrequencyColumns = {"Device Id", "Frequency(MHz)",
                                                               "Soc Version"};

class SvpFrequency : public SummaryTable {
 public:
  SvpFrequency()
      : SummaryTable({.name = "frequency",
                      .title = "Frequency",
                      .help = "clock of the cores",
                      .is_shown = true,
                      .is_exported = false,
                      .unit_loads = std::span(kFrequencyColumns).subspan(1, 1),
                      .dialect = Dialect::svp}) {}
  std::vector<std::string> columns(const Database&) const override {
    return {kFrequencyColumns.begin(), kFrequencyColumns.end()};
  }

  std::vector<OutputFile> output_files(const Database& db) const override {
    Statement any = db.prepare("SELECT EXISTS(SELECT 1 FROM device)");
    if (!any.step() || any.integer(0) == 0) return {};
    return {{"frequency", kNull, kNull, 0}};
  }

  void write(const Database& db, const OutputFile&, RowBuilder& out) const override {
    Statement read = db.prepare(
        "SELECT device.id, frequency_hz, name.text FROM device LEFT JOIN name ON name.id = "
        "chip_name_id"
        " ORDER BY device.id");
    while (read.step()) {
      out.number(read.integer(0));
      const std::string mhz = svp::frequency_mhz(read.maybe_integer(1));
      mhz.empty() ? out.missing() : out.number(mhz);
      read.is_null(2) ? out.missing() : out.text(read.text(2));
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_svp_frequency() {
  return std::make_unique<SvpFrequency>();
}

}  // namespace msprof
