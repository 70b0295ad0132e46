#include "export/scope/cann_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "store/schema.hpp"

namespace msprof::cann {

std::string_view level_text(std::int64_t level) {
  for (const auto& [known, text] : call_level::kNames)
    if (known == level) return text;
  return "";
}

std::string_view event_type_text(std::int64_t type) {
  constexpr std::string_view kTexts[] = {"marker", "push/pop", "start/end", "marker_ex"};
  return type >= 0 && type < 4 ? kTexts[type] : "N/A";
}

std::int64_t window_begin_ns(const Database& db) {
  return read_meta_integer(db, "window.begin_ns").value_or(INT64_MIN);
}

std::string time_stamp(const Database& db) {
  const std::string time = read_meta(db, "time_stamp");
  return time.find_first_not_of("0123456789") == std::string::npos ? time : std::string();
}

IdRange id_range(const Database& db, std::string_view table) {
  // Two subqueries: each only looks up one end of the table's ids.
  Statement read =
      db.prepare(fmt::format("SELECT (SELECT min(id) FROM {0}), (SELECT max(id) FROM {0})", table));
  if (!read.step()) return {0, 0};
  return {read.integer(0), read.integer(1)};
}

bool has_rows(const Database& db, std::string_view select) {
  Statement any = db.prepare(fmt::format("SELECT EXISTS({})", select));
  return any.step() && any.integer(0) != 0;
}

std::int64_t find_name_id(const Database& db, std::string_view text) {
  Statement read = db.prepare("SELECT id FROM name WHERE text = ? ORDER BY id");
  read.bind(1, text);
  return read.step() ? read.integer(0) : -1;
}

// Calls are sorted by start, so the call that loads a model precedes the calls within it.
bool CallWindow::takes_early(std::int64_t name_id, std::int64_t thread_id, std::int64_t end_ns) {
  if (name_id == load_name_id_) {
    std::int64_t& load_end = load_ends_.try_emplace(thread_id, end_ns).first->second;
    load_end = std::max(load_end, end_ns);
    return true;
  }
  if (end_ns >= begin_ns_) return true;
  const auto load = load_ends_.find(thread_id);
  return load != load_ends_.end() && end_ns <= load->second;
}

namespace {

constexpr NumberText kCopyDirections[] = {{0, "host to host"},      {1, "host to device"},
                                          {2, "device to host"},    {3, "device to device"},
                                          {4, "managed memory"},    {5, "addr device to device"},
                                          {6, "host to device ex"}, {7, "device to host ex"}};
constexpr NumberText kDataTypes[] = {{0, "INT8"},
                                     {1, "INT16"},
                                     {2, "INT32"},
                                     {3, "FP16"},
                                     {4, "FP32"},
                                     {5, "INT64"},
                                     {6, "UINT64"},
                                     {7, "UINT8"},
                                     {8, "UINT16"},
                                     {9, "UINT32"},
                                     {10, "FP64"},
                                     {11, "BFP16"},
                                     {12, "INT128"},
                                     {14, "HIF8"},
                                     {15, "FP8E4M3"},
                                     {16, "FP8E5M2"},
                                     {17, "FP8E8M0"},
                                     {255, "RESERVED"},
                                     {kInvalidId, "INVALID_TYPE"}};
constexpr NumberText kLinkTypes[] = {{0, "ON_CHIP"},
                                     {1, "HCCS"},
                                     {2, "PCIE"},
                                     {3, "ROCE"},
                                     {4, "SIO"},
                                     {5, "HCCS_SW"},
                                     {6, "STANDARD_ROCE"},
                                     {7, "UB"},
                                     {8, "UBoE"},
                                     {255, "RESERVED"},
                                     {kInvalidId, "INVALID_TYPE"}};
constexpr NumberText kTransportTypes[] = {{0, "SDMA"},
                                          {1, "RDMA"},
                                          {2, "LOCAL"},
                                          {3, "UB"},
                                          {4, "ROCE"},
                                          {255, "RESERVED"},
                                          {kInvalidId, "INVALID_TYPE"}};
constexpr NumberText kRemoteCopyTypes[] = {{0, "RDMA_SEND_NOTIFY"},
                                           {1, "RDMA_SEND_PAYLOAD"},
                                           {255, "RESERVED"},
                                           {kInvalidId, "INVALID_TYPE"}};

}  // namespace

Texts::Texts(const Database& db) : read_(db.prepare("SELECT text FROM name WHERE id = ?")) {}

const std::string& Texts::operator()(std::int64_t id) {
  return known_.get(id, [this](std::int64_t missing) {
    read_.reset();
    read_.bind(1, missing);
    return std::string(read_.step() ? read_.text(0) : std::string_view());
  });
}

OpNames::OpNames(const Database& db) : read_(db.prepare("SELECT name_id FROM op WHERE id = ?")) {}

std::optional<std::int64_t> OpNames::find(std::optional<std::int64_t> op_id) {
  if (!op_id) return std::nullopt;
  return known_.get(*op_id, [this](std::int64_t missing) {
    read_.reset();
    read_.bind(1, missing);
    return read_.step() ? read_.maybe_integer(0) : std::nullopt;
  });
}

std::span<const NumberText> copy_directions() {
  return kCopyDirections;
}
std::span<const NumberText> comm_data_types() {
  return kDataTypes;
}
std::span<const NumberText> link_types() {
  return kLinkTypes;
}
std::span<const NumberText> transport_types() {
  return kTransportTypes;
}
std::span<const NumberText> remote_copy_types() {
  return kRemoteCopyTypes;
}

std::string_view find_text(std::span<const NumberText> table, std::int64_t number,
                           std::string_view other) {
  for (const NumberText& entry : table) {
    if (entry.number == number) return entry.text;
  }
  return other;
}

}  // namespace msprof::cann
