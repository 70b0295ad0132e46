// api_statistic: one row per name and level of host calls, by name.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/number.hpp"
#include "base/vendor_real.hpp"
#include "export/products.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"
#include "store/row_ids.hpp"

namespace msprof {

namespace {

__extension__ using uint128 = unsigned __int128;

// Uses doubles, so that mean and variance are printed as by the vendor's tool (cann_host.md 2.1).
double to_us(std::int64_t ns) {
  return static_cast<double>(ns) / 1000.0;
}
double round3(double value) {
  return std::round(value * 1000.0) / 1000.0;
}

class CallGroup {
 public:
  CallGroup(std::int64_t name_id, std::int64_t level) : name_id_(name_id), level_(level) {}

  void add(std::int64_t ns) {
    if (count_ < kFew) few_[static_cast<std::size_t>(count_)] = ns;
    ++count_;
    sum_us_ += to_us(ns);
    sum_ns_ += ns;
    // Unsigned, so that numbers of a damaged store can overflow without undefined behaviour.
    squares_ += static_cast<uint128>(static_cast<int128>(ns) * ns);
    shortest_ns_ = std::min(shortest_ns_, ns);
    longest_ns_ = std::max(longest_ns_, ns);
  }

  std::int64_t name_id() const { return name_id_; }
  std::int64_t level() const { return level_; }
  std::int64_t count() const { return count_; }
  double sum_us() const { return sum_us_; }
  double mean_us() const { return round3(sum_us_ / static_cast<double>(count_)); }
  double shortest_us() const { return to_us(shortest_ns_); }
  double longest_us() const { return to_us(longest_ns_); }

  // Variance around the rounded mean. For few calls it often lies exactly between two rounded
  // values; the vendor's double arithmetic decides then, so it is repeated. For many calls the
  // exact sum is good enough and needs no second pass.
  std::string variance() const {
    if (count_ <= kFew) {
      double squares = 0;
      for (std::int64_t i = 0; i < count_; ++i) {
        const double off = to_us(few_[static_cast<std::size_t>(i)]) - mean_us();
        squares += off * off;
      }
      std::string digits;
      append_fixed3_trimmed(digits, round3(squares / static_cast<double>(count_)));
      return digits;
    }
    const auto mean_ns = static_cast<uint128>(std::llround(mean_us() * 1000.0));
    const uint128 squares = squares_ - 2 * mean_ns * static_cast<uint128>(sum_ns_) +
                            mean_ns * mean_ns * static_cast<uint128>(count_);
    return cann::trimmed3(static_cast<int128>(squares), static_cast<int128>(count_) * 1'000'000);
  }

 private:
  static constexpr std::int64_t kFew = 32;
  std::int64_t name_id_;
  std::int64_t level_;
  std::int64_t count_ = 0;
  double sum_us_ = 0;
  int128 sum_ns_ = 0;
  uint128 squares_ = 0;
  std::int64_t shortest_ns_ = INT64_MAX;
  std::int64_t longest_ns_ = INT64_MIN;
  std::array<std::int64_t, kFew> few_{};
};

class CallGroups {
 public:
  explicit CallGroups(const Database& db)
      : db_(db), first_(static_cast<std::size_t>(last_id(db, "name")) + 1, kNoGroup) {}

  CallGroup& find(std::int64_t name_id, std::int64_t level) {
    const auto name = static_cast<std::size_t>(name_id);
    if (name >= first_.size()) fail_without_row(db_, "name", name_id);
    for (std::size_t at = first_[name]; at != kNoGroup; at = all_[at].next) {
      if (all_[at].group.level() == level) return all_[at].group;
    }
    all_.push_back({CallGroup(name_id, level), first_[name]});
    first_[name] = all_.size() - 1;
    return all_.back().group;
  }

  template <typename Take>
  void for_each(Take&& take) const {
    for (const Entry& entry : all_) take(entry.group);
  }

 private:
  static constexpr std::size_t kNoGroup = SIZE_MAX;
  struct Entry {
    CallGroup group;
    std::size_t next;  // index of the next group with the same name
  };
  const Database& db_;
  std::vector<std::size_t> first_;  // by name id
  std::vector<Entry> all_;
};

class CannApiStatistic : public cann::CannTable {
 public:
  CannApiStatistic()
      : CannTable(
            {.name = "api_statistic",
             .title = "Api statistic",
             .help = "count, total, mean, shortest and longest time of every call on the host",
             .exists = "SELECT 1 FROM api_call",
             .needs = {"api_event", true},
             .is_shown = true},
            {"Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)",
             "Variance"}) {}
  // Rows are sorted by name.
  std::vector<std::size_t> heat_columns() const override { return {kTimeColumn}; }

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    CallGroups groups(db);
    cann::CallCursor calls(db, output_file.scope, {&ApiCallRow::level},
                           {.not_null = {&ApiCallRow::name_id}});
    while (calls.next()) groups.find(calls->name_id, calls->level).add(calls.duration_ns());
    cann::Texts texts(db);
    std::vector<std::pair<std::string, const CallGroup*>> rows;
    groups.for_each(
        [&](const CallGroup& group) { rows.emplace_back(texts(group.name_id()), &group); });
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second->level() < b.second->level();
    });
    for (const auto& [name, group] : rows) write_row(out, name, *group);
  }

 private:
  static constexpr std::size_t kTimeColumn = 3;

  static void write_row(RowBuilder& out, const std::string& name, const CallGroup& group) {
    const auto number = [&out](double value) { out.real(value, CellForm::fixed3_trimmed); };
    out.text("host");
    const std::string_view level = cann::level_text(group.level());
    out.text(level.empty() ? std::to_string(group.level()) : std::string(level));
    out.text(name);
    number(group.sum_us());
    out.number(group.count());
    number(group.mean_us());
    number(group.shortest_us());
    number(group.longest_us());
    out.number(group.variance());
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_api_statistic() {
  return std::make_unique<CannApiStatistic>();
}

}  // namespace msprof
