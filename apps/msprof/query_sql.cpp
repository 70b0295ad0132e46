// msprof query SQL: runs a query on the captures, row by row.
#include "msprof/query_sql.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/json_text.hpp"
#include "base/log.hpp"
#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "export/table/column_writer.hpp"
#include "export/table/table_reader.hpp"
#include "export/table/table_writers.hpp"
#include "msprof/cluster_info.hpp"
#include "msprof/cluster_store.hpp"
#include "query/query_db.hpp"
#include "query/summary_rows.hpp"
#include "store/database.hpp"
#include "store/layout_origin.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

namespace {

// A queried capture.
struct AskedCapture {
  std::string folder;
  std::string name;
  std::string verdict;  // "complete", "without", "partial"
};

// Receives the rows of one capture at a time: begin(), rows, end(). All formats except tables are
// printed immediately. Throws std::system_error if stdout accepts no more data.
class Answer {
 public:
  virtual ~Answer() = default;
  // Returns the sink for the rows of this capture.
  virtual RowSink& begin(const AskedCapture& capture, const std::vector<std::string>& columns) = 0;
  virtual void begin_row(RowBuilder& /*row*/) {}
  // `is_cut`: there are more rows.
  virtual void end(bool is_cut) = 0;
  // The query on a capture failed, either before begin() or between begin() and end().
  virtual void fail(const std::string& /*folder*/, const std::string& /*error*/) {}
  // Called after all captures.
  virtual void finish(Exit /*exit*/) {}
};

// CSV, an array of objects, or binary columns, with the rows of all captures. After an error the
// array is not closed, so that it is not valid JSON.
template <typename Writer>
class StreamAnswer : public Answer {
 public:
  StreamAnswer(bool several, DocumentForm form) : out_(form), has_several_(several) {}

  RowSink& begin(const AskedCapture& capture, const std::vector<std::string>& columns) override {
    capture_ = capture.name;
    if (columns_.empty()) {
      columns_ = columns;
      std::vector<std::string> all = columns;
      if (has_several_) all.insert(all.begin(), "capture");
      rows_.begin(all);
    }
    // All captures must have the same columns.
    if (columns == columns_) return rows_;
    throw Error(
        Exit::usage,
        fmt::format(
            "{} has different columns than the previous capture: name the columns instead of *",
            capture.name));
  }
  void begin_row(RowBuilder& row) override {
    if (has_several_) row.text(capture_);
  }
  void end(bool) override { out_.drain(1); }
  void fail(const std::string&, const std::string&) override { out_.drain(1); }
  void finish(Exit) override {
    if (!columns_.empty()) rows_.end();
    out_.drain(1);
  }

 private:
  StdoutOutput out_;

 protected:
  Writer rows_{out_, Absent::null};

 private:
  bool has_several_;
  std::string capture_;
  std::vector<std::string> columns_;
};

class CsvAnswer : public StreamAnswer<CsvWriter> {
 public:
  CsvAnswer(bool several, bool excel) : StreamAnswer(several, DocumentForm::plain) {
    if (excel) rows_.write_for_excel();
  }
};

// Prints a document with the schema msprof.query.rows/2.
class DocumentAnswer : public Answer {
 public:
  RowSink& begin(const AskedCapture& capture, const std::vector<std::string>& columns) override {
    next_capture();
    std::string list;
    for (const std::string& column : columns)
      list += (list.empty() ? "" : ",") + json_string(column);
    out_.buffer() += fmt::format(
        "{{\"folder\":{},\"name\":{},\"verdict\":{},\"columns\":[{}],\"rows\":",
        json_string(capture.folder), json_string(capture.name), json_string(capture.verdict), list);
    is_open_ = true;
    rows_.emplace(out_, Absent::null, JsonTableWriter::Rows::arrays).begin(columns);
    return *rows_;
  }
  void end(bool is_cut) override {
    out_.buffer() += fmt::format("],\"is_cut\":{}}}", is_cut);
    is_open_ = false;
  }
  void fail(const std::string& folder, const std::string& error) override {
    if (is_open_) {
      out_.buffer() += fmt::format("],\"is_cut\":true,\"error\":{}}}", json_string(error));
      is_open_ = false;
    } else if (!folder.empty()) {
      next_capture();
      out_.buffer() +=
          fmt::format("{{\"folder\":{},\"error\":{}}}", json_string(folder), json_string(error));
    }
    error_ = error;
  }
  void finish(Exit exit) override {
    open_document();
    out_.buffer() += "\n]";
    if (!error_.empty()) out_.buffer() += ",\"error\":" + json_string(error_);
    out_.buffer() += fmt::format(",\"exit_code\":{}}}\n", static_cast<int>(exit));
    out_.drain(1);
  }

 private:
  void open_document() {
    if (!has_begun_) out_.buffer() += "{\"schema\":\"msprof.query.rows/2\",\"captures\":[";
    has_begun_ = true;
  }
  void next_capture() {
    open_document();
    out_.buffer() += captures_++ == 0 ? "\n" : ",\n";
  }

  StdoutOutput out_{DocumentForm::json};
  std::optional<JsonTableWriter> rows_;
  bool has_begun_ = false;
  bool is_open_ = false;  // the rows of a capture are being written
  std::uint64_t captures_ = 0;
  std::string error_;
};

constexpr std::size_t kMaxShownCell = 400;  // maximum bytes of a text in a table

// SQL values may be anything: reals have three decimals if these are sufficient, and long texts are
// truncated.
class AnswerTable : public TextTable {
 protected:
  std::string shown(const Cell& cell) const override {
    if (cell.form == CellForm::real) return shown_real(cell.real);
    if (cell.form == CellForm::text && cell.size > kMaxShownCell)
      return shorten(printable(cell.view().substr(0, 4 * kMaxShownCell)), kMaxShownCell);
    if (cell.form == CellForm::blob)
      return cell_text(make_cell(cell.form, cell.view().substr(0, kMaxShownCell / 2)));
    return TextTable::shown(cell);
  }

 private:
  static std::string shown_real(double value) {
    const double size = std::fabs(value);
    const bool is_odd = !std::isfinite(value) || size >= 1e15 || (size > 0 && size < 0.01);
    return is_odd ? fmt::format("{:.3g}", value) : fmt::format("{:.3f}", value);
  }
};

class TableAnswer : public Answer {
 public:
  explicit TableAnswer(bool several) : has_several_(several) {}

  RowSink& begin(const AskedCapture& capture, const std::vector<std::string>& columns) override {
    if (has_several_) fmt::print("{}{}\n", is_first_ ? "" : "\n", printable(capture.name));
    is_first_ = false;
    table_ = AnswerTable();
    table_.begin(columns);
    return table_;
  }
  void end(bool) override { fmt::print("{}", table_.for_terminal(STDOUT_FILENO)); }

 private:
  bool has_several_;
  bool is_first_ = true;
  AnswerTable table_;
};

constexpr double kSeconds = 60;
constexpr long kShownRows = 1000;  // limit for a table, which is kept in memory

bool is_table(const QueryArguments& arguments) {
  return !arguments.json && arguments.format.value_or("table") == "table";
}

// `several`: distinguishes captures by a heading (table) or by a first column `capture`.
std::unique_ptr<Answer> make_answer(const QueryArguments& arguments, bool several) {
  if (arguments.json) return std::make_unique<DocumentAnswer>();
  if (is_table(arguments)) return std::make_unique<TableAnswer>(several);
  if (arguments.format == "csv") return std::make_unique<CsvAnswer>(several, arguments.excel);
  if (arguments.format == "columns")
    return std::make_unique<StreamAnswer<ColumnWriter>>(several, DocumentForm::plain);
  return std::make_unique<StreamAnswer<JsonTableWriter>>(several, DocumentForm::json);
}

void write_cell(const Statement& row, int column, RowBuilder& out) {
  if (row.is_null(column)) {
    out.missing();
  } else if (row.is_integer(column)) {
    out.number(row.integer(column));
  } else if (row.is_number(column)) {
    out.real(row.real(column));
  } else if (row.is_blob(column)) {
    out.blob(row.blob(column));
  } else {
    out.text(row.text(column));
  }
}

// Writes the rows returned by `read`, up to the limit. Prints a warning if the default limit cuts
// the result.
void write_rows(const QueryArguments& arguments, const AskedCapture& capture, Statement& read,
                Answer& out) {
  std::vector<std::string> columns;
  columns.reserve(static_cast<std::size_t>(read.column_count()));
  for (int i = 0; i < read.column_count(); ++i) columns.push_back(valid_utf8(read.column_name(i)));
  long limit = arguments.limit.value_or(is_table(arguments) ? kShownRows : 0);
  bool has_row = read.step();
  for (long skipped = 0; has_row && skipped < arguments.offset.value_or(0); ++skipped)
    has_row = read.step();
  RowBuilder cells(out.begin(capture, columns));
  long rows = 0;
  for (; has_row && (limit == 0 || rows < limit); ++rows) {
    out.begin_row(cells);
    for (int i = 0; i < read.column_count(); ++i) write_cell(read, i, cells);
    cells.end_row();
    has_row = read.step();
  }
  out.end(has_row);
  if (rows == 0) log::info("no rows");
  if (has_row && !arguments.limit) {
    log::warn(
        "only the first {} rows are shown; --limit N changes the limit, --format csv prints all",
        limit);
  }
}

Exit ask_cluster(const QueryArguments& arguments, const std::string& sql,
                 const std::filesystem::path& path, Answer& out) {
  const cluster::Part part = cluster::Part::open(path);
  const ClusterVerdict verdict = judge_ranks(part);
  QueryDb db(part, sql);
  db.limit_time(arguments.timeout_seconds.value_or(kSeconds), "--timeout");
  Statement read = db.ask(sql);
  write_rows(arguments, {path.string(), path.filename().string(), verdict.name}, read, out);
  return verdict.exit;
}

void report_origin(const ReadyStore& ready, bool reads_modelled) {
  if (reads_modelled) log::info("{}", kModelledNote);
  if (read_layout_origin(ready.db.database()) == LayoutOrigin::inferred)
    log::info("{}", kInferredNote);
}

AskedCapture asked_capture(const ChosenCapture& capture, const ReadyStore& ready) {
  return {capture.folder.string(),
          std::filesystem::weakly_canonical(capture.folder).filename().string(), ready.verdict};
}

// Passes on the rows of a summary table as they are made. SQL would fill a temporary table first.
void write_summary(const ChosenCapture& capture, const ReadyStore& ready, const SummaryTable& table,
                   Answer& out) {
  const Database& db = ready.db.database();
  report_origin(ready,
                read_unit_loads(db) == UnitLoads::modelled && !unit_load_fields(db, table).empty());
  std::vector<std::string> columns = summary_fields(db, table);
  if (has_summary_places(db, table)) columns.insert(columns.end(), {"model_id", "step"});
  write_summary_rows(db, table, out.begin(asked_capture(capture, ready), columns));
  out.end(false);
}

Exit ask_one(const QueryArguments& arguments, const std::string& sql, const ChosenCapture& capture,
             bool several, Answer& out) {
  const ReadyStore ready = ready_store(capture);
  const bool is_whole = !several && !arguments.limit && !is_table(arguments);
  if (is_whole && !arguments.table.empty()) {
    if (const auto table = find_table(ready.db.database(), arguments.table)) {
      write_summary(capture, ready, *table, out);
      return ready.exit;
    }
  }
  QueryDb db(ready.db, sql);
  db.limit_time(arguments.timeout_seconds.value_or(kSeconds), "--timeout");
  Statement read = db.ask(sql);
  report_origin(ready, db.reads_modelled());
  write_rows(arguments, asked_capture(capture, ready), read, out);
  return ready.exit;
}

}  // namespace

Exit answer_sql(const QueryArguments& arguments, const std::string& sql) {
  std::unique_ptr<Answer> out = make_answer(arguments, false);
  Exit exit = Exit::ok;
  try {
    const ChosenInputs chosen = choose_inputs(arguments.capture);
    const bool several = chosen.inputs.size() > 1;
    out = make_answer(arguments, several);
    exit = for_each_capture(chosen.inputs, [&](const ChosenCapture& capture) {
      try {
        return chosen.are_clusters ? ask_cluster(arguments, sql, capture.folder, *out)
                                   : ask_one(arguments, sql, capture, several, *out);
      } catch (const Error& error) {
        out->fail(capture.folder.string(), error.what());
        throw;
      }
    });
  } catch (const Error& error) {
    if (!arguments.json) throw;
    // The document contains the error.
    log::failure(error);
    out->fail("", error.what());
    exit = error.code();
  }
  out->finish(exit);
  return exit;
}

}  // namespace msprof
