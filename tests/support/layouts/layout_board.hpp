// The boards of layout_generator.hpp and their layers, with random properties.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/layouts/layout_generator.hpp"

namespace msprof::test::layouts {

// Random numbers that are the same with every standard library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t number(std::uint64_t least, std::uint64_t most) {
    return least + engine_() % (most - least + 1);
  }
  double real(double least, double most) {
    const auto bits = static_cast<double>(engine_() >> 11);
    return least + (most - least) * bits / 9007199254740992.0;
  }
  double log_real(double least, double most) {
    return std::exp(real(std::log(least), std::log(most)));
  }
  bool chance(double probability) { return real(0, 1) < probability; }
  template <typename T>
  const T& choose_one(const std::vector<T>& all) {
    return all[number(0, all.size() - 1)];
  }
  template <typename T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[number(0, i - 1)]);
  }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

struct LayerKind {
  const char* type;
  bool has_mac, has_vec, has_weights;
};
inline constexpr std::array<LayerKind, 9> kLayerKinds = {{{"Convolution", true, false, true},
                                                          {"Convolution", true, true, true},
                                                          {"InnerProduct", true, false, true},
                                                          {"Deconvolution", true, false, true},
                                                          {"Pooling", false, true, false},
                                                          {"Eltwise", false, true, false},
                                                          {"ReLU", false, true, false},
                                                          {"Softmax", false, true, false},
                                                          {"Concat", false, false, false}}};
inline constexpr std::array<const char*, 8> kUnits = {
    "mac_busy", "mac_ppen", "vec_busy", "vec_ppen", "dstr", "dtrans", "dld", "wld"};

struct GeneratedLayer {
  std::uint64_t id = 0;
  std::string name;
  LayerKind kind{};
  bool on_cpu = false;
  std::uint64_t macs = 0, weight_bytes = 0, input_bytes = 0, output_bytes = 0;
  std::uint64_t ddr_read = 0, ddr_write = 0;
  double cycles = 0;                         // typical duration
  std::array<double, 8> shares{};            // share of each of kUnits in the total
  std::array<std::uint64_t, 4> constants{};  // values of decoy columns
};

// The content of a column of a record.
enum class ColumnContent {
  field,
  constant,
  random,
  record_number,
  layer_constant,   // any number, constant for a layer
  layer_multiple,   // layer * step + base
  enqueued,         // time at which the layer was queued
  execution_begin,  // time, equal for all layers of an execution
  stall,            // cycles, less than the total
  tag
};

struct Column {
  ColumnContent part = ColumnContent::constant;
  std::string name;  // name of the field
  std::size_t width = 4;
  std::uint64_t a = 0, b = 0;  // parameters of the decoy
  std::size_t offset = 0;
};

struct Clock {
  std::string unit;
  std::size_t width = 8;
  double hertz = 1e9;
  bool from_boot = true;
  double zero_s = 0;  // time zero if not `from_boot`, in seconds since boot
  std::int64_t scale = 1, divisor = 1;

  std::uint64_t value(double seconds) const {
    return static_cast<std::uint64_t>(std::floor((from_boot ? seconds : seconds - zero_s) * hertz));
  }
};

struct Board {
  std::uint64_t info_mhz = 1000;
  double core_mhz = 1000;
  std::string tick_hz;
  Clock core_clock, call_clock;
  bool done_in_ns = false;
  bool text_layer_info = true;
  std::size_t header = 0;
  std::string header_bytes;
  std::size_t record_size = 64;
  std::vector<Column> columns;
  bool several_types = false;
  std::size_t tag_width = 4;
  std::uint64_t layer_tag = 0, execution_tag = 0, mark_tag = 0;
  bool has_execution_records = false, has_marks = false, execution_record_first = false;
  std::uint8_t padding = 0;
  bool garbage_in_others = false;
  bool exact_cycles = true;
  std::size_t call_header = 0;
  std::string call_header_bytes;
  std::size_t call_record_size = 32;
  std::vector<Column> call_columns;
  std::uint64_t load_id = 1, execute_id = 3, unload_id = 5, wait_id = 0;
};

Board draw_board(std::uint64_t seed, const GeneratorChoice& choice);
std::vector<GeneratedLayer> draw_layers(Dice& dice, std::size_t core_layers, bool text,
                                        double core_mhz);

}  // namespace msprof::test::layouts
