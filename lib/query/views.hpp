// SQL views of a store. Their names, columns and units stay stable when the tables change. Used for
// SQL from users (`msprof query`), rules (`msprof advise`) and comparisons. All views exist for
// both dialects; columns that a dialect does not have are NULL.
//
// Points in time are integers in ns (`_ns`) in the clock of the capture, because a double is not
// precise enough. Durations are reals in us (`_us`), as in all output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msprof {

struct ViewColumn {
  std::string_view name;
  std::string_view unit;  // "us", "ns", "%", "bytes"; empty: no unit
  std::string_view help;
  bool is_unit_load = false;  // store/unit_loads.hpp
};

struct View {
  std::string_view name;  // "v_ops"
  std::string_view help;  // describes one row
  std::vector<ViewColumn> columns;
  std::string select;  // reads the tables of store/schema.hpp; columns in the order above
};

// All views, in the order used in the documentation.
const std::vector<View>& views();

}  // namespace msprof
