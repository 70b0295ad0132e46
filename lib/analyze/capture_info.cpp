#include "analyze/capture_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <set>

#include "export/exporter.hpp"
#include "export/products.hpp"
#include "export/scope/export_scope.hpp"
#include "export/scope/export_style.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Limits for each list, and for each text in bytes. Larger ones occur only in untrusted stores and
// are unreadable anyway.
constexpr std::size_t kMaxListed = 10'000;
constexpr std::size_t kMaxText = 1000;

std::string text_or_empty(const Statement& row, int column) {
  return row.is_null(column) ? std::string() : std::string(row.text(column).substr(0, kMaxText));
}

void read_time(const Database& db, CaptureInfo& info) {
  const std::int64_t begin = collection_begin_ns(db);
  if (begin <= 0) return;
  // Only CANN captures record wall-clock time; the clock of a board starts when it boots.
  if (read_meta_integer(db, "window.begin_ns")) info.begin_ns = begin;
  std::optional<std::int64_t> end;
  if (read_meta(db, "window.has_end") == "1") {
    end = read_meta_integer(db, "window.end_ns");
  } else {
    Statement read = db.prepare(
        "SELECT max(last_ns) FROM (SELECT max(last_end_ns) AS last_ns FROM step_time"
        " UNION ALL SELECT max(end_ns) FROM api_call)");
    if (read.step()) end = read.maybe_integer(0);
  }
  if (end && *end >= begin) info.duration_ns = *end - begin;
}

// If a task run has no device, its step's model has one.
void read_devices(const Database& db, CaptureInfo& info) {
  Statement read = db.prepare(
      "WITH run AS (SELECT last_task_id - first_task_id + 1 AS tasks,"
      "  CAST(ifnull(task_run.device_id, model.device_id) AS INTEGER) AS device_id FROM task_run"
      "  LEFT JOIN step ON step.id = task_run.step_id"
      "  LEFT JOIN model ON model.id = step.model_row),"
      " total AS (SELECT device_id, sum(tasks) AS tasks FROM run GROUP BY device_id)"
      " SELECT device.id, name.text, frequency_hz, core_count, vector_core_count,"
      " ifnull(total.tasks, 0) FROM device LEFT JOIN name ON name.id = chip_name_id"
      " LEFT JOIN total ON total.device_id = device.id ORDER BY device.id");
  while (info.devices.size() < kMaxListed && read.step()) {
    info.devices.push_back({read.integer(0), text_or_empty(read, 1), read.maybe_integer(2),
                            read.maybe_integer(3), read.maybe_integer(4), read.integer(5)});
  }
}

void read_ranks(const Database& db, CaptureInfo& info) {
  // The host records -1 if it has no rank.
  const auto host_rank = read_meta_integer(db, "host.rank");
  if (host_rank && *host_rank >= 0) info.host_rank = host_rank;
  Statement read = db.prepare(
      "SELECT DISTINCT substr(name.text, 1, ?), local_rank, rank_size FROM (SELECT DISTINCT"
      "  ifnull(op_group_name_id, group_name_id) AS name_id, local_rank, rank_size FROM comm_call"
      "  WHERE rank_size IS NOT NULL OR local_rank IS NOT NULL)"
      " LEFT JOIN name ON name.id = name_id ORDER BY 1, local_rank, rank_size");
  read.bind(1, static_cast<std::int64_t>(kMaxText));
  while (info.ranks.size() < kMaxListed && read.step()) {
    info.ranks.push_back({text_or_empty(read, 0), read.maybe_integer(1), read.maybe_integer(2)});
  }
}

// Counts the tasks of each model number; of the smallest ones, if there are very many. SQLite would
// sort all tasks.
std::map<std::int64_t, std::int64_t> count_tasks_by_model(const Database& db) {
  std::map<std::int64_t, std::int64_t> counts;
  RowCursor<TaskRow> tasks(db, {&TaskRow::model_number}, {.not_null = {&TaskRow::model_number}});
  while (tasks.next()) {
    ++counts[tasks->model_number];
    if (counts.size() > kMaxListed) counts.erase(std::prev(counts.end()));
  }
  return counts;
}

// In a CANN capture, tasks and iterations refer to models by number. The names are in graph_id_map
// and in fused operators. No query sorts rows that contain a text: many rows may share a long one.
std::string cann_models_sql(const Database& db) {
  std::string counts;
  for (const auto& [number, tasks] : count_tasks_by_model(db))
    counts += fmt::format("({}, {}), ", number, tasks);
  return fmt::format(
      "WITH run(number, tasks) AS (VALUES {}(NULL, 0)"
      "  UNION ALL SELECT DISTINCT model_number, 0 FROM iteration"
      "  UNION ALL SELECT DISTINCT model_number, 0 FROM fusion_op),"
      " named AS (SELECT model_id AS number, min((SELECT text FROM name WHERE id = name_id)) AS "
      "text"
      "  FROM model GROUP BY model_id),"
      " fused AS (SELECT model_number AS number,"
      "  min((SELECT text FROM name WHERE id = model_name_id)) AS text FROM fusion_op"
      "  GROUP BY model_number),"
      " total AS (SELECT number, sum(tasks) AS tasks FROM run WHERE number IS NOT NULL"
      "  GROUP BY number)"
      " SELECT total.number, ifnull(named.text, fused.text), tasks FROM total"
      " LEFT JOIN named ON named.number = total.number"
      " LEFT JOIN fused ON fused.number = total.number ORDER BY total.number",
      counts);
}

constexpr const char* kBoardModels =
    "WITH total AS (SELECT step.model_row, sum(task_count) AS tasks FROM step"
    "  JOIN step_time ON step_time.step_id = step.id GROUP BY step.model_row)"
    " SELECT model.model_id, (SELECT text FROM name WHERE id = name_id), ifnull(total.tasks, 0)"
    " FROM model LEFT JOIN total ON total.model_row = model.id ORDER BY model.id";

void read_models(const Database& db, CaptureInfo& info) {
  Statement read = db.prepare(info.has_steps ? std::string(kBoardModels) : cann_models_sql(db));
  while (info.models.size() < kMaxListed && read.step())
    info.models.push_back({read.maybe_integer(0), text_or_empty(read, 1), read.integer(2)});
}

constexpr const char* kIterations =
    "SELECT device_id, model_number, NULL, min(number), max(number), count(*),"
    " CAST(round(avg(duration_ns)) AS INTEGER) FROM iteration"
    " GROUP BY device_id, model_number ORDER BY model_number, device_id";
constexpr const char* kSteps =
    "SELECT device_id, model_id, (SELECT text FROM name WHERE id = name_id), first, last, steps,"
    " mean_ns FROM model CROSS JOIN"
    " (SELECT step.model_row, min(step.number) AS first, max(step.number) AS last,"
    "  count(*) AS steps, CAST(round(avg(last_end_ns - first_start_ns)) AS INTEGER) AS mean_ns"
    "  FROM step LEFT JOIN step_time ON step_time.step_id = step.id GROUP BY step.model_row)"
    " ON model_row = model.id ORDER BY model.id";

void read_iterations(const Database& db, CaptureInfo& info) {
  Statement read = db.prepare(info.has_steps ? kSteps : kIterations);
  while (info.iterations.size() < kMaxListed && read.step()) {
    info.iterations.push_back({read.maybe_integer(0), read.maybe_integer(1), text_or_empty(read, 2),
                               read.integer(3), read.integer(4), read.integer(5),
                               read.maybe_integer(6)});
  }
  std::map<std::optional<std::int64_t>, std::string_view> names;
  for (const ModelInfo& model : info.models) names.try_emplace(model.id, model.name);
  for (IterationInfo& of : info.iterations) {
    const auto name = names.find(of.model_id);
    if (of.model_name.empty() && name != names.end()) of.model_name = name->second;
  }
}

void add_product(ProductLists& products, std::string_view name, bool has_data) {
  auto& names = has_data ? products.with_data : products.without_data;
  if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

void read_products(const Database& db, CaptureInfo& info) {
  for (const auto& table : default_tables(db)) {
    const bool has_data = table->has_files(db);
    if (has_data || is_of_its_time(db, table->info()))
      add_product(info.summaries, table->name(), has_data);
  }
  for (const auto& layer : timeline_layers(db))
    add_product(info.timelines, layer->name(), layer->has_files(db));
  info.has_db = has_unified_db(db);
}

}  // namespace

CaptureInfo capture_info(const Database& db) {
  CaptureInfo info;
  info.dialect = read_meta(db, "dialect");
  info.has_steps = info.dialect == dialect_name(Dialect::svp);
  info.unit_loads = read_unit_loads(db);
  info.layout_origin = read_layout_origin(db);
  read_time(db, info);
  read_devices(db, info);
  info.chip = read_meta(db, "chip");
  if (info.chip.empty() && !info.devices.empty()) info.chip = info.devices.front().chip;
  read_ranks(db, info);
  read_models(db, info);
  read_iterations(db, info);
  read_products(db, info);
  return info;
}

std::string utc_text(std::int64_t ns) {
  constexpr std::int64_t kEndOf9999 = 253402300800;  // in s
  const std::int64_t seconds = ns / kSecond;
  if (ns < 0 || seconds >= kEndOf9999) return "";
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  if (gmtime_r(&time, &parts) == nullptr) return "";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} UTC", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     ns % kSecond / 1'000'000);
}

void note_empty_products(const Database& db, ImportReport& report) {
  std::set<std::string> kinds;
  for (const auto& [kind, total] : report.kinds()) kinds.insert(kind);
  for (const std::string& name : empty_products(db, kinds)) {
    report.add(FindingId::no_product, name, "", "no data, will not be written");
  }
}

bool has_any_product(const Database& db) {
  const auto tables = default_tables(db);
  const auto layers = timeline_layers(db);
  return std::any_of(tables.begin(), tables.end(),
                     [&](const auto& table) {
                       // "counts" always has data, so it is ignored here.
                       return table->name() != "counts" && table->has_files(db);
                     }) ||
         std::any_of(layers.begin(), layers.end(),
                     [&](const auto& layer) { return layer->has_files(db); });
}

}  // namespace msprof
