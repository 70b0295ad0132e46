// JOB folders of fictitious boards with random record layouts, and the true layouts. For the tests
// and the soak of the layout inference, which shares no code with this.
// A board (its layouts) and a capture of it (times, loads) have separate seeds, so that several
// captures of one board can be made. Random properties: records of 32 to 256 bytes; fields of 32
// and 64 bits in any order, aligned or packed; times in us, ns or ticks, since boot or a separate
// zero; headers; padding; constant, random, counting and per-layer decoys; several record types in
// one file, distinguished by a tag; truncated files, with and without .done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msprof::test {

struct TrueField {
  std::string name;
  std::size_t offset = 0;
  std::string type;
  std::int64_t scale = 1;  // value * scale / divisor is ns for times
  std::int64_t divisor = 1;
};

// Only records with this value in the field belong to the kind.
struct TrueSelect {
  std::size_t offset = 0;
  std::string type;
  std::uint64_t value = 0;
};

struct TrueLayout {
  std::size_t header_size = 0;
  std::size_t record_size = 0;
  std::vector<TrueField> fields;
  std::optional<TrueSelect> select;

  const TrueField* find(const std::string& name) const;
};

struct GeneratedJob {
  std::filesystem::path folder;
  std::filesystem::path truth_file;       // <folder>.truth.json, in the form of `import --layout`
  std::filesystem::path model_info_file;  // <folder>.model.json: shapes of the layers
  TrueLayout aicore;
  TrueLayout acl_api;
  std::string aicore_file;  // names in the folder
  std::string acl_api_file;
  std::size_t layers = 0;  // number of layers run by the cores
  std::size_t executions = 0;
  double core_mhz = 0;  // clock of the total cycles; may differ from info.json
  bool is_cut = false;
  bool has_done = false;
};

struct GeneratorChoice {
  std::optional<std::size_t> executions{};  // empty: random
  std::optional<std::size_t> layers{};
  std::optional<bool> cut{};
  std::optional<bool> several_types{};
  std::optional<std::string> time_unit{};  // us, ns or ticks
};

// Makes `folder` with the capture `capture_seed` of the board `board_seed`.
GeneratedJob make_layout_job(const std::filesystem::path& folder, std::uint64_t board_seed,
                             std::uint64_t capture_seed = 1, const GeneratorChoice& choice = {});

}  // namespace msprof::test
