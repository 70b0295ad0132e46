// ctrl_cpu_…, ai_cpu_…, ts_cpu_…: events counted on the CPUs of devices, and the functions that
// used most cycles. Source: cann_system.md 21.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "export/products.hpp"
#include "export/scope/counter_samples.hpp"
#include "export/summary/cann_counter_tables.hpp"

namespace msprof {

namespace {

struct CpuEvent {
  std::int64_t number = 0;
  std::string_view name;
};

constexpr CpuEvent kCpuEvents[] = {
    {0x00, "Sw_incr"},
    {0x01, "L1i_cache_refill"},
    {0x02, "L1i_tlb_refill"},
    {0x03, "L1d_cache_refill"},
    {0x04, "L1d_cache"},
    {0x05, "L1d_tlb_refill"},
    {0x06, "Ld_retired"},
    {0x07, "St_retired"},
    {0x08, "Inst_retired"},
    {0x09, "Exc_taken"},
    {0x0a, "Exc_return"},
    {0x0b, "Cid_write_retired"},
    {0x0c, "Pc_write_retired"},
    {0x0d, "Br_immed_retired"},
    {0x0e, "Br_return_retired"},
    {0x0f, "Unaligned_ldst_retired"},
    {0x10, "Br_mis_pred"},
    {0x11, "Cpu_cycles"},
    {0x12, "Br_pred"},
    {0x13, "Mem_access"},
    {0x14, "L1i_cache"},
    {0x15, "L1d_cache_wb"},
    {0x16, "L2d_cache"},
    {0x17, "L2d_cache_refill"},
    {0x18, "L2d_cache_wb"},
    {0x19, "Bus_access"},
    {0x1a, "Memory_error"},
    {0x1b, "Inst_spec"},
    {0x1c, "Ttbr_write_retired"},
    {0x1d, "Bus_cycles"},
    {0x1e, "Chain"},
    {0x20, "L2d_cache_allocate"},
    {0x21, "Br_retired"},
    {0x22, "Br__mis_pred_retired"},
    {0x23, "Stall_frontend"},
    {0x24, "Stall_backend"},
    {0x25, "L1d_tlb"},
    {0x26, "L1i_tlb"},
    {0x2d, "L2d_tlb_refill"},
    {0x2f, "L2d_tlb"},
    {0x34, "Dtlb_walk"},
    {0x35, "Itlb_walk"},
    {0x36, "Ll_cache_rd"},
    {0x37, "Ll_cache_miss_rd"},
    {0x38, "Remote_access_rd"},
    {0x40, "L1d_cache_ld"},
    {0x41, "L1d_cache_st"},
    {0x42, "L1d_cache_refill_ld"},
    {0x43, "L1d_cache_refill_st"},
    {0x44, "L1d_cache_refill_inner"},
    {0x45, "L1d_cache_refill_outer"},
    {0x50, "L2d_cache_ld"},
    {0x51, "L2d_cache_st"},
    {0x52, "L2d_cache_refill_ld"},
    {0x53, "L2d_cache_refill_st"},
    {0x60, "Bus_access_ld"},
    {0x61, "Bus_access_st"},
    {0x66, "Mem_access_ld"},
    {0x67, "Mem_access_st"},
    {0x70, "Ld_spec"},
    {0x71, "St_spec"},
    {0x72, "Ldst_spec"},
    {0x73, "Dp_spec"},
    {0x74, "Ase_spec"},
    {0x75, "Vfp_spec"},
    {0x76, "Pc_write_spec"},
    {0x77, "Crypto_spec"},
    {0x78, "Br_immed_spec"},
    {0x79, "Br_return_spec"},
    {0x7a, "Br_indirect_spec"},
    {0x86, "Exc_irq"},
    {0x87, "Exc_fiq"},
    {0xc1, "L2d_cache_refill_prefetch"},
    {0xc2, "L1d_cache_refill_prefetch"},
    {0xc3, "L2d_ws_mode"},
    {0xc4, "L1d_ws_mode_entry"},
    {0xc5, "L1d_ws_mode"},
    {0xc6, "Predecode_error"},
    {0xc9, "Br_cond_pred"},
    {0xca, "Br_indirect_mis_pred"},
    {0xcb, "Br_indirect_addr_mis_pred"},
    {0xcc, "Br_cond_mis_pred"},
    {0xcd, "Br_indirect_addr_pred"},
    {0xce, "Br_return_addr_pred"},
    {0xcf, "Br_return_addr_mis_pred"},
    {0xd0, "L2d_llwalk_tlb"},
    {0xd1, "L2d_llwalk_tlb_refill"},
    {0xd2, "L2d_l2walk_tlb"},
    {0xd3, "L2d_l2walk_tlb_refill"},
    {0xd4, "L2d_s2_tlb"},
    {0xd5, "L2d_s2_tlb_refill"},
    {0xd6, "L2d_cache_stash_dropped"},
    {0xe1, "Stall_frontend_cache"},
    {0xe2, "Stall_frontend_tlb"},
    {0xe3, "Stall_frontend_pderr"},
    {0xe4, "Stall_backend_ilock"},
    {0xe5, "Stall_backend_ilock_agu"},
    {0xe6, "Stall_backend_ilock_fpu"},
    {0xe7, "Stall_backend_ld"},
    {0xe8, "Stall_backend_st"},
    {0xe9, "Stall_backend_ld_cache"},
    {0xea, "Stall_backend_ld_tlb"},
    {0xeb, "Stall_backend_st_stb"},
    {0xec, "Stall_backend_st_tlb"},
};
constexpr std::int64_t kCpuCycles = 0x11;

struct CpuGroup {
  std::string_view kind;  // "ctrl_cpu": kind of its tracks, and prefix of its tables' names
  std::string_view raw_kind;
  std::string_view cpus;
  bool has_modules = true;
  std::size_t most_functions = SIZE_MAX;
};
constexpr CpuGroup kControlCpus{"ctrl_cpu", "ai_ctrl_cpu", "control CPUs"};
constexpr CpuGroup kAiCpus{"ai_cpu", "ai_ctrl_cpu", "AI CPUs"};
constexpr CpuGroup kTsCpus{"ts_cpu", "tscpu", "TS CPU", false, 5};

// Tables keep views of these texts, so they are created once.
struct CpuTexts {
  explicit CpuTexts(const CpuGroup& group)
      : events_name(std::string(group.kind) + "_pmu_events"),
        events_help("events that were counted on the " + std::string(group.cpus)),
        functions_name(std::string(group.kind) + "_top_function"),
        functions_help("functions by their cycles on the " + std::string(group.cpus)) {}
  std::string events_name;
  std::string events_help;
  std::string functions_name;
  std::string functions_help;
};
template <const CpuGroup& kGroup>
const CpuTexts& cpu_texts() {
  static const CpuTexts texts(kGroup);
  return texts;
}

// Sums all samples of each track; their clock cannot show which precede the collection.
class TrackSums {
 public:
  TrackSums(const Database& db, std::string_view kind, const ExportScope& scope)
      : samples_(db, kind, scope, true), sums_(samples_.tracks().size()) {
    while (samples_.next()) {
      std::int64_t& sum = sums_[samples_->track->index];
      sum = saturating_add(sum, samples_->value);
    }
  }
  const std::vector<CounterTrack>& tracks() const { return samples_.tracks(); }
  std::int64_t find(const CounterTrack& track) const { return sums_[track.index]; }

 private:
  CounterSamples samples_;
  std::vector<std::int64_t> sums_;
};

// Largest first; equal counts keep their order.
template <typename Row>
void sort_by_count(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.count > b.count; });
}

class CannCpuEvents : public cann::CannTable {
 public:
  CannCpuEvents(const CpuGroup& group, const CpuTexts& texts)
      : CannTable({.name = texts.events_name,
                   .title = texts.events_help,
                   .help = texts.events_help,
                   .exists = exists_counters(group.kind),
                   .needs = {group.raw_kind},
                   .group = kCounterLayers},
                  {"Device_id", "Event", "Name", "Count"}),
        kind_(group.kind) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    struct Event {
      std::int64_t number = 0;
      std::int64_t count = 0;
    };
    const TrackSums sums(db, kind_, output_file.scope);
    // If specific events were requested, the slots of the other events hold no valid counts.
    const bool has_asked =
        std::any_of(sums.tracks().begin(), sums.tracks().end(),
                    [](const CounterTrack& track) { return track.part.has_value(); });
    std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> devices;
    for (const CounterTrack& track : sums.tracks()) {
      if (has_asked && !track.part) continue;
      std::int64_t& count = devices[track.device.value_or(-1)][track.number.value_or(0)];
      count = saturating_add(count, sums.find(track));
    }
    for (const auto& [device, counts] : devices) {
      std::vector<Event> events;
      for (const auto& [number, count] : counts) {
        if (count > 0) events.push_back({number, count});
      }
      sort_by_count(events);
      for (const Event& event : events) {
        out.number(device);
        out.text(fmt::format("0x{:x}", event.number));
        const auto* known =
            std::find_if(std::begin(kCpuEvents), std::end(kCpuEvents),
                         [&](const CpuEvent& e) { return e.number == event.number; });
        known == std::end(kCpuEvents) ? out.missing() : out.text(known->name);
        out.number(event.count);
        out.end_row();
      }
    }
  }

 private:
  std::string_view kind_;
};

class CannCpuFunctions : public cann::CannTable {
 public:
  CannCpuFunctions(const CpuGroup& group, const CpuTexts& texts)
      : CannTable(
            {.name = texts.functions_name,
             .title = texts.functions_help,
             .help = texts.functions_help,
             .exists = exists_counters(group.kind),
             .needs = {group.raw_kind},
             .group = kCounterLayers},
            group.has_modules
                ? std::vector<std::string>{"Device_id", "Function", "Module", "Cycles", "Cycles(%)"}
                : std::vector<std::string>{"Device_id", "Function", "Cycles", "Cycles(%)"}),
        group_(group) {}

  void write(const Database& db, const OutputFile& output_file, RowBuilder& out) const override {
    struct Function {
      const CounterTrack* track = nullptr;
      std::int64_t count = 0;
    };
    const TrackSums sums(db, group_.kind, output_file.scope);
    std::map<std::int64_t, std::vector<Function>> devices;
    for (const CounterTrack& track : sums.tracks()) {
      if (track.number == kCpuCycles && sums.find(track) > 0)
        devices[track.device.value_or(-1)].push_back({&track, sums.find(track)});
    }
    for (auto& [device, functions] : devices) {
      std::int64_t all = 0;
      for (const Function& function : functions) all = saturating_add(all, function.count);
      sort_by_count(functions);
      if (functions.size() > group_.most_functions) functions.resize(group_.most_functions);
      for (const Function& function : functions) {
        out.number(device);
        out.text(function.track->subject);
        if (group_.has_modules) out.text(function.track->detail);
        out.number(function.count);
        cann::sqlite_rounded3(out,
                              static_cast<double>(function.count) * 100 / static_cast<double>(all));
        out.end_row();
      }
    }
  }

 private:
  const CpuGroup& group_;
};

template <const CpuGroup& kGroup>
std::unique_ptr<SummaryTable> make_events() {
  return std::make_unique<CannCpuEvents>(kGroup, cpu_texts<kGroup>());
}
template <const CpuGroup& kGroup>
std::unique_ptr<SummaryTable> make_functions() {
  return std::make_unique<CannCpuFunctions>(kGroup, cpu_texts<kGroup>());
}

}  // namespace

std::unique_ptr<SummaryTable> make_cann_ctrl_cpu_pmu_events() {
  return make_events<kControlCpus>();
}

std::unique_ptr<SummaryTable> make_cann_ctrl_cpu_top_function() {
  return make_functions<kControlCpus>();
}

std::unique_ptr<SummaryTable> make_cann_ai_cpu_pmu_events() {
  return make_events<kAiCpus>();
}

std::unique_ptr<SummaryTable> make_cann_ai_cpu_top_function() {
  return make_functions<kAiCpus>();
}

std::unique_ptr<SummaryTable> make_cann_ts_cpu_pmu_events() {
  return make_events<kTsCpus>();
}

std::unique_ptr<SummaryTable> make_cann_ts_cpu_top_function() {
  return make_functions<kTsCpus>();
}

}  // namespace msprof
