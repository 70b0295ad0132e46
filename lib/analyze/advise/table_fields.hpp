// TableFields: the columns of a table as rules name them, and a few more that are computed from
// them. For table_scan.cpp.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/advise/memory_bandwidth.hpp"
#include "analyze/advise/rule.hpp"
#include "export/table_reader.hpp"

namespace msprof {

class TableFields {
 public:
  static constexpr int kNone = -1;

  // Takes the fields of the table in `columns`, those that a model gave in `modelled`.
  TableFields(const Database& db, std::vector<std::string> columns,
              std::vector<std::string> modelled);

  // Position of the field; kNone: the table does not have it.
  int place(const Field& field);
  int place(const std::string& name) { return place(Field{name}); }
  // True for a field that a model gave, or that is computed from one.
  bool is_modelled(int place) const;
  // Has the text of a field read, too, where that is a number.
  void read_text(int place);
  // Fields that have to be read, once all positions are known.
  const std::vector<WantedField>& wanted() const { return wanted_; }

  // Value of a field in a row of wanted() fields.
  std::optional<double> number(std::span<const TableValue> row, int place) const {
    if (place >= 0) return row[static_cast<std::size_t>(place)].number;
    if (place == kNone) return std::nullopt;
    return derived(row, place);
  }
  // Text of a field; empty for what is no text of the table, and for a number of which it was not
  // asked for.
  std::string_view text(std::span<const TableValue> row, int place) const;

 private:
  // Computed fields; their positions go from -2 down.
  enum class Derived {
    core_num,          // AI Cores of the device
    core_use,          // blocks of the operator, in percent of the cores of its kind
    vector_bound,      // vec / max(mte2, mac)
    memory_workspace,  // KB
    data_bound,        // mte2 / max(vec, mac) of the cores that it ran on
    scalar_load,       // of the busiest kind of cores
    bank_conflicts,    // the worse of the two kinds of conflicts
    bandwidth,         // MB/s of the device's memory while the operator ran (memory_bandwidth.hpp)
    bandwidth_percent  // the same, of the highest of the capture
  };
  struct Input {
    int device = kNone, task_type = kNone, block_num = kNone, name = kNone;
    int start = kNone, duration = kNone;
    int vec = kNone, mac = kNone, mte2 = kNone, cube_mte2 = kNone;
    std::vector<int> scalar, conflicts;
  };
  std::optional<int> derived_place(const std::string& name);
  bool find_inputs(Derived which);
  bool has_column(const std::string& name) const;
  int column(const std::string& name);
  int first_column(const Field& names);
  int first_text(const Field& names);
  std::vector<int> all_columns(const Field& names);
  void read_devices();
  void read_workspaces();
  std::optional<double> derived(std::span<const TableValue> row, int place) const;
  std::optional<double> greatest(std::span<const TableValue> row,
                                 const std::vector<int>& places) const;
  std::optional<double> data_bound(std::span<const TableValue> row) const;
  std::optional<MemoryBandwidth::Load> load(std::span<const TableValue> row) const;
  std::optional<double> cores(std::span<const TableValue> row, bool of_its_kind) const;

  const Database& db_;
  std::vector<std::string> columns_;
  std::vector<std::string> modelled_;
  std::vector<WantedField> wanted_;
  Input input_;
  struct Cores {
    double ai_cores = 0;
    double vector_cores = 0;
  };
  std::map<std::string, Cores, std::less<>> cores_;     // by device
  std::unordered_map<std::string, double> workspaces_;  // KB, by operator
  std::optional<MemoryBandwidth> bandwidth_;            // read where a rule asks for it
};

}  // namespace msprof
