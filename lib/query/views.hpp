// Readable views: contents of a store, under names, columns and units that stay when its tables
// change. For SQL of users (`msprof query`), for rules (`msprof advise`) and for comparisons. Both
// dialects have all of them; what a dialect does not know is NULL.
//
// Points in time are integers in ns (`_ns`) of the capture's clock, because a double cannot hold
// them; durations are reals in us (`_us`), as everywhere in the output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace msprof {

struct ViewColumn {
  std::string_view name;
  std::string_view unit;  // "us", "ns", "%", "bytes"; empty: none
  std::string_view help;
  bool is_unit_load = false;  // store/unit_loads.hpp
};

struct View {
  std::string_view name;  // "v_ops"
  std::string_view help;  // what a row is
  std::vector<ViewColumn> columns;
  std::string select;  // over the tables of store/schema.hpp, columns in that order
};

// All views, in the order of their documentation.
const std::vector<View>& views();

}  // namespace msprof
