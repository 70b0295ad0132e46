#include "doctor/product_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyze/capture_facts.hpp"
#include "analyze/verdict.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

// What a product is made of. Groups of raw kinds, all of which it needs; '|' parts those of which
// one is enough. A product of the same name may be made of other files on other machines.
struct Need {
  std::string_view dialect;
  std::string_view product;
  std::string_view kinds;
  bool every_run;  // else only runs that use what it shows
};

constexpr std::string_view kDevice = "stars_soc|hwts|ts_track";
constexpr std::string_view kDeviceAndHost = "stars_soc|hwts|ts_track task_track node_basic_info";

constexpr Need kNeeds[] = {
    {"svp", "op_summary", "aicore|aicpu", true},
    {"svp", "op_statistic", "aicore|aicpu", true},
    {"svp", "task_time", "aicore|aicpu", true},
    {"svp", "acl_statistic", "acl_api", true},
    {"svp", "acl", "acl_api", true},
    {"cann", "op_summary", kDeviceAndHost, true},
    {"cann", "op_statistic", kDeviceAndHost, true},
    {"cann", "task_time", kDevice, true},
    {"cann", "ascend_hardware", kDevice, true},
    {"cann", "overlap", kDevice, true},
    {"cann", "api_statistic", "api_event", true},
    {"cann", "cann", "api_event", true},
    {"cann", "step_trace", "ts_track", false},
    {"cann", "fusion_op", "fusion_op_info", false},
    {"cann", "msprof_tx", "msproftx", false},
    {"cann", "msproftx", "msproftx", false},
    {"cann", "communication_statistic", "hccl_info|hccl_op_info", false},
    {"cann", "communication", "hccl_info|hccl_op_info", false},
    {"cann", "aicpu", "aicpu|data_preprocess", false},
    {"cann", "operator_memory", "task_memory_info", false},
    {"cann", "memory_record", "task_memory_info", false},
    {"cann", "memory", "task_memory_info", false},
    {"cann", "dp", "data_preprocess", false},
    {"cann", "l2_cache", "l2_cache", false},
    {"cann", "ai_core_freq", "lpm_freq", false},
    {"cann", "voltage", "lpm_freq", false},
};

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
      : list_(list), facts_(capture_facts(db)), findings_(findings) {
    Statement read = db.prepare(
        "SELECT kind, sum(count) FROM import_log WHERE category = 'imported' GROUP BY kind");
    while (read.step()) totals_[std::string(read.text(0))] = read.integer(1);
  }

  void check() {
    std::vector<std::string> with = facts_.summaries.with_data;
    for (const std::string& name : facts_.timelines.with_data) {
      if (std::find(with.begin(), with.end(), name) == with.end()) with.push_back(name);
    }
    if (!with.empty()) list_.ok("products", fmt::format("data for {}", fmt::join(with, ", ")));
    for (const std::string& name : facts_.summaries.without_data) check_one("summary", name);
    for (const std::string& name : facts_.timelines.without_data) check_one("timeline", name);
  }

 private:
  const Need* need_of(const std::string& product) const {
    const auto* found = std::find_if(std::begin(kNeeds), std::end(kNeeds), [&](const Need& need) {
      return need.dialect == facts_.dialect && need.product == product;
    });
    return found == std::end(kNeeds) ? nullptr : found;
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

  void check_one(std::string_view what, const std::string& product) {
    const std::string name = fmt::format("{} {}", what, product);
    const Need* need = need_of(product);
    if (need == nullptr) return list_.skip(name, "no data: nothing of it was recorded");
    const auto groups = split(need->kinds, ' ');
    const auto lacking = std::find_if(groups.begin(), groups.end(),
                                      [&](std::string_view group) { return !has_records(group); });
    if (lacking == groups.end()) return none_fits(name, *need);
    if (const CaptureFinding* damage = damage_of(*lacking)) {
      return list_.fail(name, fmt::format("no data: {}: {}", damage->kind, damage->evidence),
                        damage->remedy, Exit::partial_data);
    }
    if (has_files(*lacking)) {
      return missing(name, *need, fmt::format("no data: the files of {} hold no records", *lacking),
                     "");
    }
    const std::string_view kind = split(*lacking, '|').front();
    const auto* absence = std::find_if(std::begin(kAbsences), std::end(kAbsences),
                                       [&](const Absence& one) { return one.kind == kind; });
    if (absence == std::end(kAbsences)) return list_.skip(name, "no data: nothing was recorded");
    missing(name, *need, fmt::format("no data: {}", absence->cause), absence->remedy);
  }

  void missing(const std::string& name, const Need& need, std::string evidence,
               std::string_view remedy) {
    if (need.every_run) {
      list_.warn(name, std::move(evidence), std::string(remedy));
    } else {
      list_.skip(name, std::move(evidence), std::string(remedy));
    }
  }

  // All files are there, and no row came of them.
  void none_fits(const std::string& name, const Need& need) {
    for (const std::string_view kind :
         {"tasks", "info.json", "type_info_dic", "capture", "start_info"}) {
      const CaptureFinding* damage = damage_of(kind);
      if (damage == nullptr) continue;
      return list_.fail(name, fmt::format("no data: {}: {}", damage->kind, damage->evidence),
                        damage->remedy, Exit::partial_data);
    }
    if (!need.every_run) return list_.skip(name, "no data: the run did nothing of this kind");
    list_.warn(name, "no data: the records are there, and none of them belongs to a task",
               "are host and device folders of one run? Copy the whole folder again");
  }

  CheckList& list_;
  CaptureFacts facts_;
  const std::vector<CaptureFinding>& findings_;
  std::map<std::string, std::int64_t> totals_;  // records by kind; 0: files without any
};

}  // namespace

void check_products(CheckList& list, const Database& db,
                    const std::vector<CaptureFinding>& findings) {
  Products(list, db, findings).check();
}

}  // namespace msprof
