// MatrixItems: what went from rank to rank in each operation of a group, and in all of them
// together. For the products about links.
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
  std::map<std::string_view, std::int64_t> transports;  // bytes, by kind
  std::int64_t operation_name_id = kNull;               // that recorded most

  // The kind that most bytes went by; of equals the first by name.
  std::string_view transport() const;
};

struct MatrixItem {
  std::int64_t step = kNull;
  std::int64_t group_name_id = kNull;
  std::string name;  // "allreduce-total", or "Total Op Info"
  bool is_pairs = false;
  std::map<std::pair<std::int64_t, std::int64_t>, MatrixCell> links;  // (source, target) rank
};

class MatrixItems {
 public:
  explicit MatrixItems(const ClusterView& view);
  // In order of (step, group), the total last; `pairs` of sends and receives before collectives.
  bool next();
  const MatrixItem& operator*() const { return items_[at_]; }
  const MatrixItem* operator->() const { return &items_[at_]; }
  // Rows so far whose ranks in the group are of no capture, and are left out.
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
