#include "export/summary/cann_counter_tables.hpp"
#include "base/vendor_real.hpp"

namespace msprof::cann {

void device_cell(RowBuilder& out, const CounterTrack& track) {
  track.device ? out.number(*track.device) : out.text("host");
}

double rounded3(const CounterSample& sample) {
  const int128 thousandths = sample.numerator() * 1000;
  const int128 denominator = sample.denominator();
  int128 rounded = divide_rounded(thousandths, denominator);
  const int128 twice = thousandths * 2 - rounded * 2 * denominator;
  const bool is_half = twice == denominator || twice == -denominator;
  if (is_half && rounded % 2 != 0) rounded += twice > 0 ? 1 : -1;
  return static_cast<double>(rounded) / 1000.0;
}

std::string fixed3(double value) {
  std::string text;
  append_fixed3(text, value);
  return text;
}

void python_rounded3(RowBuilder& out, double value) {
  out.real(python_round(value, 3));
}

void sqlite_rounded3(RowBuilder& out, double value) {
  out.real(value, CellForm::sqlite_round3);
}

void rounded3_or_missing(RowBuilder& out, const Mean& mean) {
  mean.count() == 0 ? out.missing() : python_rounded3(out, mean.value());
}

}  // namespace msprof::cann
