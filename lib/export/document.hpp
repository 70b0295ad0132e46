// Document: one file that a table or a timeline layer writes. For exports and `show`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "export/export_scope.hpp"
#include "store/schema.hpp"

namespace msprof {

struct Document {
  std::string stem;                // file name without extension, already safe
  std::int64_t step_id = kNull;    // the step it is about, where it is about one
  std::int64_t model_row = kNull;  // the model, where it is about one
  std::int64_t key = 0;            // for the table or layer itself
  // Where in the stem "_slice_<i>" goes when a CSV has more than a million rows; 0: it stays one.
  std::size_t slice_at = 0;
  // Layers that name the same stem write one file together, in the order of the list.
  bool is_shared = false;
  // Set by the exporter: whether arrows from calls to tasks are drawn, which a file needs both the
  // calls and the tasks for.
  bool has_arrows = true;
  // Set by the exporter: drawn as CANN 5 did, with its names, arguments and units.
  bool is_cann5 = false;
  // Set by the exporter: the rows to take, and the stem without what it adds for them. Files of one
  // product replace each other.
  ExportScope scope{};
  std::string product{};
};

}  // namespace msprof
