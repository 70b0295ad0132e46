// CaptureInfo: identity and contents of a capture: devices, ranks, models, iterations,
// products. For `query`, and for the verdict of an import.
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
  std::string chip;  // empty: unknown, as for the numbers
  std::optional<std::int64_t> frequency_hz;
  std::optional<std::int64_t> core_count;
  std::optional<std::int64_t> vector_core_count;
  std::int64_t task_count = 0;
};

// A rank of a communication group that this capture is of.
struct RankInfo {
  std::string group;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> rank_count;
};

struct ModelInfo {
  std::optional<std::int64_t> id;  // value for --model-id; empty if the runtime gave none
  std::string name;                // empty: unknown
  std::int64_t task_count = 0;
};

// The iterations of a model on a device; in captures of boards its steps.
struct IterationInfo {
  std::optional<std::int64_t> device_id;
  std::optional<std::int64_t> model_id;
  std::string model_name;  // empty: unknown
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
  std::string chip;  // empty: unknown
  UnitLoads unit_loads = UnitLoads::measured;
  LayoutOrigin layout_origin = LayoutOrigin::known;
  std::optional<std::int64_t> begin_ns;     // since 1970, UTC
  std::optional<std::int64_t> duration_ns;  // of the collection
  std::optional<std::int64_t> host_rank;
  std::vector<DeviceInfo> devices;
  std::vector<RankInfo> ranks;
  std::vector<ModelInfo> models;
  bool has_steps = false;  // steps of a board take the place of iterations
  std::vector<IterationInfo> iterations;
  ProductLists summaries;
  ProductLists timelines;
  bool has_db = false;  // `export db` writes one
};

CaptureInfo capture_info(const Database& db);

// "2023-11-14 22:13:20.000 UTC", for documents; empty for a time outside the years 1970 to 9999.
std::string utc_text(std::int64_t ns);

// Completes the verdict beyond the raw files: adds a note for every product without data.
void note_empty_products(const Database& db, ImportReport& report);

// True if the profile gives any product at all.
bool has_any_product(const Database& db);

}  // namespace msprof
