// The products of `--style cann5` and of old captures: which table or layer makes each topic. For
// products.cpp and the planners.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "export/summary_table.hpp"
#include "export/timeline_layer.hpp"

namespace msprof {

#define TABLE(topic, age, rows, name) std::unique_ptr<SummaryTable> make_##name();
#define LAYER(topic, age, rows, name) std::unique_ptr<TimelineLayer> make_##name();
#include "export/old/products.def"

namespace old {

// Generation of the tools that have a product. A capture uses, for each topic, the products of the
// oldest generation that is not older than the capture.
enum class Age {
  current,  // for captures of any age
  cann5,    // for captures of CANN 5 and older
  classic,  // for captures of 2019 to 2021
};
// Converts meta "generation" to the age of a capture; "all" includes the tables of every
// generation.
Age to_age(std::string_view generation);

// The rows in a file if an iteration is selected.
enum class Rows {
  selected,  // those of the iteration
  whole,     // those of the whole capture
  host,      // those of the whole capture, in the folder of the host
};

template <typename Product>
struct Entry {
  std::string_view topic;
  Age age;
  Rows rows;
  std::unique_ptr<Product> (*make)();
};
using TableEntry = Entry<SummaryTable>;
using LayerEntry = Entry<TimelineLayer>;

// Return the entries for captures of `age`, in the order of products.def.
std::vector<TableEntry> tables_of(Age age);
std::vector<LayerEntry> layers_of(Age age);
// Returns the entry of an existing table.
TableEntry find_table(Age age, std::string_view topic);

// The topic that shows all processes.
inline constexpr std::string_view kAllProcesses = "msprof";

}  // namespace old

}  // namespace msprof
