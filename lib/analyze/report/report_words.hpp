// Words holds the texts of the page of `msprof report` in one language. Column names of products
// are not translated.
#pragma once

#include <string_view>

#include "analyze/advise/rule.hpp"

namespace msprof::report {

struct ReportWords {
  std::string_view language;  // HTML language code of the page
  std::string_view verdict, complete, without, partial, partial_means, more, contents;
  std::string_view run, capture, kind, board, atlas, chip, begun, duration, host, machine, one_core,
      cores, free, command, options, result, exit_code, ended_by, model_file, layout, captured_by,
      read_by;
  std::string_view device, model, batch, executions, tasks, iterations, median, shortest, longest;
  std::string_view modelled;
  std::string_view inferred;
  std::string_view known;  // facts known without the record layout
  std::string_view lengths, lengths_of_iterations, lengths_each;  // chart of all executions
  std::string_view timeline, timeline_title, no_timeline, execution_window, iteration_window,
      first_window, window_times, cut, lanes_out, arrows_out, zoom_hint, zoom_in, zoom_out, left,
      right, whole;
  std::string_view layers, operators;  // inserted for {2} or {0} in sentences
  std::string_view hottest_layers, hottest, hottest_caption, no_operators, table_rest;
  std::string_view memory, memory_none, memory_some, memory_caption;
  std::string_view overlap, overlap_caption, counters, counters_caption, counters_rest, counter,
      unit, samples, mean, least, most, count, time_us, share;
  std::string_view advice, nothing_found, checked, evidence_more, times;
  std::string_view severity[3];
  std::string_view dark, light, all_rows;  // button labels; "{}" is the number of rows
};

const ReportWords& report_words(Language language);

}  // namespace msprof::report
