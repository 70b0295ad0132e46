// Writes cluster_communication_matrix.json: transfers between ranks.
#include "cluster/products/matrix_items.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/atomic_file.hpp"
#include "base/json_text.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "cluster/products/communication_items.hpp"
#include "cluster/products/products.hpp"

namespace msprof::cluster {

namespace {

constexpr std::string_view kMatrixTotal = "Total Op Info";

// "hcom_allReduce_" becomes "allreduce-total", as in the vendor's matrices.
std::string matrix_name(std::string_view operation) {
  std::string name = lower_ascii(operation);
  if (name.starts_with("hcom_")) name.erase(0, 5);
  std::erase(name, '_');
  return name + "-total";
}

std::string_view transport_name(const LinkRow& row) {
  const auto band = to_band(row.link_type, row.transport_type);
  return band ? band_name(*band) : std::string_view("LOCAL");
}

void add_link(MatrixCell& cell, const LinkRow& row) {
  cell.size_bytes = saturating_add(cell.size_bytes, row.size_bytes);
  cell.duration_ns = saturating_add(cell.duration_ns, row.duration_ns);
  std::int64_t& bytes = cell.transports[transport_name(row)];
  bytes = saturating_add(bytes, row.size_bytes);
  if (cell.operation_name_id == kNull) cell.operation_name_id = row.operation_name_id;
}

void append_matrix_links(std::string& out, const ClusterView& view, const MatrixItem& item) {
  bool is_first = true;
  for (const auto& [ranks, cell] : item.links) {
    out += fmt::format("{}\"{}-{}\":{{\"Transport Type\":\"{}\",\"Transit Time(ms)\":",
                       is_first ? "" : ",\n", ranks.first, ranks.second, cell.transport());
    append_decimal(out, cell.duration_ns, 6);
    out += ",\"Transit Size(MB)\":";
    append_decimal(out, cell.size_bytes, 6);
    out += ",\"Bandwidth(GB/s)\":";
    append_ratio(out, cell.size_bytes, cell.duration_ns);
    out += ",\"Op Name\":";
    append_json_string(out, view.text(cell.operation_name_id));
    out += '}';
    is_first = false;
  }
}

std::int64_t write_matrix(AtomicFile& file, const ClusterView& view, bool pairs) {
  std::string step;
  MatrixItems items(view);
  while (items.next()) {
    if (items->is_pairs != pairs) continue;
    std::string& out = file.buffer();
    const std::string now = step_key(items->step);
    if (now != step) {
      out += fmt::format("{}\n\"{}\":{{\n", step.empty() ? "" : "},", now);
      step = now;
    } else {
      out += ",\n";
    }
    append_json_string(out, fmt::format("{}@{}", items->name, view.text(items->group_name_id)));
    out += ":{";
    append_matrix_links(out, view, *items);
    out += '}';
    file.drain();
  }
  file.write(step.empty() ? "" : "}");
  return items.left_out();
}

}  // namespace

std::string_view MatrixCell::transport() const {
  const auto most =
      std::max_element(transports.begin(), transports.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == transports.end() ? std::string_view("LOCAL") : most->first;
}

MatrixItems::MatrixItems(const ClusterView& view)
    : view_(&view), rows_(view.part().db()), has_row_(rows_.next()) {}

void MatrixItems::take_row(std::map<std::pair<bool, std::string>, MatrixItem>& items) {
  const LinkRow& row = *rows_;
  const CommGroup* group = view_->find_group(row.group_name_id);
  const auto find_rank = [group](std::int64_t local) -> std::int64_t {
    if (group == nullptr) return kNull;
    const auto known = group->local_ranks.find(local);
    return known == group->local_ranks.end() ? kNull : known->second;
  };
  const std::int64_t source = find_rank(row.source_rank);
  const std::int64_t target = find_rank(row.target_rank);
  if (source == kNull || target == kNull) {
    ++left_out_;
    return;
  }
  const bool is_pairs = view_->is_pair_operation(row.operation_name_id);
  for (std::string name :
       {matrix_name(view_->text(row.operation_name_id)), std::string(kMatrixTotal)}) {
    MatrixItem& item = items[{is_pairs, name}];
    item.step = row.step;
    item.group_name_id = row.group_name_id;
    item.is_pairs = is_pairs;
    item.name = std::move(name);
    add_link(item.links[{source, target}], row);
  }
}

// Reads all rows of one group in one step.
void MatrixItems::gather() {
  const std::int64_t step = rows_->step;
  const std::int64_t group = rows_->group_name_id;
  std::map<std::pair<bool, std::string>, MatrixItem> items;
  while (has_row_ && rows_->step == step && rows_->group_name_id == group) {
    take_row(items);
    has_row_ = rows_.next();
  }
  items_.clear();
  at_ = 0;
  for (auto& [key, item] : items) items_.push_back(std::move(item));
  std::stable_sort(items_.begin(), items_.end(), [](const MatrixItem& a, const MatrixItem& b) {
    const auto key = [](const MatrixItem& item) {
      return std::pair(!item.is_pairs, item.name == kMatrixTotal);
    };
    return key(a) < key(b);
  });
}

bool MatrixItems::next() {
  if (at_ + 1 < items_.size()) {
    ++at_;
    return true;
  }
  do {
    if (!has_row_) return false;
    gather();
  } while (items_.empty());
  return true;
}

std::int64_t write_communication_matrix_json(const ClusterView& view,
                                             const std::filesystem::path& file,
                                             std::vector<TemporaryFile>& finished) {
  AtomicFile out(file);
  out.write("{\"p2p\":{");
  if (view.has_pair_operations()) write_matrix(out, view, true);
  out.write("},\n\"collective\":{");
  const std::int64_t left_out = write_matrix(out, view, false);
  out.write("}}\n");
  finished.push_back(out.finish());
  return left_out;
}

}  // namespace msprof::cluster
