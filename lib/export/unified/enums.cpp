// Tables ENUM_…: texts for numbers in other tables. Source: cann_host.md 2.6, 1.9 (T4, T6 to T8).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>

#include "export/scope/cann_rules.hpp"
#include "export/unified/unified_writer.hpp"
#include "store/module_names.hpp"

namespace msprof::unified {

namespace {

using Entry = cann::NumberText;

constexpr Entry kUserEventTypes[] = {
    {0, "marker"}, {1, "push/pop"}, {2, "start/end"}, {3, "marker_ex"}};
constexpr Entry kOverlaps[] = {{0, "COMPUTE"},
                               {1, "COMMUNICATION"},
                               {2, "COMM_NOT_OVERLAP_COMP"},
                               {3, "FREE"},
                               {65535, "RESERVE"}};

struct Enum {
  std::string_view table;
  std::span<const Entry> entries;
};
constexpr Enum kEnums[] = {{"ENUM_MSTX_EVENT_TYPE", kUserEventTypes},
                           {"ENUM_OVERLAP_ANALYSIS_TYPE", kOverlaps}};

class EnumTable {
 public:
  EnumTable(Database& target, std::string_view name) {
    target.execute(fmt::format("CREATE TABLE {} (id INTEGER PRIMARY KEY, name TEXT)", name));
    insert_.emplace(target.prepare(fmt::format("INSERT INTO {} VALUES(?,?)", name)));
  }
  void add(std::int64_t number, std::string_view text) {
    insert_->bind(1, number).bind(2, text).run();
  }
  void add(std::span<const Entry> entries) {
    for (const Entry& entry : entries) add(entry.number, entry.text);
  }

 private:
  std::optional<Statement> insert_;
};

// Numbers of collectives have 16 bits here; the last two mean missing and invalid.
void write_collective_enum(Database& target, std::string_view name,
                           std::span<const Entry> entries) {
  constexpr std::int64_t kMissing = 65534;
  constexpr std::int64_t kInvalid = 65535;
  EnumTable table(target, name);
  for (const Entry& entry : entries) {
    if (entry.number == kInvalidId) table.add(kMissing, "N/A");
    table.add(entry.number == kInvalidId ? kInvalid : entry.number, entry.text);
  }
}

}  // namespace

void write_api_types(UnifiedWriter& out, const std::set<std::int64_t>& used) {
  EnumTable table(out.target(), "ENUM_API_TYPE");
  for (const auto& [level, text] : call_level::kNames) table.add(level, text);
  for (const std::int64_t type : used) {
    if (!cann::level_text(type).empty()) continue;
    table.add(type, type == kOtherApiType ? "other" : std::to_string(type));
  }
}

void write_enums(UnifiedWriter& out) {
  Database& target = out.target();
  for (const Enum& one : kEnums) EnumTable(target, one.table).add(one.entries);
  EnumTable modules(target, "ENUM_MODULE");
  for (const ModuleName& module : kModuleNames) modules.add(module.number, module.text);
  EnumTable copies(target, "ENUM_MEMCPY_OPERATION");
  copies.add(cann::copy_directions());
  copies.add(65535, "other");
  write_collective_enum(target, "ENUM_HCCL_DATA_TYPE", cann::comm_data_types());
  write_collective_enum(target, "ENUM_HCCL_LINK_TYPE", cann::link_types());
  write_collective_enum(target, "ENUM_HCCL_TRANSPORT_TYPE", cann::transport_types());
  write_collective_enum(target, "ENUM_HCCL_RDMA_TYPE", cann::remote_copy_types());
}

}  // namespace msprof::unified
