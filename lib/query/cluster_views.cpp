#include "query/cluster_views.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "export/scope/cann_rules.hpp"

namespace msprof {

namespace {

std::string text_of_id(std::string_view id) {
  return fmt::format("(SELECT text FROM name WHERE id = {})", id);
}

// Maps a number of the vendor's tables to its name; unknown numbers are kept.
std::string name_of_number(std::string_view column, std::span<const cann::NumberText> names) {
  std::string sql = fmt::format("CASE {}", column);
  for (const cann::NumberText& name : names)
    sql += fmt::format(" WHEN {} THEN '{}'", name.number, name.text);
  return sql + fmt::format(" ELSE {} END", column);
}

// Hosts with an unknown clock have no row in temp.host_offset, so the result is NULL.
std::string aligned(std::string_view time, std::string_view host) {
  return fmt::format(
      "{} - (SELECT offset_ns FROM temp.host_offset WHERE host_offset.host_name_id = {})", time,
      host);
}

View ranks() {
  return {
      "v_ranks",
      "one rank: a device of a capture",
      {{"rank", "", "its number in the job; NULL where the capture does not know it"},
       {"member_id", "", "its number here; of captures without a rank, too"},
       {"host", "", "unique id of the host"},
       {"hostname", "", "of the host"},
       {"device_id", "", "number of the device on the host"},
       {"capture", "", "name of the capture, without its folder"},
       {"chip", "", "of the device"},
       {"verdict", "", "complete, without (something), partial"},
       {"verdict_text", "", "in words"},
       {"is_modelled", "", "1: unit loads are the host runtime's model"},
       {"begin_ns", "ns", "begin of the collection, by the host's clock"},
       {"aligned_begin_ns", "ns", "the same by the clock of the reference host"},
       {"end_ns", "ns", "its end, by the host's clock"},
       {"task_count", "", "tasks of the device"},
       {"min_frequency_mhz", "MHz", "of the compute cores, over time"},
       {"max_frequency_mhz", "MHz", "of the compute cores, over time"},
       {"memory_peak_bytes", "bytes", "of device memory"}},
      fmt::format("SELECT rank, id AS member_id, {} AS host, {} AS hostname, device_id, {} AS"
                  " capture, {} AS chip, CASE verdict WHEN 0 THEN 'complete' WHEN 1 THEN"
                  " 'without' ELSE 'partial' END AS verdict, {} AS verdict_text, is_modelled,"
                  " begin_ns, {} AS aligned_begin_ns, end_ns, task_count, min_frequency_mhz,"
                  " max_frequency_mhz, memory_peak_bytes FROM member",
                  text_of_id("host_name_id"), text_of_id("hostname_name_id"),
                  text_of_id("capture_name_id"), text_of_id("chip_name_id"),
                  text_of_id("verdict_text_name_id"), aligned("begin_ns", "member.host_name_id"))};
}

View rank_steps() {
  return {"v_rank_steps",
          "what one rank did in one step",
          {{"step", "", "NULL: in no step, or all of a capture that has none"},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"host", "", "unique id of the host"},
           {"begin_ns", "ns", "by the host's clock"},
           {"aligned_begin_ns", "ns", "by the clock of the reference host"},
           {"duration_us", "us", "of the step"},
           {"computing_us", "us", "in which it computed"},
           {"communication_us", "us", "in which it communicated"},
           {"not_overlapped_us", "us", "of communication: without computing"},
           {"free_us", "us", "in which it did neither"},
           {"bubble_us", "us", "receiving from another rank"},
           {"preparing_us", "us", "before its first work of the step"}},
          fmt::format("SELECT step, member.rank, member_id, {} AS host, rank_step.begin_ns, {} AS"
                      " aligned_begin_ns, duration_ns / 1000.0 AS duration_us, computing_ns /"
                      " 1000.0 AS computing_us, communication_ns / 1000.0 AS communication_us,"
                      " not_overlapped_ns / 1000.0 AS not_overlapped_us, free_ns / 1000.0 AS"
                      " free_us, bubble_ns / 1000.0 AS bubble_us, preparing_ns / 1000.0 AS"
                      " preparing_us FROM rank_step JOIN member ON member.id = member_id",
                      text_of_id("host_name_id"),
                      aligned("rank_step.begin_ns", "member.host_name_id"))};
}

View collectives() {
  return {"v_collectives",
          "one collective over all its ranks",
          {{"step", "", "in which it began"},
           {"group_name", "", "its communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"sequence", "", "from 0: which of its operation and group in the step"},
           {"rank_count", "", "ranks that recorded it"},
           {"host_count", "", "hosts of these"},
           {"aligned_start_ns", "ns", "when the first rank arrived"},
           {"aligned_end_ns", "ns", "when the last one was done"},
           {"mean_us", "us", "of its ranks"},
           {"shortest_us", "us", "the duration of the rank that came last"},
           {"longest_us", "us", "the duration of the rank that came first"},
           {"last_rank", "", "which came last"},
           {"first_rank", "", "which came first"},
           {"wait_us", "us", "of all ranks for the last, added up"}},
          ""};
}

constexpr std::string_view kNoDetail =
    "one rank's part in one collective; empty where the file keeps"
    " totals alone (`msprof merge --detail-rows`)";

View rank_collectives() {
  return {"v_rank_collectives",
          kNoDetail,
          {{"step", "", "in which it began"},
           {"group_name", "", "its communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"sequence", "", "from 0: which of its operation and group in the step"},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"start_ns", "ns", "by the host's clock"},
           {"aligned_start_ns", "ns", "by the clock of the reference host"},
           {"duration_us", "us", "until its last task has ended"},
           {"wait_us", "us", "for other ranks"},
           {"synchronization_us", "us", "of that before its first transfer"},
           {"transit_us", "us", "in which data was on its way"},
           {"size_bytes", "bytes", "of its transfers"}},
          fmt::format("SELECT step, {} AS group_name, {} AS operation, sequence, member.rank,"
                      " member_id, start_ns, {} AS aligned_start_ns, duration_ns / 1000.0 AS"
                      " duration_us, wait_ns / 1000.0 AS wait_us, synchronization_ns / 1000.0 AS"
                      " synchronization_us, transit_ns / 1000.0 AS transit_us, size_bytes"
                      " FROM rank_collective JOIN member ON member.id = member_id",
                      text_of_id("group_name_id"), text_of_id("operation_name_id"),
                      aligned("start_ns", "member.host_name_id"))};
}

View collective_totals() {
  constexpr const char* kSums =
      "step, group_name_id, operation_name_id, member_id, count, duration_ns, wait_ns,"
      " synchronization_ns, transit_ns, size_bytes";
  return {"v_collective_totals",
          "what one rank spent in the collectives of one operation, group and step",
          {{"step", "", "in which they began"},
           {"group_name", "", "their communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"count", "", "of the collectives"},
           {"duration_us", "us", "of all of them, as the next"},
           {"wait_us", "us", "for other ranks"},
           {"synchronization_us", "us", "of that before the first transfer"},
           {"transit_us", "us", "in which data was on its way"},
           {"size_bytes", "bytes", "of the transfers"}},
          fmt::format("SELECT step, {} AS group_name, {} AS operation, member.rank, member_id,"
                      " count, duration_ns / 1000.0 AS duration_us, wait_ns / 1000.0 AS wait_us,"
                      " synchronization_ns / 1000.0 AS synchronization_us, transit_ns / 1000.0 AS"
                      " transit_us, size_bytes FROM (SELECT {} FROM collective_total UNION ALL"
                      " SELECT step, group_name_id, operation_name_id, member_id, count(*),"
                      " total(duration_ns), total(wait_ns), total(synchronization_ns),"
                      " total(transit_ns), total(size_bytes) FROM rank_collective GROUP BY 1, 2, 3,"
                      " 4) JOIN member ON member.id = member_id",
                      text_of_id("group_name_id"), text_of_id("operation_name_id"), kSums)};
}

View links() {
  // temp.group_rank maps the number of a rank in its group to the rank.
  constexpr const char* kEnd =
      "(SELECT rank FROM member JOIN temp.group_rank ON member.id = group_rank.member_id WHERE"
      " group_rank.group_name_id = link.group_name_id AND group_rank.local_rank = link.{})";
  return {"v_links",
          "transfers from one rank to another in one step, group and operation, of sizes between "
          "two powers of two",
          {{"step", "", "in which their collective began"},
           {"group_name", "", "its communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"source", "", "rank in the job; NULL where no part tells it"},
           {"target", "", "rank in the job; NULL where no part tells it"},
           {"source_in_group", "", "number of the rank in the group"},
           {"target_in_group", "", "number of the rank in the group"},
           {"recorded_by", "", "v_ranks.member_id of the rank that recorded them"},
           {"link", "", "HCCS, ROCE, PCIE, …"},
           {"transport", "", "SDMA, RDMA, LOCAL, …"},
           {"at_least_bytes", "bytes", "a transfer has so many and less than twice as many"},
           {"count", "", "of the transfers"},
           {"size_bytes", "bytes", "of all together"},
           {"duration_us", "us", "of all together"},
           {"gb_per_s", "GB/s", "10^9 bytes a second"}},
          fmt::format("SELECT step, {} AS group_name, {} AS operation, {} AS source, {} AS target,"
                      " source_rank AS source_in_group, target_rank AS target_in_group, member_id"
                      " AS recorded_by, {} AS link, {} AS transport, CASE WHEN size_class > 0 THEN"
                      " 1 << size_class ELSE 0 END AS at_least_bytes, count, size_bytes,"
                      " duration_ns / 1000.0 AS duration_us, size_bytes * 1.0 /"
                      " nullif(duration_ns, 0) AS gb_per_s FROM link",
                      text_of_id("group_name_id"), text_of_id("operation_name_id"),
                      fmt::format(kEnd, "source_rank"), fmt::format(kEnd, "target_rank"),
                      name_of_number("link_type", cann::link_types()),
                      name_of_number("transport_type", cann::transport_types()))};
}

View cluster_ops() {
  return {"v_cluster_ops",
          "one operator over all ranks",
          {{"name", "", "of the operator"},
           {"type", "", "MatMulV2, …"},
           {"unit", "", "what ran it: AI_CORE, AI_VECTOR_CORE, AI_CPU, …"},
           {"count", "", "executions"},
           {"total_us", "us", "of all executions on all ranks"},
           {"mean_us", "us", "of one execution"},
           {"deviation_us", "us", "standard deviation of one execution"},
           {"min_us", "us", "the shortest"},
           {"median_us", "us", "in steps of at most 1/64 of the value, as p95_us"},
           {"p95_us", "us", "95 of 100 are not longer"},
           {"max_us", "us", "the longest"},
           {"min_rank", "", "the rank of the shortest"},
           {"max_rank", "", "the rank of the longest"},
           {"share", "%", "of the time of all operators"}},
          ""};
}

View groups() {
  return {"v_groups",
          "one rank of one communication group",
          {{"group_name", "", "of the group"},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"rank_in_group", "", "its number there"},
           {"rank_count", "", "ranks of the group, as this one says it"}},
          fmt::format("SELECT {} AS group_name, member.rank, member_id, local_rank AS"
                      " rank_in_group, rank_count FROM group_member JOIN member ON member.id ="
                      " member_id",
                      text_of_id("group_name_id"))};
}

std::vector<ViewColumn> straggler_columns(std::vector<ViewColumn> columns) {
  for (const ViewColumn& column : std::initializer_list<ViewColumn>{
           {"cause", "",
            "computing: its operators take longer; starting: its host gives it work "
            "later; unknown: there are no times of steps"},
           {"delay_us", "us", "by which collectives would have begun earlier without it"},
           {"share", "%", "delay_us of the time of all steps"},
           {"others_wait_us", "us", "of all others in these collectives, added up"},
           {"votes", "", "collectives in which it came last, and by far"},
           {"collectives", "", "of the group in which it delays most"},
           {"group_name", "", "that group"},
           {"longer_computing_us", "us", "in all steps, against the median of the group"},
           {"longer_free_us", "us", "in all steps, against the median of the group"},
           {"longer_preparing_us", "us", "of that before the first work of a step"},
           {"worst_step", "", "of the collective that it delayed most, as the next"},
           {"worst_operation", "", "\"hcom_allReduce_\""},
           {"worst_sequence", "", "v_collectives.sequence"}}) {
    columns.push_back(column);
  }
  return columns;
}

std::vector<View> findings() {
  return {{"v_slow_ranks", "a rank that the others wait for, and that itself works longer",
           straggler_columns({{"rank", "", "v_ranks.rank"},
                              {"member_id", "", "v_ranks.member_id"},
                              {"host", "", "unique id of the host"},
                              {"hostname", "", "of the host"},
                              {"device_id", "", "number of the device on the host"}}),
           ""},
          {"v_slow_hosts",
           "a host of which all or most ranks are slow; its ranks are not in v_slow_ranks",
           straggler_columns({{"host", "", "unique id of the host"},
                              {"hostname", "", "of the host"},
                              {"rank_count", "", "its ranks"},
                              {"first_rank", "", "the smallest of them"}}),
           ""},
          {"v_slow_links",
           "a link from one rank to another that is slower than the others of its kind",
           {{"source", "", "rank in the job; NULL where no part tells it"},
            {"target", "", "rank in the job; NULL where no part tells it"},
            {"source_hostname", "", "of the host"},
            {"target_hostname", "", "of the host"},
            {"link", "", "HCCS, ROCE, PCIE, …"},
            {"transport", "", "SDMA, RDMA, …"},
            {"gb_per_s", "GB/s", "in the size that takes most time, as the next"},
            {"usual_gb_per_s", "GB/s", "median of the links of its kind"},
            {"percent_of_usual", "%", "the one of the other"},
            {"at_least_bytes", "bytes", "a transfer has so many and less than twice as many"},
            {"link_count", "", "links that were compared"},
            {"count", "", "transfers of all sizes, as the next"},
            {"size_bytes", "bytes", "of all together"},
            {"duration_us", "us", "of all together"},
            {"lost_us", "us", "against the median"}},
           ""},
          {"v_host_clocks",
           "the clock of a host against that of the reference, from the ends of collectives",
           {{"host", "", "unique id of the host"},
            {"hostname", "", "of the host"},
            {"state", "", "reference, aligned, or why it is not aligned"},
            {"is_aligned", "", "1: its times can be compared with those of other hosts"},
            {"offset_us", "us", "its clock minus that of the reference"},
            {"from_median_us", "us", "its clock minus the median of the aligned hosts"},
            {"spread_us", "us", "of the differences, between the 5th and the 95th percentile"},
            {"collectives", "", "that it was compared by"},
            {"over_host", "", "with which it was compared"},
            {"rank_count", "", "its ranks"}},
           ""},
          {"v_step_growth",
           "how the steps of the cluster go on; one row, none without steps",
           {{"steps", "", "numbered ones"},
            {"median_us", "us", "of a step, which takes as long as its slowest rank"},
            {"elapsed_us", "us", "of all steps"},
            {"slope_us", "us",
             "by which a step is longer than the one before: median of the slopes of "
             "all pairs (Theil and Sen)"},
            {"growth_percent", "%", "from the first to the last step, of the median"},
            {"z", "", "of the trend (Mann and Kendall)"},
            {"is_growing", "", "1: steps take longer and longer"},
            {"part", "", "that grows most: computing, communication, free"},
            {"part_slope_us", "us", "by which that part is longer, a step"}},
           ""},
          {"v_cluster",
           "the cluster as a whole; one row",
           {{"ranks", "", "that are there: \"0-62,64\""},
            {"rank_count", "", "captures that know their rank"},
            {"unknown_count", "", "captures that do not"},
            {"host_count", "", "hosts"},
            {"step_count", "", "numbered steps"},
            {"missing_ranks", "", "that should be there and are not; NULL: none"},
            {"missing_count", "", "of these"},
            {"partial_ranks", "", "whose captures were read in part; NULL: none"},
            {"partial_count", "", "of these"},
            {"has_detail", "", "0: of collectives there are totals and extremes, not every rank"}},
           ""}};
}

}  // namespace

const std::vector<View>& cluster_views() {
  static const std::vector<View> all = [] {
    std::vector<View> list = {ranks(), rank_steps(),        collectives(), rank_collectives(),
                              links(), collective_totals(), cluster_ops(), groups()};
    for (View& view : findings()) list.push_back(std::move(view));
    return list;
  }();
  return all;
}

}  // namespace msprof
