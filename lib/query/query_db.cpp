#include "query/query_db.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "export/products.hpp"
#include "export/table/table_reader.hpp"
#include "query/cluster_tables.hpp"
#include "query/cluster_views.hpp"
#include "query/summary_rows.hpp"
#include "query/views.hpp"
#include "store/database.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

namespace {

// Tokens of SQL without comments and string literals. They show which tables to fill before the SQL
// runs.

struct SqlWords {
  std::set<std::string> words;  // lower case; includes quoted identifiers
  bool takes_all = false;       // selects all columns ('*'), or is a natural join
};

// Accepts any text; text that is not SQL gives arbitrary words.
SqlWords scan_words(std::string_view sql);

bool is_name_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80;
}

// Returns the position after the quoted text that starts at `at` and ends with `quote`.
std::size_t behind_quoted(std::string_view sql, std::size_t at, char quote) {
  const std::size_t end = sql.find(quote, at + 1);
  return end == std::string_view::npos ? sql.size() : end + 1;
}

// Returns the position after the comment that starts at `at`; `at` if there is no comment.
std::size_t behind_comment(std::string_view sql, std::size_t at) {
  const auto behind = [&](std::string_view end) {
    const std::size_t found = sql.find(end, at + 2);
    return found == std::string_view::npos ? sql.size() : found + end.size();
  };
  if (sql.substr(at, 2) == "--") return behind("\n");
  if (sql.substr(at, 2) == "/*") return behind("*/");
  return at;
}

// True for a '*' that selects columns ("SELECT *", "o.*"), not for "a * b" or "count(*)".
bool is_column_star(std::string_view before) {
  return before == "select" || before == "distinct" || before == "all" || before == "," ||
         before == ".";
}

SqlWords scan_words(std::string_view sql) {
  SqlWords found;
  std::string before;  // previous token
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

// Creates temporary tables in `db` for the summary tables of `store` (another connection) named in
// `asked`. Fills only the columns named there; a table without data stays empty.
void fill_product_tables(const Database& store, Database& db, const SqlWords& asked);

std::string sql_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

// Inserts rows of write_summary_rows().
class RowInserter : public RowSink {
 public:
  // `wanted`: the columns to fill.
  RowInserter(Statement insert, std::vector<bool> wanted)
      : insert_(std::move(insert)), wanted_(std::move(wanted)) {}

  void begin(std::span<const std::string>) override {}
  bool reads(std::size_t column) const override { return wanted_[column]; }
  void row(std::span<const Cell> cells) override {
    for (std::size_t column = 0; column < wanted_.size(); ++column)
      if (wanted_[column]) bind(static_cast<int>(column) + 1, cells[column]);
    insert_.run();
  }

 private:
  void bind(int parameter, const Cell& cell) {
    if (cell.form == CellForm::missing) {
      insert_.bind_null(parameter);
    } else if (cell.form == CellForm::integer) {
      insert_.bind(parameter, cell.integer);
    } else if (cell.form == CellForm::real) {
      insert_.bind(parameter, cell.real);
    } else {
      insert_.bind(parameter, cell_text(cell));
    }
  }

  Statement insert_;
  std::vector<bool> wanted_;
};

// Metrics have a prefix (`aic_mac_ratio`) only on chips with two kinds of cores. To let SQL use
// `mac_ratio` on all chips, returns generated columns for names missing in `fields`: the metric of
// whichever core kind has it, or the larger value if both do. Marks the source columns as wanted.
std::vector<std::string> common_metrics(const std::vector<std::string>& fields,
                                        const SqlWords& asked, std::vector<bool>& wanted) {
  constexpr std::array<std::string_view, 2> kSides = {"aic_", "aiv_"};
  std::map<std::string, std::vector<std::size_t>> sources;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const std::string_view side : kSides) {
      if (fields[i].starts_with(side)) sources[fields[i].substr(side.size())].push_back(i);
    }
  }
  for (const std::string& field : fields) sources.erase(field);
  std::vector<std::string> columns;
  for (const auto& [name, of] : sources) {
    // `*` excludes computed columns.
    if (!asked.words.contains(name)) continue;
    std::vector<std::string> cells;
    for (const std::size_t column : of) {
      wanted[column] = true;
      cells.push_back(sql_name(fields[column]));
    }
    columns.push_back(fmt::format("{} AS ({}({}))", sql_name(name), of.size() > 1 ? "max" : "",
                                  fmt::join(cells, ", ")));
  }
  return columns;
}

void fill(const Database& store, Database& db, const SummaryTable& table, const SqlWords& asked) {
  const auto fields = summary_fields(store, table);
  std::vector<bool> wanted;
  std::vector<std::string> columns;
  for (const std::string& field : fields) {
    wanted.push_back(asked.takes_all || asked.words.contains(field));
    columns.push_back(sql_name(field));
  }
  const auto computed = common_metrics(fields, asked, wanted);
  if (has_summary_places(store, table)) {
    for (const char* const column : {"model_id", "step"}) {
      columns.emplace_back(column);
      wanted.push_back(true);
    }
  }
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < columns.size(); ++i) parameters.push_back(fmt::format("?{}", i + 1));
  columns.insert(columns.end(), computed.begin(), computed.end());
  const std::string name = sql_name(table.name());
  db.execute(fmt::format("CREATE TEMP TABLE {} ({})", name, fmt::join(columns, ", ")));
  RowInserter rows(
      db.prepare(fmt::format("INSERT INTO temp.{} VALUES({})", name, fmt::join(parameters, ", "))),
      wanted);
  write_summary_rows(store, table, rows);
}

void fill_product_tables(const Database& store, Database& db, const SqlWords& asked) {
  bool is_first = true;
  for (const auto& table : summary_tables(store)) {
    if (!asked.words.contains(std::string(table->name()))) continue;
    // No journal: temporary tables left by a killed process are never read.
    if (is_first) db.execute("PRAGMA temp.journal_mode=OFF; BEGIN");
    is_first = false;
    fill(store, db, *table, asked);
  }
  if (!is_first) db.execute("COMMIT");
}

// Returns all (table, column) pairs that contain unit loads: in tables, views and summary tables.
std::set<std::pair<std::string, std::string>> unit_load_columns(const Database& store) {
  std::set<std::pair<std::string, std::string>> columns = {{"device", "frequency_hz"}};
  for (const std::string_view column : TaskPmuRow::kColumns)
    if (column != TaskPmuRow::kColumns.front()) columns.emplace("task_pmu", column);
  for (const View& view : views())
    for (const ViewColumn& column : view.columns)
      if (column.is_unit_load) columns.emplace(view.name, column.name);
  for (const auto& table : summary_tables(store))
    for (const std::string& field : unit_load_fields(store, *table))
      columns.emplace(table->name(), field);
  return columns;
}

constexpr double kSeconds = 60;

Database open_for(const TraceDb& store, std::string_view questions) {
  Database db = Database::open_read_only(store.path());
  // Temporary objects leave the store file unmodified.
  for (const View& view : views()) {
    db.execute(fmt::format("CREATE TEMP VIEW {} AS {}", view.name, view.select));
  }
  fill_product_tables(store.database(), db, scan_words(questions));
  return db;
}

Database open_for(const cluster::Part& part, std::string_view questions) {
  Database db = Database::open_read_only(part.path());
  const SqlWords asked = scan_words(questions);
  fill_cluster_tables(part, db, asked.words, asked.takes_all);
  for (const View& view : cluster_views()) {
    if (!view.select.empty())
      db.execute(fmt::format("CREATE TEMP VIEW {} AS {}", view.name, view.select));
  }
  return db;
}

}  // namespace

QueryDb::QueryDb(const TraceDb& store, std::string_view questions)
    : db_(open_for(store, questions)), guard_(db_) {
  guard_.limit_time(kSeconds);
}

QueryDb::QueryDb(const cluster::Part& part, std::string_view questions)
    : is_of_cluster_(true), db_(open_for(part, questions)), guard_(db_) {
  guard_.limit_time(kSeconds);
}

// Checks the columns of views, not the columns that a view reads internally.
bool QueryDb::reads_modelled() const {
  if (is_of_cluster_) return false;
  if (read_unit_loads(db_) == UnitLoads::measured) return false;
  const auto& reads = guard_.columns_read();
  const auto unit_loads = unit_load_columns(db_);
  return std::any_of(reads.begin(), reads.end(), [&](const ReadColumn& read) {
    const bool is_view = std::any_of(views().begin(), views().end(),
                                     [&](const View& view) { return view.name == read.within; });
    return !is_view && unit_loads.contains({lower_ascii(read.table), lower_ascii(read.column)});
  });
}

}  // namespace msprof
