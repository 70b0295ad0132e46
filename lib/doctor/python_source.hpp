// Tokenizes a Python file, well enough to find assignments and to evaluate constant texts. Executes
// nothing. Used by the checks of scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class PythonTokenKind { name, text, number, sign, line_end };

struct PythonToken {
  PythonTokenKind kind = PythonTokenKind::sign;
  std::size_t at = 0;       // name or sign, as in the source: "profiling_options", "=", "=="
  std::string_view source;  // name or sign: "profiling_options", "=", "=="
  // For a text: its value, and the source offset of each byte of it.
  std::string value;
  std::vector<std::uint32_t> origins;
  bool is_constant = true;  // false: an f-string, or an unterminated text
};

// Value of an expression that is a constant text.
struct PythonText {
  std::string value;
  std::vector<std::uint32_t> origins;
};

class PythonSource {
 public:
  // `text` must outlive the object.
  explicit PythonSource(std::string_view text);

  const std::vector<PythonToken>& tokens() const { return tokens_; }
  // Returns true if the token at `index` is this name or sign; false after the last token.
  bool is(std::size_t index, std::string_view source) const;
  bool is_text(std::size_t index, std::string_view value) const;

  // Evaluates the expression that starts at `index`: literals, concatenations, parentheses,
  // conversions to bytes, and variables with such values. Returns nullopt for any other expression.
  std::optional<PythonText> text_at(std::size_t index) const;

  std::size_t line_number(std::size_t at) const;
  // "12:7"; the column counts characters from 1.
  std::string position_text(std::size_t at) const;

 private:
  std::string_view text_;
  std::vector<PythonToken> tokens_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> assigned_;  // token indexes
};

}  // namespace msprof
