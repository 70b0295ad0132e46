// Components of HTML reports: texts, figures, style sheet and script.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/compare/comparison.hpp"
#include "analyze/compare/comparison_tables.hpp"

namespace msprof::html {

// Maximum width of names and sentences, in columns; longer ones are shortened.
inline constexpr int kNameWidth = 120;
inline constexpr int kSentenceWidth = 600;

// Returns valid UTF-8 without control characters, at most `width` columns, with `<>&"'` escaped.
std::string escaped(std::string_view text, int width = kNameWidth);
// Returns the escaped text inside <bdi>, so that right-to-left names do not affect the text around
// it.
std::string name(std::string_view text);
// Joins names with `between`; long lists are shortened to a few names and a count.
std::string names(const std::vector<std::string>& texts, std::string_view between);

// Returns "conv1+bn1+relu1 → conv1"; "-" if neither side has a name.
std::string join_names(const cell::Names& names);
// Returns the name of an operator on both sides: "conv1+bn1+relu1 → conv1".
std::string op_name(const OpChange& op);

// Returns "14190.123", "+12.300"; "-" for missing values and non-numbers.
std::string fixed(std::optional<double> value, int decimals = 3);
std::string signed_fixed(std::optional<double> value, int decimals = 3);
// Formats times of one chart in one unit: ms if `most_us` is at least 1 ms, else us.
class TimeText {
 public:
  explicit TimeText(double most_us);
  std::string text(double us) const;         // "14.190 ms"
  std::string signed_text(double us) const;  // "-9.109 ms"

 private:
  bool is_ms_;
};
// Returns the format for a chart of the change between two totals.
TimeText time_text(double base_us, double new_us);

// Returns the CSS class of rows and bars: "faster", "slower" or "noise".
std::string_view change_class(double delta_us, bool is_noise);

// Returns a section with a heading; all texts but `id` are HTML.
std::string section(std::string_view id, std::string_view title, const std::string& content);
// Returns a labelled number for the page header.
std::string figure(std::string_view id, std::string_view what, const std::string& value);

// The report's style sheet and script with their hashes for the Content-Security-Policy.
struct Asset {
  std::string_view text;
  std::string_view sha256;  // of `text`, 64 hexadecimal digits
};

// Converts a hexadecimal hash to base64, as used in a Content-Security-Policy.
std::string hex_to_base64(std::string_view hex);

extern const Asset kStyle;
extern const Asset kScript;

}  // namespace msprof::html
