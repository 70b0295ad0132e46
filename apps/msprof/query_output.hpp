// The answer to SQL as a table, as CSV, as JSON. For `msprof query`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "store/database.hpp"

namespace msprof {

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

// `several`: captures, which are then told apart by a heading (table) or a first column `capture`.
std::unique_ptr<AnswerWriter> make_table_answer(bool several);
// RFC 4180; NULL is an empty cell, an empty text is "".
std::unique_ptr<AnswerWriter> make_csv_answer(bool several);
// An array of objects.
std::unique_ptr<AnswerWriter> make_json_answer(bool several);
// A document with the schema msprof.query.rows/2.
std::unique_ptr<AnswerWriter> make_document_answer();

}  // namespace msprof
