#include "doctor/python_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kMaxDepth = 30;      // nesting of parentheses and variables; typical code has up to
                                   // five levels
constexpr int kMaxTerms = 10'000;  // per expression, including its variables
constexpr std::size_t kMaxTextBytes = 1 << 20;
constexpr std::string_view kOpening = "([{";
constexpr std::string_view kClosing = ")]}";
// Functions that leave a text unchanged for our purpose.
constexpr std::array<std::string_view, 6> kConversions = {"as_bytes", "as_text", "as_str",
                                                          "bytes",    "str",     "b"};

bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || byte >= 0x80;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | ((code >> 18) & 0x07));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<PythonToken> read() {
    while (at_ < text_.size()) read_one();
    return std::move(tokens_);
  }

 private:
  char byte(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void add(PythonTokenKind kind, std::size_t length) {
    PythonToken token;
    token.kind = kind;
    token.at = at_;
    token.source = text_.substr(at_, length);
    tokens_.push_back(std::move(token));
    at_ += length;
  }

  void read_one() {
    const char c = byte();
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n') {
      if (depth_ == 0) {
        add(PythonTokenKind::line_end, 1);
      } else {
        ++at_;
      }
    } else if (c == '\\' && (byte(1) == '\n' || (byte(1) == '\r' && byte(2) == '\n'))) {
      at_ += byte(1) == '\n' ? 2U : 3U;
    } else if (c == '"' || c == '\'') {
      read_text("");
    } else if (is_digit(c)) {
      read_number();
    } else if (is_name_byte(c)) {
      read_name();
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\\') {
      ++at_;
    } else {
      read_sign();
    }
  }

  void read_number() {
    std::size_t length = 1;
    while (is_name_byte(byte(length)) || byte(length) == '.') ++length;
    add(PythonTokenKind::number, length);
  }

  void read_name() {
    std::size_t length = 1;
    while (is_name_byte(byte(length))) ++length;
    const std::string_view name = text_.substr(at_, length);
    const bool is_prefix =
        length <= 2 && name.find_first_not_of("rRbBuUfFtT") == std::string_view::npos;
    if (is_prefix && (byte(length) == '"' || byte(length) == '\'')) {
      at_ += length;
      return read_text(lower_ascii(name));
    }
    add(PythonTokenKind::name, length);
  }

  void read_sign() {
    const char c = byte();
    if (kOpening.find(c) != std::string_view::npos) ++depth_;
    if (kClosing.find(c) != std::string_view::npos && depth_ > 0) --depth_;
    const bool is_double =
        byte(1) == '=' && std::string_view("=!<>:+-*/%|&^@").find(c) != std::string_view::npos;
    add(PythonTokenKind::sign, is_double ? 2 : 1);
  }

  void read_text(const std::string& prefix) {
    PythonToken token;
    token.kind = PythonTokenKind::text;
    token.at = at_;
    token.is_constant = prefix.find_first_of("ft") == std::string::npos;
    const bool is_raw = prefix.find('r') != std::string::npos;
    const char quote = byte();
    const bool is_triple = byte(1) == quote && byte(2) == quote;
    at_ += is_triple ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = byte();
      if (c == quote && (!is_triple || (byte(1) == quote && byte(2) == quote))) {
        at_ += is_triple ? 3 : 1;
        tokens_.push_back(std::move(token));
        return;
      }
      if (c == '\n' && !is_triple) break;
      if (c == '\\' && at_ + 1 < text_.size()) {
        read_escape(token, is_raw);
      } else {
        take(token, std::string(1, c), 1);
      }
    }
    token.is_constant = false;
    tokens_.push_back(std::move(token));
  }

  // Appends bytes that result from `length` bytes of source.
  void take(PythonToken& token, const std::string& bytes, std::size_t length) {
    token.value += bytes;
    token.origins.insert(token.origins.end(), bytes.size(), static_cast<std::uint32_t>(at_));
    at_ = std::min(at_ + length, text_.size());
  }

  void read_escape(PythonToken& token, bool is_raw) {
    const char c = byte(1);
    if (is_raw) return take(token, std::string(text_.substr(at_, 2)), 2);
    if (c == '\n') return take(token, "", 2);
    if (c == '\r' && byte(2) == '\n') return take(token, "", 3);
    constexpr std::string_view kNames = "\\'\"abfnrtv";
    constexpr std::string_view kBytes = "\\'\"\a\b\f\n\r\t\v";
    const std::size_t known = kNames.find(c);
    if (known != std::string_view::npos) return take(token, std::string(1, kBytes[known]), 2);
    if (c >= '0' && c <= '7') return read_code(token, 1, 3, 8);
    if (c == 'x') return read_code(token, 2, 2, 16);
    if (c == 'u') return read_code(token, 2, 4, 16);
    if (c == 'U') return read_code(token, 2, 8, 16);
    take(token, std::string(text_.substr(at_, 2)), 2);
  }

  // Reads a character code of at most `digits` digits, which starts after `skip` bytes.
  void read_code(PythonToken& token, std::size_t skip, std::size_t digits, int base) {
    std::size_t length = 0;
    while (length < digits &&
           (base == 8 ? byte(skip + length) >= '0' && byte(skip + length) <= '7'
                      : std::isxdigit(static_cast<unsigned char>(byte(skip + length))) != 0)) {
      ++length;
    }
    if (length == 0) return take(token, std::string(text_.substr(at_, 2)), 2);
    const std::string number(text_.substr(at_ + skip, length));
    std::string bytes;
    append_utf8(bytes, static_cast<std::uint32_t>(std::stoul(number, nullptr, base)));
    take(token, bytes, skip + length);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<PythonToken> tokens_;
};

using Assigned = std::map<std::string, std::vector<std::size_t>, std::less<>>;

// Evaluates one expression, from left to right.
class TextReader {
 public:
  TextReader(const PythonSource& source, const Assigned& assigned, std::size_t index, int depth,
             int& terms)
      : source_(source), assigned_(assigned), index_(index), depth_(depth), terms_(terms) {}

  // Reads the complete expression, up to its delimiter.
  std::optional<PythonText> read() {
    auto text = read_sum();
    const bool is_end = index_ >= source_.tokens().size() ||
                        source_.tokens()[index_].kind == PythonTokenKind::line_end || is(",") ||
                        is(")") || is("]") || is("}") || is(";");
    return is_end ? text : std::nullopt;
  }

 private:
  bool is(std::string_view source) const { return source_.is(index_, source); }

  std::optional<PythonText> read_sum() {
    if (depth_ > kMaxDepth) return std::nullopt;
    auto sum = read_term();
    while (sum && is("+")) {
      ++index_;
      const auto more = read_term();
      if (!more || sum->value.size() > kMaxTextBytes) return std::nullopt;
      append(*sum, more->value, more->origins);
    }
    return sum;
  }

  static void append(PythonText& text, const std::string& value,
                     const std::vector<std::uint32_t>& origins) {
    text.value += value;
    text.origins.insert(text.origins.end(), origins.begin(), origins.end());
  }

  std::optional<PythonText> read_term() {
    auto term = read_primary();
    // "…".encode("utf-8") leaves the bytes unchanged.
    while (term && is(".") && source_.is(index_ + 1, "encode") && source_.is(index_ + 2, "(")) {
      index_ += 3;
      while (index_ < source_.tokens().size() && !is(")")) ++index_;
      ++index_;
    }
    return term;
  }

  std::optional<PythonText> read_primary() {
    const auto& tokens = source_.tokens();
    if (index_ >= tokens.size() || --terms_ < 0) return std::nullopt;
    if (tokens[index_].kind == PythonTokenKind::text) return read_literals();
    if (is("(")) return read_parentheses();
    return tokens[index_].kind == PythonTokenKind::name ? read_name() : std::nullopt;
  }

  std::optional<PythonText> read_literals() {
    PythonText text;
    const auto& tokens = source_.tokens();
    for (; index_ < tokens.size() && tokens[index_].kind == PythonTokenKind::text; ++index_) {
      if (!tokens[index_].is_constant) return std::nullopt;
      append(text, tokens[index_].value, tokens[index_].origins);
    }
    return text;
  }

  std::optional<PythonText> read_parentheses() {
    ++index_;
    ++depth_;
    auto text = read_sum();
    --depth_;
    if (!text) return std::nullopt;
    if (is(",")) {  // as_bytes("…", "utf-8")
      while (index_ < source_.tokens().size() && !is(")")) ++index_;
    }
    if (!is(")")) return std::nullopt;
    ++index_;
    return text;
  }

  std::optional<PythonText> read_name() {
    const auto& tokens = source_.tokens();
    std::string_view last = tokens[index_].source;
    bool is_plain = true;
    for (++index_; is(".") && index_ + 1 < tokens.size(); index_ += 2) {
      last = tokens[index_ + 1].source;
      is_plain = false;
    }
    if (is("(")) {
      const bool is_known =
          std::find(kConversions.begin(), kConversions.end(), last) != kConversions.end();
      return is_known ? read_parentheses() : std::nullopt;
    }
    const auto found = is_plain ? assigned_.find(last) : assigned_.end();
    if (found == assigned_.end()) return std::nullopt;
    // The last assignment before this token.
    const auto& values = found->second;
    const auto next = std::lower_bound(values.begin(), values.end(), index_ - 1);
    if (next == values.begin()) return std::nullopt;
    return TextReader(source_, assigned_, *(next - 1), depth_ + 1, terms_).read();
  }

  const PythonSource& source_;
  const Assigned& assigned_;
  std::size_t index_;
  int depth_;
  int& terms_;  // remaining
};

}  // namespace

PythonSource::PythonSource(std::string_view text) : text_(text), tokens_(Tokenizer(text).read()) {
  for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
    const bool begins = i == 0 || tokens_[i - 1].kind == PythonTokenKind::line_end ||
                        is(i - 1, ";") || is(i - 1, ":");
    if (begins && tokens_[i].kind == PythonTokenKind::name && is(i + 1, "=")) {
      assigned_[std::string(tokens_[i].source)].push_back(i + 2);
    }
  }
}

bool PythonSource::is(std::size_t index, std::string_view source) const {
  return index < tokens_.size() && tokens_[index].kind != PythonTokenKind::text &&
         tokens_[index].source == source;
}

bool PythonSource::is_text(std::size_t index, std::string_view value) const {
  return index < tokens_.size() && tokens_[index].kind == PythonTokenKind::text &&
         tokens_[index].value == value;
}

std::optional<PythonText> PythonSource::text_at(std::size_t index) const {
  int terms = kMaxTerms;
  return TextReader(*this, assigned_, index, 0, terms).read();
}

std::size_t PythonSource::line_number(std::size_t at) const {
  const std::string_view before = text_.substr(0, at);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::string PythonSource::position_text(std::size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const std::size_t line = before.rfind('\n');
  const std::string_view in_line = before.substr(line == std::string_view::npos ? 0 : line + 1);
  const auto column = std::count_if(in_line.begin(), in_line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return fmt::format("{}:{}", line_number(at), column + 1);
}

}  // namespace msprof
