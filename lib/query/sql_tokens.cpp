#include "query/sql_tokens.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace msprof {

namespace {

bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80;
}

// The place behind the text or name that begins at `at` and ends with `quote`.
std::size_t behind_quoted(std::string_view sql, std::size_t at, char quote) {
  const std::size_t end = sql.find(quote, at + 1);
  return end == std::string_view::npos ? sql.size() : end + 1;
}

// The place behind the comment that begins at `at`; `at` where none does.
std::size_t behind_comment(std::string_view sql, std::size_t at) {
  const auto behind = [&](std::string_view end) {
    const std::size_t found = sql.find(end, at + 2);
    return found == std::string_view::npos ? sql.size() : found + end.size();
  };
  if (sql.substr(at, 2) == "--") return behind("\n");
  if (sql.substr(at, 2) == "/*") return behind("*/");
  return at;
}

// Of columns, "SELECT *", "o.*", not of a product, "a * b", or a count, "count(*)".
bool is_column_star(std::string_view before) {
  return before == "select" || before == "distinct" || before == "all" || before == "," ||
         before == ".";
}

}  // namespace

SqlWords words_of(std::string_view sql) {
  SqlWords found;
  std::string before;  // the token before
  for (std::size_t at = 0; at < sql.size();) {
    const char c = sql[at];
    if (const std::size_t behind = behind_comment(sql, at); behind != at) {
      at = behind;
      continue;
    }
    std::size_t end = at + 1;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      at = end;
      continue;
    }
    if (c == '\'') {
      end = behind_quoted(sql, at, c);
      before = "'";
    } else if (c == '"' || c == '`' || c == '[') {
      end = behind_quoted(sql, at, c == '[' ? ']' : c);
      before = lower_ascii(sql.substr(at + 1, end - at - (end - at > 1 ? 2 : 1)));
      found.words.insert(before);
    } else if (is_name_byte(c)) {
      while (end < sql.size() && is_name_byte(sql[end])) ++end;
      before = lower_ascii(sql.substr(at, end - at));
      found.words.insert(before);
    } else {
      if (c == '*' && is_column_star(before)) found.takes_all = true;
      before = c;
    }
    at = end;
  }
  if (found.words.contains("natural")) found.takes_all = true;
  return found;
}

}  // namespace msprof
