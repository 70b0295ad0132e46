// A Python file as words: enough to find what it assigns, and to join the texts that Python would
// join. Nothing is executed. For the checks of scripts.
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
  std::size_t at = 0;       // byte of the source
  std::string_view source;  // name or sign: "profiling_options", "=", "=="
  // Of a text: what Python makes of it, and the byte of the source for each of its bytes.
  std::string value;
  std::vector<std::uint32_t> origins;
  bool is_constant = true;  // false: an f-string, or one without end
};

// What an expression is where that can be seen.
struct PythonText {
  std::string value;
  std::vector<std::uint32_t> origins;
};

class PythonSource {
 public:
  // `text` must outlive the object.
  explicit PythonSource(std::string_view text);

  const std::vector<PythonToken>& tokens() const { return tokens_; }
  // True if the token at `index` is this name or sign; false behind the end.
  bool is(std::size_t index, std::string_view source) const;
  bool is_text(std::size_t index, std::string_view value) const;

  // The text that the expression beginning at `index` has: literals, their sums, parentheses,
  // conversions to bytes, and variables that are assigned such texts. Nothing for all others.
  std::optional<PythonText> text_at(std::size_t index) const;

  std::size_t line_of(std::size_t at) const;
  // "12:7"; the column counts characters from 1.
  std::string place_of(std::size_t at) const;

 private:
  std::string_view text_;
  std::vector<PythonToken> tokens_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> assigned_;  // indexes of values
};

}  // namespace msprof
