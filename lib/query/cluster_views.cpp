#include "query/cluster_views.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

#include "export/scope/cann_rules.hpp"

namespace msprof {

namespace {

std::string id_text_sql(std::string_view id) {
  return fmt::format("(SELECT text FROM name WHERE id = {})", id);
}

// Maps a vendor's numeric code to its name; unknown codes stay numbers.
std::string number_name_sql(std::string_view column, std::span<const cann::NumberText> names) {
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
      {{"rank", "", "rank in the job; NULL if the capture does not contain it"},
       {"member_id", "", "id in this file; also set for captures without a rank"},
       {"host", "", "unique id of the host"},
       {"hostname", "", "name of the host"},
       {"device_id", "", "number of the device on the host"},
       {"capture", "", "name of the capture, without its parent folder"},
       {"chip", "", "chip of the device"},
       {"verdict", "", "complete, without (something), partial"},
       {"verdict_text", "", "verdict in words"},
       {"is_modelled", "", "1: unit loads are the host runtime's model"},
       {"begin_ns", "ns", "start of the collection, by the host's clock"},
       {"aligned_begin_ns", "ns", "start by the clock of the reference host"},
       {"end_ns", "ns", "end of the collection, by the host's clock"},
       {"task_count", "", "number of tasks of the device"},
       {"min_frequency_mhz", "MHz", "lowest frequency of the compute cores"},
       {"max_frequency_mhz", "MHz", "highest frequency of the compute cores"},
       {"memory_peak_bytes", "bytes", "peak of device memory in use"}},
      fmt::format("SELECT rank, id AS member_id, {} AS host, {} AS hostname, device_id, {} AS"
                  " capture, {} AS chip, CASE verdict WHEN 0 THEN 'complete' WHEN 1 THEN"
                  " 'without' ELSE 'partial' END AS verdict, {} AS verdict_text, is_modelled,"
                  " begin_ns, {} AS aligned_begin_ns, end_ns, task_count, min_frequency_mhz,"
                  " max_frequency_mhz, memory_peak_bytes FROM member",
                  id_text_sql("host_name_id"), id_text_sql("hostname_name_id"),
                  id_text_sql("capture_name_id"), id_text_sql("chip_name_id"),
                  id_text_sql("verdict_text_name_id"), aligned("begin_ns", "member.host_name_id"))};
}

View rank_steps() {
  return {"v_rank_steps",
          "the times of one rank in one step",
          {{"step", "", "number of the step; NULL: outside of steps, or a capture without steps"},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"host", "", "unique id of the host"},
           {"begin_ns", "ns", "start by the host's clock"},
           {"aligned_begin_ns", "ns", "start by the clock of the reference host"},
           {"duration_us", "us", "duration of the step"},
           {"computing_us", "us", "time in which it computed"},
           {"communication_us", "us", "time in which it communicated"},
           {"not_overlapped_us", "us", "time in which it communicated without computing"},
           {"free_us", "us", "time in which it did neither"},
           {"bubble_us", "us", "time spent receiving from another rank"},
           {"preparing_us", "us", "time before its first work in the step"}},
          fmt::format("SELECT step, member.rank, member_id, {} AS host, rank_step.begin_ns, {} AS"
                      " aligned_begin_ns, duration_ns / 1000.0 AS duration_us, computing_ns /"
                      " 1000.0 AS computing_us, communication_ns / 1000.0 AS communication_us,"
                      " not_overlapped_ns / 1000.0 AS not_overlapped_us, free_ns / 1000.0 AS"
                      " free_us, bubble_ns / 1000.0 AS bubble_us, preparing_ns / 1000.0 AS"
                      " preparing_us FROM rank_step JOIN member ON member.id = member_id",
                      id_text_sql("host_name_id"),
                      aligned("rank_step.begin_ns", "member.host_name_id"))};
}

View collectives() {
  return {"v_collectives",
          "one collective over all its ranks",
          {{"step", "", "step in which it started"},
           {"group_name", "", "communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"sequence", "", "number among those of its operation and group in the step, from 0"},
           {"rank_count", "", "number of ranks that recorded it"},
           {"host_count", "", "number of hosts of these ranks"},
           {"aligned_start_ns", "ns", "time at which the first rank arrived"},
           {"aligned_end_ns", "ns", "time at which the last rank finished"},
           {"mean_us", "us", "mean duration over its ranks"},
           {"shortest_us", "us", "duration on the rank that arrived last"},
           {"longest_us", "us", "duration on the rank that arrived first"},
           {"last_rank", "", "rank that arrived last"},
           {"first_rank", "", "rank that arrived first"},
           {"wait_us", "us", "total time that all ranks waited for the last one"}},
          ""};
}

constexpr std::string_view kNoDetail =
    "one rank in one collective; empty if the file contains only totals (`msprof merge "
    "--detail-rows`)";

View rank_collectives() {
  return {"v_rank_collectives",
          kNoDetail,
          {{"step", "", "step in which it started"},
           {"group_name", "", "communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"sequence", "", "number among those of its operation and group in the step, from 0"},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"start_ns", "ns", "start by the host's clock"},
           {"aligned_start_ns", "ns", "start by the clock of the reference host"},
           {"duration_us", "us", "time until the end of its last task"},
           {"wait_us", "us", "time waiting for other ranks"},
           {"synchronization_us", "us", "waiting time before its first transfer"},
           {"transit_us", "us", "time in which data was transferred"},
           {"size_bytes", "bytes", "bytes of its transfers"}},
          fmt::format("SELECT step, {} AS group_name, {} AS operation, sequence, member.rank,"
                      " member_id, start_ns, {} AS aligned_start_ns, duration_ns / 1000.0 AS"
                      " duration_us, wait_ns / 1000.0 AS wait_us, synchronization_ns / 1000.0 AS"
                      " synchronization_us, transit_ns / 1000.0 AS transit_us, size_bytes"
                      " FROM rank_collective JOIN member ON member.id = member_id",
                      id_text_sql("group_name_id"), id_text_sql("operation_name_id"),
                      aligned("start_ns", "member.host_name_id"))};
}

View collective_totals() {
  constexpr const char* kSums =
      "step, group_name_id, operation_name_id, member_id, count, duration_ns, wait_ns,"
      " synchronization_ns, transit_ns, size_bytes";
  return {"v_collective_totals",
          "total times of one rank in the collectives of one operation, group and step",
          {{"step", "", "step in which they started"},
           {"group_name", "", "communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"count", "", "number of collectives"},
           {"duration_us", "us", "total duration (this and the next columns are totals)"},
           {"wait_us", "us", "time waiting for other ranks"},
           {"synchronization_us", "us", "waiting time before the first transfer"},
           {"transit_us", "us", "time in which data was transferred"},
           {"size_bytes", "bytes", "bytes of the transfers"}},
          fmt::format("SELECT step, {} AS group_name, {} AS operation, member.rank, member_id,"
                      " count, duration_ns / 1000.0 AS duration_us, wait_ns / 1000.0 AS wait_us,"
                      " synchronization_ns / 1000.0 AS synchronization_us, transit_ns / 1000.0 AS"
                      " transit_us, size_bytes FROM (SELECT {} FROM collective_total UNION ALL"
                      " SELECT step, group_name_id, operation_name_id, member_id, count(*),"
                      " total(duration_ns), total(wait_ns), total(synchronization_ns),"
                      " total(transit_ns), total(size_bytes) FROM rank_collective GROUP BY 1, 2, 3,"
                      " 4) JOIN member ON member.id = member_id",
                      id_text_sql("group_name_id"), id_text_sql("operation_name_id"), kSums)};
}

View links() {
  // temp.group_rank maps a rank's index in its group to its rank.
  constexpr const char* kEnd =
      "(SELECT rank FROM member JOIN temp.group_rank ON member.id = group_rank.member_id WHERE"
      " group_rank.group_name_id = link.group_name_id AND group_rank.local_rank = link.{})";
  return {"v_links",
          "transfers from one rank to another in one step, group, operation and size class",
          {{"step", "", "step in which their collective started"},
           {"group_name", "", "communication group"},
           {"operation", "", "\"hcom_allReduce_\""},
           {"source", "", "rank in the job; NULL if unknown"},
           {"target", "", "rank in the job; NULL if unknown"},
           {"source_in_group", "", "number of the rank in the group"},
           {"target_in_group", "", "number of the rank in the group"},
           {"recorded_by", "", "v_ranks.member_id of the rank that recorded them"},
           {"link", "", "HCCS, ROCE, PCIE, …"},
           {"transport", "", "SDMA, RDMA, LOCAL, …"},
           {"at_least_bytes", "bytes",
            "size class: a transfer has at least this size, and less than twice this size"},
           {"count", "", "number of transfers"},
           {"size_bytes", "bytes", "total bytes"},
           {"duration_us", "us", "total duration"},
           {"gb_per_s", "GB/s", "bandwidth in 10^9 bytes per second"}},
          fmt::format("SELECT step, {} AS group_name, {} AS operation, {} AS source, {} AS target,"
                      " source_rank AS source_in_group, target_rank AS target_in_group, member_id"
                      " AS recorded_by, {} AS link, {} AS transport, CASE WHEN size_class > 0 THEN"
                      " 1 << size_class ELSE 0 END AS at_least_bytes, count, size_bytes,"
                      " duration_ns / 1000.0 AS duration_us, size_bytes * 1.0 /"
                      " nullif(duration_ns, 0) AS gb_per_s FROM link",
                      id_text_sql("group_name_id"), id_text_sql("operation_name_id"),
                      fmt::format(kEnd, "source_rank"), fmt::format(kEnd, "target_rank"),
                      number_name_sql("link_type", cann::link_types()),
                      number_name_sql("transport_type", cann::transport_types()))};
}

View cluster_ops() {
  return {"v_cluster_ops",
          "one operator, over all ranks",
          {{"name", "", "name of the operator"},
           {"type", "", "MatMulV2, …"},
           {"unit", "", "unit that executed it: AI_CORE, AI_VECTOR_CORE, AI_CPU, …"},
           {"count", "", "number of executions"},
           {"total_us", "us", "total time of all executions on all ranks"},
           {"mean_us", "us", "mean time of an execution"},
           {"deviation_us", "us", "standard deviation of the execution time"},
           {"min_us", "us", "shortest execution"},
           {"median_us", "us", "median, with a resolution of 1/64 of the value (also p95_us)"},
           {"p95_us", "us", "95th percentile"},
           {"max_us", "us", "longest execution"},
           {"min_rank", "", "rank of the shortest execution"},
           {"max_rank", "", "rank of the longest execution"},
           {"share", "%", "share of the time of all operators"}},
          ""};
}

View groups() {
  return {"v_groups",
          "one rank of one communication group",
          {{"group_name", "", "name of the group"},
           {"rank", "", "v_ranks.rank"},
           {"member_id", "", "v_ranks.member_id"},
           {"rank_in_group", "", "number of the rank in the group"},
           {"rank_count", "", "number of ranks in the group, as recorded by this rank"}},
          fmt::format("SELECT {} AS group_name, member.rank, member_id, local_rank AS"
                      " rank_in_group, rank_count FROM group_member JOIN member ON member.id ="
                      " member_id",
                      id_text_sql("group_name_id"))};
}

std::vector<ViewColumn> straggler_columns(std::vector<ViewColumn> columns) {
  for (const ViewColumn& column : std::initializer_list<ViewColumn>{
           {"cause", "",
            "computing: its operators run longer; starting: its host launches work later; unknown: "
            "no step times were recorded"},
           {"delay_us", "us", "time by which collectives would have started earlier without it"},
           {"share", "%", "share of delay_us in the time of all steps"},
           {"others_wait_us", "us", "total waiting time of the other ranks in these collectives"},
           {"votes", "", "number of collectives in which it arrived last by a large margin"},
           {"collectives", "", "number of collectives of the group in which it delays most"},
           {"group_name", "", "name of this group"},
           {"longer_computing_us", "us",
            "additional computing time in all steps, relative to the median of the group"},
           {"longer_free_us", "us",
            "additional free time in all steps, relative to the median of the group"},
           {"longer_preparing_us", "us", "part of longer_free_us before the first work of a step"},
           {"worst_step", "",
            "step of the collective that it delayed most (also the next columns)"},
           {"worst_operation", "", "\"hcom_allReduce_\""},
           {"worst_sequence", "", "v_collectives.sequence"}}) {
    columns.push_back(column);
  }
  return columns;
}

std::vector<View> findings() {
  return {
      {"v_slow_ranks", "a rank that the others wait for and that computes longer",
       straggler_columns({{"rank", "", "v_ranks.rank"},
                          {"member_id", "", "v_ranks.member_id"},
                          {"host", "", "unique id of the host"},
                          {"hostname", "", "name of the host"},
                          {"device_id", "", "number of the device on the host"}}),
       ""},
      {"v_slow_hosts", "a host with all or most ranks slow; its ranks are not in v_slow_ranks",
       straggler_columns({{"host", "", "unique id of the host"},
                          {"hostname", "", "name of the host"},
                          {"rank_count", "", "number of its ranks"},
                          {"first_rank", "", "smallest of its ranks"}}),
       ""},
      {"v_slow_links",
       "a link from one rank to another that is slower than similar links",
       {{"source", "", "rank in the job; NULL if unknown"},
        {"target", "", "rank in the job; NULL if unknown"},
        {"source_hostname", "", "name of the source's host"},
        {"target_hostname", "", "name of the target's host"},
        {"link", "", "HCCS, ROCE, PCIE, …"},
        {"transport", "", "SDMA, RDMA, …"},
        {"gb_per_s", "GB/s",
         "bandwidth in the size class with the largest total time (also the next columns)"},
        {"usual_gb_per_s", "GB/s", "median of similar links"},
        {"percent_of_usual", "%", "gb_per_s in percent of usual_gb_per_s"},
        {"at_least_bytes", "bytes",
         "size class: a transfer has at least this size, and less than twice this size"},
        {"link_count", "", "number of links compared"},
        {"count", "", "number of transfers of all sizes (also the next columns)"},
        {"size_bytes", "bytes", "total bytes"},
        {"duration_us", "us", "total duration"},
        {"lost_us", "us", "additional time relative to the median link"}},
       ""},
      {"v_host_clocks",
       "offset of a host's clock from that of the reference host, computed from the ends of "
       "collectives",
       {{"host", "", "unique id of the host"},
        {"hostname", "", "name of the host"},
        {"state", "", "reference, aligned, or why it is not aligned"},
        {"is_aligned", "", "1: its times can be compared with those of other hosts"},
        {"offset_us", "us", "its clock minus the clock of the reference host"},
        {"from_median_us", "us", "its clock minus the median of the aligned hosts"},
        {"spread_us", "us", "spread of the differences between the 5th and the 95th percentile"},
        {"collectives", "", "number of collectives used for the comparison"},
        {"over_host", "", "host that it was compared with"},
        {"rank_count", "", "number of its ranks"}},
       ""},
      {"v_step_growth",
       "trend of the step times of the cluster; one row, or no row if there are no steps",
       {{"steps", "", "number of numbered steps"},
        {"median_us", "us", "median duration of a step (of its slowest rank)"},
        {"elapsed_us", "us", "total time of all steps"},
        {"slope_us", "us",
         "growth from step to step: median of the slopes of all pairs (Theil-Sen estimator)"},
        {"growth_percent", "%", "growth from the first to the last step, in percent of the median"},
        {"z", "", "z score of the trend (Mann-Kendall test)"},
        {"is_growing", "", "1: steps become longer and longer"},
        {"part", "", "part that grows most: computing, communication, free"},
        {"part_slope_us", "us", "growth of this part from step to step"}},
       ""},
      {"v_cluster",
       "the cluster as a whole; one row",
       {{"ranks", "", "ranks that are present: \"0-62,64\""},
        {"rank_count", "", "number of captures with a rank"},
        {"unknown_count", "", "number of captures without a rank"},
        {"host_count", "", "number of hosts"},
        {"step_count", "", "number of numbered steps"},
        {"missing_ranks", "", "expected ranks that are missing; NULL if all are present"},
        {"missing_count", "", "number of missing ranks"},
        {"partial_ranks", "", "ranks whose captures were read only partly; NULL if there are none"},
        {"partial_count", "", "number of partial ranks"},
        {"has_detail", "",
         "0: collectives have totals and extremes, but not the rows of every rank"}},
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
