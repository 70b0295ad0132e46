// Text, names and numbers of a Comparison in HTML. For html_report().
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

// "conv1+bn1+relu1 → conv1": an operator as both sides call it; its type.
std::string op_name(const OpChange& op);
std::string op_type(const OpChange& op);

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

}  // namespace msprof::html
