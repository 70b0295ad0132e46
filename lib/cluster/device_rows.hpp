// Reads the rows of one device from a store; their text ids are still those of the store.
// rank_part.cpp sorts the rows and writes the part.
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

// A device, and the range of its task ids in the store.
struct StoreDevice {
  std::int64_t id = 0;
  std::int64_t first_task_id = 0;
  std::int64_t last_task_id = -1;
  std::int64_t member_id = 0;  // member id used in the rows of the device
};

// A step: the time range [begin_ns, end_ns). Steps of a device are in order and do not overlap.
struct StepWindow {
  std::int64_t number = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// Returns the steps of a device: those marked by the framework, else the iterations of the model
// with the most iterations (on a tie, the lowest model number). Empty if there are no steps.
std::vector<StepWindow> read_steps(const TraceDb& store, std::int64_t device_id);

// Rows of a device, unordered.
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

// Adds the operators of a device to `totals`. The key is name, type and unit.
using OpKey = std::array<std::int64_t, 3>;
void add_operators(const TraceDb& store, const StoreDevice& device,
                   std::map<OpKey, OpTotal>& totals);

// Returns the step that contains `time_ns`; kNull if there is none.
std::int64_t step_at(const std::vector<StepWindow>& steps, std::int64_t time_ns);

// True for operations in which a rank receives from one other rank.
bool is_receive(std::string_view operation);

}  // namespace msprof::cluster
