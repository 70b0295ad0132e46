#include "docs/comments.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace msprof::test {

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Collects the comments of one file in order.
class Gatherer {
 public:
  // `is_alone`: no code precedes the comment on its line, so it may continue the comment above.
  void add(std::size_t line, std::string_view text, bool is_alone) {
    if (is_alone && !found_.empty() && last_line_ + 1 == line) {
      found_.back().text += '\n';
      found_.back().text += text;
    } else {
      found_.push_back({line, std::string(text)});
    }
    last_line_ = line + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  std::vector<Comment> take() { return std::move(found_); }

 private:
  std::vector<Comment> found_;
  std::size_t last_line_ = 0;
};

class SlashReader {
 public:
  explicit SlashReader(std::string_view source) : source_(source) {}

  std::vector<Comment> read() {
    while (at_ < source_.size()) step();
    return comments_.take();
  }

 private:
  bool here(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  void step() {
    const char c = source_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
      has_code_ = false;
    } else if (here("//")) {
      read_line();
    } else if (here("/*")) {
      read_block();
    } else if (c == 'R' && here("R\"") && (at_ == 0 || !is_word(source_[at_ - 1]))) {
      skip_raw_text();
    } else if (c == '"' || c == '`' || (c == '\'' && !is_digit_separator())) {
      skip_text(c);
    } else {
      has_code_ = has_code_ || (c != ' ' && c != '\t' && c != '\r');
      ++at_;
    }
  }

  bool is_digit_separator() const {
    return at_ > 0 && at_ + 1 < source_.size() && is_word(source_[at_ - 1]) &&
           is_word(source_[at_ + 1]) && source_[at_ - 1] != '_';
  }

  void read_line() {
    const std::size_t end = std::min(source_.find('\n', at_), source_.size());
    std::string_view text = source_.substr(at_, end - at_);
    while (text.starts_with('/')) text.remove_prefix(1);
    comments_.add(line_, trim(text), !has_code_);
    at_ = end;
  }

  void read_block() {
    const std::size_t end = std::min(source_.find("*/", at_ + 2), source_.size());
    std::string text;
    for (const std::string_view part : split(source_.substr(at_ + 2, end - at_ - 2), '\n')) {
      if (!text.empty()) text += '\n';
      std::string_view line = trim(part);
      while (line.starts_with('*')) line.remove_prefix(1);
      text += trim(line);
    }
    comments_.add(line_, text, false);
    skip_to(std::min(end + 2, source_.size()));
  }

  void skip_raw_text() {
    has_code_ = true;
    const std::size_t open = source_.find('(', at_);
    if (open == std::string_view::npos) return skip_to(source_.size());
    const std::string close = ")" + std::string(source_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = source_.find(close, open);
    skip_to(end == std::string_view::npos ? source_.size() : end + close.size());
  }

  // A quote that is not closed on its line starts no text, except a JavaScript template.
  void skip_text(char quote) {
    has_code_ = true;
    for (std::size_t end = at_ + 1; end < source_.size(); ++end) {
      if (source_[end] == '\\') {
        ++end;
      } else if (source_[end] == quote) {
        return skip_to(end + 1);
      } else if (source_[end] == '\n' && quote != '`') {
        break;
      }
    }
    ++at_;
  }

  void skip_to(std::size_t end) {
    const std::string_view skipped = source_.substr(at_, end - at_);
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    at_ = end;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool has_code_ = false;  // on this line, before `at_`
  Gatherer comments_;
};

// Finds a '#' at the start of a word, outside quotes closed on the same line.
std::size_t find_hash(std::string_view line) {
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') && line.find(c, at + 1) != std::string_view::npos) {
      quote = c;
    } else if (c == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t')) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::vector<Comment> hash_comments(std::string_view source) {
  Gatherer comments;
  std::size_t number = 0;
  for (const std::string_view line : split(source, '\n')) {
    ++number;
    const std::size_t hash = find_hash(line);
    if (hash == std::string_view::npos) continue;
    comments.add(number, trim(line.substr(hash + 1)), trim(line.substr(0, hash)).empty());
  }
  return comments.take();
}

}  // namespace

std::optional<CommentStyle> comment_style(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 8> kSlashes = {".cpp", ".hpp", ".h",  ".c",
                                                        ".def", ".mjs", ".js", ".in"};
  constexpr std::array<std::string_view, 4> kHash = {".cmake", ".sh", ".py", ".yml"};
  const std::string extension = file.extension().string();
  if (file.filename() == "CMakeLists.txt") return CommentStyle::hash;
  if (std::find(kHash.begin(), kHash.end(), extension) != kHash.end()) return CommentStyle::hash;
  if (std::find(kSlashes.begin(), kSlashes.end(), extension) != kSlashes.end())
    return CommentStyle::slashes;
  const std::string folder = file.parent_path().filename().string();
  const bool is_script = extension.empty() && (folder == "scripts" || folder == "identity");
  return is_script ? std::optional(CommentStyle::hash) : std::nullopt;
}

std::vector<Comment> read_comments(std::string_view source, CommentStyle style) {
  return style == CommentStyle::hash ? hash_comments(source) : SlashReader(source).read();
}

}  // namespace msprof::test
