#include "store/sql_functions.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace msprof {

namespace {

// clang-format off
// Of SQLite 3.40 and later; sorted.
constexpr std::array kFunctions = std::to_array<std::string_view>({
    "->", "->>", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil",
    "ceiling", "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist",
    "current_date", "current_time", "current_timestamp", "date", "datetime", "degrees",
    "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat", "hex", "if",
    "ifnull", "iif", "instr", "json", "json_array", "json_array_length", "json_extract",
    "json_group_array", "json_group_object", "json_insert", "json_object", "json_patch",
    "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid",
    "julianday", "lag", "last_value", "lead", "length", "like", "likelihood", "likely", "ln",
    "log", "log10", "log2", "lower", "ltrim", "max", "median", "min", "mod", "nth_value", "ntile",
    "nullif", "octet_length", "percent_rank", "percentile", "pi", "pow", "power", "printf",
    "quote", "radians", "random", "randomblob", "rank", "replace", "round", "row_number", "rtrim",
    "sign", "sin", "sinh", "sqlite_version", "sqrt", "strftime", "string_agg", "substr",
    "substring", "subtype", "sum", "tan", "tanh", "time", "timediff", "total", "trim", "trunc",
    "typeof", "unhex", "unicode", "unistr", "unixepoch", "unlikely", "upper", "zeroblob"});
static_assert(std::is_sorted(kFunctions.begin(), kFunctions.end()));
// clang-format on

}  // namespace

bool is_harmless_function(std::string_view name) {
  return std::binary_search(kFunctions.begin(), kFunctions.end(), lower_ascii(name));
}

}  // namespace msprof
