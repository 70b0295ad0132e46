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
// Returns a labelled value, which is HTML, for the page header.
std::string figure(std::string_view id, std::string_view what, const std::string& value);
// Returns a labelled text for the page header.
std::string figure(std::string_view what, std::string_view text);
// Returns a list with a heading, made of <li> elements; empty if there are none.
std::string warnings_section(std::string_view title, const std::string& items);
std::string noise_paragraph(std::string_view noise_basis);
// Returns the controls that hide rows of tables.
std::string controls();

// A style sheet or script with its hash for the Content-Security-Policy.
struct Asset {
  std::string_view text;
  std::string_view sha256;  // of `text`, 64 hexadecimal digits
};

extern const Asset kStyle;
extern const Asset kScript;

using Assets = std::vector<Asset>;

// Returns a page up to </head>. `title` is HTML, `attributes` are those of the html element.
std::string page_head(std::string_view title, const Assets& styles, const Assets& scripts,
                      std::string_view attributes = "lang=\"en\"");
// Returns the header of a page in English; all texts are HTML. `kind`: CSS class of the verdict,
// may be empty.
std::string page_header(std::string_view brand, std::string_view title, std::string_view kind,
                        std::string_view verdict, std::string_view figures);
// Returns the end of a page, from </main>. `data` is HTML before the scripts.
std::string page_end(const Assets& scripts, std::string_view data = "");

// Converts a hexadecimal hash to base64, as used in a Content-Security-Policy.
std::string hex_to_base64(std::string_view hex);
// Returns " class=..."; empty for an empty class.
std::string class_attribute(std::string_view css_class);

}  // namespace msprof::html
