#include "cluster/products/analysed_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/number.hpp"
#include "export/scope/rdma_payloads.hpp"

namespace msprof::cluster {

namespace {

// Values of cann::link_types() and cann::transport_types().
enum LinkType : std::int64_t { kOnChip = 0, kHccs = 1, kPcie = 2, kSio = 4, kHccsSw = 5 };
constexpr std::int64_t kSdma = 0;  // transport type

// Returns a query for the tasks of collectives that have a known kind of work, except tasks that
// started before the collection.
std::string task_query(std::string_view columns, std::string_view rest) {
  return fmt::format(
      "SELECT {} FROM comm_op_task AS member"
      " CROSS JOIN comm_op AS op ON op.id = member.comm_op_id"
      " CROSS JOIN task ON task.id = member.task_id"
      " CROSS JOIN comm_task ON comm_task.task_id = member.task_id"
      " CROSS JOIN comm_call AS call ON call.id = comm_task.comm_call_id"
      " WHERE task.start_ns >= ? AND call.item_name_id IS NOT NULL {}",
      columns, rest);
}

enum Cell : int {
  kOp,
  kDevice,
  kName,
  kGroup,
  kStart,
  kDuration,
  kItem,
  kPlane,
  kMaster,
  kRdma,
  kLink,
  kTransport,
  kSize,
  kLocal,
  kRemote
};
constexpr std::string_view kColumns =
    "op.id, op.device_id, op.name_id, call.group_hash, task.start_ns, task.duration_ns,"
    " call.item_name_id, call.plane_id, call.is_master, call.rdma_type, call.link_type,"
    " call.transport_type, call.size_bytes, call.local_rank, call.remote_rank";

Band sdma_band(std::int64_t link_type) {
  switch (link_type) {
    case kHccs:
    case kHccsSw:
      return Band::hccs;
    case kPcie:
      return Band::pcie;
    case kSio:
      return Band::sio;
    default:
      return Band::sdma;
  }
}

std::string_view sdma_transport(std::int64_t link_type) {
  if (link_type == kOnChip) return "LOCAL";
  const Band band = sdma_band(link_type);
  return band == Band::sdma ? "" : band_name(band);
}

}  // namespace

void AnalysedLink::add(const AnalysedLink& more) {
  transport = more.transport;
  size_bytes = saturating_add(size_bytes, more.size_bytes);
  duration_ns = saturating_add(duration_ns, more.duration_ns);
}

std::int64_t AnalysedCollectives::Task::duration_ns() const {
  return saturating_subtract(end_ns, start_ns);
}

AnalysedCollectives::AnalysedCollectives(const Database& store)
    : read_(store.prepare(task_query(kColumns, "ORDER BY op.id, task.start_ns, task.id"))),
      has_row_(read_.bind(1, cann::window_begin_ns(store)).step()),
      texts_(store) {
  Statement devices = store.prepare("SELECT count(DISTINCT device_id) > 1 FROM comm_op");
  has_devices_ = devices.step() && devices.integer(0) != 0;
}

bool AnalysedCollectives::has_any(const Database& store) {
  Statement read = store.prepare(task_query("1", "ORDER BY member.task_id LIMIT 1"));
  return read.bind(1, cann::window_begin_ns(store)).step();
}

AnalysedCollectives::TaskWork AnalysedCollectives::classify_work(std::int64_t item) {
  const std::string& name = texts_(item);
  if (name == "Notify_Wait") return TaskWork::wait;
  return name == "Memcpy" || name == "Reduce_Inline" ? TaskWork::copy : TaskWork::other;
}

AnalysedCollectives::Task AnalysedCollectives::read_task() {
  const auto cell = [&](int column) { return read_.maybe_integer(column).value_or(kNull); };
  Task task;
  task.plane = cell(kPlane);
  task.start_ns = read_.integer(kStart);
  task.end_ns = saturating_add(task.start_ns, std::max<std::int64_t>(read_.integer(kDuration), 0));
  task.work = classify_work(read_.integer(kItem));
  task.is_master = read_.integer(kMaster) != 0;
  task.is_payload = cell(kRdma) == cann::kRdmaPayload;
  task.link_type = cell(kLink);
  task.transport_type = cell(kTransport);
  task.size_bytes = std::max<std::int64_t>(read_.integer(kSize), 0);
  task.source_rank = cell(kLocal);
  task.target_rank = cell(kRemote);
  return task;
}

bool AnalysedCollectives::next() {
  while (has_row_) {
    const std::int64_t op = read_.integer(kOp);
    const std::int64_t device = read_.integer(kDevice);
    const std::int64_t name = read_.integer(kName);
    const auto group = read_.maybe_integer(kGroup);
    std::vector<Task> tasks;
    for (; has_row_ && read_.integer(kOp) == op; has_row_ = read_.step())
      tasks.push_back(read_task());
    item_ = {};
    closing_distance_ = cann::closing_distance(texts_(name));
    if (!analyse(tasks)) continue;
    name_item(device, name, group ? fmt::format("{}", static_cast<std::uint64_t>(*group)) : "N/A");
    return true;
  }
  return false;
}

// If several devices have collectives, a name that repeats gets the device number as suffix.
void AnalysedCollectives::name_item(std::int64_t device, std::int64_t name_id, std::string group) {
  item_.name = texts_(name_id);
  item_.group = std::move(group);
  if (has_devices_ && !keys_.emplace(item_.name, item_.group).second)
    item_.name += fmt::format("_device{}", device);
}

// Computes times from the plane with the first master task; transfers count on all planes. Returns
// false if there is no master task.
bool AnalysedCollectives::analyse(const std::vector<Task>& tasks) {
  const auto master =
      std::find_if(tasks.begin(), tasks.end(), [](const Task& task) { return task.is_master; });
  if (master == tasks.end()) return false;
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;
  std::map<std::int64_t, std::vector<Task>> planes;
  for (const Task& task : tasks) {
    planes[task.plane].push_back(task);
    if (task.plane != master->plane) continue;
    first_ns = std::min(first_ns, task.start_ns);
    last_ns = std::max(last_ns, task.end_ns);
  }
  item_.times.start_ns = master->start_ns;
  item_.times.duration_ns = saturating_subtract(last_ns, first_ns);
  has_transferred_ = false;
  for (const auto& [plane, tasks_of_plane] : planes)
    add_plane(tasks_of_plane, plane == master->plane);
  BandTotal& sdma = item_.times.band(Band::sdma);
  for (const Band driven : {Band::hccs, Band::pcie, Band::sio})
    sdma.add_sums(item_.times.band(driven));
  return true;
}

void AnalysedCollectives::add_plane(std::span<const Task> tasks, bool is_master) {
  RankCommunication& times = item_.times;
  const auto add_transit = [&](std::int64_t duration_ns) {
    if (!is_master) return;
    has_transferred_ = true;
    times.transit_ns = saturating_add(times.transit_ns, duration_ns);
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& task = tasks[i];
    if (task.is_payload) {
      const cann::PayloadRun run = cann::payload_run(tasks, i, closing_distance_);
      if (run.is_closed) {
        std::int64_t bytes = 0;
        for (std::size_t k = i; k < run.end; ++k)
          bytes = saturating_add(bytes, tasks[k].size_bytes);
        const std::int64_t duration_ns = std::max<std::int64_t>(
            saturating_subtract(tasks[run.closing].end_ns, task.start_ns), 0);
        add_transfer(task, Band::rdma, band_name(Band::rdma), bytes, duration_ns);
        add_transit(duration_ns);
      }
      i = run.is_closed ? run.closing : run.end - 1;
    } else if (task.work == TaskWork::copy && task.transport_type == kSdma) {
      const bool is_on_chip = task.link_type == kOnChip;
      add_transfer(task, is_on_chip ? std::nullopt : std::optional(sdma_band(task.link_type)),
                   sdma_transport(task.link_type), task.size_bytes, task.duration_ns());
      if (!is_on_chip) add_transit(task.duration_ns());
    } else if (task.work == TaskWork::wait && is_master) {
      times.wait_ns = saturating_add(times.wait_ns, task.duration_ns());
      if (!has_transferred_)
        times.synchronization_ns = saturating_add(times.synchronization_ns, task.duration_ns());
    }
  }
}

void AnalysedCollectives::add_transfer(const Task& task, std::optional<Band> band,
                                       std::string_view transport, std::int64_t bytes,
                                       std::int64_t duration_ns) {
  if (band) item_.times.band(*band).add(bytes, {1, duration_ns});
  constexpr std::int64_t kUnknownRank = kInvalidId;
  if (task.source_rank == kNull || task.source_rank == kUnknownRank) return;
  const bool is_own = task.target_rank == kNull || task.target_rank == kUnknownRank;
  const std::int64_t target = is_own ? task.source_rank : task.target_rank;
  item_.links[{task.source_rank, target}].add({transport, bytes, duration_ns});
}

}  // namespace msprof::cluster
