#include "analyze/compare/html_waterfall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyze/compare/html_parts.hpp"

namespace msprof::html {

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
      const std::string_view kind = change_class(bar.delta_us, bar.is_noise);
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
      chosen_.push_back({fmt::format("<i>outside these {}</i>", waterfall_.what), rest, true});
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
  const std::string_view kind = change_class(new_us - base_us, is_noise);
  const TimeText times = time_text(base_us, new_us);
  return fmt::format(
      "<figure id=\"totals\" class=\"bars\"><figcaption>Device time of BASE and NEW; the pale band "
      "is the noise range</figcaption>\n<ol role=\"list\">\n{}{}</ol></figure>\n",
      row("total", "BASE", band + rect(0, axis.x(base), "base", false), times.text(base_us)),
      row("total", "NEW", band + rect(0, axis.x(now), kind, false), times.text(new_us)));
}

}  // namespace msprof::html
