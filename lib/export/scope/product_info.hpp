// Self-description of a product, in its own file. Lists, --help, completion, the doctor and --style
// cann5 use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "export/scope/export_scope.hpp"
#include "session/session.hpp"
#include "store/schema.hpp"

namespace msprof {

// The raw kinds that a product needs: groups separated by spaces, all required; within a group, '|'
// separates alternatives.
struct RawNeeds {
  std::string_view kinds;
  bool every_run = false;  // true: every run records them; false: only runs that use the feature
                           // shown
};
inline constexpr RawNeeds kDeviceLogs = {"stars_soc|hwts|ts_track", true};
inline constexpr RawNeeds kDeviceLogsAndHost = {
    "stars_soc|hwts|ts_track task_track node_basic_info", true};

// Where --style cann5 puts a file. Source: cann_device.md 24.
enum class Cann5Folder {
  device,   // device_N/summary, device_N/timeline: one per device
  host,     // host/summary, host/timeline: for the whole capture, as device number 64
  capture,  // timeline: one per device, with the host's calls
};

// Group of the tables and layers of system counters, most of which a run does not record.
inline constexpr std::string_view kCounterLayers = "counters";
// Groups of V6 engines other than cores, and of the runtime's own records. Missing data of engines
// is never reported; missing data of the runtime, as of counters, only if its raw kinds were read.
inline constexpr std::string_view kEngineLayers = "engines";
inline constexpr std::string_view kRuntimeTables = "runtime";

// The time of the tools whose table or layer it is. A capture has, of each table and each topic,
// the oldest of those that are not older than itself.
enum class ProductAge {
  today,    // those of --style cann5 among them: for captures of any time
  cann5,    // for captures of CANN 5 and older
  classic,  // for captures of 2019 to 2021
};

struct TableInfo {
  std::string_view name;   // "op_summary"
  std::string_view title;  // heading in the terminal
  std::string_view help;
  std::string_view exists = {};  // SQL: returns a row if there is data to print
  RawNeeds needs = {};
  bool is_shown = false;    // printed by `show`: few enough rows for a terminal
  bool is_exported = true;  // false: only shown
  // Columns of unit loads (store/unit_loads.hpp); modelled if those of the capture are.
  std::span<const std::string_view> unit_loads = {};
  int cann5_place = 0;         // position among the tables of --style cann5; 0: not one of them
  bool is_cann5_only = false;  // not of the current style; so are all that are older than today
  ProductAge age = ProductAge::today;
  // --style cann5 writes it for the whole capture even if an iteration is selected.
  bool is_cann5_whole = false;
  Cann5Folder cann5_folder = Cann5Folder::device;
  std::string_view group = {};  // as in LayerInfo
  Dialect dialect = Dialect::cann;
};

// A file per device of --style cann5 to which layers contribute. Source: cann_device.md 24.
struct Cann5Topic {
  int place = 0;  // position among the topics
  std::string_view name;
  std::int64_t key = 0;  // OutputFile.key for these layers
  Cann5Folder folder = Cann5Folder::device;
};
// Keys of topics that several layers draw in a special form.
inline constexpr std::int64_t kAiStackTime = -1;
inline constexpr std::int64_t kThreadGroup = -2;
// The timeline of all processes, for layers that are older than today.
inline constexpr std::int64_t kWholeTimeline = -3;

struct LayerInfo {
  std::string_view name;  // "task_time"
  std::string_view help;
  std::string_view exists = {};  // SQL: returns a row if there is data to draw
  RawNeeds needs = {};
  std::string_view own_document = {};      // "step_trace": also written as a separate file
  bool is_default = true;                  // false: written only if --layers names it
  std::vector<Cann5Topic> cann5_topics{};  // topics it contributes to, besides the one of all
                                           // layers
  // Host activity: --style cann5 writes it for the whole capture even if an iteration is selected.
  bool is_of_host = false;
  std::string_view group = {};         // --layers accepts this name for all layers of the group
  ProductAge age = ProductAge::today;  // older ones: of the topics alone, no layers of today
  Dialect dialect = Dialect::cann;
};

// OutputFile: one file that a table or a timeline layer writes. For exports and `show`.

// Data that the layers of one file share. The first layer that needs it computes it while the
// others wait.
class LayerShare {
 public:
  template <typename Part, typename Make>
  std::shared_ptr<const Part> get(const Make& make) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const void>& part = parts_[typeid(Part)];
    if (!part) part = make();
    return std::static_pointer_cast<const Part>(part);
  }

 private:
  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<const void>> parts_;
};

struct OutputFile {
  std::string stem;                // file name without extension, sanitized
  std::int64_t step_id = kNull;    // the step, if the file is about one
  std::int64_t model_row = kNull;  // the model, if the file is about one
  std::int64_t key = 0;            // for use by the table or layer
  // Position of "_slice_<i>" in the stem if a CSV has more than a million rows; 0: never sliced.
  std::size_t slice_at = 0;
  // Layers with the same stem write one file together, in the order of the list.
  bool is_shared = false;
  // Set by the exporter: the file has both calls and tasks, so arrows between them are drawn.
  bool has_arrows = true;
  // Set by the exporter: every end of an arrow is 'f' (TimelineOptions).
  bool ends_every_arrow = false;
  // Set by the timeline exporter.
  std::shared_ptr<LayerShare> share{};
  // Set by the exporter: all devices and processes of a board's capture are in one file.
  bool is_merged = false;
  // Set by the exporter: drawn with the names, arguments and units of CANN 5.
  bool is_cann5 = false;
  // Set by the exporter: the rows to include, and the stem without the suffixes for them. Files of
  // the same product replace each other.
  ExportScope scope{};
  std::string product{};
};

}  // namespace msprof
