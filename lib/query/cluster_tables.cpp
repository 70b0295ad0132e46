#include "query/cluster_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "cluster/cluster_analysis.hpp"
#include "cluster/merge.hpp"
#include "export/scope/cann_rules.hpp"
#include "query/cluster_views.hpp"

namespace msprof {

namespace {

using cluster::MemberRow;

constexpr std::array<std::string_view, 5> kOfAnalysis = {
    "v_slow_ranks", "v_slow_hosts", "v_slow_links", "v_host_clocks", "v_step_growth"};
// Views with some `aligned_…` time columns.
constexpr std::array<std::string_view, 4> kWithTimes = {"v_ranks", "v_rank_steps", "v_collectives",
                                                        "v_rank_collectives"};

// Inserts rows into a temporary table cell by cell; kNull and empty optionals become NULL.
class TempRows {
 public:
  TempRows(Database& db, const View& view) : insert_(made(db, view)) {}

  TempRows& add(std::int64_t value) {
    value == kNull ? insert_.bind_null(++cell_) : insert_.bind(++cell_, value);
    return *this;
  }
  TempRows& real(std::optional<double> value) {
    value&& std::isfinite(*value) ? insert_.bind(++cell_, *value) : insert_.bind_null(++cell_);
    return *this;
  }
  TempRows& us(std::int64_t ns) {
    return real(ns == kNull ? std::nullopt : std::optional(static_cast<double>(ns) / 1000));
  }
  TempRows& text(std::string_view value) {
    insert_.bind(++cell_, value);
    return *this;
  }
  TempRows& text_or_null(std::string_view value) {
    value.empty() ? insert_.bind_null(++cell_) : insert_.bind(++cell_, value);
    return *this;
  }
  void end_row() {
    insert_.run();
    cell_ = 0;
  }

 private:
  static Statement made(Database& db, const View& view) {
    std::vector<std::string> columns;
    for (const ViewColumn& column : view.columns) columns.emplace_back(column.name);
    db.execute(fmt::format("CREATE TEMP TABLE {} ({})", view.name, fmt::join(columns, ", ")));
    std::string places = "?1";
    for (std::size_t i = 1; i < columns.size(); ++i) places += fmt::format(", ?{}", i + 1);
    return db.prepare(fmt::format("INSERT INTO temp.{} VALUES({})", view.name, places));
  }

  Statement insert_;
  int cell_ = 0;
};

class ClusterTables {
 public:
  ClusterTables(const cluster::Part& part, Database& db, const std::set<std::string>& words,
                bool takes_all)
      : part_(part),
        db_(db),
        words_(words),
        takes_all_(takes_all),
        names_(part.names()),
        members_(part.members()) {}

  void fill() {
    if (needs_analysis()) analysis_ = cluster::analyse(part_);
    db_.execute("CREATE TEMP TABLE host_offset (host_name_id INTEGER PRIMARY KEY, offset_ns)");
    db_.execute(
        "CREATE TEMP TABLE group_rank (group_name_id, local_rank, member_id,"
        " PRIMARY KEY (group_name_id, local_rank)) WITHOUT ROWID");
    fill_offsets();
    if (is_asked("v_links")) {
      db_.execute(
          "INSERT OR IGNORE INTO temp.group_rank SELECT group_name_id, local_rank, member_id FROM"
          " group_member WHERE group_name_id IS NOT NULL AND local_rank IS NOT NULL ORDER BY id");
    }
    for (const View& view : cluster_views()) {
      if (!view.select.empty()) continue;
      TempRows rows(db_, view);
      if (is_asked(view.name)) fill(view.name, rows);
    }
  }

 private:
  bool is_asked(std::string_view name) const { return words_.contains(std::string(name)); }

  bool needs_analysis() const {
    const auto asked = [this](std::string_view name) { return is_asked(name); };
    if (std::any_of(kOfAnalysis.begin(), kOfAnalysis.end(), asked)) return true;
    const bool has_aligned =
        takes_all_ || std::any_of(words_.begin(), words_.end(), [](const std::string& word) {
          return word.starts_with("aligned_");
        });
    return has_aligned && std::any_of(kWithTimes.begin(), kWithTimes.end(), asked);
  }

  void fill(std::string_view name, TempRows& rows) {
    if (name == "v_collectives") return fill_collectives(rows);
    if (name == "v_cluster_ops") return fill_ops(rows);
    if (name == "v_cluster") return fill_cluster(rows);
    if (name == "v_slow_ranks") return fill_slow_ranks(rows);
    if (name == "v_slow_hosts") return fill_slow_hosts(rows);
    if (name == "v_slow_links") return fill_slow_links(rows);
    if (name == "v_host_clocks") return fill_clocks(rows);
    if (name == "v_step_growth") return fill_growth(rows);
  }

  std::string_view find_text(std::int64_t name_id) const {
    const bool is_known = name_id >= 1 && static_cast<std::uint64_t>(name_id) <= names_.size();
    return is_known ? names_[static_cast<std::size_t>(name_id) - 1] : "";
  }
  const MemberRow* find_member(std::int64_t id) const {
    const bool is_known = id >= 1 && static_cast<std::uint64_t>(id) <= members_.size();
    return is_known ? &members_[static_cast<std::size_t>(id) - 1] : nullptr;
  }
  std::int64_t find_rank(std::int64_t member_id) const {
    const MemberRow* of = find_member(member_id);
    return of == nullptr ? kNull : of->rank;
  }
  // Returns the host name recorded by the host's first rank.
  std::string_view find_hostname(std::int64_t host_name_id) const {
    const auto at = std::find_if(members_.begin(), members_.end(), [&](const MemberRow& row) {
      return row.host_name_id == host_name_id;
    });
    return at == members_.end() ? "" : find_text(at->hostname_name_id);
  }
  std::int64_t ranks_on(std::int64_t host_name_id) const {
    return std::count_if(members_.begin(), members_.end(),
                         [&](const MemberRow& row) { return row.host_name_id == host_name_id; });
  }

  void fill_offsets() {
    Statement insert = db_.prepare("INSERT INTO temp.host_offset VALUES(?, ?)");
    for (const cluster::HostClock& host : analysis_.clocks.hosts()) {
      if (host.offset_ns != kNull) insert.bind(1, host.host_name_id).bind(2, host.offset_ns).run();
    }
  }

  void fill_collectives(TempRows& rows) {
    for (cluster::Collectives collectives(part_); collectives.next();) {
      const cluster::CollectiveRow& of = collectives->total;
      std::int64_t start_ns = kNull;
      std::int64_t end_ns = kNull;
      bool is_aligned = true;
      for (const cluster::CollectiveHostRow& host : collectives->hosts) {
        const auto aligned = [&](std::int64_t time_ns) {
          return analysis_.clocks.aligned_ns(host.host_name_id, time_ns);
        };
        is_aligned = is_aligned && aligned(host.last_end_ns) != kNull;
        start_ns = cluster::earlier(start_ns, aligned(host.first_start_ns));
        end_ns = std::max(end_ns, aligned(host.last_end_ns));
      }
      const auto count = static_cast<double>(of.rank_count);
      const auto sum_us = static_cast<double>(of.duration_ns) / 1000;
      const auto shortest_us = static_cast<double>(of.shortest_ns[0]) / 1000;
      rows.add(of.step).text_or_null(find_text(of.group_name_id));
      rows.text_or_null(find_text(of.operation_name_id)).add(of.sequence).add(of.rank_count);
      rows.add(static_cast<std::int64_t>(collectives->hosts.size()));
      rows.add(is_aligned ? start_ns : kNull).add(is_aligned ? end_ns : kNull);
      rows.real(sum_us / count).us(of.shortest_ns[0]).us(of.longest_ns[0]);
      rows.add(find_rank(of.shortest_member[0])).add(find_rank(of.longest_member[0]));
      rows.real(sum_us - count * shortest_us).end_row();
    }
  }

  void fill_ops(TempRows& rows) {
    double all_ns = 0;
    for (cluster::OpTotals totals(part_); totals.next();)
      all_ns += static_cast<double>(totals->duration_ns);
    for (cluster::OpTotals totals(part_); totals.next();) {
      const cluster::OpTotal& of = *totals;
      const auto count = static_cast<double>(of.count);
      const auto sum_ns = static_cast<double>(of.duration_ns);
      const double mean_ns = sum_ns / count;
      const double variance = static_cast<double>(of.square_sum) / count - mean_ns * mean_ns;
      rows.text_or_null(find_text(of.name_id)).text_or_null(find_text(of.type_name_id));
      rows.text_or_null(find_text(of.unit_name_id)).add(of.count).us(of.duration_ns);
      rows.real(mean_ns / 1000).real(std::sqrt(std::max(variance, 0.0)) / 1000);
      rows.us(of.shortest_ns).us(of.histogram.quantile_ns(1, 2));
      rows.us(of.histogram.quantile_ns(95, 100)).us(of.longest_ns);
      rows.add(find_rank(of.shortest_member)).add(find_rank(of.longest_member));
      rows.real(all_ns > 0 ? std::optional(100 * sum_ns / all_ns) : std::nullopt).end_row();
    }
  }

  void fill_cluster(TempRows& rows) {
    const cluster::Ranks ranks = cluster::read_ranks(part_);
    Statement steps = db_.prepare("SELECT count(DISTINCT step) FROM rank_step");
    steps.step();
    rows.text_or_null(ranks.present.text()).add(ranks.present.count()).add(ranks.unknown);
    rows.add(ranks.hosts).add(steps.integer(0)).text_or_null(ranks.missing.text());
    rows.add(ranks.missing.count()).text_or_null(ranks.partial.text()).add(ranks.partial.count());
    rows.add(part_.facts().has_detail ? 1 : 0).end_row();
  }

  void add_straggler(TempRows& rows, const cluster::Straggler& of) {
    rows.text(cluster::late_cause_name(of.cause)).us(of.delay_ns);
    rows.real(of.elapsed_ns > 0 ? std::optional(100 * static_cast<double>(of.delay_ns) /
                                                static_cast<double>(of.elapsed_ns))
                                : std::nullopt);
    rows.us(of.wait_ns).add(of.votes).add(of.collective_count);
    rows.text_or_null(find_text(of.group_name_id)).us(of.computing_ns).us(of.free_ns);
    rows.us(of.preparing_ns).add(of.step).text_or_null(find_text(of.operation_name_id));
    rows.add(of.sequence).end_row();
  }

  void fill_slow_ranks(TempRows& rows) {
    for (const cluster::Straggler& of : analysis_.stragglers.ranks) {
      const MemberRow& rank = *find_member(of.id);
      rows.add(rank.rank).add(rank.id).text_or_null(find_text(rank.host_name_id));
      rows.text_or_null(find_text(rank.hostname_name_id)).add(rank.device_id);
      add_straggler(rows, of);
    }
  }

  void fill_slow_hosts(TempRows& rows) {
    for (const cluster::Straggler& of : analysis_.stragglers.hosts) {
      std::int64_t first = kNull;
      for (const MemberRow& row : members_)
        if (row.host_name_id == of.id) first = cluster::earlier(first, row.rank);
      rows.text_or_null(find_text(of.id)).text_or_null(find_hostname(of.id));
      rows.add(ranks_on(of.id)).add(first);
      add_straggler(rows, of);
    }
  }

  void fill_slow_links(TempRows& rows) {
    const auto host = [this](const cluster::LinkEnd& end) -> std::string_view {
      const MemberRow* of = find_member(end.member_id);
      return of == nullptr ? "" : find_text(of->hostname_name_id);
    };
    const auto number = [&](std::span<const cann::NumberText> names, std::int64_t of) {
      return std::string(number_text(names, of));
    };
    for (const cluster::SlowLink& of : analysis_.slow_links) {
      const auto rate = static_cast<double>(of.bytes_per_s);
      const auto usual = static_cast<double>(of.median_bytes_per_s);
      rows.add(find_rank(of.source.member_id)).add(find_rank(of.target.member_id));
      rows.text_or_null(host(of.source)).text_or_null(host(of.target));
      rows.text_or_null(number(cann::link_types(), of.link_type));
      rows.text_or_null(number(cann::transport_types(), of.transport_type));
      rows.real(rate / 1e9).real(usual / 1e9).real(100 * rate / usual);
      rows.add(of.size_class > 0 && of.size_class < 63 ? std::int64_t{1} << of.size_class : 0);
      rows.add(of.link_count).add(of.count).add(of.size_bytes).us(of.duration_ns).us(of.lost_ns);
      rows.end_row();
    }
  }

  static std::string number_text(std::span<const cann::NumberText> names, std::int64_t number) {
    if (number == kNull) return "";
    const std::string_view known = cann::find_text(names, number);
    return known.empty() ? std::to_string(number) : std::string(known);
  }

  // Returns the median offset. For an even count, returns the middle value nearer to the reference;
  // with two hosts, that is the offset of the reference, 0.
  static std::int64_t median_clock(std::vector<std::int64_t> offsets) {
    if (offsets.empty()) return 0;
    std::sort(offsets.begin(), offsets.end());
    const std::int64_t low = offsets[(offsets.size() - 1) / 2];
    const std::int64_t high = offsets[offsets.size() / 2];
    const auto distance = [](std::int64_t ns) { return ns < 0 ? -static_cast<int128>(ns) : ns; };
    return distance(high) < distance(low) ? high : low;
  }

  void fill_clocks(TempRows& rows) {
    std::vector<std::int64_t> offsets;
    for (const cluster::HostClock& host : analysis_.clocks.hosts())
      if (host.offset_ns != kNull) offsets.push_back(host.offset_ns);
    const std::int64_t median_ns = median_clock(std::move(offsets));
    for (const cluster::HostClock& host : analysis_.clocks.hosts()) {
      const bool is_aligned = host.offset_ns != kNull;
      rows.text_or_null(find_text(host.host_name_id))
          .text_or_null(find_hostname(host.host_name_id));
      rows.text(cluster::clock_state_name(host.state)).add(is_aligned ? 1 : 0);
      rows.us(host.offset_ns);
      rows.us(is_aligned ? saturating_subtract(host.offset_ns, median_ns) : kNull);
      rows.us(host.spread_ns).add(host.collective_count);
      rows.text_or_null(find_text(host.over_host_name_id)).add(ranks_on(host.host_name_id));
      rows.end_row();
    }
  }

  void fill_growth(TempRows& rows) {
    const cluster::StepGrowth& of = analysis_.growth;
    if (of.step_count == 0) return;
    const bool has_trend = of.step_count >= cluster::StepGrowthFinder::kLeastSteps;
    const auto known = [&](double value) {
      return has_trend ? std::optional(value) : std::nullopt;
    };
    rows.add(of.step_count).us(of.median_ns).us(of.elapsed_ns);
    rows.real(known(of.trend.slope_ns / 1000)).real(known(of.growth_percent));
    rows.real(known(of.trend.z)).add(of.is_growing ? 1 : 0);
    rows.text_or_null(has_trend ? cluster::step_part_name(of.part) : "");
    rows.real(known(of.part_slope_ns / 1000)).end_row();
  }

  const cluster::Part& part_;
  Database& db_;
  const std::set<std::string>& words_;
  bool takes_all_;
  cluster::PartTexts names_;
  std::vector<MemberRow> members_;
  cluster::ClusterAnalysis analysis_;
};

}  // namespace

void fill_cluster_tables(const cluster::Part& part, Database& db,
                         const std::set<std::string>& words, bool takes_all) {
  // No journal: temporary tables left by a killed process are never read.
  db.execute("PRAGMA temp.journal_mode=OFF; BEGIN");
  ClusterTables(part, db, words, takes_all).fill();
  db.execute("COMMIT");
}

}  // namespace msprof
