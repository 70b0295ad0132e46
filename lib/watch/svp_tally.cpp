// JOB folders: layers in aicore and aicpu records, calls in acl_api records, for all known layouts.
// Source: svp_job.md 2, 5, 7.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "import/svp/device_info.hpp"
#include "import/svp/layer_info.hpp"
#include "import/svp/svp_data_file.hpp"
#include "session/svp_session.hpp"
#include "watch/tally.hpp"

namespace msprof::watch {

namespace {

using svp::SvpFileKind;

constexpr std::size_t kMaxLayers = 100'000;
constexpr std::size_t kMaxShownLayers = 16;
constexpr int kMaxLayoutTries = 3;
constexpr double kNsPerSecond = 1e9;
constexpr std::string_view kExecuteCall = "svp_acl_mdl_execute";

using AnySlots = std::array<std::int64_t, kAicoreFields.size()>;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

using ModelKey = std::pair<std::string, std::int64_t>;

// Keeps cycles and times separately: the clock of the cores may become known after the first
// records.
struct LayerTime {
  std::uint64_t count = 0;
  std::int64_t device = 0;
  double ns = 0;       // time of records without cycles, or with cycles of a known clock
  double cycles = 0;   // cycles of the other records
  double span_ns = 0;  // time of the other records, from their starts and ends
};

struct DataFile {
  SvpFileKind kind = SvpFileKind::other;
  svp::SvpFileName name;
  std::uint64_t file_bytes = 0;
  const RecordLayout* layout = nullptr;
  std::uint64_t record_bytes = 0;
  bool is_foreign = false;     // its layout is not our runtime's
  bool is_unreadable = false;  // reference magic, but another layout
  std::uint64_t records = 0;
  std::uint64_t passed_records = 0;
  std::uint64_t executions = 0;  // in the records that were read
  std::int64_t first_layer = kNull;
  std::int64_t last_execution = kNull;  // used if records contain no layer

  std::unordered_map<std::int64_t, LayerTime*> times;  // by layer id; owned by SvpTally

  double all_executions() const {
    if (records == 0) return 0;
    const double share =
        static_cast<double>(records + passed_records) / static_cast<double>(records);
    return static_cast<double>(executions) * share;
  }
};

struct LayerKey {
  ModelKey model;
  std::int64_t net = 0;
  std::int64_t layer = 0;
  bool is_on_cpu = false;

  auto operator<=>(const LayerKey&) const = default;
};

class SvpTally : public Tally {
 public:
  explicit SvpTally(LayoutSearch search) : search_(std::move(search)) {}

  Content classify_content(const std::string& path) override {
    const std::string_view name = base_name(path);
    if (svp::parse_info_json_name(name)) return Content::text;
    if (const auto info = svp::parse_info_name(name)) models_.insert({info->model, info->model_id});
    switch (svp::parse_data_name(name, models_).kind) {
      case SvpFileKind::layer_info:
        return Content::text;
      case SvpFileKind::aicore:
      case SvpFileKind::aicpu:
      case SvpFileKind::acl_api:
        return Content::records;
      default:
        return Content::other;
    }
  }

  void take_text(const std::string& path, std::string_view text) override {
    const std::string_view name = base_name(path);
    if (const auto device = svp::parse_info_json_name(name)) {
      const nlohmann::json info = svp::parse_device_info(std::string(text));
      if (info.is_null()) return;
      if (const auto hz = svp::parse_frequency(info)) frequencies_[*device] = *hz;
      add_device(info, facts_);
      return;
    }
    const auto info = svp::parse_info_name(name);
    if (!info) return;
    const ModelKey model(info->model, info->model_id);
    models_.insert(model);
    for (svp::SvpLayer& layer : svp::read_layers(text)) {
      if (layer_names_.size() >= kMaxLayers) break;
      layer_names_.try_emplace({model, layer.net_id, layer.layer_id}, layer.name);
      layer_names_.try_emplace({model, -1, layer.layer_id}, std::move(layer.name));
    }
  }

  bool wants(const std::string& path, std::uint64_t file_bytes) override {
    DataFile& file = find_or_add_file(path);
    file.file_bytes = file_bytes;
    if (file.is_unreadable) return false;
    if (!file.is_foreign || file.layout != nullptr) return true;
    look_for_layout();
    return layouts_ && layouts_->find(svp::kind_name(file.kind)) != nullptr;
  }

  std::size_t take_records(const std::string& path, std::uint64_t from,
                           std::string_view text) override {
    DataFile& file = find_or_add_file(path);
    const auto bytes = std::as_bytes(std::span(text));
    std::size_t done = 0;
    if (from == 0) {
      done = take_header(file, bytes);
      if (done == 0 && !(file.layout != nullptr && file.layout->header_bytes == 0)) return 0;
    }
    if (file.layout == nullptr || file.record_bytes == 0) return 0;
    const std::size_t size = file.record_bytes;
    for (; bytes.size() - done >= size; done += size) {
      const auto record = bytes.subspan(done, size);
      // Space that the host runtime has allocated but not written yet.
      if (!file.is_foreign && svp::is_unwritten(record)) break;
      take_record(file, record);
    }
    return done;
  }

  std::uint64_t pass_over(const std::string& path, std::uint64_t bytes) override {
    DataFile& file = find_or_add_file(path);
    if (file.layout == nullptr || file.records == 0) return 0;
    const std::uint64_t records = bytes / file.record_bytes;
    file.passed_records += records;
    return records * file.record_bytes;
  }

  RecordFigures figures() const override {
    RecordFigures figures;
    std::map<ModelKey, Executions> executions;
    bool is_foreign = false;
    bool is_read = false;
    for (const auto& [path, file] : files_) {
      is_foreign = is_foreign || (file.is_foreign && file.layout == nullptr);
      if (file.records == 0) continue;
      is_read = true;
      Executions& of_model = executions[{file.name.model, file.name.model_id}];
      const std::int64_t net = file.name.net.value_or(0);
      if (file.kind == SvpFileKind::acl_api) {
        of_model.calls += file.all_executions();
      } else {
        of_model.by_net[{file.kind == SvpFileKind::aicpu, net}] += file.all_executions();
      }
    }
    double count = 0;
    for (const auto& [model, of_model] : executions) count += of_model.all();
    figures.has_records = is_read;
    figures.count = static_cast<std::uint64_t>(count);
    add_layers(figures);
    if (!search_problem_.empty()) {
      figures.note = search_problem_;
    } else if (is_foreign) {
      figures.note = "unknown record layout: only counts and bytes are shown (--layout FILE)";
    } else if (!is_read) {
      figures.note = "no layer records yet";
    }
    return figures;
  }

 private:
  struct Executions {
    std::map<std::pair<bool, std::int64_t>, double> by_net;  // by (is on CPU, net)
    double calls = 0;

    // The largest count: each execution runs every net of the model, and calls are recorded even
    // while nothing else is captured.
    double all() const {
      double most = calls;
      for (const auto& [net, count] : by_net) most = std::max(most, count);
      return most;
    }
  };

  DataFile& find_or_add_file(const std::string& path) {
    const auto [at, is_new] = files_.try_emplace(path);
    if (is_new) {
      at->second.name = svp::parse_data_name(base_name(path), models_);
      at->second.kind = at->second.name.kind;
    }
    return at->second;
  }

  // Chooses the file's layout or marks it as foreign; returns the header size.
  std::size_t take_header(DataFile& file, std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(std::uint32_t)) return 0;
    const auto header = svp::read_reference_header(bytes);
    if (header && !header->is_whole) return 0;
    file.is_foreign = !header;
    if (file.is_foreign) look_for_layout();
    const LayoutSet* const layouts = header     ? &LayoutSet::reference()
                                     : layouts_ ? &*layouts_
                                                : nullptr;
    const RecordLayout* const layout =
        layouts == nullptr ? nullptr : layouts->find(svp::kind_name(file.kind));
    if (header && (layout == nullptr || header->version != svp::kReferenceVersion ||
                   header->record_bytes < layout->record_bytes)) {
      file.is_foreign = file.is_unreadable = true;
      return 0;
    }
    if (layout == nullptr || bytes.size() < layout->header_bytes) return 0;
    file.layout = layout;
    file.record_bytes = header ? header->record_bytes : layout->record_bytes;
    return static_cast<std::size_t>(layout->header_bytes);
  }

  // Searches for a layout of foreign records. Repeated when there is more data to match, but only a
  // limited number of times: each search reads the layouts in the user's folder.
  void look_for_layout() {
    if (layouts_ || !search_problem_.empty() || tries_ >= kMaxLayoutTries) return;
    LayoutFacts facts = facts_;
    if (!search_.product.empty()) facts.products.push_back(search_.product);
    std::uint64_t all_bytes = 0;
    for (const auto& [path, file] : files_) {
      if (!file.is_foreign || file.file_bytes == 0) continue;
      add_records(svp::kind_name(file.kind), path, file.file_bytes, facts);
      all_bytes += file.file_bytes;
    }
    if (all_bytes <= tried_bytes_) return;
    tried_bytes_ = all_bytes;
    ++tries_;
    try {
      const LayoutChoice choice = choose_layout(facts, "the records of this run", search_.places);
      if (choice.json.empty()) return;
      layouts_ = LayoutSet::parse(choice.json, choice.file);
    } catch (const Error& error) {
      search_problem_ = error.what();
    }
  }

  void take_record(DataFile& file, std::span<const std::byte> record) {
    const bool is_unwritten = std::all_of(record.begin(), record.end(),
                                          [](std::byte byte) { return byte == std::byte{0}; });
    if (is_unwritten || !file.layout->selects(record)) return;
    AnySlots slots;
    slots.fill(kNull);
    const std::size_t count = field_names(svp::kind_name(file.kind)).size();
    if (!file.layout->decode(record, std::span(slots).first(std::min(count, slots.size())))) return;
    if (file.kind == SvpFileKind::acl_api) {
      ++file.records;
      const auto name = file.layout->api_names.find(slots[svp::kCallApiId]);
      if (name != file.layout->api_names.end() && name->second.name.starts_with(kExecuteCall))
        ++file.executions;
      return;
    }
    using namespace svp;
    const bool is_on_cpu = file.kind == SvpFileKind::aicpu;
    const auto slot = [&](CoreSlot core, CpuSlot cpu) {
      return slots[is_on_cpu ? std::size_t{cpu} : std::size_t{core}];
    };
    const std::int64_t layer = slot(kCoreLayerId, kCpuLayerId);
    if (layer != kNull && (layer < 0 || layer > kMaxLayerId)) return;
    const double ns = span_ns(slot(kCoreStart, kCpuStart), slot(kCoreEnd, kCpuEnd));
    const double cycles = is_on_cpu || slots[kCoreTotalCycles] == kNull
                              ? -1
                              : static_cast<double>(slots[kCoreTotalCycles]);
    if (std::max(ns, cycles) > static_cast<double>(kMaxDurationNs)) return;
    count_execution(file, layer, slot(kCoreExecution, kCpuExecution));
    LayerTime* const time = find_or_add_time(file, layer, is_on_cpu);
    if (time == nullptr) return;
    ++time->count;
    if (cycles < 0) {
      time->ns += ns;
    } else if (file.layout->cycle_hz) {
      time->ns += cycles * kNsPerSecond / static_cast<double>(*file.layout->cycle_hz);
    } else {
      time->cycles += cycles;
      time->span_ns += ns;
    }
  }

  // Returns null if there are more layers than any real run has.
  LayerTime* find_or_add_time(DataFile& file, std::int64_t layer, bool is_on_cpu) {
    const auto known = file.times.find(layer);
    if (known != file.times.end()) return known->second;
    const LayerKey key = {
        {file.name.model, file.name.model_id}, file.name.net.value_or(-1), layer, is_on_cpu};
    if (times_.size() >= kMaxLayers && !times_.contains(key)) return nullptr;
    LayerTime& time = times_[key];
    time.device = file.name.device;
    return file.times[layer] = &time;
  }

  static void count_execution(DataFile& file, std::int64_t layer, std::int64_t execution) {
    if (file.records == 0) file.first_layer = layer;
    ++file.records;
    // Records of several threads are interleaved: each layer occurs once per execution, in any
    // order.
    const bool is_next = layer != kNull       ? layer == file.first_layer
                         : execution != kNull ? execution != file.last_execution
                                              : false;
    if (is_next) ++file.executions;
    file.last_execution = execution;
  }

  static double span_ns(std::int64_t start, std::int64_t end) {
    if (start == kNull || end == kNull || end < start) return 0;
    return static_cast<double>(end) - static_cast<double>(start);
  }

  // Prefers cycles if their clock is known: most timestamps are less precise.
  double time_ns(const LayerTime& time) const {
    const auto clock = frequencies_.find(time.device);
    if (clock == frequencies_.end()) return time.ns + time.span_ns;
    return time.ns + time.cycles * kNsPerSecond / static_cast<double>(clock->second);
  }

  std::string layer_name(const LayerKey& key) const {
    if (key.layer == kNull) return key.model.first;
    for (const std::int64_t net : {key.net, std::int64_t{-1}}) {
      const auto found = layer_names_.find({key.model, net, key.layer});
      if (found != layer_names_.end()) return found->second;
    }
    return "layer_" + std::to_string(key.layer);
  }

  void add_layers(RecordFigures& figures) const {
    struct Row {
      double ns;
      const LayerKey* key;
      std::uint64_t count;
    };
    std::vector<Row> rows;
    for (const auto& [key, time] : times_) {
      rows.push_back({time_ns(time), &key, time.count});
      figures.all_ns += rows.back().ns;
    }
    const std::size_t shown = std::min(rows.size(), kMaxShownLayers);
    std::partial_sort(
        rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown), rows.end(),
        [](const Row& a, const Row& b) { return a.ns != b.ns ? a.ns > b.ns : *a.key < *b.key; });
    for (std::size_t i = 0; i < shown; ++i)
      figures.slowest.push_back({layer_name(*rows[i].key), rows[i].count, rows[i].ns});
  }

  LayoutSearch search_;
  std::optional<LayoutSet> layouts_;
  std::string search_problem_;
  int tries_ = 0;
  std::uint64_t tried_bytes_ = 0;
  svp::KnownModels models_;
  std::map<std::int64_t, std::int64_t> frequencies_;  // by device, in Hz
  LayoutFacts facts_;                                 // without files
  std::map<std::tuple<ModelKey, std::int64_t, std::int64_t>, std::string> layer_names_;
  std::map<std::string, DataFile> files_;
  std::map<LayerKey, LayerTime> times_;
};

}  // namespace

std::unique_ptr<Tally> make_svp_tally(LayoutSearch search) {
  return std::make_unique<SvpTally>(std::move(search));
}

}  // namespace msprof::watch
