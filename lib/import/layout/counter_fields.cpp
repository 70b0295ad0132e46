#include "import/layout/counter_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/text.hpp"

namespace msprof::layout {

namespace {

constexpr std::size_t kMaxSeen = 2048;  // maximum number of records examined

// Layer types that use the MAC units, and types that only a vector unit can compute.
constexpr std::array<std::string_view, 12> kMacTypes = {
    "convolution",    "conv",          "conv2d",
    "convolution2d",  "depthwiseconv", "convolutiondepthwise",
    "deconvolution",  "deconv",        "innerproduct",
    "fullyconnected", "gemm",          "matmul"};
constexpr std::array<std::string_view, 14> kVectorTypes = {
    "pooling", "pool",      "maxpool", "averagepool", "globalaveragepool",
    "relu",    "leakyrelu", "prelu",   "relu6",       "eltwise",
    "add",     "mul",       "softmax", "sigmoid"};

template <typename Types>
bool is_among(const Types& types, const std::string& type) {
  const std::string lower = lower_ascii(type);
  return std::find(types.begin(), types.end(), lower) != types.end();
}

struct LayerLoad {
  double sum = 0, least = 0, most = 0;
  std::size_t count = 0;
};

struct CounterLane {
  std::size_t offset = 0;
  std::vector<std::uint32_t> values;
  bool is_long = false;  // followed by zeros: the field may have 64 bits
  double share = 0;      // share of the total cycles
};

class CounterSearch {
 public:
  CounterSearch(std::span<const LayerRecord> all, std::optional<std::size_t> total, bool is_framed,
                std::vector<bool>& taken, FoundKind& kind)
      : records_(all.subspan(0, std::min(all.size(), kMaxSeen))),
        is_framed_(is_framed),
        taken_(taken),
        kind_(kind) {
    if (total) total_ = numbers_at(*total);
  }

  void run() {
    read_lanes();
    find_execution();
    find_bytes();
    find_units();
  }

 private:
  const LayerFacts& facts(std::size_t i) const {
    return records_[i].place.sample->layers[records_[i].layer];
  }

  std::vector<std::uint32_t> numbers_at(std::size_t offset) const {
    std::vector<std::uint32_t> numbers;
    for (const LayerRecord& record : records_)
      numbers.push_back(static_cast<std::uint32_t>(number_at(record.place, offset, 4)));
    return numbers;
  }

  void read_lanes() {
    for (std::size_t offset = 0; offset + 4 <= kind_.record_bytes; offset += 4) {
      if (taken_[offset] || taken_[offset + 3]) continue;
      CounterLane lane;
      lane.offset = offset;
      lane.values = numbers_at(offset);
      lanes_.push_back(std::move(lane));
    }
    for (std::size_t i = 0; i + 1 < lanes_.size(); ++i) {
      const auto& high = lanes_[i + 1];
      lanes_[i].is_long = high.offset == lanes_[i].offset + 4 &&
                          std::all_of(high.values.begin(), high.values.end(),
                                      [](std::uint32_t value) { return value == 0; });
    }
  }

  FieldPlace place_of(const CounterLane& lane) const {
    const std::size_t width = lane.is_long ? 8 : 4;
    return {lane.offset, width, 1, 1};
  }

  void take(const CounterLane& lane) {
    for (std::size_t i = 0; i < place_of(lane).width; ++i) taken_[lane.offset + i] = true;
  }

  // Returns true if the number rises by one whenever the layers start again.
  bool counts_executions(const CounterLane& lane) const {
    const std::uint32_t zero =
        lane.values.front() - static_cast<std::uint32_t>(records_.front().execution);
    const FileSample* sample = records_.front().place.sample;
    std::uint32_t base = zero;
    for (std::size_t i = 0; i < lane.values.size(); ++i) {
      if (records_[i].place.sample != sample) {
        sample = records_[i].place.sample;
        base = lane.values[i];
      }
      if (lane.values[i] != base + static_cast<std::uint32_t>(records_[i].execution)) return false;
    }
    return true;
  }

  void find_execution() {
    if (kind_.executions < 2) return;
    FoundField& field = kind_.field("execution");
    std::vector<const CounterLane*> fitting;
    for (const CounterLane& lane : lanes_) {
      if (counts_executions(lane)) fitting.push_back(&lane);
    }
    if (fitting.empty()) return;
    const CounterLane& lane = *fitting.front();
    const bool is_sure = fitting.size() == 1 && kind_.executions >= 3 && kind_.layers >= 3 &&
                         is_framed_ && lane.values.front() < 1u << 24;
    field.certainty = is_sure ? Certainty::certain : Certainty::likely;
    field.place = place_of(lane);
    field.evidence = fmt::format("increases by one whenever the {} layers start again, {} times",
                                 kind_.layers, kind_.executions);
    for (const CounterLane* other : fitting) take(*other);
  }

  // Returns true if the number depends only on the layer, and differs between layers.
  bool is_equal_for_layers(const CounterLane& lane) const {
    std::map<std::pair<const FileSample*, std::size_t>, std::uint32_t> seen;
    bool differs = false;
    for (std::size_t i = 0; i < lane.values.size(); ++i) {
      const auto [at, is_new] =
          seen.try_emplace({records_[i].place.sample, records_[i].layer}, lane.values[i]);
      if (at->second != lane.values[i]) return false;
      differs = differs || lane.values[i] != lane.values.front();
    }
    return differs;
  }

  // Returns true if the number is proportional to the layer id: an address or another layer number.
  bool follows_layer_id(const CounterLane& lane) const {
    std::optional<double> step;
    for (std::size_t i = 1; i < lane.values.size(); ++i) {
      const double run = static_cast<double>(facts(i).id) - static_cast<double>(facts(0).id);
      if (run == 0) continue;
      const double now = (static_cast<double>(lane.values[i]) - lane.values[0]) / run;
      if (step && std::abs(*step - now) > 1e-6) return false;
      step = now;
    }
    return true;
  }

  // Share of layers for which the shape gives exactly this number. Returns nullopt if a shape gives
  // a larger number, or if fewer than three shapes are known.
  std::optional<double> agrees_with_shapes(const CounterLane& lane, bool written) const {
    std::size_t known = 0;
    std::size_t equal = 0;
    for (std::size_t i = 0; i < lane.values.size() && i < kind_.layers * 2; ++i) {
      const auto& bytes = written ? facts(i).written_bytes : facts(i).read_bytes;
      if (!bytes) continue;
      ++known;
      if (lane.values[i] < *bytes) return std::nullopt;
      equal += lane.values[i] == *bytes ? 1u : 0u;
    }
    if (known < 3) return std::nullopt;
    return static_cast<double>(equal) / static_cast<double>(known);
  }

  void find_bytes() {
    if (kind_.executions < 3 || kind_.layers < 2) return;
    std::vector<const CounterLane*> fitting;
    for (const CounterLane& lane : lanes_) {
      if (taken_[lane.offset] || !is_equal_for_layers(lane) || follows_layer_id(lane)) continue;
      fitting.push_back(&lane);
    }
    const auto aligned = [](const CounterLane& lane) {
      return std::count_if(lane.values.begin(), lane.values.end(),
                           [](std::uint32_t value) { return value % 8 == 0; });
    };
    std::stable_sort(
        fitting.begin(), fitting.end(),
        [&](const CounterLane* a, const CounterLane* b) { return aligned(*a) > aligned(*b); });
    for (const bool written : {false, true}) {
      FoundField& field = kind_.field(written ? "ddr_write" : "ddr_read");
      std::vector<std::pair<double, const CounterLane*>> by_shape;
      for (const CounterLane* lane : fitting) {
        if (const auto share = agrees_with_shapes(*lane, written))
          by_shape.push_back({*share, lane});
        field.candidates.push_back(
            {place_of(*lane),
             fmt::format(
                 "equal for a layer in all {} executions{}", kind_.executions,
                 aligned(*lane) == std::ssize(lane->values) ? ", always a multiple of 8" : "")});
      }
      std::erase_if(by_shape, [](const auto& one) { return one.first < 0.3; });
      if (by_shape.size() != 1) continue;
      field.certainty = is_framed_ ? Certainty::certain : Certainty::likely;
      field.place = place_of(*by_shape.front().second);
      field.evidence = fmt::format(
          "equal for a layer in all {} executions; equal to the bytes computed from the shapes for "
          "{:.0f} % of the layers, never less",
          kind_.executions, 100 * by_shape.front().first);
    }
    guess_bytes(fitting, aligned);
    for (const CounterLane* lane : fitting) take(*lane);
  }

  // Without shapes: if exactly two numbers are always multiples of 8, the larger one is the bytes
  // read.
  template <typename Aligned>
  void guess_bytes(const std::vector<const CounterLane*>& fitting, const Aligned& aligned) {
    FoundField& read = kind_.field("ddr_read");
    FoundField& write = kind_.field("ddr_write");
    if (read.certainty != Certainty::unknown || write.certainty != Certainty::unknown) return;
    std::vector<const CounterLane*> whole;
    for (const CounterLane* lane : fitting) {
      if (aligned(*lane) == std::ssize(lane->values)) whole.push_back(lane);
    }
    if (whole.size() != 2) return;
    const auto sum = [](const CounterLane* lane) {
      double all = 0;
      for (const std::uint32_t value : lane->values) all += value;
      return all;
    };
    if (sum(whole[0]) < sum(whole[1])) std::swap(whole[0], whole[1]);
    read.certainty = write.certainty = Certainty::likely;
    read.place = place_of(*whole[0]);
    write.place = place_of(*whole[1]);
    const std::string same = fmt::format(
        "equal for a layer in all {} executions, always a multiple of 8; of two such numbers, the ",
        kind_.executions);
    read.evidence = same + "larger";
    write.evidence = same + "smaller";
  }

  // Returns true if the number never exceeds the total and is a nearly constant share of it per
  // layer.
  bool is_load(CounterLane& lane) const {
    std::map<std::pair<const FileSample*, std::size_t>, LayerLoad> loads;
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < lane.values.size(); ++i) {
      if (lane.values[i] > total_[i]) return false;
      if (total_[i] == 0) continue;
      const double share = static_cast<double>(lane.values[i]) / total_[i];
      LayerLoad& load = loads[{records_[i].place.sample, records_[i].layer}];
      load.least = load.count == 0 ? share : std::min(load.least, share);
      load.most = std::max(load.most, share);
      ++load.count;
      sum += lane.values[i];
      all += total_[i];
    }
    if (sum == 0 || all == 0) return false;
    lane.share = sum / all;
    constexpr double kMinShare = 0.001;
    if (lane.share < kMinShare) return false;
    return std::all_of(loads.begin(), loads.end(), [](const auto& entry) {
      const LayerLoad& load = entry.second;
      return load.most - load.least < 0.1 || load.most < 1.2 * load.least;
    });
  }

  // Returns true if every layer of the given types has a non-zero value; with `only`, if no other
  // layer has one.
  template <typename Uses>
  bool is_used_by(const CounterLane& lane, const Uses& uses, bool only) const {
    bool some = false;
    for (std::size_t i = 0; i < lane.values.size(); ++i) {
      const bool used = uses(facts(i).type);
      if (used && lane.values[i] == 0) return false;
      if (only && !used && lane.values[i] != 0) return false;
      some = some || used;
    }
    return some;
  }

  bool is_above(const CounterLane& a, const CounterLane& b) const {
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      if (a.values[i] < b.values[i]) return false;
    }
    return true;
  }

  void add_candidates(const std::vector<std::string_view>& names,
                      const std::vector<const CounterLane*>& lanes, const std::string& why) {
    for (const auto name : names) {
      for (const CounterLane* lane : lanes) {
        kind_.field(name).candidates.push_back(
            {place_of(*lane),
             fmt::format("{}; {:.0f} % of the total cycles", why, 100 * lane->share)});
      }
    }
  }

  void guess_pair(std::string_view busy, std::string_view useful,
                  const std::vector<const CounterLane*>& lanes, const std::string& why) {
    if (lanes.size() != 2) return;
    const bool is_first = is_above(*lanes[0], *lanes[1]);
    if (is_first == is_above(*lanes[1], *lanes[0])) return;
    const CounterLane* above = lanes[is_first ? 0 : 1];
    const CounterLane* below = lanes[is_first ? 1 : 0];
    for (const auto& [name, lane, what] :
         {std::tuple(busy, above, "the larger"), std::tuple(useful, below, "the smaller")}) {
      FoundField& field = kind_.field(name);
      field.certainty = Certainty::likely;
      field.place = place_of(*lane);
      field.evidence = fmt::format("{}; {} of two", why, what);
    }
  }

  void find_units() {
    if (kind_.executions < 3 || total_.empty()) return;
    std::vector<const CounterLane*> mac, vector, always, other;
    const auto is_mac = [](const std::string& type) { return is_among(kMacTypes, type); };
    const auto is_vector = [](const std::string& type) { return is_among(kVectorTypes, type); };
    const auto is_any = [](const std::string&) { return true; };
    for (CounterLane& lane : lanes_) {
      if (taken_[lane.offset] || !is_load(lane)) continue;
      if (is_used_by(lane, is_any, false)) {
        always.push_back(&lane);
      } else if (is_used_by(lane, is_mac, true)) {
        mac.push_back(&lane);
      } else if (is_used_by(lane, is_vector, false)) {
        vector.push_back(&lane);
      } else {
        other.push_back(&lane);
      }
    }
    const std::string below =
        "never above the total, the same share of it in all executions of a layer";
    const std::string for_mac = below + ", zero except for layers that multiply";
    const std::string for_vector = below + ", nonzero for layers without weights";
    guess_pair("mac_busy", "mac_ppen", mac, for_mac);
    guess_pair("vec_busy", "vec_ppen", vector, for_vector);
    add_candidates({"mac_busy", "mac_ppen", "wld"}, mac, for_mac);
    add_candidates({"vec_busy", "vec_ppen"}, vector, for_vector);
    add_candidates({"dstr", "dld"}, always, below + ", never zero");
    add_candidates({"dtrans"}, other, below + ", zero for some layers");
    add_candidates({"dtrans"}, always, below + ", never zero");
    add_candidates({"mac_busy", "mac_ppen", "vec_busy", "vec_ppen", "wld"}, other,
                   below + ", zero for some layers");
  }

  std::span<const LayerRecord> records_;
  bool is_framed_;
  std::vector<bool>& taken_;
  FoundKind& kind_;
  std::vector<std::uint32_t> total_;
  std::vector<CounterLane> lanes_;
};

}  // namespace

void find_counters(std::span<const LayerRecord> records, std::optional<std::size_t> total,
                   bool is_framed, std::vector<bool>& taken, FoundKind& kind) {
  if (records.empty()) return;
  CounterSearch(records, total, is_framed, taken, kind).run();
}

}  // namespace msprof::layout
