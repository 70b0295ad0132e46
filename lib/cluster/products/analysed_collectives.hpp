// AnalysedCollectives iterates over the collectives of a capture and computes times and transfers
// of each from its tasks.
// Source: cann_device.md 18.3.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/products/communication_items.hpp"
#include "export/scope/cann_rules.hpp"

namespace msprof::cluster {

// Transfers from one rank to another.
struct AnalysedLink {
  std::string_view transport;  // "HCCS"; empty if the transport has no name
  std::int64_t size_bytes = 0;
  std::int64_t duration_ns = 0;

  void add(const AnalysedLink& more);
};

// Key: source and target rank within the group.
using AnalysedLinks = std::map<std::pair<std::int64_t, std::int64_t>, AnalysedLink>;

struct AnalysedCollective {
  std::string name;   // "hcom_allReduce__855_0_1"
  std::string group;  // group id: "14987786116221036026"
  RankCommunication times;
  AnalysedLinks links;
};

class AnalysedCollectives {
 public:
  // Throws if `store` is inconsistent.
  explicit AnalysedCollectives(const Database& store);
  // True if any collective has a task that can be analysed.
  static bool has_any(const Database& store);
  // Advances to the next collective, in order of (device, start).
  bool next();
  const AnalysedCollective& operator*() const { return item_; }
  const AnalysedCollective* operator->() const { return &item_; }

 private:
  enum class TaskWork { other, wait, copy };
  struct Task {
    std::int64_t plane = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    TaskWork work = TaskWork::other;
    bool is_master = false;
    bool is_payload = false;
    std::int64_t link_type = kNull;
    std::int64_t transport_type = kNull;
    std::int64_t size_bytes = 0;
    std::int64_t source_rank = kNull;
    std::int64_t target_rank = kNull;

    std::int64_t duration_ns() const;
  };

  Task read_task();
  TaskWork classify_work(std::int64_t item);
  void name_item(std::int64_t device, std::int64_t name_id, std::string group);
  bool analyse(const std::vector<Task>& tasks);
  void add_plane(std::span<const Task> tasks, bool is_master);
  void add_transfer(const Task& task, std::optional<Band> band, std::string_view transport,
                    std::int64_t bytes, std::int64_t duration_ns);

  Statement read_;
  bool has_row_;
  cann::Texts texts_;
  AnalysedCollective item_;
  std::size_t closing_distance_ = 0;
  bool has_transferred_ = false;
  bool has_devices_ = false;                            // several devices have collectives
  std::set<std::pair<std::string, std::string>> keys_;  // only if has_devices_
};

}  // namespace msprof::cluster
