// api_statistic: one row a name and level of calls on the host, by name.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/real_text.hpp"
#include "export/products.hpp"
#include "export/summary/cann_tables.hpp"

namespace msprof {

namespace {

// us of a duration, and its rounding to ns: doubles, since the mean and the variance are printed as
// the peer's come out (cann_host.md 2.1).
double us_of(std::int64_t ns) {
  return static_cast<double>(ns) / 1000.0;
}
double round3(double value) {
  return std::round(value * 1000.0) / 1000.0;
}

struct Group {
  std::int64_t name_id = 0;
  std::int64_t level = 0;
  std::int64_t count = 0;
  double sum_us = 0;
  double mean_us = 0;
  double squares = 0;
  std::int64_t shortest_ns = INT64_MAX;
  std::int64_t longest_ns = INT64_MIN;
};

// Calls by name and level.
class Groups {
 public:
  Group& of(std::int64_t name_id, std::int64_t level) {
    // Neighbours in time are often of one name, but seldom of one level.
    std::vector<std::size_t>& levels = by_name_[name_id];
    for (const std::size_t at : levels) {
      if (groups_[at].level == level) return groups_[at];
    }
    levels.push_back(groups_.size());
    Group& made = groups_.emplace_back();
    made.name_id = name_id;
    made.level = level;
    return made;
  }
  std::vector<Group>& all() { return groups_; }

 private:
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_name_;
  std::vector<Group> groups_;
};

// The calls that count: those that end within the collection, and those within the loading of a
// model.
class Calls {
 public:
  explicit Calls(const Database& db)
      : begin_ns_(cann::window_begin_ns(db)),
        read_(db.prepare("SELECT name_id, ifnull(level, -1), start_ns, end_ns, ifnull(thread_id, "
                         "-1) FROM api_call WHERE name_id IS NOT NULL ORDER BY id")) {
    Statement load = db.prepare("SELECT id FROM name WHERE text = 'ModelLoad'");
    if (load.step()) load_name_id_ = load.integer(0);
  }

  bool next() {
    while (read_.step()) {
      if (read_.integer(2) >= begin_ns_ || counts()) return true;
    }
    return false;
  }
  std::int64_t name_id() const { return read_.integer(0); }
  std::int64_t level() const { return read_.integer(1); }
  std::int64_t duration_ns() const { return read_.integer(3) - read_.integer(2); }

 private:
  // Calls come in the order of their starts: the loading around one has been met before.
  bool counts() {
    const std::int64_t end = read_.integer(3);
    const std::int64_t thread = read_.integer(4);
    if (read_.integer(0) == load_name_id_) {
      std::int64_t& load_end = load_ends_.try_emplace(thread, end).first->second;
      load_end = std::max(load_end, end);
      return true;
    }
    if (end >= begin_ns_) return true;
    const auto load = load_ends_.find(thread);
    return load != load_ends_.end() && end <= load->second;
  }

  std::int64_t begin_ns_;
  std::int64_t load_name_id_ = -1;
  Statement read_;
  std::unordered_map<std::int64_t, std::int64_t> load_ends_;  // latest end, by thread
};

std::string_view level_text(std::int64_t level) {
  switch (level) {
    case 20000:
      return "acl";
    case 15000:
      return "model";
    case 10000:
      return "node";
    case 5500:
      return "communication";
    case 5000:
      return "runtime";
    default:
      return "";
  }
}

// Both readings see the same calls in the same order.
void count(const Database& db, Groups& groups) {
  for (Calls calls(db); calls.next();) {
    Group& group = groups.of(calls.name_id(), calls.level());
    const std::int64_t ns = calls.duration_ns();
    ++group.count;
    group.sum_us += us_of(ns);
    group.shortest_ns = std::min(group.shortest_ns, ns);
    group.longest_ns = std::max(group.longest_ns, ns);
  }
  for (Group& group : groups.all()) {
    group.mean_us = round3(group.sum_us / static_cast<double>(group.count));
  }
  for (Calls calls(db); calls.next();) {
    Group& group = groups.of(calls.name_id(), calls.level());
    const double off = us_of(calls.duration_ns()) - group.mean_us;
    group.squares += off * off;
  }
}

class CannApiStatistic : public cann::Table {
 public:
  CannApiStatistic()
      : Table({.name = "api_statistic",
               .title = "Api statistic",
               .help = "count, total, mean, shortest and longest time of every call on the host",
               .exists = "SELECT 1 FROM api_call",
               .is_shown = true},
              {"Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)",
               "Max(us)", "Variance"}) {}
  // Rows come by name.
  std::vector<std::size_t> heat_columns() const override { return {kTimeColumn}; }

  void write(const Database& db, const Document&, TableWriter& out) const override {
    Groups groups;
    count(db, groups);
    cann::Texts texts(db);
    std::vector<std::pair<std::string, const Group*>> rows;
    for (const Group& group : groups.all()) rows.emplace_back(texts(group.name_id), &group);
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::tie(a.first, a.second->level) < std::tie(b.first, b.second->level);
    });
    for (const auto& [name, group] : rows) write_row(out, name, *group);
  }

 private:
  static constexpr std::size_t kTimeColumn = 3;

  static void write_row(TableWriter& out, const std::string& name, const Group& group) {
    const auto number = [&out](double value) {
      std::string digits;
      append_fixed3_trimmed(digits, value);
      out.number(digits);
    };
    out.text("host");
    out.text(level_text(group.level));
    out.text(name);
    number(group.sum_us);
    out.number(group.count);
    number(group.mean_us);
    number(us_of(group.shortest_ns));
    number(us_of(group.longest_ns));
    number(round3(group.squares / static_cast<double>(group.count)));
    out.end_row();
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_api_statistic() {
  return std::make_unique<CannApiStatistic>();
}

}  // namespace msprof
