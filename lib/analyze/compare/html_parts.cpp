#include "analyze/compare/html_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

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

namespace {

// A browser sorts and scrolls so many without a pause.
constexpr std::size_t kMostRows = 1000;

enum class Cell { text, number, change };

struct Column {
  std::string_view title;
  Cell cell = Cell::number;
};

std::string_view class_of(const Column& column) {
  switch (column.cell) {
    case Cell::text:
      return "";
    case Cell::number:
      return " class=\"n\"";
    case Cell::change:
      break;
  }
  return " class=\"n change\"";
}

class TableHtml {
 public:
  TableHtml(std::string id, std::string caption, std::vector<Column> columns)
      : id_(std::move(id)), caption_(std::move(caption)), columns_(std::move(columns)) {}

  bool is_full() const { return rows_ >= kMostRows; }
  std::size_t rows() const { return rows_; }

  // Cells are HTML, as many as columns.
  void add(std::string_view kind, const std::vector<std::string>& cells) {
    ++rows_;
    body_ += fmt::format("<tr class=\"{}\"><th scope=\"row\">{}</th>", kind, cells[0]);
    for (std::size_t i = 1; i < cells.size(); ++i)
      body_ += fmt::format("<td{}>{}</td>", class_of(columns_[i]), cells[i]);
    body_ += "</tr>\n";
  }

  // `total`: rows that there are, of which the table may have less.
  std::string html(std::size_t total) const {
    std::string head;
    for (const Column& column : columns_)
      head += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(column), column.title);
    const std::string note = total <= rows_
                                 ? ""
                                 : fmt::format(
                                       "<p class=\"note\">The {} largest changes of {}; --csv and "
                                       "--json of msprof compare have all.</p>\n",
                                       rows_, total);
    return fmt::format(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n<table id=\"{}\">"
        "<caption>{}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n{}",
        caption_, id_, caption_, head, body_, note);
  }

 private:
  std::string id_;
  std::string caption_;
  std::vector<Column> columns_;
  std::string body_;
  std::size_t rows_ = 0;
};

std::string section(std::string_view id, std::string_view title, const std::string& content) {
  return fmt::format("<section aria-labelledby=\"h-{}\">\n<h2 id=\"h-{}\">{}</h2>\n{}</section>\n",
                     id, id, title, content);
}

std::string_view match_text(const OpChange& op) {
  switch (op.matched_by) {
    case MatchedBy::name:
      return "name";
    case MatchedBy::shape:
      return "type, shape, order";
    case MatchedBy::fusion:
      return "fusion";
    case MatchedBy::unmatched:
      break;
  }
  return op.new_names.empty() ? "only in BASE" : "only in NEW";
}

std::string percent(const Change& change) {
  return signed_fixed(change.new_us ? change.percent() : std::nullopt, 1);
}

// A share of a change that is noise means nothing.
std::string share(const Comparison& comparison, double value) {
  return comparison.verdict == Verdict::noise ? "-" : fixed(value, 1);
}

std::string_view kind_of_change(const Change& change) {
  return kind_of(change.delta_us(), change.is_noise());
}

std::string counts_text(std::int64_t base, std::int64_t now) {
  return base == now ? std::to_string(base) : fmt::format("{} → {}", base, now);
}

// base, new, change, change in %, noise: what every table has of a time.
void add_time(std::vector<std::string>& cells, const Change& change) {
  cells.push_back(fixed(change.base_us));
  cells.push_back(fixed(change.new_us));
  cells.push_back(signed_fixed(change.delta_us()));
  cells.push_back(percent(change));
  cells.push_back(fixed(change.noise_us));
}

}  // namespace

std::string ops_section(const Comparison& comparison) {
  TableHtml table(
      "ops",
      fmt::format("Operators, us {}; grey: within noise", escaped(per_unit(comparison.unit))),
      {{"Operator", Cell::text},
       {"Base us"},
       {"New us"},
       {"Change us", Cell::change},
       {"Change %", Cell::change},
       {"Noise us"},
       {"Share %"},
       {"Count"},
       {"Type", Cell::text},
       {"Unit", Cell::text},
       {"Matched by", Cell::text}});
  for (const OpChange& op : comparison.ops) {
    if (table.is_full()) break;
    std::vector<std::string> cells = {op_name(op)};
    add_time(cells, op.time);
    cells.push_back(share(comparison, op.share));
    cells.push_back(counts_text(op.base_count, op.new_count));
    cells.push_back(op_type(op));
    cells.push_back(op.unit.empty() ? "-" : name(op.unit));
    cells.emplace_back(match_text(op));
    table.add(kind_of_change(op.time), cells);
  }
  const MatchCounts& counts = comparison.matches;
  std::string content = fmt::format(
      "<p id=\"matches\">{} matched by name, {} by type, shape and order, {} by fusion; {} only in "
      "BASE, {} only in NEW.</p>\n",
      counts.by_name, counts.by_shape, counts.by_fusion, counts.only_base, counts.only_new);
  content += comparison.ops.empty() ? "<p>No operator on either side.</p>\n"
                                    : table.html(comparison.ops.size());
  return section("ops", "Operators", content);
}

std::string types_section(const Comparison& comparison) {
  if (comparison.types.empty()) return "";
  TableHtml table("types",
                  fmt::format("Types of operators, us {}", escaped(per_unit(comparison.unit))),
                  {{"Type", Cell::text},
                   {"Base us"},
                   {"New us"},
                   {"Change us", Cell::change},
                   {"Change %", Cell::change},
                   {"Noise us"},
                   {"Share %"},
                   {"Operators"}});
  for (const TypeChange& type : comparison.types) {
    if (table.is_full()) break;
    std::vector<std::string> cells = {name(type.type)};
    add_time(cells, type.time);
    cells.push_back(share(comparison, type.share));
    cells.push_back(counts_text(type.base_ops, type.new_ops));
    table.add(kind_of_change(type.time), cells);
  }
  return section("types", "Types", table.html(comparison.types.size()));
}

std::string ratios_section(const Comparison& comparison) {
  TableHtml table(
      "ratios", "Ratios and loads of operators that moved",
      {{"Operator", Cell::text}, {"Ratio", Cell::text}, {"Base"}, {"New"}, {"Difference"}});
  std::size_t total = 0;
  for (const OpChange& op : comparison.ops) {
    for (const RatioChange& ratio : op.ratios) {
      ++total;
      if (table.is_full()) continue;
      table.add("ratio", {op_name(op), name(ratio.name), fixed(ratio.base), fixed(ratio.now),
                          signed_fixed(ratio.now - ratio.base)});
    }
  }
  return total == 0 ? "" : section("ratios", "Ratios that moved", table.html(total));
}

std::string calls_section(const Comparison& comparison) {
  if (comparison.calls.empty()) return "";
  TableHtml table("calls", "Calls on the host, us of one call",
                  {{"Call", Cell::text},
                   {"Base us"},
                   {"New us"},
                   {"Change us", Cell::change},
                   {"Change %", Cell::change},
                   {"Noise us"},
                   {"Count"}});
  for (const CallChange& call : comparison.calls) {
    if (table.is_full()) break;
    std::vector<std::string> cells = {name(call.name)};
    add_time(cells, call.time);
    cells.push_back(counts_text(call.base_count, call.new_count));
    table.add(kind_of_change(call.time), cells);
  }
  return section("calls", "Calls on the host", table.html(comparison.calls.size()));
}

namespace {

constexpr std::size_t kMostBars = 15;
constexpr std::size_t kMostNoiseBars = 6;  // where nothing changed
constexpr double kWidth = 1000;            // of the drawing, stretched to its place
constexpr double kHeight = 24;
constexpr double kThinnest = 2;  // a bar that can be seen

// What is no number, or beyond any time, has no place in a picture.
double drawable(double us) {
  constexpr double kMost = 1e15;
  return std::isfinite(us) ? std::clamp(us, -kMost, kMost) : 0;
}

// us ─► x of the drawing.
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
  // At the right edge a thin bar would be outside.
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
          all_noise ? chosen_.size() < kMostNoiseBars : !bar.is_noise && chosen_.size() < kMostBars;
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

  // Totals are medians of executions, bars are medians of their own.
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
