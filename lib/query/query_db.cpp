#include "query/query_db.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "export/products.hpp"
#include "export/table/table_chunks.hpp"
#include "export/table/table_reader.hpp"
#include "query/cluster_tables.hpp"
#include "query/cluster_views.hpp"
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

// Makes the summary tables of a capture (op_summary, task_time, …) available to SQL, including
// columns that exist only there, such as core utilization ratios.
//
// Columns are named by field_name(): "task_duration" for "Task Duration(us)". Repeated names get a
// number. N/A becomes NULL; rows with totals are omitted. A table with several files in a capture,
// such as one per model step, gets the rows of all files and the columns `model_id` and `step`.

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

// The model and step of an output file.
struct Place {
  std::optional<std::int64_t> model_id;
  std::optional<std::int64_t> step;
};

Place read_place(const Database& store, const OutputFile& output_file) {
  Place place;
  if (output_file.step_id != kNull) {
    Statement& read = store.reuse("SELECT number FROM step WHERE id = ?");
    if (read.bind(1, output_file.step_id).step()) place.step = read.maybe_integer(0);
    read.reset();
  }
  if (output_file.model_row != kNull) {
    Statement& read = store.reuse("SELECT model_id FROM model WHERE id = ?");
    if (read.bind(1, output_file.model_row).step()) place.model_id = read.maybe_integer(0);
    read.reset();
  }
  return place;
}

class RowInserter : public RowSink {
 public:
  // `wanted`: the columns to fill. The statement's parameters for model_id and step follow them.
  RowInserter(Statement insert, std::vector<bool> wanted)
      : insert_(std::move(insert)), wanted_(std::move(wanted)) {}

  void set_place(const Place& place) {
    bind(wanted_.size(), place.model_id);
    bind(wanted_.size() + 1, place.step);
  }

  void begin(std::span<const std::string>) override {}
  bool reads(std::size_t column) const override {
    // The first cell shows whether the row is a total.
    return column == 0 || (column < wanted_.size() && wanted_[column]);
  }
  void row(std::span<const Cell> cells) override {
    if (!cells.empty() && is_text(cells.front(), "-")) return;
    for (std::size_t column = 0; column < wanted_.size(); ++column)
      if (wanted_[column]) bind(column, column < cells.size() ? cells[column] : Cell());
    insert_.run();
  }

 private:
  static int parameter(std::size_t column) { return static_cast<int>(column) + 1; }
  static bool is_text(const Cell& cell, std::string_view text) {
    return cell.form == CellForm::text && cell.view() == text;
  }
  void bind(std::size_t column, std::optional<std::int64_t> value) {
    value ? insert_.bind(parameter(column), *value) : insert_.bind_null(parameter(column));
  }
  void bind(std::size_t column, const Cell& cell) {
    const int to = parameter(column);
    if (cell.form == CellForm::missing || is_text(cell, "N/A")) {
      insert_.bind_null(to);
    } else if (cell.form == CellForm::integer) {
      insert_.bind(to, cell.integer);
    } else if (cell.form == CellForm::digits || cell.form == CellForm::fixed3_trimmed) {
      bind_digits(to, cell_text(cell));
    } else if (const auto number = cell_number(cell)) {
      insert_.bind(to, *number);
    } else {
      insert_.bind(to, cell_text(cell));
    }
  }
  void bind_digits(int to, const std::string& digits) {
    const char* end = digits.data() + digits.size();
    std::int64_t whole = 0;
    double real = 0;
    const auto is_read = [end](const std::from_chars_result& result) {
      return result.ptr == end && result.ec == std::errc();
    };
    if (is_read(std::from_chars(digits.data(), end, whole))) {
      insert_.bind(to, whole);
    } else if (is_read(std::from_chars(digits.data(), end, real))) {
      insert_.bind(to, real);
    } else {
      insert_.bind(to, digits);
    }
  }

  Statement insert_;
  std::vector<bool> wanted_;
};

std::vector<std::string> unique_fields(const std::vector<std::string>& headers) {
  std::vector<std::string> fields;
  std::map<std::string, int> times;
  for (const std::string& header : headers) {
    const std::string field = field_name(header);
    const int time = ++times[field];
    fields.push_back(time == 1 ? field : fmt::format("{}_{}", field, time));
  }
  return fields;
}

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
  const auto headers = table.columns(store);
  const auto fields = unique_fields(headers);
  std::vector<bool> wanted;
  std::vector<std::string> columns;
  for (const std::string& field : fields) {
    wanted.push_back(asked.takes_all || asked.words.contains(field));
    columns.push_back(sql_name(field));
  }
  const auto computed = common_metrics(fields, asked, wanted);
  bool has_steps = false;
  table.visit_files(store, [&](const OutputFile& output_file) {
    has_steps = output_file.step_id != kNull || output_file.model_row != kNull;
    return !has_steps;
  });
  if (has_steps) {
    columns.push_back("model_id");
    columns.push_back("step");
  }
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < columns.size(); ++i) parameters.push_back(fmt::format("?{}", i + 1));
  columns.insert(columns.end(), computed.begin(), computed.end());
  const std::string name = sql_name(table.name());
  db.execute(fmt::format("CREATE TEMP TABLE {} ({})", name, fmt::join(columns, ", ")));
  RowInserter rows(
      db.prepare(fmt::format("INSERT INTO temp.{} VALUES({})", name, fmt::join(parameters, ", "))),
      wanted);
  table.visit_files(store, [&](const OutputFile& output_file) {
    if (has_steps) rows.set_place(read_place(store, output_file));
    rows.begin(headers);
    write_table(store, table, output_file, rows);
    return true;
  });
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
