#include "analyze/compare/html_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyze/compare/comparison_tables.hpp"
#include "base/text.hpp"

namespace msprof::html {

namespace {

constexpr std::size_t kMaxNames = 12;
constexpr double kUsPerMs = 1000;
// Larger values are shown as "-".
constexpr double kMaxShown = 1e15;

bool is_shown(double value) {
  return std::isfinite(value) && std::abs(value) < kMaxShown;
}

}  // namespace

std::string hex_to_base64(std::string_view hex) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto nibble = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  // Three hexadecimal digits are two base64 digits.
  std::string result;
  for (std::size_t i = 0; i < hex.size(); i += 3) {
    unsigned bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits * 16 + (i + k < hex.size() ? nibble(hex[i + k]) : 0);
    result += kDigits[bits / 64];
    if (i + 1 < hex.size()) result += kDigits[bits % 64];
  }
  while (result.size() % 4 != 0) result += '=';
  return result;
}

std::string escaped(std::string_view text, int width) {
  // The byte limit is needed because combining marks have no width. A character has at most 4
  // bytes.
  const auto most = static_cast<std::size_t>(width) * 8;
  const bool is_cut = text.size() > most;
  std::string shown = shorten(printable_on_page(text.substr(0, most)), is_cut ? width - 1 : width);
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
  for (std::size_t i = 0; i < std::min(texts.size(), kMaxNames); ++i)
    result += (i == 0 ? "" : std::string(between)) + name(texts[i]);
  if (texts.size() > kMaxNames)
    result += fmt::format("{}<i>{} more</i>", between, texts.size() - kMaxNames);
  return result;
}

std::string join_names(const cell::Names& names) {
  const std::string text = join_both(html::names(names.base, "+"), html::names(names.now, "+"));
  return text.empty() ? "-" : text;
}

std::string op_name(const OpChange& op) {
  return join_names({op.base_names, op.new_names});
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

std::string_view change_class(double delta_us, bool is_noise) {
  if (is_noise || !std::isfinite(delta_us) || delta_us == 0) return "noise";
  return delta_us < 0 ? "faster" : "slower";
}

std::string figure(std::string_view id, std::string_view what, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd id=\"{}\">{}</dd></div>\n", what, id, value);
}

std::string section(std::string_view id, std::string_view title, const std::string& content) {
  return fmt::format("<section aria-labelledby=\"h-{}\">\n<h2 id=\"h-{}\">{}</h2>\n{}</section>\n",
                     id, id, title, content);
}

}  // namespace msprof::html
