// CaptureInfo describes a capture: devices, ranks, models, iterations and available products. Used
// by `query` and by the verdict of an import.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/import_report.hpp"
#include "store/database.hpp"
#include "store/layout_origin.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

struct DeviceInfo {
  std::int64_t id = 0;
  std::string chip;  // empty if unknown, as are the following numbers
  std::optional<std::int64_t> frequency_hz;
  std::optional<std::int64_t> core_count;
  std::optional<std::int64_t> vector_core_count;
  std::int64_t task_count = 0;
};

// A rank of a communication group recorded in this capture.
struct RankInfo {
  std::string group;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> rank_count;
};

struct ModelInfo {
  std::optional<std::int64_t> id;  // for --model-id; empty if the runtime recorded none
  std::string name;                // empty if unknown
  std::int64_t task_count = 0;
};

// The iterations of a model on a device or, in captures of boards, its steps.
struct IterationInfo {
  std::optional<std::int64_t> device_id;
  std::optional<std::int64_t> model_id;
  std::string model_name;  // empty if unknown
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t count = 0;
  std::optional<std::int64_t> mean_ns;
};

struct ProductLists {
  std::vector<std::string> with_data;
  std::vector<std::string> without_data;
};

struct CaptureInfo {
  std::string dialect;
  std::string chip;  // empty if unknown
  UnitLoads unit_loads = UnitLoads::measured;
  LayoutOrigin layout_origin = LayoutOrigin::known;
  std::optional<std::int64_t> begin_ns;     // UTC, since 1970
  std::optional<std::int64_t> duration_ns;  // of the collection
  std::optional<std::int64_t> host_rank;
  std::vector<DeviceInfo> devices;
  std::vector<RankInfo> ranks;
  std::vector<ModelInfo> models;
  bool has_steps = false;  // `iterations` holds the steps of a board
  std::vector<IterationInfo> iterations;
  ProductLists summaries;
  ProductLists timelines;
  bool has_db = false;  // true if `export db` writes a database
};

CaptureInfo capture_info(const Database& db);

// Returns "2023-11-14 22:13:20.000 UTC"; empty for a time outside the years 1970 to 9999.
std::string utc_text(std::int64_t ns);

// Adds a note to the import report for each product without data.
void note_empty_products(const Database& db, ImportReport& report);

// Returns true if at least one product has data.
bool has_any_product(const Database& db);

}  // namespace msprof
