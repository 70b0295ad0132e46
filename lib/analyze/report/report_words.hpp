// Words: the texts of the page of `msprof report`, in both languages. Names of columns are those of
// the products.
#pragma once

#include <string_view>

#include "analyze/advise/rule.hpp"

namespace msprof::report {

struct Words {
  std::string_view language;  // of the page, as HTML calls it
  std::string_view verdict, complete, partial, partial_means, more;
  std::string_view run, capture, kind, board, atlas, chip, begun, duration, device, model, batch,
      executions, tasks, iterations, median, shortest, longest, written_by, layers;
  std::string_view modelled;
  std::string_view timeline, timeline_title, no_timeline, execution_window, iteration_window,
      first_window, cut, lanes_out, arrows_out, zoom_hint;
  std::string_view hottest, hottest_caption, no_operators, table_rest;
  std::string_view memory, memory_none, memory_some, memory_caption;
  std::string_view counters, counters_caption, counters_rest, overlap, overlap_caption;
  std::string_view advice, nothing_found, checked, evidence_more;
  std::string_view severity[3];
};

const Words& words_of(Language language);

}  // namespace msprof::report
