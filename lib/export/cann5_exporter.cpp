#include "export/planners.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/log.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/export_files.hpp"

namespace msprof {

// Writes files in the style of CANN 5 and older. Its tables differ from the current ones
// (cann_device.md 24): no Device_id, because a file covers one device; Block Dim instead of Block
// Num; no unit in the names of time columns; fusion_op in bytes; msprof_tx in ns, without domains
// and devices.

namespace {

// Columns that CANN 5 does not have.
constexpr std::array<std::string_view, 4> kNewColumns = {
    "Device_id", "domain", "Device Start_time(us)", "Device End_time(us)"};
// Device number used for the host in its file names.
constexpr int kHostNumber = 64;

struct Rename {
  std::string_view now;
  std::string_view then;
};
constexpr std::array kRenames = {
    Rename{"Task Start Time(us)", "Task Start Time"},
    Rename{"task_start(us)", "task_start"},
    Rename{"task_stop(us)", "task_stop"},
    Rename{"FP Start(us)", "FP Start"},
    Rename{"BP End(us)", "BP End"},
    Rename{"Iteration End(us)", "Iteration End"},
    Rename{"Reduce Start(us)", "Reduce Start"},
};
// Columns in KB now, in bytes in CANN 5.
constexpr std::array kInBytes = {
    Rename{"Memory Input(KB)", "Memory Input(Bytes)"},
    Rename{"Memory Output(KB)", "Memory Output(Bytes)"},
    Rename{"Memory Weight(KB)", "Memory Weight(Bytes)"},
    Rename{"Memory Workspace(KB)", "Memory Workspace(Bytes)"},
    Rename{"Memory Total(KB)", "Memory Total(Bytes)"},
};

// Times in us now, in ns in CANN 5.
constexpr std::array kInNs = {
    Rename{"Start_time(us)", "Start_time(ns)"},
    Rename{"End_time(us)", "End_time(ns)"},
};

enum class CellForm { kept, excluded, in_bytes, in_ns };

template <std::size_t kCount>
const Rename* find(const std::array<Rename, kCount>& renames, std::string_view name) {
  for (const Rename& rename : renames) {
    if (rename.now == name) return &rename;
  }
  return nullptr;
}

CellForm cell_of(std::string_view column) {
  if (std::find(kNewColumns.begin(), kNewColumns.end(), column) != kNewColumns.end())
    return CellForm::excluded;
  if (find(kInNs, column) != nullptr) return CellForm::in_ns;
  return find(kInBytes, column) != nullptr ? CellForm::in_bytes : CellForm::kept;
}

std::vector<std::string> old_columns(const std::vector<std::string>& columns) {
  std::vector<std::string> old;
  for (const std::string& column : columns) {
    if (cell_of(column) == CellForm::excluded) continue;
    const Rename* rename = find(kRenames, column);
    if (rename == nullptr) rename = find(kInBytes, column);
    if (rename == nullptr) rename = find(kInNs, column);
    old.emplace_back(rename == nullptr ? cann8_column(column) : rename->then);
  }
  return old;
}

// Converts KB to bytes. fusion_op prints KB with all digits, so the result is exact.
std::string bytes_of(std::string_view kilobytes) {
  double value = 0;
  const auto read = std::from_chars(kilobytes.data(), kilobytes.data() + kilobytes.size(), value);
  if (read.ec != std::errc() || std::abs(value) > 1e15) return std::string(kilobytes);
  return fmt::format("{}", std::llround(value * 1024));
}

// Converts us with three decimals, the form in which times are printed, to ns.
std::string ns_of(std::string_view us) {
  std::string ns;
  for (const char c : us) {
    if ((c >= '0' && c <= '9') || c == '-') ns += c;
  }
  return ns;
}

// Takes the cells of the table and hands on those of the columns of then.
class OldColumns : public RowSink {
 public:
  OldColumns(RowSink& out, const std::vector<std::string>& columns) : out_(out) {
    for (const std::string& column : columns) cells_.push_back(cell_of(column));
  }

  using RowSink::number;
  void begin(std::span<const std::string>) override {}
  void text(std::string_view value) override {
    if (next() != CellForm::excluded) out_.text(value);
  }
  void number(std::string_view digits) override {
    const CellForm cell = next();
    if (cell == CellForm::in_bytes) return out_.number(bytes_of(digits));
    if (cell != CellForm::excluded) out_.number(digits);
  }
  void timestamp(std::string_view digits) override {
    const CellForm cell = next();
    if (cell == CellForm::in_ns) return out_.number(ns_of(digits));
    if (cell != CellForm::excluded) out_.timestamp(digits);
  }
  void end_row() override {
    at_ = 0;
    out_.end_row();
  }
  void end() override {}

 private:
  CellForm next() { return at_ < cells_.size() ? cells_[at_++] : CellForm::kept; }

  RowSink& out_;
  std::vector<CellForm> cells_;
  std::size_t at_ = 0;  // index of the next column
};

class Cann5Table : public SummaryTable {
 public:
  explicit Cann5Table(std::unique_ptr<SummaryTable> table)
      : SummaryTable(table->info()), table_(std::move(table)) {}

  std::vector<std::string> columns(const Database& db) const override {
    return old_columns(table_->columns(db));
  }
  std::vector<OutputFile> output_files(const Database& db) const override {
    return table_->output_files(db);
  }
  void write(const Database& db, const OutputFile& output_file, RowSink& out) const override {
    OldColumns old(out, table_->columns(db));
    table_->write(db, output_file, old);
  }

 private:
  std::unique_ptr<SummaryTable> table_;
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann5_table(std::unique_ptr<SummaryTable> table) {
  return std::make_unique<Cann5Table>(std::move(table));
}

namespace fs = std::filesystem;

namespace {

using Layers = std::vector<std::unique_ptr<TimelineLayer>>;

struct DevicePart {
  std::int64_t device = 0;
  ExportScope scope;
  // True for a capture of CANN 5 without steps: its operators ran one by one.
  bool is_single_operator = false;
  bool is_host() const { return device == kHostNumber; }
  std::string name() const { return is_host() ? "host" : fmt::format("device_{}", device); }
};

// Returns the devices in `scope`, each with the scope limited to it.
std::vector<DevicePart> devices_of(const Database& db, const ExportScope& scope) {
  std::vector<DevicePart> parts;
  const bool is_single_operator =
      generation_of(db) == "cann5" && !cann::has_rows(db, "SELECT 1 FROM iteration");
  Statement read = db.prepare("SELECT id FROM device ORDER BY id");
  while (read.step()) {
    DevicePart part{read.integer(0), scope, is_single_operator};
    if (!scope.takes_device(part.device)) continue;
    part.scope.devices = {part.device};
    std::erase_if(part.scope.windows,
                  [&](const IterationWindow& window) { return window.device_id != part.device; });
    if (part.scope.windows.empty() && !scope.windows.empty()) {
      log::info("{}: it did not run iteration {} of model {}", part.name(),
                scope.iteration.value_or(0), scope.model_number.value_or(0));
      continue;
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) log::info("no device in this capture, so there are no files to write");
  return parts;
}

// Creates each folder of an export once; parts of a capture may share one.
class Folders {
 public:
  Folders(const Database& db, fs::path base, std::string name, std::string kind)
      : db_(db), base_(std::move(base)), name_(std::move(name)), kind_(std::move(kind)) {}

  std::shared_ptr<ProductFolder> of(const DevicePart& part, bool replaces_all) {
    return at(cann5_folder(db_, base_, part.name(), name_), replaces_all);
  }
  std::shared_ptr<ProductFolder> of_capture(bool replaces_all) {
    return at(product_folder(base_, name_), replaces_all);
  }

 private:
  std::shared_ptr<ProductFolder> at(const fs::path& path, bool replaces_all) {
    auto& folder = folders_[path];
    if (!folder) folder = std::make_shared<ProductFolder>(path, kind_, replaces_all);
    return folder;
  }

  const Database& db_;
  fs::path base_;
  std::string name_;
  std::string kind_;
  std::map<fs::path, std::shared_ptr<ProductFolder>> folders_;
};

// Returns the host with the whole scope; an iteration then only appears in file names.
DevicePart host_of(const ExportScope& scope) {
  return {kHostNumber, scope};
}

// The file name contains the model and the iteration if both are set.
OutputFile output_file_of(std::string_view topic, const DevicePart& part) {
  OutputFile output_file;
  output_file.stem = fmt::format("{}_{}", topic, part.device);
  output_file.product = output_file.stem;
  if (part.scope.model_number && part.scope.iteration) {
    if (!part.is_host()) output_file.stem += fmt::format("_{}", *part.scope.model_number);
    output_file.stem += fmt::format("_{}", *part.scope.iteration);
  } else if (part.is_single_operator) {
    output_file.stem += "_1";
  }
  output_file.slice_at = output_file.stem.size();
  output_file.scope = part.scope;
  output_file.is_cann5 = true;
  output_file.has_arrows = false;  // CANN 5 draws none from calls to tasks
  return output_file;
}

void warn_missing(const DevicePart& part, const std::vector<std::string_view>& topics) {
  if (!topics.empty()) log::info("{}: no data for {}", part.name(), fmt::join(topics, ", "));
}

// Runs `write` and logs the topic if it has no data for this device.
template <typename Write>
std::vector<ExportedFile> write_or_say(const DevicePart& part, std::string_view topic,
                                       Write&& write) {
  auto files = write();
  if (files.empty()) warn_missing(part, {topic});
  return files;
}

std::vector<Cann5Timeline> topics_named(ProductAge age, const std::vector<std::string>& names) {
  auto topics = cann5_timelines(age);
  if (names_all(names)) return topics;
  std::vector<std::string_view> valid;
  valid.reserve(topics.size());
  for (const auto& topic : topics) valid.push_back(topic.name);
  for (const std::string& name : names) {
    if (std::find(valid.begin(), valid.end(), name) == valid.end()) {
      throw Error(Exit::usage, fmt::format("unknown timeline '{}' of --style cann5; valid: {}, {}",
                                           name, fmt::join(valid, ", "), kAllLayers));
    }
  }
  std::erase_if(topics, [&](const auto& topic) {
    return std::find(names.begin(), names.end(), topic.name) == names.end();
  });
  return topics;
}

bool draws(const Cann5Timeline& topic, const TimelineLayer& layer) {
  if (topic.layers.empty()) return layer.info().is_default;
  return std::find(topic.layers.begin(), topic.layers.end(), layer.name()) != topic.layers.end();
}

// Returns the layers of a topic that have data. Host layers show the whole capture even if an
// iteration is selected, except in ai_stack_time, which follows an iteration from its calls to its
// tasks, and in the timeline of all processes, where the tools of that time limited them, too.
TimelineFile timeline_of(const Database& db, const Layers& layers, const Cann5Timeline& topic,
                         const DevicePart& part, const TimelineOptions& options) {
  TimelineFile timeline;
  timeline.output_file = output_file_of(topic.name, part);
  timeline.file_name = timeline.output_file.stem + timeline_extension(options);
  for (const auto& layer : layers) {
    if (!draws(topic, *layer) || layer->output_files(db).empty()) continue;
    OutputFile output_file = timeline.output_file;
    output_file.key = topic.key;
    if (layer->info().is_of_host && topic.key != kAiStackTime && topic.key != kWholeTimeline)
      output_file.scope = part.scope.without_iteration();
    timeline.layers.emplace_back(layer.get(), output_file);
  }
  return timeline;
}

using SharedTables = std::shared_ptr<const SummaryTables>;

void plan_tables(const Database& db, const SharedTables& tables, const DevicePart& part,
                 const std::shared_ptr<ProductFolder>& folder, SummaryFormat format,
                 std::vector<ExportJob>& jobs) {
  const std::string_view extension = format == SummaryFormat::json ? kJsonTableExtension : ".csv";
  std::vector<std::string_view> missing;
  for (const auto& table : *tables) {
    if ((table->info().cann5_folder == Cann5Folder::host) != part.is_host()) continue;
    if (table->output_files(db).empty()) {
      missing.push_back(table->name());
      continue;
    }
    OutputFile output_file = output_file_of(table->name(), part);
    if (table->info().is_cann5_whole) output_file.scope = part.scope.without_iteration();
    folder->claim(output_file.product);
    std::string name = fmt::format("{}{}", output_file.stem, extension);
    std::string former_name = fmt::format("{}.json", output_file.stem);
    SummaryFile summary{table.get(), std::move(output_file), std::move(name),
                        std::move(former_name)};
    jobs.push_back(
        {[tables, folder, part, format, file = std::move(summary)](const Database& connection) {
           return write_or_say(part, file.table->name(),
                               [&] { return write_summary(connection, *folder, format, file); });
         },
         folder});
  }
  warn_missing(part, missing);
}

class TimelinePlanner {
 public:
  TimelinePlanner(const TraceDb& store, const TimelineOptions& options)
      : db_(store.database()),
        store_(store.path()),
        options_(options),
        topics_(topics_named(age_of(generation_of(db_)), options.layers)),
        layers_(std::make_shared<const Layers>(cann5_layers(db_, age_of(generation_of(db_))))) {}

  void plan(const DevicePart& part, Cann5Folder place,
            const std::shared_ptr<ProductFolder>& folder) {
    std::vector<std::string_view> missing;
    for (const Cann5Timeline& topic : topics_) {
      if (topic.folder != place) continue;
      TimelineFile timeline = timeline_of(db_, *layers_, topic, part, options_);
      if (timeline.layers.empty()) {
        missing.push_back(topic.name);
        continue;
      }
      folder->claim(timeline.output_file.product);
      jobs_.push_back(
          {[layers = layers_, options = options_, folder, part, name = topic.name, store = store_,
            timeline = std::move(timeline)](const Database& connection) {
             return write_or_say(part, name, [&] {
               return write_timeline(connection, store, *folder, timeline, options);
             });
           },
           folder});
    }
    warn_missing(part, missing);
  }
  std::vector<ExportJob> take() { return std::move(jobs_); }

 private:
  const Database& db_;
  fs::path store_;
  const TimelineOptions& options_;
  std::vector<Cann5Timeline> topics_;
  std::shared_ptr<const Layers> layers_;
  std::vector<ExportJob> jobs_;
};

}  // namespace

std::vector<ExportJob> plan_cann5_summaries(const TraceDb& store, const fs::path& base,
                                            const SummaryOptions& options) {
  const Database& db = store.database();
  const auto tables = std::make_shared<const SummaryTables>(
      tables_named(cann5_tables(generation_of(db)), options.names));
  std::vector<ExportJob> jobs;
  Folders folders(db, base, "summary", kind_of(options.format));
  const auto plan = [&](const DevicePart& part) {
    plan_tables(db, tables, part, folders.of(part, options.names.empty()), options.format, jobs);
  };
  for (const DevicePart& part : devices_of(db, options.scope)) plan(part);
  plan(host_of(options.scope));
  return jobs;
}

std::vector<ExportJob> plan_cann5_timelines(const TraceDb& store, const fs::path& base,
                                            const TimelineOptions& options) {
  const Database& db = store.database();
  TimelinePlanner planner(store, options);
  const bool is_all = names_all(options.layers);
  Folders folders(db, base, "timeline", "timeline");
  const auto whole = folders.of_capture(is_all && options.scope.devices.empty());
  for (const DevicePart& part : devices_of(db, options.scope)) {
    planner.plan(part, Cann5Folder::device, folders.of(part, is_all));
    planner.plan(part, Cann5Folder::capture, whole);
  }
  const DevicePart host = host_of(options.scope);
  planner.plan(host, Cann5Folder::host, folders.of(host, is_all));
  return planner.take();
}

}  // namespace msprof
