#include "doctor/product_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "export/products.hpp"

namespace msprof {

namespace {

// What it means that files of a kind (the first of its group) are not there.
struct Absence {
  std::string_view kind;
  std::string_view cause;
  std::string_view remedy;
};

constexpr Absence kAbsences[] = {
    {"aicore",
     "no aicore.* file in data/: no model was executed, the model carries no marks for profiling, "
     "or aic_metrics is not set",
     "convert the model with atc … --online_model_type=2, and set \"aic_metrics\": "
     "\"ArithmeticUtilization\" in acl.json (--aac_metrics ArithmeticUtilization)"},
    {"acl_api", "no acl_api.* file in data/: acl_api is off in acl.json, or no model was loaded",
     "\"acl_api\": \"on\" in acl.json (msprof collect --acl_api on)"},
    {"stars_soc", "no task log of a device: nothing ran on it, or tasks were not recorded",
     "collect with --task-time=on (acl.json: \"task_time\": \"on\")"},
    {"task_track", "no task_track file in host/data: the host's records were not saved or copied",
     "collect with --task-time=on, and copy the host folder, too"},
    {"node_basic_info",
     "no node_basic_info file in host/data: no operator was described, as with task-time l0",
     "collect with --task-time=l1"},
    {"api_event", "no api_event file in host/data: the host's calls were not recorded or copied",
     "collect with --ascendcl=on --runtime-api=on, and copy the host folder, too"},
    {"ts_track", "no step of a model was recorded", "collect with --task-time=on"},
    {"fusion_op_info", "no model with fused operators was loaded", ""},
    {"msproftx", "the application names no ranges, or they were not recorded",
     "collect with --msproftx=on, and mark ranges with aclprofMark or mstx"},
    {"hccl_info", "no collective was recorded",
     "collect with --hccl=on where there are several devices"},
    {"aicpu", "no operator of the AI CPU was recorded", "collect with --aicpu=on"},
    {"task_memory_info", "allocations were not recorded", "collect with --task-memory=on"},
    {"data_preprocess", "no data queue was recorded", "collect with --aicpu=on"},
    {"l2_cache", "the L2 cache was not recorded", "collect with --l2=on"},
    {"lpm_freq", "the device told no frequency changes", ""},
};

class Products {
 public:
  Products(CheckList& list, const Database& db, const std::vector<CaptureFinding>& findings)
      : list_(list), findings_(findings) {
    Statement read = db.prepare(
        "SELECT kind, sum(count) FROM import_log WHERE category = 'imported' GROUP BY kind");
    while (read.step()) totals_[std::string(read.text(0))] = read.integer(1);
    auto tables = summary_tables(db);
    std::erase_if(tables, [](const auto& table) { return !table->is_exported(); });
    sort_out(db, "summary", tables);
    sort_out(db, "timeline", timeline_layers(db));
  }

  void check() {
    if (!with_data_.empty())
      list_.ok("products", fmt::format("data for {}", fmt::join(with_data_, ", ")));
    for (const Product& product : without_data_) check_one(product);
  }

 private:
  struct Product {
    std::string name;  // "summary op_summary"
    RawNeeds needs;
  };

  template <typename List>
  void sort_out(const Database& db, std::string_view what, const List& products) {
    for (const auto& product : products) {
      const std::string_view name = product->name();
      if (product->documents(db).empty()) {
        without_data_.push_back({fmt::format("{} {}", what, name), product->info().needs});
      } else if (std::find(with_data_.begin(), with_data_.end(), name) == with_data_.end()) {
        with_data_.push_back(name);
      }
    }
  }

  bool has_records(std::string_view group) const {
    const auto kinds = split(group, '|');
    return std::any_of(kinds.begin(), kinds.end(), [&](std::string_view kind) {
      const auto total = totals_.find(std::string(kind));
      return total != totals_.end() && total->second > 0;
    });
  }

  bool has_files(std::string_view group) const {
    const auto kinds = split(group, '|');
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](std::string_view kind) { return totals_.contains(std::string(kind)); });
  }

  // The first damage to files of one of these kinds.
  const CaptureFinding* damage_of(std::string_view group) const {
    const auto kinds = split(group, '|');
    const auto found =
        std::find_if(findings_.begin(), findings_.end(), [&](const CaptureFinding& finding) {
          return finding.partial &&
                 std::find(kinds.begin(), kinds.end(), finding.kind) != kinds.end();
        });
    return found == findings_.end() ? nullptr : &*found;
  }

  void check_one(const Product& product) {
    const std::string& name = product.name;
    const RawNeeds& needs = product.needs;
    if (needs.kinds.empty()) return list_.skip(name, "no data: nothing of it was recorded");
    const auto groups = split(needs.kinds, ' ');
    const auto lacking = std::find_if(groups.begin(), groups.end(),
                                      [&](std::string_view group) { return !has_records(group); });
    if (lacking == groups.end()) return none_fits(name, needs);
    if (const CaptureFinding* damage = damage_of(*lacking)) {
      return list_.fail(name, fmt::format("no data: {}: {}", damage->kind, damage->evidence),
                        damage->remedy, Exit::partial_data);
    }
    if (has_files(*lacking)) {
      return missing(name, needs, fmt::format("no data: the files of {} hold no records", *lacking),
                     "");
    }
    const std::string_view kind = split(*lacking, '|').front();
    const auto* absence = std::find_if(std::begin(kAbsences), std::end(kAbsences),
                                       [&](const Absence& one) { return one.kind == kind; });
    if (absence == std::end(kAbsences)) return list_.skip(name, "no data: nothing was recorded");
    missing(name, needs, fmt::format("no data: {}", absence->cause), absence->remedy);
  }

  void missing(const std::string& name, const RawNeeds& needs, std::string evidence,
               std::string_view remedy) {
    if (needs.every_run) {
      list_.warn(name, std::move(evidence), std::string(remedy));
    } else {
      list_.skip(name, std::move(evidence), std::string(remedy));
    }
  }

  // All files are there, and no row came of them.
  void none_fits(const std::string& name, const RawNeeds& needs) {
    for (const std::string_view kind :
         {"tasks", "info.json", "type_info_dic", "capture", "start_info"}) {
      const CaptureFinding* damage = damage_of(kind);
      if (damage == nullptr) continue;
      return list_.fail(name, fmt::format("no data: {}: {}", damage->kind, damage->evidence),
                        damage->remedy, Exit::partial_data);
    }
    if (!needs.every_run) return list_.skip(name, "no data: the run did nothing of this kind");
    list_.warn(name, "no data: the records are there, and none of them belongs to a task",
               "are host and device folders of one run? Copy the whole folder again");
  }

  CheckList& list_;
  const std::vector<CaptureFinding>& findings_;
  std::vector<std::string_view> with_data_;
  std::vector<Product> without_data_;
  std::map<std::string, std::int64_t> totals_;  // records by kind; 0: files without any
};

}  // namespace

void check_products(CheckList& list, const Database& db,
                    const std::vector<CaptureFinding>& findings) {
  Products(list, db, findings).check();
}

}  // namespace msprof
