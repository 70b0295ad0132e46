// Explanations: frames with readings of their records, ranked by how much of the files they
// explain. Source: layout_method.md 6.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "import/layout/reading.hpp"
#include "import/layout/record_frames.hpp"
#include "import/layout/time_unit.hpp"

namespace msprof::layout {

// Records that a tag selects; the others are of other types.
struct Tag {
  std::size_t offset = 0;
  std::uint8_t value = 0;
};

// Begin and end of a layer are separate records.
struct PairTags {
  std::size_t offset = 0;
  std::uint8_t begin = 0, end = 0;
};

// Records of all files that are searched.
inline constexpr std::size_t kSearched = 600;

struct Explanation {
  Frame frame;
  std::optional<Tag> tag;
  std::optional<PairTags> pair;
  std::optional<std::size_t> core;  // offset of a byte with the core
  Reading reading;
  TickUnit unit;
  double bits = 0;  // explained in all files
  bool is_layer_doubtful = false;
  bool encloses_executions = false;  // calls: those of the cores

  // Returns true for a record that is read: it has the tag, or begins or ends a layer.
  bool selects(const Place& record) const;
};

// Records as they are read: `ends` has the same size as `starts`, and differs only for pairs.
struct RecordSet {
  Places starts, ends;
};

// Chooses and pairs records of a file set. `codes`: for pairs.
RecordSet choose_records(const Explanation& one, const Places& places, const LayerCodes& codes);

// The clock of records that were found before, with spans of executions in its units.
struct KnownClock {
  double hertz = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> executions;
};

// The end of a record in units of its start.
double end_of(const Reading& reading, const Place& start, const Place& end);

// Explanations of all files of one kind, the best first. `clock`: null if not known.
std::vector<Explanation> find_explanations(const std::string& kind,
                                           const std::vector<FileSample>& samples,
                                           const LayerCodes& codes, const KnownClock* clock);

}  // namespace msprof::layout
