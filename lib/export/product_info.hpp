// Self-description of a product, in its own file. Lists, --help, completion, the doctor and
// --style cann5 are made of it.
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

#include "export/export_scope.hpp"
#include "session/session.hpp"
#include "store/schema.hpp"

namespace msprof {

// The raw kinds that a product is made of: groups, all of which it needs; '|' parts those of which
// one is enough.
struct RawNeeds {
  std::string_view kinds;
  bool every_run = false;  // else only runs that use what it shows
};
inline constexpr RawNeeds kDeviceLogs = {"stars_soc|hwts|ts_track", true};
inline constexpr RawNeeds kDeviceLogsAndHost = {
    "stars_soc|hwts|ts_track task_track node_basic_info", true};

// Where --style cann5 puts a file. Source: cann_device.md 24.
enum class Cann5Folder {
  device,   // device_N/summary, device_N/timeline: one a device
  host,     // host/summary, host/timeline: of the whole capture, under device number 64
  capture,  // timeline: one a device, with the host's calls
};

// The group of the tables and layers of system counters, most of which no run records.
inline constexpr std::string_view kCounterLayers = "counters";
// Those of what V6 chips have beside cores are never missed; those of what the runtime records of
// itself are missed as counters are, only where there are records of them.
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
  std::string_view title;  // above it in the terminal
  std::string_view help;
  std::string_view exists = {};  // SQL: true if there is anything to print
  RawNeeds needs = {};
  bool is_shown = false;    // by `show`: few enough rows for a terminal
  bool is_exported = true;  // false for what is only shown
  // Columns of unit loads (store/unit_loads.hpp): modelled where the capture's are.
  std::span<const std::string_view> unit_loads = {};
  int cann5_place = 0;         // among the tables of --style cann5; 0: it is none of them
  bool is_cann5_only = false;  // not of the current style; so are all that are older than today
  ProductAge age = ProductAge::today;
  // --style cann5 has it of the whole capture beside each iteration.
  bool is_cann5_whole = false;
  Cann5Folder cann5_folder = Cann5Folder::device;
  std::string_view group = {};  // as LayerInfo's
  Dialect dialect = Dialect::cann;
};

// A file a device of --style cann5, in which layers have a part. Source: cann_device.md 24.
struct Cann5Topic {
  int place = 0;  // among the topics
  std::string_view name;
  std::int64_t key = 0;  // OutputFile.key for these layers
  Cann5Folder folder = Cann5Folder::device;
};
// Keys of topics that more than one layer draws in a way of its own.
inline constexpr std::int64_t kAiStackTime = -1;
inline constexpr std::int64_t kThreadGroup = -2;
// The timeline of all processes, for layers that are older than today.
inline constexpr std::int64_t kWholeTimeline = -3;

struct LayerInfo {
  std::string_view name;  // "task_time"
  std::string_view help;
  std::string_view exists = {};  // SQL: true if there is anything to draw
  RawNeeds needs = {};
  std::string_view own_document = {};      // "step_trace": it has a file of its own, too
  bool is_default = true;                  // false: written only where --layers names it
  std::vector<Cann5Topic> cann5_topics{};  // those it has a part in, beside that of all layers
  // What the host did: --style cann5 has it of the whole capture beside each iteration.
  bool is_of_host = false;
  std::string_view group = {};         // --layers takes this name for all that have it
  ProductAge age = ProductAge::today;  // older ones: of the topics alone, no layers of today
  Dialect dialect = Dialect::cann;
};

// OutputFile: one file that a table or a timeline layer writes. For exports and `show`.

// What the layers of one file need together: made by the first that asks, while others wait.
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
  std::string stem;                // file name without extension, already safe
  std::int64_t step_id = kNull;    // the step it is about, where it is about one
  std::int64_t model_row = kNull;  // the model, where it is about one
  std::int64_t key = 0;            // for the table or layer itself
  // Position of "_slice_<i>" in the stem when a CSV has more than a million rows; 0: it stays one.
  std::size_t slice_at = 0;
  // Layers that name the same stem write one file together, in the order of the list.
  bool is_shared = false;
  // Set by the exporter: true if arrows from calls to tasks are drawn, for which a file needs both
  // the calls and the tasks.
  bool has_arrows = true;
  // Set by the exporter: every end of an arrow is 'f' (TimelineOptions).
  bool ends_every_arrow = false;
  // Set by the exporter of timelines.
  std::shared_ptr<LayerShare> share{};
  // Set by the exporter: devices and processes of a board's capture are in one file.
  bool is_merged = false;
  // Set by the exporter: drawn as CANN 5 did, with its names, arguments and units.
  bool is_cann5 = false;
  // Set by the exporter: the rows to take, and the stem without what it adds for them. Files of one
  // product replace each other.
  ExportScope scope{};
  std::string product{};
};

}  // namespace msprof
