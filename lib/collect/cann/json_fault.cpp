#include "collect/cann/json_fault.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kMaxShownText = 40;
constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kEscapes = "\"\\/bfnrtu";
constexpr std::string_view kEndsWord = " \t\r\n\",:{}[]";

std::string shown_text(std::string_view text) {
  return shorten(printable(text), kMaxShownText);
}

// Reads one key after the other and stops at the first text that is not valid JSON.
class FaultFinder {
 public:
  explicit FaultFinder(std::string_view text) : text_(text) {}

  std::optional<JsonFault> find() {
    skip_blanks();
    if (!is_next('{')) return fault(at_, "the { at the beginning is missing");
    ++at_;
    skip_blanks();
    if (is_next('}')) {
      ++at_;
      return after_end();
    }
    for (;;) {
      if (read_member()) return fault_;
      skip_blanks();
      if (is_next('}')) {
        ++at_;
        return after_end();
      }
      if (!is_next(',')) return between_members();
      comma_ = at_++;
    }
  }

 private:
  bool is_at_end() const { return at_ >= text_.size(); }
  bool is_next(char c) const { return !is_at_end() && text_[at_] == c; }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(kBlank, at_), text_.size()); }

  std::string_view word() const {
    const std::size_t end = std::min(text_.find_first_of(kEndsWord, at_), text_.size());
    return text_.substr(at_, end - at_);
  }

  std::optional<JsonFault> fault(std::size_t at, std::string what) {
    fault_ = JsonFault{at, std::move(what)};
    return fault_;
  }
  bool failed(std::size_t at, std::string what) { return fault(at, std::move(what)).has_value(); }

  // This function and the next two return true if a fault was found.
  bool read_member() {
    skip_blanks();
    if (read_key()) return true;
    skip_blanks();
    if (!is_next(':')) return no_colon();
    ++at_;
    skip_blanks();
    return read_value();
  }

  bool read_key() {
    if (is_next('"')) {
      if (read_text(":,}")) return true;
      key_ = last_;
      key_at_ = last_at_;
      return false;
    }
    if (is_at_end()) return failed(at_, "the } at the end is missing");
    if (is_next('}')) return failed(comma_, "extra comma before the }");
    if (is_next(',')) return failed(at_, "extra comma");
    return bare_word("expected a key in quotes");
  }

  bool no_colon() {
    const std::size_t colon = key_.find(':');
    if (colon != std::string_view::npos) {
      return failed(key_at_ + colon, fmt::format("the quote after {} is missing",
                                                 shown_text(key_.substr(0, colon))));
    }
    return failed(at_, fmt::format("the colon after \"{}\" is missing", shown_text(key_)));
  }

  bool read_value() {
    last_ = {};
    if (is_next('"')) return read_text(",}");
    if (is_next('{') || is_next('[')) return skip_nested();
    if (is_at_end() || is_next(',') || is_next('}')) {
      return failed(at_, fmt::format("the value of \"{}\" is missing", shown_text(key_)));
    }
    const std::string_view bare = word();
    const bool is_number =
        bare.find_first_not_of("0123456789+-.eE") == std::string_view::npos && !bare.empty();
    if ((is_number || bare == "true" || bare == "false" || bare == "null") &&
        text_.substr(at_ + bare.size()).find('"') != 0) {
      at_ += bare.size();
      return false;
    }
    return bare_word("expected a value");
  }

  // Reads a string up to the next quote. A string without a closing quote is assumed to end at one
  // of `ends`.
  bool read_text(std::string_view ends) {
    last_at_ = ++at_;
    for (; !is_at_end() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) {
        return failed(at_, "line break or other control character inside the quotes");
      }
      if (text_[at_] != '\\') continue;
      if (++at_ < text_.size() && kEscapes.find(text_[at_]) == std::string_view::npos) {
        return failed(at_ - 1, "this backslash does not start a valid JSON escape");
      }
    }
    if (is_at_end()) {
      const std::size_t end = std::min(text_.find_first_of(ends, last_at_), text_.size());
      return failed(end, fmt::format("the quote after {} is missing",
                                     shown_text(text_.substr(last_at_, end - last_at_))));
    }
    last_ = text_.substr(last_at_, at_ - last_at_);
    ++at_;
    return false;
  }

  bool bare_word(std::string_view expected) {
    if (is_next('\'')) return failed(at_, "JSON requires double quotes, not single quotes");
    const std::string_view bare = word();
    if (bare.empty()) return failed(at_, std::string(expected));
    const bool has_end = text_.substr(at_ + bare.size()).starts_with('"');
    return failed(at_,
                  fmt::format("the {} {} {} missing", has_end ? "quote before" : "quotes around",
                              shown_text(bare), has_end ? "is" : "are"));
  }

  bool skip_nested() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
      if (is_at_end()) return failed(begin, "this bracket is not closed");
      const char c = text_[at_];
      if (c == '"') {
        if (read_text("")) return true;
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    } while (depth > 0);
    return false;
  }

  std::optional<JsonFault> between_members() {
    if (is_at_end()) return fault(at_, "the } at the end is missing");
    // In "output":"/tmp,"l2":… the closing quote is missing, and the next quote ends the value.
    const std::size_t comma = last_.rfind(',');
    if (comma != std::string_view::npos && !is_next('"')) {
      return fault(last_at_ + comma, fmt::format("the quote after {} is missing",
                                                 shown_text(last_.substr(0, comma))));
    }
    return fault(at_,
                 fmt::format("the comma after the value of \"{}\" is missing", shown_text(key_)));
  }

  std::optional<JsonFault> after_end() {
    skip_blanks();
    if (is_at_end()) return std::nullopt;
    return fault(at_, "text after the closing }");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t comma_ = 0;  // position of the last comma
  std::string_view key_;
  std::size_t key_at_ = 0;
  std::string_view last_;  // last quoted text
  std::size_t last_at_ = 0;
  std::optional<JsonFault> fault_;
};

}  // namespace

std::optional<JsonFault> find_json_fault(std::string_view text) {
  return FaultFinder(text).find();
}

}  // namespace msprof
