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

std::string figure(std::string_view what, std::string_view text) {
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", what, escaped(text));
}

std::string section(std::string_view id, std::string_view title, const std::string& content) {
  return fmt::format("<section aria-labelledby=\"h-{}\">\n<h2 id=\"h-{}\">{}</h2>\n{}</section>\n",
                     id, id, title, content);
}

std::string warnings_section(std::string_view title, const std::string& items) {
  if (items.empty()) return "";
  return fmt::format(
      "<section id=\"warnings\" aria-labelledby=\"h-warnings\">\n<h2 id=\"h-warnings\">{}</h2>\n"
      "<ul>\n{}</ul>\n</section>\n",
      title, items);
}

std::string noise_paragraph(std::string_view noise_basis) {
  return fmt::format("<p id=\"noise-basis\">Noise: {}</p>\n", escaped(noise_basis, kSentenceWidth));
}

std::string controls() {
  return "<div class=\"controls\" id=\"controls\" hidden>\n<label><input type=\"checkbox\" "
         "id=\"hide-noise\"> Hide changes within noise</label>\n<label>Show names with <input "
         "type=\"search\" id=\"filter\" autocomplete=\"off\"></label>\n<span id=\"shown\" "
         "role=\"status\"></span>\n</div>\n";
}

std::string page_head(std::string_view title, const Assets& styles, const Assets& scripts,
                      std::string_view attributes) {
  const auto hashes = [](const Assets& assets) {
    std::string text;
    for (const Asset& asset : assets)
      text += fmt::format(" 'sha256-{}'", hex_to_base64(asset.sha256));
    return text;
  };
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html {}>\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src{}; script-src{}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n",
      attributes, hashes(styles), hashes(scripts), title);
  for (const Asset& style : styles) text += fmt::format("<style>{}</style>\n", style.text);
  return text + "</head>\n";
}

std::string page_header(std::string_view brand, std::string_view title, std::string_view kind,
                        std::string_view verdict, std::string_view figures) {
  return fmt::format(
      "<header>\n<p class=\"brand\">{}</p>\n<h1>{}</h1>\n<p id=\"verdict\"{}><strong>{}</strong>"
      "</p>\n<dl class=\"figures\">\n{}</dl>\n"
      "<button type=\"button\" id=\"theme\" hidden>Dark</button>\n</header>\n",
      brand, title, class_attribute(kind), verdict, figures);
}

std::string page_end(const Assets& scripts, std::string_view data) {
  std::string text = fmt::format("</main>\n{}", data);
  for (const Asset& script : scripts) text += fmt::format("<script>{}</script>\n", script.text);
  return text + "</body>\n</html>\n";
}

std::string class_attribute(std::string_view css_class) {
  return css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class);
}

}  // namespace msprof::html
