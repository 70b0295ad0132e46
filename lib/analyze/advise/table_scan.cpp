#include "analyze/advise/table_scan.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyze/advise/row_names.hpp"
#include "analyze/advise/rule.hpp"
#include "analyze/advise/sequence_matcher.hpp"
#include "analyze/advise/table_fields.hpp"
#include "export/table/table_chunks.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

namespace {

// An untrusted store may contain any number of streams, and long texts.
constexpr std::size_t kMaxStreams = 10'000;
constexpr std::size_t kMaxEvidenceBytes = 1000;  // of each text

constexpr std::string_view kMissing = "N/A";
constexpr std::size_t kMaxDevices = 1'000;  // device changes; further ones are ignored

using Row = std::span<const TableValue>;

struct BoundCondition {
  const Condition* condition = nullptr;
  int left = TableFields::kNoField;
  int right = TableFields::kNoField;
  double number = 0;
};

// Sums over all rows that several rules share.
class RowSums {
 public:
  // Returns the index of the sum over the fields at `places`.
  std::size_t find_or_add_sum(const std::vector<int>& places) {
    const auto known = std::find(places_.begin(), places_.end(), places);
    const auto number = static_cast<std::size_t>(known - places_.begin());
    if (known == places_.end()) places_.push_back(places);
    return number;
  }
  const std::vector<std::vector<int>>& places() const { return places_; }

 private:
  std::vector<std::vector<int>> places_;
};

// A rule with its fields resolved for this table.
struct BoundRule {
  const Rule* rule = nullptr;
  std::string missing;   // first field that the table does not have
  std::string modelled;  // first modelled field
  std::vector<BoundCondition> where;
  int name = TableFields::kNoField;
  int time = TableFields::kNoField;
  int sequence_of = TableFields::kNoField;
  int share_of = TableFields::kNoField;
  std::size_t time_sum = 0;      // index in RowSums
  std::size_t share_in_sum = 0;  // index in RowSums
  std::vector<int> evidence;

  bool is_checked() const { return missing.empty() && modelled.empty(); }
};

class RuleBinder {
 public:
  RuleBinder(TableFields& fields, RowSums& sums) : fields_(fields), sums_(sums) {}

  BoundRule place(const Rule& rule) {
    BoundRule placed;
    placed.rule = &rule;
    for (const Condition& condition : rule.where) {
      BoundCondition one{&condition, need(condition.left, placed), TableFields::kNoField,
                         rule.resolve_limit(condition.limit)};
      if (condition.is_about_text()) fields_.read_text(one.left);
      if (!condition.right.empty()) one.right = need(condition.right, placed);
      placed.where.push_back(one);
    }
    placed.name = fields_.place(rule.name);
    fields_.read_text(placed.name);
    placed.time = fields_.place(rule.time);
    note_modelled(placed.time, rule.time, placed);
    if (rule.sequence) placed.sequence_of = need(rule.sequence->of, placed);
    fields_.read_text(placed.sequence_of);
    const bool has_share = rule.group.share_above_percent.has_value();
    const Field& of = rule.group.share_of.empty() ? rule.time : rule.group.share_of;
    if (has_share) placed.share_of = need(of, placed);
    std::vector<int> share_in;
    for (const Field& field : rule.group.share_in) share_in.push_back(need(field, placed));
    if (has_share && share_in.empty()) share_in.push_back(need(of, placed));
    placed.time_sum = sums_.find_or_add_sum({placed.time});
    placed.share_in_sum = sums_.find_or_add_sum(share_in);
    for (const std::string& field : rule.evidence) {
      const int place = fields_.place(field);
      if (is_in_texts(field, rule)) note_modelled(place, {field}, placed);
      // Modelled values are not evidence.
      placed.evidence.push_back(fields_.is_modelled(place) ? TableFields::kNoField : place);
    }
    return placed;
  }

 private:
  int need(const Field& field, BoundRule& rule) {
    const int place = fields_.place(field);
    if (place == TableFields::kNoField && rule.missing.empty()) rule.missing = field.front();
    note_modelled(place, field, rule);
    return place;
  }
  void note_modelled(int place, const Field& field, BoundRule& rule) {
    if (!rule.modelled.empty() || !fields_.is_modelled(place)) return;
    rule.modelled =
        place >= 0 ? fields_.wanted()[static_cast<std::size_t>(place)].name : field.front();
  }
  static bool is_in_texts(const std::string& field, const Rule& rule) {
    const std::string word = "{" + field + "}";
    const auto& texts = {rule.title.en, rule.title.zh, rule.advice.en, rule.advice.zh};
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
      return text.find(word) != std::string::npos;
    });
  }
  TableFields& fields_;
  RowSums& sums_;
};

// Count and time of the matches, by name and rule. The sums of one name are adjacent in memory,
// because a row that matches one rule often matches several.
class NameSums {
 public:
  struct Sum {
    std::int64_t count = 0;
    double time_us = 0;
  };
  explicit NameSums(std::size_t rules) : rules_(rules) {}

  Sum& find(std::size_t name, std::size_t rule) {
    const std::size_t block = name / kNames;
    if (block >= blocks_.size()) blocks_.resize(block + 1);
    if (blocks_[block].empty()) blocks_[block].resize(kNames * rules_);
    return blocks_[block][name % kNames * rules_ + rule];
  }

 private:
  static constexpr std::size_t kNames = 64;

  std::size_t rules_;
  std::vector<std::vector<Sum>> blocks_;
};

// Collects the matches of one rule in one group.
class Gatherer {
 public:
  // `number` is the index of the rule in `sums`.
  Gatherer(const BoundRule& placed, const TableFields& fields, RowNames& names, std::size_t number,
           NameSums& sums)
      : placed_(placed), fields_(fields), names_(names), number_(number), sums_(sums) {
    if (placed.rule->sequence) matcher_.emplace(*placed.rule->sequence, names.types);
  }

  // `stream` is the index of the stream in the document; empty if it is not tracked.
  void add(Row row, const std::optional<std::size_t>& stream) {
    if (!matcher_) {
      check(row);
    } else if (stream) {
      follow(row, *stream);
    }
  }

  void end_document() {
    if (found_.count > count_before_) ++found_.documents;
    count_before_ = found_.count;
    if (matcher_) matcher_->reset();
  }

  // `sums`: indexed by RowSums.
  RuleMatches take(std::int64_t rows, std::span<const double> sums) {
    found_.rows = rows;
    found_.all_time_us = sums[placed_.time_sum];
    found_.share_in = sums[placed_.share_in_sum];
    for (std::size_t op = 0; op < ops_.size(); ++op) {
      const NameSums::Sum& sum = sums_.find(ops_[op], number_);
      MatchedOp matched{names_.names.name(ops_[op]), sum.count, sum.time_us, {}};
      for (std::size_t i = op * placed_.evidence.size(); i < (op + 1) * placed_.evidence.size();
           ++i)
        matched.cells.push_back({evidence_[i].sum, evidence_[i].count, std::move(texts_[i])});
      found_.ops.push_back(std::move(matched));
    }
    return std::move(found_);
  }

 private:
  struct Evidence {
    double sum = 0;
    std::int64_t count = 0;
  };

  double value(Row row, int place) const { return fields_.number(row, place).value_or(0); }

  bool holds(Row row, const BoundCondition& placed) const {
    const Condition& condition = *placed.condition;
    if (condition.is_about_text()) {
      const std::string_view text = fields_.text(row, placed.left);
      return text != kMissing && compare(text, condition.comparator, condition.texts);
    }
    const auto left = fields_.number(row, placed.left);
    if (!left) return false;
    if (condition.right.empty()) return compare(*left, condition.comparator, placed.number);
    const auto right = fields_.number(row, placed.right);
    return right && compare(*left, condition.comparator, *right);
  }

  void check(Row row) {
    for (const BoundCondition& condition : placed_.where) {
      if (!holds(row, condition)) return;
    }
    const std::size_t name = names_.names.find_or_add_cell(row, placed_.name);
    count(name, value(row, placed_.time), value(row, placed_.share_of));
    if (placed_.evidence.empty()) return;
    const std::size_t first = find_or_add_op(name) * placed_.evidence.size();
    for (std::size_t i = 0; i < placed_.evidence.size(); ++i) {
      if (const auto number = fields_.number(row, placed_.evidence[i])) {
        evidence_[first + i].sum += *number;
        ++evidence_[first + i].count;
      } else if (std::string& text = texts_[first + i]; text.empty()) {
        text = fields_.text(row, placed_.evidence[i]).substr(0, kMaxEvidenceBytes);
      }
    }
  }

  void follow(Row row, std::size_t stream) {
    const auto match =
        matcher_->add(stream, names_.types.find_or_add_cell(row, placed_.sequence_of),
                      fields_.text(row, placed_.name), value(row, placed_.time));
    if (match.pattern == nullptr) return;
    ++found_.patterns[match.pattern->name];
    const std::size_t name = names_.names.find_or_add(match.names);
    count(name, match.time_us, match.time_us);
    if (!placed_.evidence.empty()) find_or_add_op(name);
  }

  void count(std::size_t name, double time, double share) {
    NameSums::Sum& sum = sums_.find(name, number_);
    if (sum.count++ == 0) ops_.push_back(name);
    sum.time_us += time;
    ++found_.count;
    found_.time_us += time;
    found_.share_of += share;
  }

  // Returns the index in ops_ of a name that matched.
  std::size_t find_or_add_op(std::size_t name) {
    if (name >= op_of_name_.size()) op_of_name_.resize(name + 1, 0);
    std::uint32_t& op = op_of_name_[name];
    if (op == 0) {
      op = static_cast<std::uint32_t>(ops_.size());
      evidence_.resize(ops_.size() * placed_.evidence.size());
      texts_.resize(evidence_.size());
    }
    return op - 1;
  }

  const BoundRule& placed_;
  const TableFields& fields_;
  RowNames& names_;
  std::size_t number_;
  NameSums& sums_;
  RuleMatches found_;
  std::optional<SequenceMatcher> matcher_;
  std::vector<std::size_t> ops_;  // names in order of first match
  std::vector<std::uint32_t>
      op_of_name_;                  // by name id: 1 + index in ops_, or 0; empty without evidence
  std::vector<Evidence> evidence_;  // all evidence fields of the first op, then of the next
  std::vector<std::string> texts_;  // same layout: text of the first row in which it is no number
  std::int64_t count_before_ = 0;
};

struct Group {
  std::string device;
  NameSums name_sums;
  std::vector<Gatherer> gatherers;   // one per rule
  std::vector<std::size_t> checked;  // indices of the gatherers that get rows
  std::int64_t rows = 0;
  std::vector<double> sums;  // indexed by RowSums

  Group(std::string name, std::size_t rules) : device(std::move(name)), name_sums(rules) {}
};

class Scan {
 public:
  Scan(TableFields fields, const std::vector<const Rule*>& rules, const TableScanOptions& options)
      : options_(options), fields_(std::move(fields)) {
    RuleBinder placer(fields_, row_sums_);
    for (const Rule* rule : rules) rules_.push_back(placer.place(*rule));
    layer_ = fields_.place("layer_id");
    device_ = fields_.place("device_id");
    stream_ = fields_.place("stream_id");
    for (const int place : {layer_, device_}) fields_.read_text(place);
    is_mean_ = fields_.place("time") != TableFields::kNoField;
    if (options.facts) {
      for (const WantedField& field : ComputedFacts::fields()) {
        const int place = fields_.place(field.name);
        facts_.push_back(fields_.is_modelled(place) ? TableFields::kNoField : place);
        if (!field.is_number) fields_.read_text(place);
      }
    }
    for (std::size_t i = 0; i < fields_.wanted().size(); ++i) unseen_.push_back(i);
  }

  const std::vector<WantedField>& wanted() const { return fields_.wanted(); }

  void add(Row row) {
    // Skips the total row of a layer table.
    if (layer_ != TableFields::kNoField && fields_.text(row, layer_) == "-") return;
    std::erase_if(unseen_, [&](std::size_t place) { return row[place].text != kMissing; });
    names_.names.next_row();
    names_.types.next_row();
    enter_device(fields_.text(row, device_));
    const auto stream = find_stream_number(row);
    Group& group = *group_;
    ++group.rows;
    for (std::size_t sum = 0; sum < group.sums.size(); ++sum) {
      for (const int place : row_sums_.places()[sum])
        group.sums[sum] += fields_.number(row, place).value_or(0);
    }
    for (const std::size_t at : group.checked) group.gatherers[at].add(row, stream);
    if (device_facts_ != nullptr) add_info(row);
  }

  void end_document() {
    for (auto& group : groups_) {
      for (Gatherer& gatherer : group->gatherers) gatherer.end_document();
    }
    streams_.clear();
  }

  TableScanResult result() {
    TableScanResult result;
    result.has_table = !groups_.empty();
    result.facts = std::move(all_facts_);
    for (auto& group : groups_) {
      auto& out = result.groups.emplace_back();
      out.device = group->device;
      for (std::size_t i = 0; i < rules_.size(); ++i) {
        out.matches.push_back(group->gatherers[i].take(group->rows, group->sums));
        out.matches.back().no_data = never_seen(rules_[i]);
        out.matches.back().modelled = rules_[i].modelled;
        out.matches.back().is_mean = is_mean_;
      }
    }
    return result;
  }

 private:
  // Returns empty after kMaxStreams streams. Rows without a stream share one index.
  std::optional<std::size_t> find_stream_number(Row row) {
    const std::optional<double> stream = fields_.number(row, stream_);
    const auto known = streams_.find(stream);
    if (known != streams_.end()) return known->second;
    if (streams_.size() >= kMaxStreams) return std::nullopt;
    return streams_.emplace(stream, streams_.size()).first->second;
  }

  // The rows of a device are contiguous.
  void enter_device(std::string_view device) {
    if (group_ != nullptr && (device == current_device_ || ++switches_ > kMaxDevices)) return;
    current_device_ = device;
    if (options_.facts) device_facts_ = &all_facts_[current_device_];
    const std::string name = options_.is_by_device ? current_device_ : std::string();
    const auto at = std::find_if(groups_.begin(), groups_.end(),
                                 [&](const auto& group) { return group->device == name; });
    if (at != groups_.end()) {
      group_ = at->get();
      return;
    }
    groups_.push_back(std::make_unique<Group>(name, rules_.size()));
    group_ = groups_.back().get();
    group_->sums.resize(row_sums_.places().size());
    for (const BoundRule& rule : rules_) {
      const std::size_t number = group_->gatherers.size();
      if (rule.is_checked()) group_->checked.push_back(number);
      group_->gatherers.emplace_back(rule, fields_, names_, number, group_->name_sums);
    }
  }

  void add_info(Row row) {
    fact_row_.resize(facts_.size());
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      if (facts_[i] < 0) continue;
      fact_row_[i] = row[static_cast<std::size_t>(facts_[i])];
    }
    device_facts_->add(fact_row_);
  }

  // Returns the first field of the rule that has no value in any row; empty if there is data.
  std::string never_seen(const BoundRule& rule) const {
    if (!rule.missing.empty()) return rule.missing;
    const auto unseen = [&](int place) {
      return place >= 0 && std::find(unseen_.begin(), unseen_.end(),
                                     static_cast<std::size_t>(place)) != unseen_.end();
    };
    for (const BoundCondition& condition : rule.where) {
      if (unseen(condition.left)) return condition.condition->left.front();
      if (unseen(condition.right)) return condition.condition->right.front();
    }
    if (unseen(rule.sequence_of)) return rule.rule->sequence->of.front();
    return {};
  }

  TableScanOptions options_;
  TableFields fields_;
  RowSums row_sums_;
  std::vector<BoundRule> rules_;
  int layer_ = TableFields::kNoField, device_ = TableFields::kNoField,
      stream_ = TableFields::kNoField;
  bool is_mean_ = false;
  std::vector<int> facts_;
  std::vector<TableValue> fact_row_;
  std::map<std::optional<double>, std::size_t> streams_;
  std::vector<std::size_t> unseen_;  // columns without a value so far
  RowNames names_;
  std::vector<std::unique_ptr<Group>> groups_;
  Group* group_ = nullptr;
  std::string current_device_;
  std::size_t switches_ = 0;
  std::map<std::string, ComputedFacts> all_facts_;
  ComputedFacts* device_facts_ = nullptr;
};

Scan make_scan(const Database& db, const SummaryTable& table, const std::vector<const Rule*>& rules,
               const TableScanOptions& options) {
  const bool is_modelled = read_unit_loads(db) == UnitLoads::modelled;
  return Scan(TableFields(db, field_names(db, table),
                          is_modelled ? unit_load_fields(db, table) : std::vector<std::string>()),
              rules, options);
}

// A base class, so that it is constructed before the TableReader that uses it.
struct ScanParts {
  Scan scan;
};

// Reads documents in sequence. `on_end` (may be empty) gets the result after a document; use it
// only if there is a single document.
class ScanSink : ScanParts, public TableReader {
 public:
  ScanSink(const Database& db, const SummaryTable& table, const std::vector<const Rule*>& rules,
           const TableScanOptions& options, std::function<void(TableScanResult)> on_end)
      : ScanParts{make_scan(db, table, rules, options)},
        TableReader(scan.wanted(), [this](Row row) { scan.add(row); }),
        on_end_(std::move(on_end)) {}

  void end() override {
    scan.end_document();
    if (on_end_) on_end_(result());
  }
  TableScanResult result() { return scan.result(); }

 private:
  std::function<void(TableScanResult)> on_end_;
};

bool is_above(const std::optional<Limit>& limit, const Rule& rule, double value) {
  return !limit || value > rule.resolve_limit(*limit);
}

}  // namespace

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

bool is_met(const Rule& rule, const RuleMatches& matches) {
  const GroupCondition& group = rule.group;
  const auto count = static_cast<double>(matches.count);
  return matches.no_data.empty() && matches.modelled.empty() && matches.count > 0 &&
         is_above(group.count_above, rule, count) &&
         is_above(group.rows_above, rule, static_cast<double>(matches.rows)) &&
         is_above(group.rows_above_percent, rule,
                  percent(count, static_cast<double>(matches.rows))) &&
         is_above(group.share_above_percent, rule, percent(matches.share_of, matches.share_in));
}

TableScanResult scan_table(const Database& db, std::string_view name,
                           const std::vector<const Rule*>& rules, const TableScanOptions& options) {
  const auto table = find_table(db, name);
  if (table == nullptr || !table->has_files(db)) return {};
  const auto headers = table->columns(db);
  ScanSink sink(db, *table, rules, options, {});
  table->visit_files(db, [&](OutputFile document) {
    document.scope = options.scope;
    sink.begin(headers);
    write_table(db, *table, document, sink);
    sink.end();
    return true;
  });
  return sink.result();
}

std::unique_ptr<RowSink> make_table_scan(const Database& db, std::string_view name,
                                         const std::vector<const Rule*>& rules,
                                         const TableScanOptions& options,
                                         std::function<void(TableScanResult)> on_end) {
  const auto table = find_table(db, name);
  if (table == nullptr) return nullptr;
  return std::make_unique<ScanSink>(db, *table, rules, options, std::move(on_end));
}

}  // namespace msprof
