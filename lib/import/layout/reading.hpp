// Readings: which columns of the records are layer, start, end, duration and cycles, with a score
// that says how much of the bytes they explain. Source: layout_method.md 4.
#pragma once

#include <optional>
#include <vector>

#include "import/layout/columns.hpp"

namespace msprof::layout {

struct ValueColumn {
  std::size_t offset = 0;
  std::size_t width = 4;
};

struct Reading {
  LayerColumn layer;  // width 0: none
  TimeColumn start;
  std::optional<TimeColumn> end;
  std::optional<ValueColumn> duration;  // in units of `start`
  std::optional<ValueColumn> total;     // cycles
  double cycles_per_unit = 0;           // if there is `total`
  double rate_tolerance = 0;            // of cycles_per_unit, relative
  bool is_total_alone = true;           // no other number follows the durations as well
  double bits = 0;                      // explained per record
  double aligned_bits = 0;              // explained once, by fields that are aligned
  double gap_bits = 0;  // of them by durations that end where the next record starts
  std::size_t records = 0;
  std::size_t times = 0;  // numbers in the record that may be times
  double spread = 0;      // longest / shortest duration

  bool is_pair = false;  // start and end are the same column of two records

  bool has_span() const { return end || duration || total || is_pair; }
};

struct RecordColumns {
  const Places& places;
  const Places* ends = nullptr;  // the records of the ends, if these are separate
  std::size_t record_bytes = 0;
  const LayerColumn* layer = nullptr;  // null if there is none
  const GroupColumn* groups = nullptr;
  bool has_cycles = false;  // the records may have cycles
};

// Readings of these records, best first; all records must fit.
std::vector<Reading> find_readings(const RecordColumns& columns);

}  // namespace msprof::layout
