// What the tables of CANN captures have in common: names of files, texts, number forms.
// Source of the forms: cann_corrections.md A1, B6, B7, B12.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.hpp"
#include "export/cann_rules.hpp"
#include "export/cann_texts.hpp"
#include "export/summary_table.hpp"
#include "store/database.hpp"

namespace msprof::cann {

// A table of the whole capture: one file `<name>_<time of the collection>`, where its `exists`
// finds something.
class Table : public SummaryTable {
 public:
  Table(const TableInfo& info, std::vector<std::string> columns)
      : SummaryTable(info), columns_(std::move(columns)) {}

  std::vector<std::string> columns(const Database&) const override { return columns_; }
  std::vector<Document> documents(const Database& db) const override;

 private:
  std::vector<std::string> columns_;
};

// The chips whose tables have no sub tasks: all but those with a STARS scheduler.
bool has_stars(const Database& db);

// The text of a cell, N/A where it is null.
void text_or_missing(TableWriter& out, Texts& texts, std::optional<std::int64_t> name_id);

// ns as us with three decimals and a TAB.
void us_timestamp(TableWriter& out, std::int64_t ns);
// ns as us: "12.340".
void us_number(TableWriter& out, std::int64_t ns);
// Fixed three decimals without trailing zeros and bare point: "12.34", "4".
std::string trimmed3(int128 numerator, int128 denominator);
// The same with one decimal at least: "12.34", "4.0".
std::string float3(int128 numerator, int128 denominator);
// Bytes as KB, three decimals, an exact half to the even digit: "0.062".
std::string kb_float3(std::int64_t bytes);
// Bytes as KB with all their digits, 15 at most: "0.09765625", "2.0".
std::string kb_exact(std::int64_t bytes);

}  // namespace msprof::cann
