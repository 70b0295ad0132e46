// TableFields resolves field names in rules to columns of a table, or to fields computed from them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/advise/memory_bandwidth.hpp"
#include "analyze/advise/rule.hpp"
#include "export/table/table_reader.hpp"

namespace msprof {

class TableFields {
 public:
  static constexpr int kNoField = -1;

  // `columns` are the fields of the table; `modelled` are those with modelled values.
  TableFields(const Database& db, std::vector<std::string> columns,
              std::vector<std::string> modelled);

  // Returns the index of the field; kNoField if the table does not have it.
  int place(const Field& field);
  int place(const std::string& name) { return place(Field{name}); }
  // Returns true for a modelled field and for fields computed from one.
  bool is_modelled(int place) const;
  // Also requests the text of a numeric field.
  void read_text(int place);
  // The fields to read; complete once all rules are resolved.
  const std::vector<WantedField>& wanted() const { return wanted_; }

  // Returns the value of a field in a row of wanted() fields.
  std::optional<double> number(std::span<const TableValue> row, int place) const {
    if (place >= 0) return row[static_cast<std::size_t>(place)].number;
    if (place == kNoField) return std::nullopt;
    return derived(row, place);
  }
  // Returns the text of a field. Empty for computed fields, and for numbers without read_text().
  std::string_view text(std::span<const TableValue> row, int place) const;

 private:
  // Computed fields have the indices -2, -3, …
  enum class Derived {
    core_num,          // AI Cores of the device
    core_use,          // blocks of the operator in percent of the cores of its kind
    vector_bound,      // vec / max(mte2, mac)
    memory_workspace,  // KB
    data_bound,        // mte2 / max(vec, mac) on the cores that ran it
    scalar_load,       // of the more heavily loaded kind of core
    bank_conflicts,    // the larger of the two kinds of conflicts
    bandwidth,         // memory bandwidth while the operator ran, MB/s (memory_bandwidth.hpp)
    bandwidth_percent  // the same in percent of the capture's maximum
  };
  struct Input {
    int device = kNoField, task_type = kNoField, block_num = kNoField, name = kNoField;
    int start = kNoField, duration = kNoField;
    int vec = kNoField, mac = kNoField, mte2 = kNoField, cube_mte2 = kNoField;
    std::vector<int> scalar, conflicts;
  };
  std::optional<int> find_derived_place(const std::string& name);
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
  std::optional<MemoryBandwidth> bandwidth_;            // read only if a rule uses it
};

}  // namespace msprof
