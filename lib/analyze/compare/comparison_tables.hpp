// The tables of a Comparison: operators, types, ratios, calls, ranges, counters; each declared
// once, a column a line, for the terminal, CSV, JSON and HTML alike.
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

// Name that both sides have for it; one name of several is shown joined by '+'.
struct Names {
  std::vector<std::string> base;
  std::vector<std::string> now;

  // "conv1+conv1_bn → conv1"; one side where the other has none or the same.
  std::string joined() const;
};
// A word of ours, as it is.
struct Word {
  std::string_view text;
};
struct Counts {
  std::int64_t base;
  std::int64_t now;
};
// With so many decimals, and '+', for people; programs get what there is.
struct Real {
  std::optional<double> value;
  int decimals = 3;
  bool has_sign = false;
  bool is_for_people = true;  // false: it would only mislead them

  // For people, where there is a value.
  std::string text() const;
};

}  // namespace cell

using ComparisonCell = std::variant<cell::Names, std::string, cell::Word, bool, std::int64_t,
                                    cell::Counts, cell::Real>;

enum class CellKind { text, number, change };

// Its titles, by output; empty: the output does not have it.
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
  ComparisonCell (*cell_of)(const Row& row, const Comparison& comparison);
};

// A ratio with its operator.
struct OpRatio {
  const OpChange* op;
  const RatioChange* ratio;
};
std::vector<OpRatio> ratios_of(const Comparison& comparison);

std::span<const ComparisonColumn<OpChange>> op_columns();
std::span<const ComparisonColumn<TypeChange>> type_columns();
std::span<const ComparisonColumn<OpRatio>> ratio_columns();
std::span<const ComparisonColumn<CallChange>> call_columns();
std::span<const ComparisonColumn<CallChange>> range_columns();
std::span<const ComparisonColumn<CounterChange>> counter_columns();

}  // namespace msprof
