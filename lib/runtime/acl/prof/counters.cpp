#include "runtime/acl/prof/counters.hpp"

#include <span>

namespace msprof::acl {

namespace {

// The work of an operator, in the units that the events count.
struct Activity {
  runtime::UnitCycles units;
  std::uint64_t read_bytes = 0;  // from device memory
  std::uint64_t written_bytes = 0;
  std::uint64_t relayout_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t macs = 0;
  std::uint64_t vector_ops = 0;
  bool is_matrix = false;  // uses the matrix unit and its buffers; otherwise the vector unit
};

using Value = std::uint64_t (*)(const Activity&);

struct CounterEvent {
  std::uint32_t number = 0;
  Value value = nullptr;
};

constexpr std::uint64_t kElementBytes = 4;
// Each element loaded by the matrix unit is used by this many multiply-accumulates.
constexpr std::uint64_t kTile = 16;

// Events that a host cannot model: bank conflicts, instruction caches, arithmetic in unused types.
std::uint64_t none(const Activity&) {
  return 0;
}
std::uint64_t mac_busy(const Activity& a) {
  return a.units.mac_busy;
}
std::uint64_t mac_needed(const Activity& a) {
  return a.units.mac_ppen;
}
std::uint64_t vector_busy(const Activity& a) {
  return a.units.vec_busy;
}
std::uint64_t vector_needed(const Activity& a) {
  return a.units.vec_ppen;
}
std::uint64_t relayout(const Activity& a) {
  return a.units.dtrans;
}
std::uint64_t load(const Activity& a) {
  return a.units.dld + a.units.wld;
}
std::uint64_t store(const Activity& a) {
  return a.units.dstr;
}
std::uint64_t store_of_matrix(const Activity& a) {
  return a.is_matrix ? a.units.dstr : 0;
}
std::uint64_t store_of_vector(const Activity& a) {
  return a.is_matrix ? 0 : a.units.dstr;
}

// Converts bytes to events: the inverse of the formulas in cann_device.md 12.3.
template <std::uint64_t kBytes>
std::uint64_t read_by(const Activity& a) {
  return a.read_bytes / kBytes;
}
template <std::uint64_t kBytes>
std::uint64_t written_by(const Activity& a) {
  return a.written_bytes / kBytes;
}
template <std::uint64_t kBytes>
std::uint64_t matrix_read_by(const Activity& a) {
  return a.is_matrix ? a.read_bytes / kBytes : 0;
}
template <std::uint64_t kBytes>
std::uint64_t matrix_written_by(const Activity& a) {
  return a.is_matrix ? a.written_bytes / kBytes : 0;
}
template <std::uint64_t kBytes>
std::uint64_t vector_read_by(const Activity& a) {
  return a.is_matrix ? 0 : a.read_bytes / kBytes;
}
template <std::uint64_t kBytes>
std::uint64_t vector_written_by(const Activity& a) {
  return a.is_matrix ? 0 : a.written_bytes / kBytes;
}
template <std::uint64_t kBytes>
std::uint64_t relayout_by(const Activity& a) {
  return a.relayout_bytes / kBytes;
}
template <std::uint64_t kBytes>
std::uint64_t weights_by(const Activity& a) {
  return a.is_matrix ? a.weight_bytes / kBytes : 0;
}
template <std::uint64_t kBytes>
std::uint64_t operands_by(const Activity& a) {
  return a.macs / kTile * kElementBytes / kBytes;
}
template <std::uint64_t kBytes>
std::uint64_t vector_elements_by(const Activity& a) {
  return a.vector_ops * kElementBytes / kBytes;
}

constexpr CounterEvent kArithmetic[] = {{0x49, mac_needed}, {0x4a, none}, {0x4b, vector_needed},
                                        {0x4c, none},       {0x4d, none}, {0x4e, none},
                                        {0x4f, none}};
constexpr CounterEvent kPipe[] = {{0x8, vector_busy}, {0xa, mac_busy}, {0x9, none},
                                  {0xb, relayout},    {0xc, load},     {0xd, store},
                                  {0x54, none},       {0x55, none}};
// The pipe events of the matrix cores of a 910B.
constexpr CounterEvent kPipeOfMatrix[] = {
    {0x416, mac_busy},        {0x417, none}, {0x9, none}, {0x302, relayout}, {0xc, load},
    {0x303, store_of_matrix}, {0x54, none},  {0x55, none}};
constexpr CounterEvent kPipeExecute[] = {
    {0x12c, vector_needed}, {0x49, mac_needed}, {0x4a, none},           {0x9, none},
    {0x302, relayout},      {0xc, load},        {0xd, store_of_vector}, {0x303, store_of_matrix}};
constexpr CounterEvent kMemory[] = {{0x15, vector_elements_by<128>},
                                    {0x16, vector_written_by<128>},
                                    {0x31, relayout_by<512>},
                                    {0x32, matrix_read_by<128>},
                                    {0xf, read_by<256>},
                                    {0x10, written_by<256>},
                                    {0x12, read_by<8>},
                                    {0x13, written_by<8>}};
constexpr CounterEvent kMemoryL0[] = {{0x1b, operands_by<512>},
                                      {0x1c, relayout_by<512>},
                                      {0x21, operands_by<512>},
                                      {0x22, weights_by<256>},
                                      {0x27, matrix_written_by<256>},
                                      {0x28, operands_by<1024>},
                                      {0x29, none},
                                      {0x2a, operands_by<1024>}};
constexpr CounterEvent kConflicts[] = {{0x64, none}, {0x65, none}, {0x66, none}};
constexpr CounterEvent kMemoryUb[] = {
    {0x43, vector_elements_by<32>}, {0x44, vector_written_by<32>}, {0x37, none}, {0x38, none},
    {0x3d, vector_written_by<16>},  {0x3e, vector_read_by<16>}};
// Model of the cache: every line is loaded from memory once; data copied for the matrix unit is
// already cached.
constexpr CounterEvent kL2Cache[] = {{0x500, none},
                                     {0x502, written_by<128>},
                                     {0x504, relayout_by<128>},
                                     {0x506, read_by<128>},
                                     {0x508, none},
                                     {0x50a, none}};
constexpr CounterEvent kMemoryAccess[] = {
    {0x32, matrix_read_by<256>},     {0x3d, vector_written_by<128>},
    {0x3e, vector_read_by<128>},     {0x206, none},
    {0x20c, matrix_written_by<128>}, {0x50c, written_by<128>},
    {0x50d, read_by<128>},           {0x50e, none}};

constexpr std::uint64_t kLineBytes = 128;
std::uint64_t l2_reads(const Activity& a) {
  return (a.read_bytes + a.relayout_bytes) / kLineBytes;
}
std::uint64_t l2_writes(const Activity& a) {
  return a.written_bytes / kLineBytes;
}
std::uint64_t l2_requests(const Activity& a) {
  return l2_reads(a) + l2_writes(a);
}
std::uint64_t l2_hits(const Activity& a) {
  return a.relayout_bytes / kLineBytes;
}
// Requests, hits and victims, by chip (cann_device.md 9.1).
constexpr CounterEvent kL2Of910b[] = {
    {0xfb, l2_reads}, {0xfc, l2_writes}, {0x90, l2_hits}, {0x91, none}, {0x9c, none}};
constexpr CounterEvent kL2Of310p[] = {
    {0x78, l2_reads}, {0x79, l2_writes}, {0x6a, l2_hits}, {0x71, none}};
constexpr CounterEvent kL2Of910a[] = {{0x59, l2_requests}, {0x5b, l2_hits}, {0x5c, none}};

std::span<const CounterEvent> l2_set(int chip) {
  if (chip == 5) return kL2Of910b;
  if (chip == 4) return kL2Of310p;
  return kL2Of910a;
}

struct Set {
  const char* name = "";
  std::span<const CounterEvent> events;
};

// Indexed by Metrics.
constexpr Set kSets[] = {{"ArithmeticUtilization", kArithmetic},
                         {"PipeUtilization", kPipe},
                         {"Memory", kMemory},
                         {"MemoryL0", kMemoryL0},
                         {"ResourceConflictRatio", kConflicts},
                         {"MemoryUB", kMemoryUb},
                         {"L2Cache", kL2Cache},
                         {"PipelineExecuteUtilization", kPipeExecute},
                         {"MemoryAccess", kMemoryAccess}};
static_assert(std::size(kSets) == static_cast<std::size_t>(Metrics::kCount));
constexpr Set kMatrixCorePipes = {"PipeUtilizationExct", kPipeOfMatrix};

const Set& find_set(Metrics metrics, int chip, bool is_vector_core) {
  constexpr int kAscend910b = 5;
  if (metrics == Metrics::pipe && chip == kAscend910b && !is_vector_core) return kMatrixCorePipes;
  return kSets[static_cast<std::size_t>(metrics)];
}

std::string event_list(std::span<const CounterEvent> events) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string list;
  for (const CounterEvent& event : events) {
    std::string digits;
    for (std::uint32_t rest = event.number; rest != 0; rest /= 16)
      digits.insert(digits.begin(), kDigits[rest % 16]);
    list += (list.empty() ? "0x" : ",0x") + digits;
  }
  return list;
}

Activity compute_activity(const runtime::LayerWork& work, std::uint64_t images,
                          std::uint64_t total_cycles) {
  Activity activity;
  activity.units = runtime::model_units(work, images, total_cycles);
  // One unit loads data and weights, so together they cannot exceed the total.
  if (load(activity) > total_cycles) activity.units.wld = total_cycles - activity.units.dld;
  activity.read_bytes = activity.units.ddr_read_bytes;
  activity.written_bytes = activity.units.ddr_write_bytes;
  activity.relayout_bytes = static_cast<std::uint64_t>(work.relayout_bytes) * images;
  activity.weight_bytes = static_cast<std::uint64_t>(work.weight_bytes);
  activity.macs = static_cast<std::uint64_t>(work.macs) * images;
  activity.vector_ops = static_cast<std::uint64_t>(work.vector_ops) * images;
  activity.is_matrix = work.macs > 0;
  return activity;
}

CounterValues compute_values(std::span<const CounterEvent> events, const Activity& activity) {
  CounterValues values{};
  std::size_t at = 0;
  for (const CounterEvent& event : events) values[at++] = event.value(activity);
  return values;
}

}  // namespace

const Metrics* find_metrics(const RecordingOptions& options) {
  static constexpr Metrics kAll[] = {
      Metrics::arithmetic, Metrics::pipe,         Metrics::memory,
      Metrics::memory_l0,  Metrics::conflicts,    Metrics::memory_ub,
      Metrics::l2_cache,   Metrics::pipe_execute, Metrics::memory_access};
  if ((options.bits & prof_bits::kAicoreMetrics) == 0 || options.metrics >= std::size(kAll))
    return nullptr;
  return &kAll[options.metrics];
}

CounterSet counter_set(Metrics metrics, int chip, bool is_vector_core) {
  const Set& set = find_set(metrics, chip, is_vector_core);
  return {set.name, event_list(set.events)};
}

CounterValues count_events(Metrics metrics, int chip, bool is_vector_core,
                           const runtime::LayerWork& work, std::uint64_t images,
                           std::uint64_t total_cycles) {
  return compute_values(find_set(metrics, chip, is_vector_core).events,
                        compute_activity(work, images, total_cycles));
}

std::string l2_cache_events(int chip) {
  return event_list(l2_set(chip));
}

CounterValues count_l2_cache(int chip, const runtime::LayerWork& work, std::uint64_t images) {
  return compute_values(l2_set(chip), compute_activity(work, images, UINT64_MAX));
}

}  // namespace msprof::acl
