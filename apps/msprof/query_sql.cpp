// msprof query SQL: asks the captures, row by row.
#include "msprof/query_sql.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "export/json_text.hpp"
#include "export/table_writers.hpp"
#include "query/query_db.hpp"
#include "store/database.hpp"

namespace msprof {

namespace {

// The answer to SQL as a table, as CSV, as JSON.

// A capture that was asked.
struct AskedCapture {
  std::string folder;
  std::string name;
  std::string verdict;  // "complete", "without", "partial"
};

// Rows go to stdout as they come, but for a table, which holds them. Captures come one after the
// other: begin(), row() …, end(). Throws std::system_error where stdout takes no more.
class AnswerWriter {
 public:
  virtual ~AnswerWriter() = default;
  virtual void begin(const AskedCapture& capture, const std::vector<std::string>& columns) = 0;
  virtual void row(const Statement& row) = 0;
  // `is_cut`: there are more rows.
  virtual void end(bool is_cut) = 0;
  // The work on a capture ended with an error, before begin() or between it and end().
  virtual void fail(const std::string& /*folder*/, const std::string& /*error*/) {}
  // After all captures.
  virtual void finish(Exit /*exit*/) {}
};

constexpr std::size_t kBufferBytes = 1 << 16;
constexpr std::size_t kLongestShownCell = 400;  // bytes of a text in a table

// stdout in large pieces.
class Out {
 public:
  std::string text;
  void drain(std::size_t least) {
    if (text.size() < least) return;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      throw std::system_error(errno, std::generic_category(), "writing");
    text.clear();
  }
};

std::string hex(std::string_view bytes) {
  std::string digits;
  digits.reserve(bytes.size() * 2);
  for (const char byte : bytes)
    fmt::format_to(std::back_inserter(digits), "{:02X}", static_cast<unsigned char>(byte));
  return digits;
}

// The shortest digits that read back as the same; a real stays one: 3.0.
std::string real_digits(double value) {
  std::string digits = fmt::format("{}", value);
  if (std::isfinite(value) && digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return digits;
}

void append_json(std::string& out, const Statement& row, int column) {
  if (row.is_null(column)) {
    out += "null";
  } else if (row.is_integer(column)) {
    append_json_number(out, row.integer(column));
  } else if (row.is_number(column)) {
    // JSON has no infinity.
    const double value = row.real(column);
    out += std::isfinite(value) ? real_digits(value) : "null";
  } else if (row.is_blob(column)) {
    append_json_string(out, hex(row.blob(column)));
  } else {
    append_json_string(out, row.text(column));
  }
}

// An empty text is quoted: an empty cell is NULL.
void append_csv_cell(std::string& out, std::string_view text) {
  text.empty() ? void(out += "\"\"") : append_csv_text(out, text);
}

void append_csv(std::string& out, const Statement& row, int column) {
  if (row.is_null(column)) return;
  if (row.is_integer(column)) {
    out += fmt::format_int(row.integer(column)).c_str();
  } else if (row.is_number(column)) {
    out += real_digits(row.real(column));
  } else if (row.is_blob(column)) {
    append_csv_cell(out, hex(row.blob(column)));
  } else {
    append_csv_cell(out, row.text(column));
  }
}

// With several captures all must answer alike.
void check_columns(const std::vector<std::string>& first, const std::vector<std::string>& columns,
                   const AskedCapture& capture) {
  if (columns == first) return;
  throw Error(Exit::usage,
              fmt::format("{} answers with other columns than the capture before it: name the "
                          "columns instead of *",
                          capture.name));
}

class CsvAnswer : public AnswerWriter {
 public:
  explicit CsvAnswer(bool several) : several_(several) {}

  void begin(const AskedCapture& capture, const std::vector<std::string>& columns) override {
    capture_ = several_ ? capture.name : "";
    if (!columns_.empty()) return check_columns(columns_, columns, capture);
    columns_ = columns;
    if (several_) out_.text += "capture,";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out_.text += ',';
      append_csv_cell(out_.text, columns[i]);
    }
    out_.text += '\n';
  }
  void row(const Statement& row) override {
    if (several_) append_csv_cell(out_.text, capture_);
    for (int i = 0; i < row.column_count(); ++i) {
      if (several_ || i > 0) out_.text += ',';
      append_csv(out_.text, row, i);
    }
    out_.text += '\n';
    out_.drain(kBufferBytes);
  }
  void end(bool) override { out_.drain(1); }
  void fail(const std::string&, const std::string&) override { out_.drain(1); }

 private:
  Out out_;
  bool several_;
  std::string capture_;
  std::vector<std::string> columns_;
};

// Keys of objects: a name that comes again gets its number.
std::vector<std::string> keys_of(const std::vector<std::string>& columns) {
  std::vector<std::string> keys;
  std::map<std::string, int> times;
  for (const std::string& column : columns) {
    const int time = ++times[column];
    keys.push_back(json_string(time == 1 ? column : fmt::format("{} {}", column, time)) + ":");
  }
  return keys;
}

// An answer that was cut short by an error has no end, and so is no JSON.
class JsonAnswer : public AnswerWriter {
 public:
  explicit JsonAnswer(bool several) : several_(several) {}

  void begin(const AskedCapture& capture, const std::vector<std::string>& columns) override {
    if (keys_.empty()) {
      std::vector<std::string> all = columns;
      if (several_) all.insert(all.begin(), "capture");
      keys_ = keys_of(all);
      columns_ = columns;
      out_.text += '[';
    }
    check_columns(columns_, columns, capture);
    capture_ = json_string(capture.name);
  }
  void row(const Statement& row) override {
    out_.text += rows_++ == 0 ? "\n{" : ",\n{";
    std::size_t key = 0;
    if (several_) out_.text += keys_[key++] + capture_;
    for (int i = 0; i < row.column_count(); ++i, ++key) {
      if (key > 0) out_.text += ',';
      out_.text += keys_[key];
      append_json(out_.text, row, i);
    }
    out_.text += '}';
    out_.drain(kBufferBytes);
  }
  void end(bool) override {}
  void fail(const std::string&, const std::string&) override { out_.drain(1); }
  void finish(Exit) override {
    if (!keys_.empty()) out_.text += rows_ == 0 ? "]\n" : "\n]\n";
    out_.drain(1);
  }

 private:
  Out out_;
  bool several_;
  std::string capture_;  // quoted
  std::vector<std::string> columns_;
  std::vector<std::string> keys_;
  std::uint64_t rows_ = 0;
};

class DocumentAnswer : public AnswerWriter {
 public:
  void begin(const AskedCapture& capture, const std::vector<std::string>& columns) override {
    next_capture();
    out_.text += fmt::format("{{\"folder\":{},\"name\":{},\"verdict\":{},\"columns\":[",
                             json_string(capture.folder), json_string(capture.name),
                             json_string(capture.verdict));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out_.text += ',';
      append_json_string(out_.text, columns[i]);
    }
    out_.text += "],\"rows\":[";
    is_open_ = true;
    rows_ = 0;
  }
  void row(const Statement& row) override {
    out_.text += rows_++ == 0 ? "\n[" : ",\n[";
    for (int i = 0; i < row.column_count(); ++i) {
      if (i > 0) out_.text += ',';
      append_json(out_.text, row, i);
    }
    out_.text += ']';
    out_.drain(kBufferBytes);
  }
  void end(bool is_cut) override {
    out_.text += fmt::format("],\"is_cut\":{}}}", is_cut);
    is_open_ = false;
  }
  void fail(const std::string& folder, const std::string& error) override {
    if (is_open_) {
      out_.text += fmt::format("],\"is_cut\":true,\"error\":{}}}", json_string(error));
      is_open_ = false;
    } else if (!folder.empty()) {
      next_capture();
      out_.text +=
          fmt::format("{{\"folder\":{},\"error\":{}}}", json_string(folder), json_string(error));
    }
    error_ = error;
  }
  void finish(Exit exit) override {
    open_document();
    out_.text += "\n]";
    if (!error_.empty()) out_.text += ",\"error\":" + json_string(error_);
    out_.text += fmt::format(",\"exit_code\":{}}}\n", static_cast<int>(exit));
    out_.drain(1);
  }

 private:
  void open_document() {
    if (!has_begun_) out_.text += "{\"schema\":\"msprof.query.rows/2\",\"captures\":[";
    has_begun_ = true;
  }
  void next_capture() {
    open_document();
    out_.text += captures_++ == 0 ? "\n" : ",\n";
  }

  Out out_;
  bool has_begun_ = false;
  bool is_open_ = false;  // a capture, in its rows
  std::uint64_t captures_ = 0;
  std::uint64_t rows_ = 0;
  std::string error_;
};

// Three decimals where they say enough.
std::string shown_real(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double size = std::fabs(value);
  if (size >= 1e15 || (size > 0 && size < 0.01)) return fmt::format("{:.3g}", value);
  return fmt::format("{:.3f}", value);
}

std::string shown(const Statement& row, int column) {
  if (row.is_null(column)) return "-";
  if (row.is_integer(column)) return std::to_string(row.integer(column));
  if (row.is_number(column)) return shown_real(row.real(column));
  if (row.is_blob(column)) return hex(row.blob(column).substr(0, kLongestShownCell / 2));
  const std::string_view text = row.text(column);
  if (text.size() <= kLongestShownCell) return std::string(text);
  return shorten(printable(text.substr(0, 4 * kLongestShownCell)), kLongestShownCell);
}

class TableAnswer : public AnswerWriter {
 public:
  explicit TableAnswer(bool several) : several_(several) {}

  void begin(const AskedCapture& capture, const std::vector<std::string>& columns) override {
    if (several_) fmt::print("{}{}\n", is_first_ ? "" : "\n", printable(capture.name));
    is_first_ = false;
    table_ = std::make_unique<TextTable>(columns);
  }
  void row(const Statement& row) override {
    std::vector<std::string> cells;
    std::vector<bool> is_number;
    for (int i = 0; i < row.column_count(); ++i) {
      cells.push_back(shown(row, i));
      is_number.push_back(row.is_number(i));
    }
    table_->add_row(std::move(cells), is_number);
  }
  void end(bool) override {
    fmt::print("{}",
               table_->render(terminal_columns(STDOUT_FILENO), colour_allowed(STDOUT_FILENO)));
  }

 private:
  bool several_;
  bool is_first_ = true;
  std::unique_ptr<TextTable> table_;
};

// `several`: captures, which are then told apart by a heading (table) or a first column `capture`.
std::unique_ptr<AnswerWriter> make_table_answer(bool several) {
  return std::make_unique<TableAnswer>(several);
}
// RFC 4180; NULL is an empty cell, an empty text is "".
std::unique_ptr<AnswerWriter> make_csv_answer(bool several) {
  return std::make_unique<CsvAnswer>(several);
}
// An array of objects.
std::unique_ptr<AnswerWriter> make_json_answer(bool several) {
  return std::make_unique<JsonAnswer>(several);
}
// A document with the schema msprof.query.rows/2.
std::unique_ptr<AnswerWriter> make_document_answer() {
  return std::make_unique<DocumentAnswer>();
}

constexpr double kSeconds = 60;
constexpr long kShownRows = 1000;  // of a table, which is held as a whole

bool is_table(const QueryArguments& arguments) {
  return !arguments.json && arguments.format.value_or("table") == "table";
}

std::unique_ptr<AnswerWriter> writer_of(const QueryArguments& arguments, bool several) {
  if (arguments.json) return make_document_answer();
  const std::string format = arguments.format.value_or("table");
  if (format == "csv") return make_csv_answer(several);
  if (format == "json") return make_json_answer(several);
  return make_table_answer(several);
}

// The rows that `read` gives, as many as are wanted. Says where a table is cut without being asked.
void write_rows(const QueryArguments& arguments, const AskedCapture& capture, Statement& read,
                AnswerWriter& out) {
  std::vector<std::string> columns;
  for (int i = 0; i < read.column_count(); ++i) columns.push_back(valid_utf8(read.column_name(i)));
  long limit = arguments.limit.value_or(is_table(arguments) ? kShownRows : 0);
  bool has_row = read.step();
  out.begin(capture, columns);
  long rows = 0;
  for (; has_row && (limit == 0 || rows < limit); ++rows) {
    out.row(read);
    has_row = read.step();
  }
  out.end(has_row);
  if (rows == 0) log::info("no rows");
  if (has_row && !arguments.limit) {
    log::warn("only the first {} rows are shown; --limit N takes another number, --format csv all",
              limit);
  }
}

Exit ask_one(const QueryArguments& arguments, const std::string& sql, const ChosenCapture& capture,
             AnswerWriter& out) {
  const ReadyStore ready = ready_store(capture);
  QueryDb db(ready.db, sql);
  db.limit_time(arguments.timeout_seconds.value_or(kSeconds), "--timeout");
  Statement read = db.ask(sql);
  const std::string name = std::filesystem::weakly_canonical(capture.folder).filename().string();
  write_rows(arguments, {capture.folder.string(), name, ready.verdict}, read, out);
  return ready.exit;
}

}  // namespace

Exit answer_sql(const QueryArguments& arguments, const std::string& sql) {
  std::unique_ptr<AnswerWriter> out = writer_of(arguments, false);
  Exit exit = Exit::ok;
  try {
    const auto captures = choose_captures(arguments.capture);
    out = writer_of(arguments, captures.size() > 1);
    exit = for_each_capture(captures, [&](const ChosenCapture& capture) {
      try {
        return ask_one(arguments, sql, capture, *out);
      } catch (const Error& error) {
        out->fail(capture.folder.string(), error.what());
        throw;
      }
    });
  } catch (const Error& error) {
    if (!arguments.json) throw;
    // The document says what ended the work.
    log::failure(error);
    out->fail("", error.what());
    exit = error.code();
  }
  out->finish(exit);
  return exit;
}

}  // namespace msprof
