// msprof query SQL: asks the captures, row by row.
#include <fmt/format.h>

#include "base/log.hpp"
#include "base/text.hpp"
#include "msprof/query_output.hpp"
#include "msprof/query_parts.hpp"
#include "query/query_db.hpp"

namespace msprof {

namespace {

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
