// Streams that read one table of a merge input in key order and convert its ids to those of the
// merged part.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "cluster/collectives.hpp"
#include "cluster/part.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cluster {

// An input of a merge, with the new id of each text and member (at index id - 1).
struct MergeInput {
  Part part;
  std::vector<std::int64_t> names;
  std::vector<std::int64_t> members;

  std::int64_t name(std::int64_t id) const { return mapped(names, id, "a text"); }
  std::int64_t member(std::int64_t id) const { return mapped(members, id, "a rank"); }

 private:
  std::int64_t mapped(const std::vector<std::int64_t>& ids, std::int64_t id,
                      std::string_view what) const;
};

// Compared cell by cell; unused cells are 0.
using PartRowKey = std::array<std::int64_t, 9>;

inline PartRowKey make_key(const GroupMemberRow& row) {
  return {row.group_name_id, row.member_id};
}
inline PartRowKey make_key(const RankStepRow& row) {
  return {row.step, row.member_id};
}
inline PartRowKey make_key(const RankCollectiveRow& row) {
  return {row.step, row.group_name_id, row.operation_name_id, row.sequence, row.member_id};
}
inline PartRowKey make_key(const PacketRow& row) {
  return {row.step,      row.group_name_id, row.operation_name_id, row.sequence,
          row.member_id, row.link_type,     row.transport_type,    row.size_bytes};
}
inline PartRowKey make_key(const LinkRow& row) {
  return {row.step,        row.group_name_id, row.operation_name_id, row.member_id, row.source_rank,
          row.target_rank, row.link_type,     row.transport_type,    row.size_class};
}
inline PartRowKey make_key(const CollectiveTotalRow& row) {
  return {row.step, row.group_name_id, row.operation_name_id, row.member_id};
}
inline PartRowKey make_key(const Collective& one) {
  return {one.total.step, one.total.group_name_id, one.total.operation_name_id, one.total.sequence};
}
inline PartRowKey make_key(const OpTotal& total) {
  return {total.name_id, total.type_name_id, total.unit_name_id};
}

void renumber(GroupMemberRow& row, const MergeInput& input);
void renumber(RankStepRow& row, const MergeInput& input);
void renumber(OpTotal& total, const MergeInput& input);
void renumber(Collective& collective, const MergeInput& input);
// Converts the ids of links, and of rows about one member in the collectives of a group.
template <typename Row>
void renumber(Row& row, const MergeInput& input) {
  row.group_name_id = input.name(row.group_name_id);
  row.operation_name_id = input.name(row.operation_name_id);
  row.member_id = input.member(row.member_id);
}

// Reads a table, renumbering its ids.
template <typename Row>
class TableStream {
 public:
  explicit TableStream(const MergeInput& input) : input_(input), rows_(input.part.db()) {}
  bool next() {
    if (!rows_.next()) return false;
    now_ = *rows_;
    renumber(now_, input_);
    return true;
  }
  const Row& operator*() const { return now_; }

 private:
  const MergeInput& input_;
  RowCursor<Row> rows_;
  Row now_;
};

class OpStream {
 public:
  explicit OpStream(const MergeInput& input) : input_(input), totals_(input.part) {}
  bool next() {
    if (!totals_.next()) return false;
    now_ = *totals_;
    renumber(now_, input_);
    return true;
  }
  const OpTotal& operator*() const { return now_; }

 private:
  const MergeInput& input_;
  OpTotals totals_;
  OpTotal now_;
};

class CollectiveStream {
 public:
  explicit CollectiveStream(const MergeInput& input) : input_(input), collectives_(input.part) {}
  bool next() {
    if (!collectives_.next()) return false;
    now_ = *collectives_;
    renumber(now_, input_);
    return true;
  }
  const Collective& operator*() const { return now_; }

 private:
  const MergeInput& input_;
  Collectives collectives_;
  Collective now_;
};

// Reads packets, summed over the sequence: one row per step, group and operation.
class FoldedPackets {
 public:
  explicit FoldedPackets(const MergeInput& input);
  bool next();
  const PacketRow& operator*() const { return now_; }

 private:
  void fold();
  TableStream<PacketRow> rows_;
  bool has_more_;
  std::map<PartRowKey, PacketRow> folded_;
  PacketRow now_;
};

// Reads the sums of each member per step, group and operation, from a part of either form.
class TotalStream {
 public:
  explicit TotalStream(const MergeInput& input);
  bool next();
  const CollectiveTotalRow& operator*() const { return now_; }

 private:
  void fold();
  std::optional<TableStream<RankCollectiveRow>> ranks_;
  std::optional<TableStream<CollectiveTotalRow>> totals_;
  bool has_more_ = false;
  std::map<PartRowKey, CollectiveTotalRow> folded_;
  CollectiveTotalRow now_;
};

}  // namespace msprof::cluster
