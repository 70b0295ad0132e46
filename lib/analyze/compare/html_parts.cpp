#include "analyze/compare/html_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analyze/compare/comparison_tables.hpp"
#include "analyze/compare/html_table.hpp"
#include "base/row_sink.hpp"
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

// "conv1+bn1+relu1 → conv1"; "-" if neither side has a name.
std::string names_of_both(const cell::Names& names) {
  const std::string text = text_of_both(html::names(names.base, "+"), html::names(names.now, "+"));
  return text.empty() ? "-" : text;
}

}  // namespace

std::string base64_of_hex(std::string_view hex) {
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

std::string op_name(const OpChange& op) {
  return names_of_both({op.base_names, op.new_names});
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

namespace {

// Writes one cell of a comparison.
class HtmlCell {
 public:
  explicit HtmlCell(HtmlTable& out) : out_(out) {}

  void operator()(const cell::Names& names) const { out_.markup(names_of_both(names)); }
  void operator()(const std::string& text) const { out_.text(text); }
  void operator()(const cell::Word& word) const { out_.markup(word.text); }
  void operator()(bool value) const { out_.markup(value ? "yes" : "no"); }
  void operator()(std::int64_t count) const { out_.number(count); }
  void operator()(const cell::Counts& counts) const {
    if (counts.base == counts.now) return out_.number(counts.base);
    out_.markup(fmt::format("{} → {}", counts.base, counts.now));
  }
  void operator()(const cell::Real& real) const {
    const auto value = real.is_for_people ? real.value : std::nullopt;
    out_.number(real.has_sign ? signed_fixed(value, real.decimals) : fixed(value, real.decimals));
  }

 private:
  HtmlTable& out_;
};

std::string_view kind_of_row(const OpRatio&) {
  return "ratio";
}
// A higher counter is neither better nor worse.
std::string_view kind_of_row(const CounterChange& counter) {
  return counter.is_noise() ? "noise" : "ratio";
}
template <typename Row>
std::string_view kind_of_row(const Row& row) {
  return kind_of(row.time.delta_us(), row.time.is_noise());
}

template <typename Row>
std::string table_html(std::string_view id, std::string caption, const Comparison& comparison,
                       const std::vector<Row>& rows,
                       std::span<const ComparisonColumn<Row>> columns) {
  HtmlTable table(std::string(id), std::move(caption),
                  "The {0} largest changes of {1}; --csv and --json of msprof compare have all.");
  std::vector<std::string> titles;
  std::vector<CellKind> kinds;
  for (const auto& column : columns) {
    if (column.titles.html.empty()) continue;
    titles.emplace_back(column.titles.html);
    kinds.push_back(column.kind);
  }
  table.set_kinds(std::move(kinds));
  table.begin(titles);
  for (const Row& row : rows) {
    if (table.is_full()) break;
    table.begin_row(kind_of_row(row));
    for (const auto& column : columns)
      if (!column.titles.html.empty()) std::visit(HtmlCell(table), column.cell_of(row, comparison));
    table.end_row();
  }
  return table.html(rows.size());
}

}  // namespace

std::string figure(std::string_view id, std::string_view what, const std::string& value) {
  return fmt::format("<div><dt>{}</dt><dd id=\"{}\">{}</dd></div>\n", what, id, value);
}

std::string section(std::string_view id, std::string_view title, const std::string& content) {
  return fmt::format("<section aria-labelledby=\"h-{}\">\n<h2 id=\"h-{}\">{}</h2>\n{}</section>\n",
                     id, id, title, content);
}

std::string ops_section(const Comparison& comparison) {
  std::string content = fmt::format("<p id=\"matches\">{}.</p>\n", comparison.matches.text());
  const std::string caption =
      fmt::format("Operators, us {}; grey: within noise", escaped(per_unit(comparison.unit)));
  content += comparison.ops.empty()
                 ? "<p>No operator on either side.</p>\n"
                 : table_html("ops", caption, comparison, comparison.ops, op_columns());
  return section("ops", "Operators", content);
}

std::string types_section(const Comparison& comparison) {
  if (comparison.types.empty()) return "";
  const std::string caption =
      fmt::format("Types of operators, us {}", escaped(per_unit(comparison.unit)));
  return section("types", "Types",
                 table_html("types", caption, comparison, comparison.types, type_columns()));
}

std::string ratios_section(const Comparison& comparison) {
  const std::vector<OpRatio> ratios = ratios_of(comparison);
  if (ratios.empty()) return "";
  return section("ratios", "Ratios that moved",
                 table_html("ratios", "Ratios and loads of operators that moved", comparison,
                            ratios, ratio_columns()));
}

std::string calls_section(const Comparison& comparison) {
  if (comparison.calls.empty()) return "";
  return section("calls", "Calls on the host",
                 table_html("calls", "Calls on the host, us of one call", comparison,
                            comparison.calls, call_columns()));
}

std::string ranges_section(const Comparison& comparison) {
  if (comparison.ranges.empty()) return "";
  return section("ranges", "Ranges of the application",
                 table_html("ranges", "Ranges of the application, us of one range", comparison,
                            comparison.ranges, range_columns()));
}

std::string counters_section(const Comparison& comparison) {
  if (comparison.counters.empty()) return "";
  return section("counters", "System counters",
                 table_html("counters", "System counters, means of the runs; grey: within noise",
                            comparison, comparison.counters, counter_columns()));
}

namespace {

constexpr std::size_t kMaxBars = 15;
constexpr std::size_t kMaxNoiseBars = 6;  // if no change is beyond noise
constexpr double kWidth = 1000;           // in drawing units; stretched to fit
constexpr double kHeight = 24;
constexpr double kThinnest = 2;  // minimum visible width

// Non-numbers and implausibly large times cannot be drawn.
double drawable(double us) {
  constexpr double kMax = 1e15;
  return std::isfinite(us) ? std::clamp(us, -kMax, kMax) : 0;
}

// Maps us to the x coordinate of the drawing.
class Axis {
 public:
  Axis(double low, double high) : low_(low), span_(high > low ? high - low : 1) {}
  double x(double us) const { return kWidth * (us - low_) / span_; }

 private:
  double low_;
  double span_;
};

std::string line(double x, std::string_view kind) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"0\" y2=\"{}\"/>", kind, x,
                     x, kHeight);
}

std::string rect(double left, double right, std::string_view kind, bool is_full) {
  const double width = std::max(right - left, kThinnest);
  // Keeps a thin bar at the right edge inside.
  const double x = std::min(left, kWidth - width);
  return fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\"/>",
                     kind, std::max(x, 0.0), is_full ? 0 : 4, width,
                     is_full ? kHeight : kHeight - 8);
}

std::string row(std::string_view kind, std::string_view label, std::string_view drawing,
                std::string_view value) {
  return fmt::format(
      "<li class=\"{}\"><span class=\"label\">{}</span>"
      "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" aria-hidden=\"true\" "
      "focusable=\"false\">{}</svg><span class=\"value\">{}</span></li>\n",
      kind, label, kWidth, kHeight, drawing, value);
}

struct Sum {
  std::size_t count = 0;
  double delta_us = 0;
  void add(double us) {
    ++count;
    delta_us += drawable(us);
  }
};

class WaterfallDrawing {
 public:
  explicit WaterfallDrawing(const Waterfall& waterfall)
      : waterfall_(waterfall),
        base_us_(drawable(waterfall.base_us)),
        new_us_(drawable(waterfall.new_us)) {
    choose();
  }

  std::string html() const {
    const Axis axis = fitted_axis();
    const TimeText times = time_text(base_us_, new_us_);
    std::string rows =
        row("total", "BASE", line(axis.x(base_us_), "mark"), times.text(waterfall_.base_us));
    double at = base_us_;
    for (const WaterfallBar& bar : chosen_) {
      const double to = at + drawable(bar.delta_us);
      const std::string_view kind = kind_of(bar.delta_us, bar.is_noise);
      rows += row(kind, bar.label,
                  line(axis.x(base_us_), "grid") + line(axis.x(new_us_), "grid") +
                      rect(axis.x(std::min(at, to)), axis.x(std::max(at, to)), kind, false),
                  times.signed_text(bar.delta_us));
      at = to;
    }
    rows += row("total", "NEW", line(axis.x(new_us_), "mark"), times.text(waterfall_.new_us));
    return fmt::format(
        "<figure id=\"{}\" class=\"bars\"><figcaption>{}</figcaption>\n<ol role=\"list\">\n{}"
        "</ol></figure>\n",
        waterfall_.id, waterfall_.title, rows);
  }

 private:
  void choose() {
    const bool all_noise = std::all_of(waterfall_.bars.begin(), waterfall_.bars.end(),
                                       [](const auto& bar) { return bar.is_noise; });
    Sum smaller, noise, drawn;
    for (const WaterfallBar& bar : waterfall_.bars) {
      const bool takes =
          all_noise ? chosen_.size() < kMaxNoiseBars : !bar.is_noise && chosen_.size() < kMaxBars;
      drawn.add(bar.delta_us);
      if (takes) {
        chosen_.push_back(bar);
      } else {
        (bar.is_noise ? noise : smaller).add(bar.delta_us);
      }
    }
    add_sum(smaller, "smaller changes", false);
    add_sum(noise, fmt::format("{} within noise", waterfall_.what), true);
    add_remainder(drawn.delta_us);
  }

  void add_sum(const Sum& sum, std::string_view what, bool is_noise) {
    if (sum.count == 0) return;
    chosen_.push_back({fmt::format("<i>{} {}</i>", sum.count, what), sum.delta_us, is_noise});
  }

  // The bars do not add up exactly, because totals and bars are medians of different values.
  void add_remainder(double drawn_us) {
    const double rest = new_us_ - base_us_ - drawn_us;
    const double whole = std::max(std::abs(base_us_), std::abs(new_us_));
    constexpr double kSeen = 5e-4;
    if (std::abs(rest) > kSeen * whole)
      chosen_.push_back({fmt::format("<i>not in these {}</i>", waterfall_.what), rest, true});
  }

  Axis fitted_axis() const {
    double low = std::min(base_us_, new_us_);
    double high = std::max(base_us_, new_us_);
    double at = base_us_;
    for (const WaterfallBar& bar : chosen_) {
      at += drawable(bar.delta_us);
      low = std::min(low, at);
      high = std::max(high, at);
    }
    const double margin = (high - low) / 40;
    return {low - margin, high + margin};
  }

  const Waterfall& waterfall_;
  double base_us_;
  double new_us_;
  std::vector<WaterfallBar> chosen_;
};

}  // namespace

std::string waterfall_html(const Waterfall& waterfall) {
  return WaterfallDrawing(waterfall).html();
}

std::string totals_html(double base_us, double new_us, double noise_us, bool is_noise) {
  const double base = std::max(drawable(base_us), 0.0);
  const double now = std::max(drawable(new_us), 0.0);
  const double noise = std::max(drawable(noise_us), 0.0);
  const Axis axis(0, std::max(base + noise, now));
  const std::string band =
      rect(axis.x(std::max(base - noise, 0.0)), axis.x(base + noise), "band", true);
  const std::string_view kind = kind_of(new_us - base_us, is_noise);
  const TimeText times = time_text(base_us, new_us);
  return fmt::format(
      "<figure id=\"totals\" class=\"bars\"><figcaption>Device time of both; the pale band is what "
      "noise may add or take</figcaption>\n<ol role=\"list\">\n{}{}</ol></figure>\n",
      row("total", "BASE", band + rect(0, axis.x(base), "base", false), times.text(base_us)),
      row("total", "NEW", band + rect(0, axis.x(now), kind, false), times.text(new_us)));
}

}  // namespace msprof::html
