#include "analyze/advise/table_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analyze/advise/facts.hpp"

namespace msprof {

namespace {

constexpr std::array<std::string_view, 9> kDerived = {
    "core_num",    "core_use_percent", "vector_bound",   "memory_workspace", "data_bound",
    "scalar_load", "bank_conflicts",   "bandwidth_mb_s", "bandwidth_percent"};
constexpr int kFirstDerived = -2;
constexpr std::size_t kMaxWorkspaces = 100'000;

}  // namespace

TableFields::TableFields(const Database& db, std::vector<std::string> columns,
                         std::vector<std::string> modelled)
    : db_(db), columns_(std::move(columns)), modelled_(std::move(modelled)) {}

bool TableFields::has_column(const std::string& name) const {
  return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
}

int TableFields::column(const std::string& name) {
  const auto at = std::find_if(wanted_.begin(), wanted_.end(),
                               [&](const WantedField& field) { return field.name == name; });
  if (at == wanted_.end()) {
    wanted_.push_back({name, true});
    return static_cast<int>(wanted_.size()) - 1;
  }
  return static_cast<int>(at - wanted_.begin());
}

int TableFields::first_column(const Field& names) {
  for (const std::string& name : names) {
    if (has_column(name)) return column(name);
  }
  return kNoField;
}

// Like first_column(), and also requests the text.
int TableFields::first_text(const Field& names) {
  const int place = first_column(names);
  read_text(place);
  return place;
}

void TableFields::read_text(int place) {
  if (place >= 0) wanted_[static_cast<std::size_t>(place)].is_number = false;
}

int TableFields::place(const Field& field) {
  for (const std::string& name : field) {
    if (has_column(name)) return column(name);
    if (const auto place = find_derived_place(name)) return *place;
  }
  return kNoField;
}

bool TableFields::is_modelled(int place) const {
  if (place == kNoField) return false;
  if (place >= 0) {
    const std::string& name = wanted_[static_cast<std::size_t>(place)].name;
    return std::find(modelled_.begin(), modelled_.end(), name) != modelled_.end();
  }
  const auto any = [&](const std::vector<int>& places) {
    return std::any_of(places.begin(), places.end(), [&](int one) { return is_modelled(one); });
  };
  switch (static_cast<Derived>(kFirstDerived - place)) {
    case Derived::vector_bound:
    case Derived::data_bound:
      return any({input_.vec, input_.mac, input_.mte2, input_.cube_mte2});
    case Derived::scalar_load:
      return any(input_.scalar);
    case Derived::bank_conflicts:
      return any(input_.conflicts);
    case Derived::core_num:
    case Derived::core_use:
    case Derived::memory_workspace:
    case Derived::bandwidth:
    case Derived::bandwidth_percent:
      break;
  }
  return false;
}

std::vector<int> TableFields::all_columns(const Field& names) {
  std::vector<int> places;
  for (const std::string& name : names) {
    if (has_column(name)) places.push_back(column(name));
  }
  return places;
}

// Returns empty if a required column is missing.
std::optional<int> TableFields::find_derived_place(const std::string& name) {
  const auto at = std::find(kDerived.begin(), kDerived.end(), name);
  if (at == kDerived.end()) return std::nullopt;
  const auto index = static_cast<int>(at - kDerived.begin());
  return find_inputs(static_cast<Derived>(index)) ? std::optional(kFirstDerived - index)
                                                  : std::nullopt;
}

// Finds the columns needed to compute the field; returns false if one is missing.
bool TableFields::find_inputs(Derived which) {
  switch (which) {
    case Derived::core_num:
    case Derived::core_use:
      input_.device = first_text({"device_id"});
      input_.task_type = first_text({"task_type"});
      input_.block_num = first_column({"block_num"});
      read_devices();
      return input_.device != kNoField && input_.task_type != kNoField &&
             input_.block_num != kNoField;
    case Derived::vector_bound:
    case Derived::data_bound:
      input_.vec = first_column({"vec_ratio", "aiv_vec_ratio"});
      input_.mac = first_column({"mac_ratio", "aic_mac_ratio"});
      input_.mte2 = first_column({"mte2_ratio", "aiv_mte2_ratio"});
      input_.cube_mte2 = first_column({"mte2_ratio", "aic_mte2_ratio"});
      return input_.vec != kNoField && input_.mac != kNoField && input_.mte2 != kNoField;
    case Derived::memory_workspace:
      input_.name = first_text({"op_name"});
      read_workspaces();
      return input_.name != kNoField && !workspaces_.empty();
    case Derived::scalar_load:
      input_.scalar = all_columns({"scalar_ratio", "aic_scalar_ratio", "aiv_scalar_ratio"});
      return !input_.scalar.empty();
    case Derived::bank_conflicts:
      input_.conflicts = all_columns({"vec_bank_cflt_ratio", "vec_bankgroup_cflt_ratio",
                                      "aiv_vec_bank_cflt_ratio", "aiv_vec_bankgroup_cflt_ratio"});
      return !input_.conflicts.empty();
    case Derived::bandwidth:
    case Derived::bandwidth_percent:
      input_.device = first_text({"device_id"});
      input_.start = first_column({"task_start_time"});
      input_.duration = first_column({"task_duration"});
      if (input_.device == kNoField || input_.start == kNoField || input_.duration == kNoField)
        return false;
      if (!bandwidth_) bandwidth_.emplace(db_);
      return bandwidth_->has_data();
  }
  return false;
}

void TableFields::read_devices() {
  if (!cores_.empty()) return;
  Statement read = db_.prepare("SELECT id, core_count, vector_core_count FROM device ORDER BY id");
  while (read.step()) cores_[std::to_string(read.integer(0))] = {read.real(1), read.real(2)};
}

void TableFields::read_workspaces() {
  if (!workspaces_.empty()) return;
  read_table(db_, "fusion_op", {{"fusion_op"}, {"memory_workspace", true}},
             [&](std::span<const TableValue> row) {
               if (!row[1].number || workspaces_.size() >= kMaxWorkspaces) return;
               workspaces_[std::string(row[0].text)] = *row[1].number;
             });
}

std::string_view TableFields::text(std::span<const TableValue> row, int place) const {
  return place >= 0 ? std::string_view(row[static_cast<std::size_t>(place)].text)
                    : std::string_view();
}

// Returns the number of cores of the row's device: AI Cores or, with `of_its_kind`, vector cores
// for vector operators.
std::optional<double> TableFields::cores(std::span<const TableValue> row, bool of_its_kind) const {
  const auto known = cores_.find(text(row, input_.device));
  if (known == cores_.end()) return std::nullopt;
  const std::string_view type = text(row, input_.task_type);
  const bool is_vector = of_its_kind && (type == "AI_VECTOR_CORE" || type == "MIX_AIV") &&
                         known->second.vector_cores > 0;
  const double cores = is_vector ? known->second.vector_cores : known->second.ai_cores;
  return cores > 0 ? std::optional(cores) : std::nullopt;
}

std::optional<double> TableFields::greatest(std::span<const TableValue> row,
                                            const std::vector<int>& places) const {
  std::optional<double> most;
  for (const int place : places) {
    const auto value = number(row, place);
    if (value && (!most || *value > *most)) most = value;
  }
  return most;
}

// If cube and vector cores have separate counters, uses those of the cube cores for cube operators.
std::optional<double> TableFields::data_bound(std::span<const TableValue> row) const {
  const auto vec = number(row, input_.vec);
  const auto mac = number(row, input_.mac);
  if (!vec || !mac) return std::nullopt;
  const bool is_cube = input_.cube_mte2 != input_.mte2 && *mac > 0;
  const auto mte2 = number(row, is_cube ? input_.cube_mte2 : input_.mte2);
  const double computing = is_cube ? *mac : std::max(*vec, *mac);
  if (!mte2 || computing <= 0) return std::nullopt;
  return *mte2 / computing;
}

// Memory samples are usually longer than an operator, so an operator gets the rate of its sample.
std::optional<MemoryBandwidth::Load> TableFields::load(std::span<const TableValue> row) const {
  const auto start_ns = us_as_ns(row[static_cast<std::size_t>(input_.start)].cell);
  const auto duration_us = number(row, input_.duration);
  constexpr double kMaxUs = 1e15;
  if (!start_ns || !duration_us || !(*duration_us > 0) || *duration_us > kMaxUs)
    return std::nullopt;
  const auto duration_ns = static_cast<std::int64_t>(std::llround(*duration_us * 1000));
  return bandwidth_->find(text(row, input_.device), *start_ns,
                          saturating_add(*start_ns, duration_ns));
}

std::optional<double> TableFields::derived(std::span<const TableValue> row, int place) const {
  switch (static_cast<Derived>(kFirstDerived - place)) {
    case Derived::core_num:
      return cores(row, false);
    case Derived::core_use: {
      const auto blocks = number(row, input_.block_num);
      const auto count = cores(row, true);
      return blocks && count ? std::optional(100 * *blocks / *count) : std::nullopt;
    }
    case Derived::vector_bound: {
      const auto vec = number(row, input_.vec);
      const auto mac = number(row, input_.mac);
      const auto mte2 = number(row, input_.mte2);
      if (!vec || !mac || !mte2 || std::max(*mac, *mte2) <= 0) return std::nullopt;
      return *vec / std::max(*mac, *mte2);
    }
    case Derived::memory_workspace: {
      const auto known = workspaces_.find(std::string(text(row, input_.name)));
      return known == workspaces_.end() ? std::nullopt : std::optional(known->second);
    }
    case Derived::data_bound:
      return data_bound(row);
    case Derived::scalar_load:
      return greatest(row, input_.scalar);
    case Derived::bank_conflicts:
      return greatest(row, input_.conflicts);
    case Derived::bandwidth: {
      const auto of = load(row);
      return of ? std::optional(of->mb_per_s) : std::nullopt;
    }
    case Derived::bandwidth_percent: {
      const auto of = load(row);
      if (!of || !(of->peak_mb_per_s > 0)) return std::nullopt;
      return 100 * of->mb_per_s / of->peak_mb_per_s;
    }
  }
  return std::nullopt;
}

}  // namespace msprof
