// A picture from one total to another: a bar for each change, begun where the one before it ended.
// HTML rows with a small SVG each, so that it fits any width and reads as a list. For
// html_report().
#pragma once

#include <string>
#include <vector>

namespace msprof::html {

struct WaterfallBar {
  std::string label;  // HTML
  double delta_us = 0;
  bool is_noise = false;
};

struct Waterfall {
  std::string id;     // of its element
  std::string title;  // HTML
  std::string what;   // "operators", for the bars that stand for several
  double base_us = 0;
  double new_us = 0;
  std::vector<WaterfallBar> bars;  // all of them, the largest change first
};

// The largest changes are drawn, the smaller ones and those within noise as one bar each; what the
// bars do not add up to is a bar, too.
std::string waterfall_html(const Waterfall& waterfall);

// The two totals from zero, with the noise around the first.
std::string totals_html(double base_us, double new_us, double noise_us, bool is_noise);

}  // namespace msprof::html
