#include "base/row_sink.hpp"

#include <fmt/format.h>

#include <cmath>

namespace msprof {

void RowSink::number(std::int64_t value) {
  const Wanted wanted = next_cell();
  if (wanted == Wanted::nothing) return;
  if (wanted == Wanted::value) return take_number(static_cast<double>(value));
  const fmt::format_int digits(value);
  number(std::string_view(digits.data(), digits.size()));
}

void RowSink::number_or_missing(const std::optional<std::string>& digits) {
  digits ? number(std::string_view(*digits)) : missing();
}

void RowSink::number_or_missing(std::optional<std::int64_t> value) {
  value ? number(*value) : missing();
}

void RowSink::real(double value) {
  std::string digits = fmt::format("{}", value);
  if (std::isfinite(value) && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  number(std::string_view(digits));
}

void RowSink::blob(std::string_view bytes) {
  std::string digits;
  digits.reserve(bytes.size() * 2);
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(digits), "{:02X}", static_cast<unsigned char>(byte));
  text(digits);
}

}  // namespace msprof
