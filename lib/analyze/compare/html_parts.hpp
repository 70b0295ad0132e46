// The parts of the report of a comparison as one page: texts, tables, the waterfall, and the files
// that go into it. For html_report().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare/comparison.hpp"

namespace msprof::html {

// Columns that a name, and a sentence, may take; longer ones are shortened.
inline constexpr int kNameWidth = 120;
inline constexpr int kSentenceWidth = 600;

// Valid UTF-8 without control characters, at most `width` columns, `<>&"'` escaped.
std::string escaped(std::string_view text, int width = kNameWidth);
// The same in <bdi>, so that a name cannot turn the text around it.
std::string name(std::string_view text);
// Several names with `between`; many are shortened to a few and how many more there are.
std::string names(const std::vector<std::string>& texts, std::string_view between);

// "conv1+bn1+relu1 → conv1": an operator as both sides call it.
std::string op_name(const OpChange& op);

// "14190.123", "+12.300", "-" where there is none or it is no number.
std::string fixed(std::optional<double> value, int decimals = 3);
std::string signed_fixed(std::optional<double> value, int decimals = 3);
// The unit that fits a whole picture: "ms" where `most_us` reaches 1 ms, else "us".
class TimeText {
 public:
  explicit TimeText(double most_us);
  std::string text(double us) const;         // "14.190 ms"
  std::string signed_text(double us) const;  // "-9.109 ms"

 private:
  bool is_ms_;
};
// For two totals and what they are made of.
TimeText time_text(double base_us, double new_us);

// "faster", "slower" or "noise": the class of rows and bars.
std::string_view kind_of(double delta_us, bool is_noise);

// A part of the page with a heading; texts are HTML.
std::string section(std::string_view id, std::string_view title, const std::string& content);
// A number of the head of a page, with what it is.
std::string figure(std::string_view id, std::string_view what, const std::string& value);

// The tables of a Comparison: operators, types, ratios, calls, ranges, counters. Sections with a
// heading; empty where there is nothing to show.
std::string ops_section(const Comparison& comparison);
std::string types_section(const Comparison& comparison);
std::string ratios_section(const Comparison& comparison);
std::string calls_section(const Comparison& comparison);
std::string ranges_section(const Comparison& comparison);
std::string counters_section(const Comparison& comparison);

// A picture from one total to another: a bar for each change, begun where the one before it ended.
// HTML rows with a small SVG each, so that it fits any width and reads as a list.
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

// The style sheet and the script of the report, held as text, with their hashes for its
// Content-Security-Policy.
struct Asset {
  std::string_view text;
  std::string_view sha256;  // 64 hexadecimal digits, of `text`
};

// Hexadecimal digits of a hash as a Content-Security-Policy writes it.
std::string base64_of_hex(std::string_view hex);

extern const Asset kStyle;
extern const Asset kScript;

}  // namespace msprof::html
