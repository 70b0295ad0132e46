// What one device of a store comes to, as rows of a part whose texts are still ids of the store.
// For rank_part.cpp, which puts them in order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/part.hpp"
#include "store/trace_db.hpp"

namespace msprof::cluster {

// A device and its tasks in the store.
struct StoreDevice {
  std::int64_t id = 0;
  std::int64_t first_task_id = 0;
  std::int64_t last_task_id = -1;
  std::int64_t member_id = 0;  // of its rows
};

// A step: [begin, end). Steps of a device neither overlap nor are out of order.
struct StepWindow {
  std::int64_t number = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// The steps of a device: those that the framework marked, else the iterations of the model that has
// most of them (the smallest of several). Empty where there are none.
std::vector<StepWindow> steps_of(const TraceDb& store, std::int64_t device_id);

// Rows of a device, in no order.
struct DeviceRows {
  std::vector<GroupMemberRow> groups;
  std::vector<RankStepRow> steps;
  std::vector<RankCollectiveRow> collectives;
  std::vector<PacketRow> packets;
  std::vector<LinkRow> links;
};

void add_steps(const TraceDb& store, const StoreDevice& device,
               const std::vector<StepWindow>& steps, DeviceRows& rows);
void add_collectives(const TraceDb& store, const StoreDevice& device,
                     const std::vector<StepWindow>& steps, DeviceRows& rows);

// The operators of a device, added to `totals`; keys: name, type and unit.
using OpKey = std::array<std::int64_t, 3>;
void add_operators(const TraceDb& store, const StoreDevice& device,
                   std::map<OpKey, OpTotal>& totals);

// The step in which `time_ns` lies; kNull: in none.
std::int64_t step_at(const std::vector<StepWindow>& steps, std::int64_t time_ns);

// True for the name of an operation in which ranks receive from single others.
bool is_receive(std::string_view operation);

}  // namespace msprof::cluster
