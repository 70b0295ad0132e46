// A layout as it was found: every field with its certainty and the reason. For layout_finder, which
// makes it, and `msprof layout`, which shows and writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "import/layout/time_fields.hpp"

namespace msprof::layout {

// "certain", "likely", "unknown"
std::string_view certainty_name(Certainty certainty);

struct FieldPlace {
  std::size_t offset = 0;
  std::size_t width = 4;
  std::int64_t scale = 1;
  std::int64_t divisor = 1;
};

// A place where a field may be, the best first.
struct Candidate {
  FieldPlace place;
  std::string why;
};

struct FoundField {
  std::string name;  // as in kAicoreFields
  Certainty certainty = Certainty::unknown;
  FieldPlace place;
  std::string evidence;
  std::vector<Candidate> candidates;  // of one that is unknown or likely
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

struct FoundKind {
  std::string kind;  // "aicore"
  std::vector<std::string> files;
  std::vector<std::uint64_t> file_sizes;
  Certainty record_certainty = Certainty::unknown;
  Certainty header_certainty = Certainty::unknown;
  std::size_t record_bytes = 0;
  std::size_t header_bytes = 0;
  std::string record_evidence, header_evidence;
  std::optional<FoundSelect> select;
  std::vector<FoundField> fields;  // all that the kind has, in their order
  std::vector<FoundApi> apis;      // names are likely at most
  std::optional<double> core_mhz;  // of the cycles, where it is not that of info.json
  std::size_t records = 0, layers = 0, executions = 0;
  std::vector<std::uint64_t> candidate_record_sizes;

  FoundField& field(std::string_view name);
  const FoundField& field(std::string_view name) const;
};

struct InferredLayout {
  std::vector<FoundKind> kinds;
};

// The layout file: fields that are certain, with `accept_likely` those that are likely, too; the
// others have a null offset, and their candidates.
std::string layout_file_text(const InferredLayout& layout, bool accept_likely);

// For --json.
nlohmann::ordered_json layout_json(const InferredLayout& layout, bool accept_likely);

// Table for people, a line a field.
std::string layout_report(const InferredLayout& layout, bool accept_likely);

}  // namespace msprof::layout
