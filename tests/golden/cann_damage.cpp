#include "golden/cann_damage.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "export/exporter.hpp"
#include "golden/csv_table.hpp"
#include "import/importer.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

// Columns that identify the rows of a product; the other columns depend on neighbouring rows and
// other files.
const std::map<std::string, std::vector<std::string>> kKeys = {
    {"task_time", {"Device_id", "stream_id", "task_id", "task_start(us)", "task_stop(us)"}},
    {"op_summary", {"Device_id", "Stream ID", "Task ID", "Task Start Time(us)"}},
    {"aicpu", {"Device_id", "Timestamp(us)", "Stream ID", "Task ID"}},
    {"msprof_tx", {"tid", "Start_time(us)", "message"}},
    {"memory_record", {"Timestamp(us)", "Total Allocated(KB)", "Device"}},
    {"operator_memory", {"Allocation Time(us)", "Size(KB)", "Device"}},
    {"fusion_op", {"Model ID", "Memory Total(KB)"}},
    {"step_trace", {"Device_id", "Iteration End(us)"}}};

// Rows of op_summary with counters, with their cycles.
std::multiset<std::string> read_counters(const fs::path& products) {
  std::multiset<std::string> rows;
  if (products_named(products, "op_summary").empty()) return rows;
  const CsvTable table = read_product(products, "op_summary");
  std::vector<std::string> columns = kKeys.at("op_summary");
  for (const std::string& name : table.header) {
    if (name.ends_with("total_cycles")) columns.push_back(name);
  }
  for (const std::string& row : table.cells(columns)) {
    if (!row.ends_with("N/A")) rows.insert(row);
  }
  return rows;
}

ProductKeys read_keys(const fs::path& products) {
  ProductKeys keys;
  for (const auto& [stem, columns] : kKeys) {
    auto& rows = keys[stem];
    if (products_named(products, stem).empty()) continue;
    for (std::string& row : read_product(products, stem).cells(columns)) {
      rows.insert(std::move(row));
    }
  }
  keys["counters"] = read_counters(products);
  auto& calls = keys["api_statistic"];
  if (products_named(products, "api_statistic").empty()) return keys;
  const CsvTable table = read_product(products, "api_statistic");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string name = table.cell(i, "Level") + "|" + table.cell(i, "API Name");
    for (int left = std::stoi(table.cell(i, "Count")); left > 0; --left) calls.insert(name);
  }
  return keys;
}

std::size_t missing(const std::multiset<std::string>& from, const std::multiset<std::string>& in) {
  std::vector<std::string> lost;
  std::set_difference(from.begin(), from.end(), in.begin(), in.end(), std::back_inserter(lost));
  return lost.size();
}

prof::RunShape shape() {
  prof::RunShape shape;
  shape.tasks = 240;
  shape.names = 12;
  shape.seed = 4;
  shape.fused = 1;  // so that no record has several rows
  return shape;
}

}  // namespace

std::int64_t DamageOutcome::count_damage(const std::string& file) const {
  std::int64_t count = 0;
  for (const Finding& finding : report.findings()) {
    if (finding.severity() == Severity::partial && finding.file == file) count += finding.count;
  }
  return count;
}

DamagedCapture::DamagedCapture(const prof::ProfSetup& setup)
    : folder_(prof::make_run(temp_.path(), setup, shape()).folder) {
  log::set_level(log::Level::silent);
  whole_ = import();
}

DamageOutcome DamagedCapture::import() const {
  const TempFolder made;
  const auto session = Session::open(folder_);
  const fs::path store = store_path(made.path());
  DamageOutcome outcome;
  outcome.report = import_session(*session, store, {});
  const auto db = current_store(*session, store);
  if (!db) throw std::runtime_error("what was just imported is not current");
  const fs::path products = made / "products";
  fs::create_directories(products);
  export_summaries(*db, products, {});
  outcome.keys = read_keys(products / "mindstudio_profiler_output");
  return outcome;
}

DamageOutcome DamagedCapture::import_with(const std::string& file, const std::string& bytes) const {
  const std::string before = read_file(folder_ / file);
  write_file(folder_ / file, bytes);
  DamageOutcome outcome = import();
  write_file(folder_ / file, before);
  return outcome;
}

DamageOutcome DamagedCapture::import_without(const std::string& file) const {
  const fs::path masked = temp_ / "aside";
  fs::rename(folder_ / file, masked);
  DamageOutcome outcome = import();
  fs::rename(masked, folder_ / file);
  return outcome;
}

std::size_t DamagedCapture::lost(const DamageOutcome& outcome, const std::string& product) const {
  return missing(whole_.keys.at(product), outcome.keys.at(product));
}

std::size_t DamagedCapture::worst_loss(const DamageOutcome& outcome) const {
  std::size_t worst = 0;
  for (const auto& [product, keys] : whole_.keys) {
    worst = std::max(worst, missing(keys, outcome.keys.at(product)));
  }
  return worst;
}

std::size_t DamagedCapture::worst_surplus(const DamageOutcome& outcome) const {
  std::size_t worst = 0;
  for (const auto& [product, keys] : whole_.keys) {
    worst = std::max(worst, missing(outcome.keys.at(product), keys));
  }
  return worst;
}

std::string DamagedCapture::losses(const DamageOutcome& outcome) const {
  std::string text;
  for (const auto& [product, keys] : whole_.keys) {
    const std::size_t count = missing(keys, outcome.keys.at(product));
    const std::size_t more = missing(outcome.keys.at(product), keys);
    if (count + more > 0) {
      text += product + " lost " + std::to_string(count) + " of " + std::to_string(keys.size()) +
              ", got " + std::to_string(more) + "; ";
    }
  }
  return text + outcome.report.text();
}

std::vector<RecordFile> record_files(bool is_stars) {
  const auto host = [](const std::string& stem) { return "host/data/" + stem + ".slice_0"; };
  const auto device = [](const std::string& stem) {
    return "device_0/data/" + stem + ".0.slice_0";
  };
  const RecordFile ts_track = {
      device("ts_track.data"), 40, {0, 1, 2, 4, 8, 16, 24, 32, 34, 36, 38}, false};
  if (!is_stars) {
    return {ts_track,
            {device("hwts.data"), 64, {0, 1, 2, 6, 8, 16, 20}, false},
            {device("aicore.data"), 128, {0, 2, 6, 8, 16, 24, 32, 96, 100}, false}};
  }
  return {
      {host("aging.api_event.data"), 40, {0, 2, 4, 8, 12, 16, 24, 32}},
      {host("aging.compact.node_basic_info"), 64, {0, 2, 4, 8, 12, 16, 24, 32, 36, 44, 48, 52, 53}},
      {host("unaging.compact.node_basic_info"), 64, {0, 16, 24, 32, 36, 44}},
      {host("aging.compact.node_attr_info"), 64, {0, 2, 4, 8, 12, 16, 24, 32, 36, 44}},
      {host("aging.compact.task_track"), 64, {0, 2, 4, 8, 12, 16, 24, 26, 28, 32, 40, 48, 50, 52}},
      {host("aging.compact.memcpy_info"), 64, {0, 16, 24, 32, 40, 42}},
      {host("aging.compact.hccl_op_info"), 64, {0, 16, 24, 25, 26, 34, 42, 50}},
      {host("aging.additional.tensor_info"), 256, {0, 16, 24, 32, 36, 80, 124, 168, 212}},
      {host("unaging.additional.graph_id_map"), 256, {0, 16, 24, 32, 36, 40}},
      {host("unaging.additional.fusion_op_info"), 256, {0, 24, 32, 36, 44, 52, 60, 68, 76, 140}},
      {host("aging.additional.hccl_info"), 256, {0, 24, 32, 40, 48, 64, 72, 88, 112, 136, 144}},
      {host("aging.additional.msproftx"), 256, {0, 24, 32, 48, 64, 72, 80, 88, 96, 100}, false},
      {host("aging.additional.task_memory_info"), 256, {0, 24, 32, 40, 48, 56, 64, 68, 72}},
      {host("aging.additional.context_id_info"), 256, {0, 24, 32, 36, 40}},
      ts_track,
      {device("stars_soc.data"), 64, {0, 2, 4, 6, 8, 16, 18, 20}},
      {device("ffts_profile.data"), 128, {0, 2, 4, 6, 8, 16, 18, 20, 24, 32, 48, 112, 120}},
      {device("aicpu.data"), 256, {0, 2, 4, 24, 26, 40, 80, 120, 132, 144}}};
}

std::string without(std::string bytes, std::size_t at, std::size_t count) {
  return bytes.erase(at, count);
}

std::string with_extra(std::string bytes, std::size_t at) {
  return bytes.insert(at, 1, 'x');
}

std::string overwritten(std::string bytes, std::size_t at, std::string_view patch) {
  return bytes.replace(at, patch.size(), patch);
}

}  // namespace msprof::test
