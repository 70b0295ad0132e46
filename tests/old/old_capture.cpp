#include "old/old_capture.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "export/exporter.hpp"
#include "import/importer.hpp"
#include "session/session.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

OldCapture::OldCapture(const fs::path& folder)
    : report_(import_session(*Session::open(folder), temp_ / "store.db", {})) {}

fs::path OldCapture::store() const {
  return temp_ / "store.db";
}

CsvTable OldCapture::table(const std::string& name, std::optional<std::int64_t> model,
                           std::optional<std::int64_t> iteration) const {
  const TempFolder out;
  const auto db = TraceDb::open(store());
  SummaryOptions options;
  options.names = {name};
  options.style = ExportStyle::cann5;
  options.scope.model_number = model;
  options.scope.iteration = iteration;
  if (iteration) find_iteration(db->database(), options.scope);
  const auto files = export_summaries(*db, out.path(), options);
  if (files.size() != 1) throw std::runtime_error("no table " + name);
  return parse_csv(read_file(files.front().path));
}

std::string OldCapture::damage() const {
  std::string all;
  for (const Finding& finding : report_.findings()) {
    if (finding.severity() == Severity::partial)
      all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", finding.kind, finding.reason);
  }
  return all;
}

namespace {

std::string bare(std::string text) {
  std::erase(text, '"');
  return text;
}

std::optional<double> parse_number(const std::string& text) {
  const std::string digits = bare(text);
  if (digits.empty()) return {};
  std::size_t used = 0;
  try {
    const double value = std::stod(digits, &used);
    return used == digits.size() ? std::optional(value) : std::nullopt;
  } catch (const std::exception&) {
    return {};
  }
}

bool is_equal(const std::string& column, const std::string& expected, const std::string& actual) {
  const auto a = parse_number(expected);
  const auto b = parse_number(actual);
  if (!a || !b) return bare(expected) == bare(actual);
  const bool is_wait = column.find("Wait Time") != std::string::npos;
  // Expected device times were printed from doubles, so some are off by a fraction of a ns.
  const double tolerance = is_wait ? 0.02 : 0.00105;
  return std::abs(*a - *b) <= tolerance;
}

}  // namespace

std::string differences(const CsvTable& expected, const CsvTable& actual) {
  std::string all;
  if (expected.header != actual.header)
    all += fmt::format("header of {} and {} cells; ", expected.header.size(), actual.header.size());
  if (expected.rows.size() != actual.rows.size())
    all += fmt::format("{} and {} rows; ", expected.rows.size(), actual.rows.size());
  int count = 0;
  for (std::size_t row = 0; row < std::min(expected.rows.size(), actual.rows.size()); ++row) {
    for (std::size_t cell = 0; cell < expected.header.size(); ++cell) {
      const std::string& column = expected.header[cell];
      const auto& wanted = expected.rows[row];
      const auto& there = actual.rows[row];
      if (cell >= wanted.size() || column == "API") continue;  // not compared
      if (cell < there.size() && is_equal(column, wanted[cell], there[cell])) continue;
      if (++count > 8) return all;
      all += fmt::format("row {} {}: '{}' is '{}'; ", row, column, wanted[cell],
                         cell < there.size() ? there[cell] : "");
    }
  }
  return all.empty() ? "equal" : all;
}

}  // namespace msprof::test
