// MatrixItems iterates over the transfers between ranks, per operation of a group and in total.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/products/cluster_view.hpp"
#include "store/row_cursor.hpp"

namespace msprof::cluster {

struct MatrixCell {
  std::int64_t size_bytes = 0;
  std::int64_t duration_ns = 0;
  std::map<std::string_view, std::int64_t> transports;  // bytes by kind of link
  std::int64_t operation_name_id = kNull;               // the operation that was recorded first

  // The kind of link with the most bytes; on a tie, the first by name.
  std::string_view transport() const;
};

struct MatrixItem {
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::string name;  // "allreduce-total" or "Total Op Info"
  bool is_pairs = false;
  std::map<std::pair<std::int64_t, std::int64_t>, MatrixCell> links;  // by source and target rank
};

class MatrixItems {
 public:
  explicit MatrixItems(const ClusterView& view);
  // Advances in order of (step, group). In a group, send and receive operations come before
  // collectives; the total is last in each kind.
  bool next();
  const MatrixItem& operator*() const { return items_[at_]; }
  const MatrixItem* operator->() const { return &items_[at_]; }
  // Number of rows skipped so far because no capture exists for a rank of the group.
  std::int64_t left_out() const { return left_out_; }

 private:
  void gather();
  void take_row(std::map<std::pair<bool, std::string>, MatrixItem>& items);

  const ClusterView* view_;
  RowCursor<LinkRow> rows_;
  bool has_row_;
  std::vector<MatrixItem> items_;
  std::size_t at_ = 0;
  std::int64_t left_out_ = 0;
};

}  // namespace msprof::cluster
