#include "base/time_text.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

namespace msprof {

namespace {

std::string zone_text(long offset_seconds) {
  if (offset_seconds == 0) return "UTC";
  const long minutes = std::labs(offset_seconds) / 60;
  std::string text = fmt::format("UTC{}{}", offset_seconds < 0 ? '-' : '+', minutes / 60);
  if (minutes % 60 != 0) text += fmt::format(":{:02}", minutes % 60);
  return text;
}

}  // namespace

std::string local_time_text(std::int64_t ns, TimePrecision precision) {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  constexpr std::int64_t kEndOf9999 = 253402300800;  // seconds since 1970
  const std::int64_t seconds = ns / kNanosecondsPerSecond;
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (ns < 0 || seconds >= kEndOf9999 || localtime_r(&time, &parts) == nullptr) return "";
  std::string text = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900,
                                 parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min);
  if (precision != TimePrecision::minutes) text += fmt::format(":{:02}", parts.tm_sec);
  if (precision == TimePrecision::milliseconds)
    text += fmt::format(".{:03}", ns % kNanosecondsPerSecond / 1'000'000);
  return text + ' ' + zone_text(parts.tm_gmtoff);
}

}  // namespace msprof
