// A chart that leads from one total to another: each bar starts where the previous one ended. Each
// HTML row has a small SVG, so that the chart fits any width and is readable as a list.
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
  std::string id;     // element id
  std::string title;  // HTML
  std::string what;   // "operators"; used in the label of combined bars
  double base_us = 0;
  double new_us = 0;
  std::vector<WaterfallBar> bars;  // all bars, largest change first
};

// Draws the largest changes. Smaller changes, changes within noise, and the remainder to the total
// get one combined bar each.
std::string waterfall_html(const Waterfall& waterfall);

// Draws the two totals, starting at zero, with the noise range around the first.
std::string totals_html(double base_us, double new_us, double noise_us, bool is_noise);

}  // namespace msprof::html
