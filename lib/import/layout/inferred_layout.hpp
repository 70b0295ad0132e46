// InferredLayout: a layout found by layout_finder. Every field has its certainty and the reason.
// `msprof layout` shows and writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "import/layout/record_frames.hpp"
#include "import/layout/time_unit.hpp"

namespace msprof::layout {

// Returns "certain", "likely" or "unknown".
std::string_view certainty_name(Certainty certainty);

struct FieldPlace {
  std::size_t offset = 0;
  std::size_t width = 4;
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
  std::int64_t base = 0;  // number of the first layer, if it is not its id
  bool wraps = false;     // a time of 32 bits
};

// A possible position of a field; lists start with the best one.
struct FieldCandidate {
  FieldPlace place;
  std::string why;
};

struct FoundField {
  std::string name;  // as in kAicoreFields
  Certainty certainty = Certainty::unknown;
  FieldPlace place;
  std::string evidence;
  std::vector<FieldCandidate> candidates;  // for fields that are unknown or likely
};

struct FoundApi {
  std::int64_t id = 0;
  std::string name;
  std::string evidence;
};

struct FoundSelect {
  std::size_t offset = 0;
  std::size_t width = 4;
  std::uint64_t value = 0;
};

struct FoundPair {
  std::size_t offset = 0;  // u8
  std::uint8_t begin = 0, end = 0;
};

struct FoundKind {
  std::string kind;  // for example "aicore"
  std::vector<std::string> files;
  std::vector<std::uint64_t> file_sizes;
  Certainty record_certainty = Certainty::unknown;
  Certainty header_certainty = Certainty::unknown;
  std::size_t record_bytes = 0;
  std::size_t header_bytes = 0;
  std::string record_evidence, header_evidence;
  std::optional<FoundSelect> select;
  std::optional<FoundPair> pair;    // begins and ends are separate records
  std::optional<std::size_t> core;  // offset of a u8
  std::optional<Blocks> blocks;
  std::map<std::uint64_t, std::int64_t>
      layer_ids;                   // ids by the numbers in records, if these differ
  std::vector<FoundField> fields;  // all fields of the kind, in its order
  std::vector<FoundApi> apis;      // names are at most likely
  std::optional<double> core_mhz;  // clock of the cycles, if it differs from that of info.json
  std::size_t records = 0, layers = 0, executions = 0;
  std::vector<std::uint64_t> candidate_record_sizes;

  FoundField& field(std::string_view name);
  const FoundField& field(std::string_view name) const;
};

struct InferredLayout {
  std::vector<FoundKind> kinds;
};

// Returns the layout file. It uses fields that are certain, and with `accept_likely` also fields
// that are likely. The others have a null offset and a list of candidates.
std::string layout_file_text(const InferredLayout& layout, bool accept_likely);

nlohmann::ordered_json layout_json(const InferredLayout& layout, bool accept_likely);

// Table for people, one line per field.
std::string layout_report(const InferredLayout& layout, bool accept_likely);

}  // namespace msprof::layout
