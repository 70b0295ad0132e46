#include "analyze/advise/prof_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "analyze/advise/rule_file.hpp"
#include "analyze/advise/table_scan.hpp"
#include "base/atomic_file.hpp"
#include "base/text.hpp"
#include "export/exporter.hpp"
#include "export/old/parts.hpp"
#include "export/product_folder.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"

namespace msprof {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr std::string_view kTable = "op_summary";

struct GroupOfType {
  std::string_view group;
  std::string_view type;
  std::string_view description;
};
constexpr std::array<GroupOfType, 7> kGroups = {
    {{"Op Summary", "Operator Processing", "Where and on how many cores operators run"},
     {"Op Summary", "Operator Metrics", "What operators need beside their inputs and outputs"},
     {"Op Summary", "Operator Schedule", "How long operators wait for being launched"},
     {"Op Summary", "Memory", "Moving data against computing"},
     {"Op Summary", "Computation", "Use of the computing units"},
     {"Op Parallel", "Operator Parallelism", "AI CPU operators beside AI Core operators"},
     {"Model Summary", "Model Bottleneck Analysis", "The unit that the model needs most"}}};

std::vector<const Rule*> prof_rules() {
  std::vector<const Rule*> rules;
  for (const Rule& rule : builtin_rules()) {
    if (rule.prof_rule) rules.push_back(&rule);
  }
  return rules;
}

ordered_json op_names(const RuleMatches& matches) {
  ordered_json names = ordered_json::array();
  for (const MatchedOp& op : matches.ops) names.push_back(valid_utf8(op.name));
  return names;
}

ordered_json fact_numbers(const FactValue& fact) {
  ordered_json numbers = ordered_json::object();
  for (const auto& [name, value] : fact.numbers) numbers[name] = value;
  return numbers;
}

// Collects the findings about one device.
class DeviceReport {
 public:
  DeviceReport(TableScanResult::Group& group, ComputedFacts* facts) : group_(group), facts_(facts) {
    document_ = {{"status", 0}, {"data", ordered_json::object()}};
    for (const GroupOfType& group_of : kGroups) {
      ordered_json& groups = document_["data"][std::string(group_of.group)];
      groups.push_back({{"Rule Type", group_of.type},
                        {"Rule Description", group_of.description},
                        {"result", ordered_json::array()}});
    }
  }

  void add(const Rule& rule, std::size_t index) {
    if (rule.fact) {
      const auto fact = facts_ == nullptr ? std::nullopt : facts_->value(rule.fact->name);
      if (!fact ||
          !compare(fact->value, rule.fact->comparator, rule.resolve_limit(rule.fact->limit)))
        return;
      add(*rule.prof_rule, fact_numbers(*fact), {});
    } else if (is_met(rule, group_.matches[index])) {
      const RuleMatches& matches = group_.matches[index];
      std::vector<std::string> operators;
      for (const MatchedOp& op : matches.ops) operators.push_back(op.name);
      add(*rule.prof_rule, op_names(matches), std::move(operators));
    }
  }

  const ordered_json& document() const { return document_; }
  std::vector<TuningSuggestion> take_suggestions() { return std::move(suggestions_); }

 private:
  void add(const ProfRuleEntry& place, ordered_json data, std::vector<std::string> operators) {
    for (ordered_json& group : document_["data"][place.group]) {
      if (group["Rule Type"] != place.type) continue;
      group["result"].push_back({{"Rule Subtype", place.subtype},
                                 {"Rule Suggestion", place.suggestion},
                                 {"Tuning Data", std::move(data)}});
      suggestions_.push_back({place.type, place.suggestion, std::move(operators)});
      return;
    }
  }

  TableScanResult::Group& group_;
  ComputedFacts* facts_;
  ordered_json document_;
  std::vector<TuningSuggestion> suggestions_;
};

bool knows_devices(const Database& db) {
  const auto table = find_table(db, kTable);
  if (table == nullptr || !table->has_files(db)) return false;
  const auto fields = field_names(db, *table);
  return std::find(fields.begin(), fields.end(), "device_id") != fields.end();
}

fs::path product_summary_folder(const Database& db, const fs::path& base, ExportStyle style,
                                const std::string& device) {
  if (style_for(db, style) == ExportStyle::cann5)
    return old::cann5_folder(db, base, fmt::format("device_{}", device), "summary");
  return product_folder(base, summary_folder(db));
}

ExportedFile write_file(const fs::path& folder_path, const std::string& device,
                        const ordered_json& document) {
  ProductFolder folder(folder_path, "prof_rule", false);
  const std::string product = fmt::format("prof_rule_{}", device);
  std::vector<std::unique_ptr<AtomicFile>> files;
  files.push_back(
      std::make_unique<AtomicFile>(folder.make() / limited_file_name(product, ".json")));
  AtomicFile& file = *files.front();
  file.write(document.dump(2));
  file.write("\n");
  ExportedFile written{file.target(), file.bytes_written()};
  folder.publish(product, std::move(files));
  folder.release();
  return written;
}

}  // namespace

void TuningFiles::add(TuningFile file) {
  const std::lock_guard lock(mutex_);
  files_.push_back(std::move(file));
}

std::vector<TuningFile> TuningFiles::take() {
  const std::lock_guard lock(mutex_);
  return std::move(files_);
}

struct ProfRules::Plan {
  fs::path base;
  ExportStyle style;
  TableScanOptions scan;
  std::shared_ptr<TuningFiles> found;
  std::vector<const Rule*> rules = prof_rules();
  std::vector<ExportedFile> written{};  // set by the listener

  std::vector<ExportedFile> write(const Database& db, TableScanResult scanned) const {
    std::vector<ExportedFile> files;
    for (TableScanResult::Group& group : scanned.groups) {
      const auto facts = scanned.facts.find(group.device);
      DeviceReport report(group, facts == scanned.facts.end() ? nullptr : &facts->second);
      for (std::size_t i = 0; i < rules.size(); ++i) report.add(*rules[i], i);
      const std::string device = file_name_part(group.device);
      files.push_back(
          write_file(product_summary_folder(db, base, style, device), device, report.document()));
      if (found != nullptr) found->add({device, files.back().path, report.take_suggestions()});
    }
    return files;
  }
};

std::optional<ProfRules> ProfRules::plan(const TraceDb& store, const fs::path& base,
                                         const SummaryOptions& options,
                                         const std::shared_ptr<TuningFiles>& found) {
  if (!options.names.empty() || !knows_devices(store.database())) return std::nullopt;
  const TableScanOptions scan{.scope = options.scope, .is_by_device = true, .facts = true};
  const auto plan = std::make_shared<Plan>(Plan{base, options.style, scan, found});
  const auto listen = [plan](const Database& db) {
    return make_table_scan(db, kTable, plan->rules, plan->scan,
                           [&db, plan](TableScanResult scanned) {
                             plan->written = plan->write(db, std::move(scanned));
                           });
  };
  return ProfRules(plan, std::make_shared<RowListener>(RowListener{std::string(kTable), listen}));
}

ExportJob ProfRules::job() const {
  if (listener_->is_heard)
    return {.write = {}, .written = [plan = plan_] { return plan->written; }};
  return {[plan = plan_](const Database& db) {
    return plan->write(db, scan_table(db, kTable, plan->rules, plan->scan));
  }};
}

}  // namespace msprof
