#include "store/sql_words.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cctype>
#include <vector>

#include "base/text.hpp"
#include "base/words.hpp"
#include "store/database.hpp"

namespace msprof {

namespace {

constexpr int kShownSql = 40;  // columns of a terminal

// Names in a store from elsewhere may be anything.
constexpr const char* kTables =
    "SELECT name FROM sqlite_temp_schema WHERE type IN ('table', 'view') AND length(name) < 200"
    " UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table' AND length(name) < 200";

std::vector<std::string> table_names(sqlite3* db) {
  std::vector<std::string> names;
  for (Statement read(db, kTables); read.step();) names.emplace_back(read.text(0));
  return names;
}

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end]))) {
      return true;
    }
  }
  return false;
}

// The columns of the tables and views that `sql` names.
std::vector<std::string> column_names(sqlite3* db, std::string_view sql) {
  std::vector<std::string> columns;
  const std::string text = lower_ascii(sql);
  for (const std::string& table : table_names(db)) {
    if (!holds_word(text, lower_ascii(table))) continue;
    const Statement all(db, fmt::format("SELECT * FROM \"{}\"", table));
    for (int i = 0; i < all.column_count(); ++i) columns.push_back(all.column_name(i));
  }
  return columns;
}

// What stands behind `prefix` in `message`, without the table in front of a column.
std::string_view name_behind(std::string_view prefix, std::string_view message) {
  if (!message.starts_with(prefix)) return {};
  message.remove_prefix(prefix.size());
  const std::size_t point = message.rfind('.');
  return point == std::string_view::npos ? message : message.substr(point + 1);
}

std::string way_out(sqlite3* db, std::string_view message, std::string_view sql) {
  try {
    if (const auto table = name_behind("no such table: ", message); !table.empty()) {
      return did_you_mean(table, table_names(db)) + " (`msprof query --schema` lists all)";
    }
    const auto column = name_behind("no such column: ", message);
    if (column.empty()) {
      return message == "integer overflow" ? "; total() adds reals, which do not overflow" : "";
    }
    const std::string nearest = did_you_mean(column, column_names(db, sql));
    if (!nearest.empty()) return nearest;
    if (sql.find(fmt::format("\"{}\"", column)) != std::string_view::npos)
      return "; texts stand in single quotes";
    return " (`msprof query --schema` lists all)";
  } catch (const Error&) {
    return "";  // the message stands without it
  }
}

}  // namespace

std::string words_about_sql(sqlite3* db, std::string_view sql) {
  // Copied before anything else is asked of `db`.
  const std::string message = printable(sqlite3_errmsg(db));
  const int offset = sqlite3_error_offset(db);
  std::string place;
  if (offset >= 0 && static_cast<std::size_t>(offset) < sql.size()) {
    const auto at = sql.substr(static_cast<std::size_t>(offset));
    place = fmt::format(", at '{}' (character {})",
                        shorten(printable(at.substr(0, 200)), kShownSql), offset + 1);
  }
  return fmt::format("SQL: {}{}{}", message, place, way_out(db, message, sql));
}

}  // namespace msprof
