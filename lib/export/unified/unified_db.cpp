// Writes the unified database msprof_<time>.db: the list of its table families, and the file.
#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "export/exporter.hpp"
#include "export/product_folder.hpp"
#include "export/products.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/export_style.hpp"
#include "export/unified/unified_writer.hpp"
#include "store/database.hpp"
#include "store/new_database.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// The list of table families, in the order of writing.
constexpr void (*kFamilies[])(unified::UnifiedWriter&) = {
    unified::write_enums,           unified::write_session,    unified::write_calls,
    unified::write_tasks,           unified::write_copies,     unified::write_communication,
    unified::write_user_ranges,     unified::write_memory,     unified::write_frequency,
    unified::write_overlap,         unified::write_hbm,        unified::write_hccs,
    unified::write_memory_counters, unified::write_nic,        unified::write_roce,
    unified::write_netdev_stats,    unified::write_host_usage, unified::write_acc_pmu,
    unified::write_soc_bandwidth,   unified::write_sio,        unified::write_qos,
    unified::write_core_samples,    unified::write_ccu,        unified::write_dpu_tasks};

// Returns true if the capture has data besides its description.
bool has_rows(const Database& db) {
  Statement any = db.prepare(
      "SELECT EXISTS(SELECT 1 FROM api_call) OR EXISTS(SELECT 1 FROM task WHERE"
      " device_type_name_id IS NOT NULL) OR EXISTS(SELECT 1 FROM user_range) OR"
      " EXISTS(SELECT 1 FROM device_mark) OR EXISTS(SELECT 1 FROM memory_event) OR"
      " EXISTS(SELECT 1 FROM dpu_task) OR"
      " EXISTS(SELECT 1 FROM track JOIN name ON name.id = kind_name_id WHERE name.text"
      " NOT IN ('lpm_freq', 'low_power'))");
  return any.step() && any.integer(0) != 0;
}

// Large pages suit large tables, but every table needs at least one page.
int page_bytes_for(const fs::path& store) {
  constexpr std::uintmax_t kLargeStore = 32 << 20;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(store, error);
  return error || bytes < kLargeStore ? 4096 : 32768;
}

ExportedFile write_unified_db(const Database& store, ProductFolder& folder, const fs::path& target,
                              int page_bytes, bool has_cann8_names) {
  TemporaryFile temporary = new_database_file(target);
  Database db = Database::create(temporary.path(), page_bytes);
  {
    unified::UnifiedWriter out(store, db, has_cann8_names);
    for (const auto& write : kFamilies) write(out);
    out.finish();
  }
  db.close();
  const std::uint64_t bytes = fs::file_size(temporary.path());
  folder.publish("msprof", std::move(temporary));
  return {target, bytes, 0};
}

}  // namespace

std::vector<ExportJob> plan_unified_db(const TraceDb& store, const fs::path& base,
                                       ExportStyle style) {
  const Database& db = store.database();
  if (!has_unified_db(db) || !has_rows(db)) return {};
  const std::string time = cann::time_stamp(db);
  const std::string name = time.empty() ? "msprof.db" : fmt::format("msprof_{}.db", time);
  const int page_bytes = page_bytes_for(store.path());
  check_replaceable(base / name);
  const auto folder = std::make_shared<ProductFolder>(base, "db", true);
  const bool has_cann8_names = style == ExportStyle::cann8;
  return {{[folder, name, page_bytes,
            has_cann8_names](const Database& reader) -> std::vector<ExportedFile> {
             return {write_unified_db(reader, *folder, folder->make() / name, page_bytes,
                                      has_cann8_names)};
           },
           folder}};
}

}  // namespace msprof
