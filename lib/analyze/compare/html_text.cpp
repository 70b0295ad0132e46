#include "analyze/compare/html_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace msprof::html {

namespace {

constexpr std::size_t kMostNames = 12;
constexpr double kUsPerMs = 1000;
// Above it, digits say nothing.
constexpr double kMostShown = 1e15;

bool is_shown(double value) {
  return std::isfinite(value) && std::abs(value) < kMostShown;
}

std::string side_names(const std::vector<std::string>& texts) {
  return names(texts, "+");
}

std::string both(const std::string& base, const std::string& now) {
  if (base.empty() || now.empty() || base == now) return base.empty() ? now : base;
  return base + " → " + now;
}

}  // namespace

std::string escaped(std::string_view text, int width) {
  // A character takes at most 4 bytes; combining marks take no column, so there is a limit on
  // bytes.
  const auto most = static_cast<std::size_t>(width) * 8;
  const bool is_cut = text.size() > most;
  std::string shown = shorten(printable(text.substr(0, most)), is_cut ? width - 1 : width);
  if (is_cut && !shown.ends_with("…")) shown += "…";
  std::string result;
  for (const char c : shown) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string name(std::string_view text) {
  return fmt::format("<bdi>{}</bdi>", text.empty() ? "-" : escaped(text));
}

std::string names(const std::vector<std::string>& texts, std::string_view between) {
  std::string result;
  for (std::size_t i = 0; i < std::min(texts.size(), kMostNames); ++i)
    result += (i == 0 ? "" : std::string(between)) + name(texts[i]);
  if (texts.size() > kMostNames)
    result += fmt::format("{}<i>{} more</i>", between, texts.size() - kMostNames);
  return result;
}

std::string op_name(const OpChange& op) {
  const std::string shown = both(side_names(op.base_names), side_names(op.new_names));
  return shown.empty() ? "-" : shown;
}

std::string op_type(const OpChange& op) {
  const auto one = [](const std::string& type) { return type.empty() ? "" : name(type); };
  const std::string shown = both(one(op.base_type), one(op.new_type));
  return shown.empty() ? "-" : shown;
}

std::string fixed(std::optional<double> value, int decimals) {
  return value && is_shown(*value) ? fmt::format("{:.{}f}", *value, decimals) : "-";
}

std::string signed_fixed(std::optional<double> value, int decimals) {
  return value && is_shown(*value) ? fmt::format("{:+.{}f}", *value, decimals) : "-";
}

TimeText::TimeText(double most_us) : is_ms_(std::abs(most_us) >= kUsPerMs) {}

std::string TimeText::text(double us) const {
  return is_ms_ ? fixed(us / kUsPerMs) + " ms" : fixed(us) + " us";
}

std::string TimeText::signed_text(double us) const {
  return is_ms_ ? signed_fixed(us / kUsPerMs) + " ms" : signed_fixed(us) + " us";
}

TimeText time_text(double base_us, double new_us) {
  return TimeText(std::max(std::abs(base_us), std::abs(new_us)));
}

std::string_view kind_of(double delta_us, bool is_noise) {
  if (is_noise || !std::isfinite(delta_us) || delta_us == 0) return "noise";
  return delta_us < 0 ? "faster" : "slower";
}

}  // namespace msprof::html
