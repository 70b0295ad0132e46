// Declares the tables of a Comparison (operators, types, ratios, calls, ranges, counters) once, one
// column per line, for terminal, CSV, JSON and HTML.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyze/compare/comparison.hpp"

namespace msprof {

namespace cell {

// The names on both sides; several names of a side are joined by '+'.
struct Names {
  std::vector<std::string> base;
  std::vector<std::string> now;

  // Returns "conv1+conv1_bn → conv1"; one side only if the other is empty or equal.
  std::string joined() const;
};
// A fixed text of this program, not from a capture.
struct Word {
  std::string_view text;
};
struct Counts {
  std::int64_t base;
  std::int64_t now;
};
// People see `decimals` and `has_sign`; programs get the full value.
struct Real {
  std::optional<double> value;
  int decimals = 3;
  bool has_sign = false;
  bool is_for_people = true;  // false: misleading without context, so hidden from people

  // Returns text for people; requires a value.
  std::string text() const;
};

}  // namespace cell

using ComparisonCell = std::variant<cell::Names, std::string, cell::Word, bool, std::int64_t,
                                    cell::Counts, cell::Real>;

enum class CellKind { text, number, change };

// Column title in each output; empty: not in this output.
struct ColumnTitles {
  std::string_view terminal{};
  std::string_view csv{};
  std::string_view json{};
  std::string_view html{};
};

template <typename Row>
struct ComparisonColumn {
  CellKind kind;
  ColumnTitles titles;
  ComparisonCell (*make_cell)(const Row& row, const Comparison& comparison);
};

struct OpRatio {
  const OpChange* op;
  const RatioChange* ratio;
};
std::vector<OpRatio> list_ratios(const Comparison& comparison);

std::span<const ComparisonColumn<OpChange>> op_columns();
std::span<const ComparisonColumn<TypeChange>> type_columns();
std::span<const ComparisonColumn<OpRatio>> ratio_columns();
std::span<const ComparisonColumn<CallChange>> call_columns();
std::span<const ComparisonColumn<CallChange>> range_columns();
std::span<const ComparisonColumn<CounterChange>> counter_columns();

}  // namespace msprof
