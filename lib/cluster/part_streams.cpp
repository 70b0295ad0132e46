#include "cluster/part_streams.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.hpp"

namespace msprof::cluster {

namespace {

auto block_key(const auto& row) {
  return PartRowKey{row.step, row.group_name_id, row.operation_name_id};
}

// Removes the first element of `folded` and returns it.
template <typename Row>
Row take_first(std::map<PartRowKey, Row>& folded) {
  const auto first = folded.begin();
  Row row = first->second;
  folded.erase(first);
  return row;
}

}  // namespace

std::int64_t MergeInput::mapped(const std::vector<std::int64_t>& ids, std::int64_t id,
                                std::string_view what) const {
  if (id == kNull) return kNull;
  if (id < 1 || static_cast<std::uint64_t>(id) > ids.size())
    throw part.damaged(fmt::format("unknown id of {}", what));
  return ids[static_cast<std::size_t>(id) - 1];
}

void renumber(GroupMemberRow& row, const MergeInput& input) {
  row.group_name_id = input.name(row.group_name_id);
  row.member_id = input.member(row.member_id);
}

void renumber(RankStepRow& row, const MergeInput& input) {
  row.member_id = input.member(row.member_id);
}

void renumber(OpTotal& total, const MergeInput& input) {
  total.name_id = input.name(total.name_id);
  total.type_name_id = input.name(total.type_name_id);
  total.unit_name_id = input.name(total.unit_name_id);
  total.shortest_member = input.member(total.shortest_member);
  total.longest_member = input.member(total.longest_member);
}

void renumber(Collective& collective, const MergeInput& input) {
  CollectiveRow& total = collective.total;
  total.group_name_id = input.name(total.group_name_id);
  total.operation_name_id = input.name(total.operation_name_id);
  for (std::size_t i = 0; i < kKeptExtremes; ++i) {
    total.shortest_member[i] = input.member(total.shortest_member[i]);
    total.longest_member[i] = input.member(total.longest_member[i]);
  }
  for (CollectiveHostRow& host : collective.hosts) {
    host.group_name_id = total.group_name_id;
    host.operation_name_id = total.operation_name_id;
    host.host_name_id = input.name(host.host_name_id);
  }
}

FoldedPackets::FoldedPackets(const MergeInput& input) : rows_(input), has_more_(rows_.next()) {}

void FoldedPackets::fold() {
  const PartRowKey block = block_key(*rows_);
  for (; has_more_ && block_key(*rows_) == block; has_more_ = rows_.next()) {
    PacketRow row = *rows_;
    row.sequence = kNull;
    const auto [at, is_new] = folded_.try_emplace(make_key(row), row);
    if (is_new) continue;
    at->second.count = saturating_add(at->second.count, row.count);
    at->second.duration_ns = saturating_add(at->second.duration_ns, row.duration_ns);
  }
}

bool FoldedPackets::next() {
  if (folded_.empty() && has_more_) fold();
  if (folded_.empty()) return false;
  now_ = take_first(folded_);
  return true;
}

TotalStream::TotalStream(const MergeInput& input) {
  if (input.part.facts().has_detail) {
    ranks_.emplace(input);
    has_more_ = ranks_->next();
  } else {
    totals_.emplace(input);
  }
}

void TotalStream::fold() {
  const PartRowKey block = block_key(**ranks_);
  for (; has_more_ && block_key(**ranks_) == block; has_more_ = ranks_->next()) {
    const RankCollectiveRow& row = **ranks_;
    CollectiveTotalRow total;
    total.step = row.step;
    total.group_name_id = row.group_name_id;
    total.operation_name_id = row.operation_name_id;
    total.member_id = row.member_id;
    total.first_start_ns = row.start_ns;
    CollectiveTotalRow& sum = folded_.try_emplace(make_key(total), total).first->second;
    ++sum.count;
    sum.first_start_ns = earlier(sum.first_start_ns, row.start_ns);
    sum.duration_ns = saturating_add(sum.duration_ns, row.duration_ns);
    sum.wait_ns = saturating_add(sum.wait_ns, row.wait_ns);
    sum.synchronization_ns = saturating_add(sum.synchronization_ns, row.synchronization_ns);
    sum.transit_ns = saturating_add(sum.transit_ns, row.transit_ns);
    sum.size_bytes = saturating_add(sum.size_bytes, row.size_bytes);
  }
}

bool TotalStream::next() {
  if (totals_) {
    if (!totals_->next()) return false;
    now_ = **totals_;
    return true;
  }
  if (folded_.empty() && has_more_) fold();
  if (folded_.empty()) return false;
  now_ = take_first(folded_);
  return true;
}

}  // namespace msprof::cluster
