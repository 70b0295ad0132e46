#include "support/layouts/layout_generator.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <numeric>
#include <random>
#include <sstream>

#include "support/files.hpp"

namespace msprof::test {

namespace {

// Draws that are the same with every standard library.
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
  const T& one_of(const std::vector<T>& all) {
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
constexpr std::array<LayerKind, 9> kLayerKinds = {{{"Convolution", true, false, true},
                                                   {"Convolution", true, true, true},
                                                   {"InnerProduct", true, false, true},
                                                   {"Deconvolution", true, false, true},
                                                   {"Pooling", false, true, false},
                                                   {"Eltwise", false, true, false},
                                                   {"ReLU", false, true, false},
                                                   {"Softmax", false, true, false},
                                                   {"Concat", false, false, false}}};
constexpr std::array<const char*, 8> kUnits = {"mac_busy", "mac_ppen", "vec_busy", "vec_ppen",
                                               "dstr",     "dtrans",   "dld",      "wld"};

struct GeneratedLayer {
  std::uint64_t id = 0;
  std::string name;
  LayerKind kind{};
  bool on_cpu = false;
  std::uint64_t macs = 0, weight_bytes = 0, input_bytes = 0, output_bytes = 0;
  std::uint64_t ddr_read = 0, ddr_write = 0;
  double cycles = 0;                         // typical
  std::array<double, 8> shares{};            // of kUnits in the total
  std::array<std::uint64_t, 4> constants{};  // of decoys
};

// What a part of a record holds.
enum class Part {
  field,
  constant,
  random,
  record_number,
  layer_constant,   // any number, the same for a layer always
  layer_multiple,   // layer * step + base
  enqueued,         // time at which the layer was handed over
  execution_begin,  // time, equal for all layers of an execution
  stall,            // cycles below the total
  tag
};

struct Column {
  Part part = Part::constant;
  std::string name;  // of a field
  std::size_t width = 4;
  std::uint64_t a = 0, b = 0;  // numbers of the decoy
  std::size_t offset = 0;
};

struct Clock {
  std::string unit;
  std::size_t width = 8;
  double hertz = 1e9;
  bool from_boot = true;
  double zero_s = 0;  // of an own zero, in seconds since boot
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

Clock draw_clock(Dice& dice, const std::string& unit, std::uint64_t info_mhz, double core_mhz) {
  Clock clock;
  clock.unit = unit;
  if (unit == "us") {
    clock.hertz = 1e6;
    clock.scale = 1000;
  } else if (unit == "ticks") {
    std::vector<std::uint64_t> rates = {24'000'000, 25'000'000, 50'000'000, 100'000'000,
                                        12'000'000, 3'000'000,  19'200'000};
    // A counter of the core's own cycles.
    if (core_mhz == static_cast<double>(info_mhz)) rates.push_back(info_mhz * 1'000'000);
    const std::uint64_t rate = dice.one_of(rates);
    clock.hertz = static_cast<double>(rate);
    const std::uint64_t common = std::gcd(std::uint64_t{1'000'000'000}, rate);
    clock.scale = static_cast<std::int64_t>(1'000'000'000 / common);
    clock.divisor = static_cast<std::int64_t>(rate / common);
  }
  clock.width = dice.chance(0.6) ? 8 : 4;
  clock.from_boot = dice.chance(0.75);
  // 32 bits do not hold the time since boot of a fast clock.
  if (clock.width == 4 && clock.hertz > 3e6) clock.from_boot = false;
  return clock;
}

std::string header_of(Dice& dice, std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    const std::uint64_t word = dice.chance(0.4)   ? 0
                               : dice.chance(0.5) ? dice.number(1, 512)
                                                  : dice.bits();
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(word >> (8 * i));
  }
  bytes.resize(size);
  return bytes;
}

// Puts the columns one behind the other; false where they do not fit.
bool place(std::vector<Column>& columns, std::size_t record_size, bool aligned, Dice& dice) {
  dice.shuffle(columns);
  std::size_t at = 0;
  for (Column& column : columns) {
    const std::size_t step = aligned ? column.width : std::min<std::size_t>(column.width, 4);
    at = (at + step - 1) / step * step;
    column.offset = at;
    at += column.width;
  }
  return at <= record_size;
}

void place_all(std::vector<Column>& columns, std::size_t needed, std::size_t record_size,
               bool aligned, Dice& dice) {
  // The needed ones are first, the others go until the rest fits.
  std::vector<Column> rest(columns.begin() + static_cast<std::ptrdiff_t>(needed), columns.end());
  columns.resize(needed);
  while (true) {
    std::vector<Column> all = columns;
    all.insert(all.end(), rest.begin(), rest.end());
    for (int attempt = 0; attempt < 60; ++attempt) {
      if (!place(all, record_size, aligned, dice)) continue;
      columns = std::move(all);
      return;
    }
    if (rest.empty()) {
      aligned = false;
    } else {
      rest.pop_back();
    }
  }
}

Column decoy(Dice& dice, bool times) {
  Column column;
  column.width = dice.chance(0.7) ? 4 : 8;
  const std::vector<Part> kinds =
      times ? std::vector<Part>{Part::constant, Part::random, Part::record_number}
            : std::vector<Part>{Part::constant,      Part::constant,        Part::random,
                                Part::record_number, Part::layer_constant,  Part::layer_multiple,
                                Part::enqueued,      Part::execution_begin, Part::stall};
  column.part = dice.one_of(kinds);
  switch (column.part) {
    case Part::constant:
      column.a = dice.chance(0.4) ? dice.number(0, 9) : dice.bits();
      break;
    case Part::record_number:
      column.a = dice.chance(0.5) ? 0 : dice.number(1, 5000);
      break;
    case Part::layer_constant:
      column.a = dice.number(0, 3);
      break;
    case Part::layer_multiple:
      column.a = dice.chance(0.3) ? 1 : dice.number(2, 4096);
      column.b = dice.number(1, 100);
      break;
    default:
      break;
  }
  return column;
}

void draw_core_records(Dice& dice, Board& board) {
  board.header = dice.chance(0.5) ? 0 : 4 * dice.number(1, 20);
  board.header_bytes = header_of(dice, board.header);
  board.record_size = 4 * dice.number(8, 64);
  const std::size_t counter_width = dice.chance(0.5) && board.record_size > 40 ? 8 : 4;
  const auto field = [](const std::string& name, std::size_t width) {
    return Column{Part::field, name, width, 0, 0, 0};
  };
  std::vector<Column>& columns = board.columns;
  const std::size_t layer_width = dice.one_of<std::size_t>({4, 4, 4, 2, 8});
  columns.push_back(field("layer_id", board.record_size < 40 ? 4 : layer_width));
  if (board.record_size < 40 && board.several_types) board.core_clock.width = 4;
  columns.push_back(field("start", board.core_clock.width));
  columns.push_back(field("end", board.core_clock.width));
  columns.push_back(field("total_cycles", counter_width));
  if (board.several_types) {
    board.tag_width = dice.one_of<std::size_t>({4, 4, 2, 1});
    columns.push_back({Part::tag, "tag", board.tag_width, 0, 0, 0});
  }
  const std::size_t needed = columns.size();
  for (const char* unit : kUnits) {
    if (dice.chance(0.8)) columns.push_back(field(unit, counter_width));
  }
  const std::size_t bytes_width = dice.chance(0.5) ? 8 : 4;
  if (dice.chance(0.8)) columns.push_back(field("ddr_read", bytes_width));
  if (dice.chance(0.8)) columns.push_back(field("ddr_write", bytes_width));
  if (dice.chance(0.5)) columns.push_back(field("execution", dice.chance(0.5) ? 8 : 4));
  for (std::size_t i = dice.number(0, 6); i > 0; --i) columns.push_back(decoy(dice, false));
  std::vector<Column> rest(columns.begin() + static_cast<std::ptrdiff_t>(needed), columns.end());
  dice.shuffle(rest);
  std::copy(rest.begin(), rest.end(), columns.begin() + static_cast<std::ptrdiff_t>(needed));
  place_all(columns, needed, board.record_size, dice.chance(0.6), dice);
}

void draw_call_records(Dice& dice, Board& board) {
  board.call_header = dice.chance(0.7) ? 0 : 8 * dice.number(1, 4);
  board.call_header_bytes = header_of(dice, board.call_header);
  board.call_record_size = 8 * dice.number(3, 8);
  std::vector<Column>& columns = board.call_columns;
  columns.push_back({Part::field, "api_id", 4, 0, 0, 0});
  columns.push_back({Part::field, "start", board.call_clock.width, 0, 0, 0});
  columns.push_back({Part::field, "end", board.call_clock.width, 0, 0, 0});
  for (std::size_t i = dice.number(0, 3); i > 0; --i) columns.push_back(decoy(dice, true));
  place_all(columns, 3, board.call_record_size, true, dice);
  std::vector<std::uint64_t> ids;
  for (std::uint64_t id = 0; id < 16; ++id) ids.push_back(id);
  dice.shuffle(ids);
  board.load_id = ids[0];
  board.execute_id = ids[1];
  board.unload_id = ids[2];
  board.wait_id = dice.chance(0.3) ? ids[3] : ids[1];
}

Board draw_board(std::uint64_t seed, const GeneratorChoice& choice) {
  Dice dice(seed);
  Board board;
  board.info_mhz = dice.one_of<std::uint64_t>({400, 500, 600, 750, 800, 900, 1000, 1200});
  board.core_mhz = static_cast<double>(board.info_mhz);
  if (dice.chance(0.1)) board.core_mhz *= dice.one_of<double>({0.5, 0.6, 0.75, 0.8});
  std::string unit = dice.one_of<std::string>({"us", "ns", "ticks"});
  if (choice.time_unit) unit = *choice.time_unit;
  board.core_clock = draw_clock(dice, unit, board.info_mhz, board.core_mhz);
  board.call_clock =
      draw_clock(dice, dice.one_of<std::string>({"us", "ns"}), board.info_mhz, board.core_mhz);
  board.done_in_ns = dice.chance(0.3);
  board.text_layer_info = dice.chance(0.6);
  board.several_types = dice.chance(0.3);
  if (choice.several_types) board.several_types = *choice.several_types;
  board.has_execution_records = dice.chance(0.7);
  board.has_marks = !board.has_execution_records || dice.chance(0.3);
  board.execution_record_first = dice.chance(0.5);
  std::vector<std::uint64_t> tags;
  for (std::uint64_t tag = 0; tag < 8; ++tag) tags.push_back(dice.chance(0.5) ? tag : 160 + tag);
  dice.shuffle(tags);
  board.layer_tag = tags[0];
  board.execution_tag = tags[1];
  board.mark_tag = tags[2];
  board.padding = dice.one_of<std::uint8_t>({0, 0, 0, 0xff, 0xcc});
  board.garbage_in_others = dice.chance(0.3);
  board.exact_cycles = dice.chance(0.5);
  draw_core_records(dice, board);
  draw_call_records(dice, board);
  return board;
}

std::vector<GeneratedLayer> draw_layers(Dice& dice, std::size_t core_layers, bool text,
                                        double core_mhz) {
  std::vector<GeneratedLayer> layers;
  const bool has_gaps = text && dice.chance(0.3);
  const bool has_cpu = text && dice.chance(0.2);
  std::uint64_t id = text && dice.chance(0.2) ? dice.number(1, 5) : 0;
  std::size_t on_core = 0;
  while (on_core < core_layers) {
    GeneratedLayer layer;
    layer.kind = kLayerKinds[dice.number(0, kLayerKinds.size() - 1)];
    layer.on_cpu = has_cpu && !layers.empty() && dice.chance(0.1);
    layer.id = id++;
    if (has_gaps && dice.chance(0.3)) id += dice.number(1, 4);
    std::string word = layer.kind.type;
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return static_cast<char>(std::tolower(c)); });
    layer.name = word + "_" + std::to_string(layers.size());
    layer.cycles = dice.log_real(5, 5000) * core_mhz;
    layer.macs = layer.kind.has_mac ? static_cast<std::uint64_t>(layer.cycles * 512) : 0;
    layer.weight_bytes = layer.kind.has_weights ? 16 * dice.number(4, 100'000) : 0;
    layer.input_bytes = 16 * dice.number(16, 200'000);
    layer.output_bytes = 16 * dice.number(16, 200'000);
    const bool is_exact = dice.chance(0.7);
    layer.ddr_read = layer.weight_bytes + layer.input_bytes;
    layer.ddr_write = layer.output_bytes;
    if (!is_exact) layer.ddr_read += 16 * dice.number(1, layer.ddr_read / 64 + 1);
    const auto share = [&](bool used, double most) { return used ? dice.real(0.05, most) : 0.0; };
    layer.shares = {share(layer.kind.has_mac, 0.95),
                    0,
                    share(layer.kind.has_vec, 0.95),
                    0,
                    share(true, 0.6),
                    share(dice.chance(0.3), 0.3),
                    share(true, 0.7),
                    share(layer.kind.has_weights, 0.5)};
    layer.shares[1] = layer.shares[0] * dice.real(0.4, 0.98);
    layer.shares[3] = layer.shares[2] * dice.real(0.4, 0.98);
    for (auto& constant : layer.constants) constant = dice.bits() >> dice.number(8, 56);
    on_core += layer.on_cpu ? 0 : 1;
    layers.push_back(std::move(layer));
  }
  return layers;
}

void put(std::string& record, std::size_t offset, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) {
    record[offset + i] = static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  }
}

struct Execution {
  double begin_s = 0, end_s = 0;
};

// Values of one record.
struct Moment {
  const GeneratedLayer* layer = nullptr;
  std::uint64_t execution = 0, record_number = 0;
  double enqueued_s = 0, execution_begin_s = 0, start_s = 0, end_s = 0;
  std::uint64_t total = 0;
  std::array<std::uint64_t, 8> units{};
};

std::uint64_t value_of(const Column& column, const Moment& moment, const Clock& clock, Dice& dice,
                       std::uint64_t tag) {
  const GeneratedLayer& layer = *moment.layer;
  switch (column.part) {
    case Part::constant:
      return column.a;
    case Part::random:
      return dice.bits();
    case Part::record_number:
      return column.a + moment.record_number;
    case Part::layer_constant:
      return layer.constants[column.a];
    case Part::layer_multiple:
      return layer.id * column.a + column.b;
    case Part::enqueued:
      return clock.value(moment.enqueued_s);
    case Part::execution_begin:
      return clock.value(moment.execution_begin_s);
    case Part::stall:
      return moment.total == 0 ? 0 : dice.number(0, moment.total);
    case Part::tag:
      return tag;
    case Part::field:
      break;
  }
  if (column.name == "layer_id") return layer.id;
  if (column.name == "start") return clock.value(moment.start_s);
  if (column.name == "end") return clock.value(moment.end_s);
  if (column.name == "total_cycles") return moment.total;
  if (column.name == "ddr_read") return layer.ddr_read;
  if (column.name == "ddr_write") return layer.ddr_write;
  if (column.name == "execution") return moment.execution;
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (column.name == kUnits[i]) return moment.units[i];
  }
  return 0;
}

std::string record_of(const Board& board, const Moment& moment, Dice& dice) {
  std::string record(board.record_size, static_cast<char>(board.padding));
  for (const Column& column : board.columns) {
    put(record, column.offset, column.width,
        value_of(column, moment, board.core_clock, dice, board.layer_tag));
  }
  return record;
}

// A record of another type: its tag, a layer or execution, a time.
std::string other_record(const Board& board, const Moment& moment, Dice& dice, std::uint64_t tag) {
  std::string record(board.record_size, static_cast<char>(board.padding));
  if (board.garbage_in_others) {
    for (char& byte : record) byte = static_cast<char>(dice.bits());
  }
  for (const Column& column : board.columns) {
    const bool is_mark = tag == board.mark_tag;
    if (column.part == Part::tag) {
      put(record, column.offset, column.width, tag);
    } else if (column.name == "layer_id") {
      put(record, column.offset, column.width, is_mark ? moment.layer->id : moment.execution);
    } else if (column.name == "start") {
      put(record, column.offset, column.width, board.core_clock.value(moment.start_s));
    }
  }
  return record;
}

std::string core_file(const Board& board, const std::vector<GeneratedLayer>& layers,
                      std::size_t executions, double begin_s, Dice& dice,
                      std::vector<Execution>& spans) {
  std::string bytes = board.header_bytes;
  double now = begin_s;
  Moment moment;
  const double gap_s = dice.log_real(100e-6, 5e-3);
  const auto other = [&](std::uint64_t tag) {
    bytes += other_record(board, moment, dice, tag);
    ++moment.record_number;
  };
  for (std::size_t execution = 0; execution < executions; ++execution) {
    now += gap_s * dice.real(0.7, 1.3);
    Execution span;
    span.begin_s = now;
    now += dice.real(5e-6, 30e-6);
    moment.execution = execution;
    moment.execution_begin_s = span.begin_s;
    moment.layer = &layers.front();
    moment.start_s = now;
    const bool has_records = board.several_types && board.has_execution_records;
    if (has_records && board.execution_record_first) other(board.execution_tag);
    for (const GeneratedLayer& layer : layers) {
      if (layer.on_cpu) {
        now += dice.real(20e-6, 60e-6);
        continue;
      }
      moment.layer = &layer;
      moment.enqueued_s = now - dice.real(0, 4e-6);
      now += dice.real(0.2e-6, 1.5e-6);
      moment.start_s = now;
      if (board.several_types && board.has_marks) other(board.mark_tag);
      const double cycles = layer.cycles * dice.real(0.98, 1.02);
      const double lost = board.exact_cycles ? 0 : dice.real(0, 200);
      now += (cycles + lost) / (board.core_mhz * 1e6);
      moment.end_s = now;
      moment.total = static_cast<std::uint64_t>(cycles);
      for (std::size_t i = 0; i < kUnits.size(); ++i) {
        const double noise = layer.shares[i] == 0 ? 0 : dice.real(0.98, 1.0);
        moment.units[i] = static_cast<std::uint64_t>(cycles * layer.shares[i] * noise);
      }
      moment.units[1] = std::min(moment.units[1], moment.units[0]);
      moment.units[3] = std::min(moment.units[3], moment.units[2]);
      bytes += record_of(board, moment, dice);
      ++moment.record_number;
    }
    if (has_records && !board.execution_record_first) other(board.execution_tag);
    now += dice.real(5e-6, 30e-6);
    span.end_s = now;
    spans.push_back(span);
  }
  return bytes;
}

std::string call_file(const Board& board, const std::vector<Execution>& executions, Dice& dice) {
  std::string bytes = board.call_header_bytes;
  const GeneratedLayer none;
  Moment moment;
  moment.layer = &none;
  const auto call = [&](std::uint64_t id, double start_s, double end_s) {
    std::string record(board.call_record_size, static_cast<char>(board.padding));
    moment.start_s = start_s;
    moment.end_s = end_s;
    for (const Column& column : board.call_columns) {
      const std::uint64_t value =
          column.name == "api_id" ? id : value_of(column, moment, board.call_clock, dice, 0);
      put(record, column.offset, column.width, value);
    }
    bytes += record;
    ++moment.record_number;
  };
  const double first = executions.front().begin_s;
  call(board.load_id, first - dice.real(2e-3, 9e-3), first - 40e-6);
  for (const Execution& execution : executions) {
    const double end_s = execution.end_s + dice.real(1e-6, 9e-6);
    call(board.execute_id, execution.begin_s - dice.real(1e-6, 9e-6), end_s);
    if (board.wait_id != board.execute_id) call(board.wait_id, end_s + 1e-6, end_s + 3e-6);
  }
  const double last = executions.back().end_s;
  call(board.unload_id, last + 30e-6, last + dice.real(100e-6, 2e-3));
  return bytes;
}

std::string done_text(const Board& board, std::size_t size, double begin_s, double end_s,
                      bool is_core) {
  const double per_second = board.done_in_ns ? 1e9 : 1e6;
  std::ostringstream text;
  text << "file_len:" << size << "\nstart_time:" << static_cast<std::uint64_t>(begin_s * per_second)
       << "\nend_time:" << static_cast<std::uint64_t>(end_s * per_second) << "\n";
  text << (is_core ? "cache_hit:9000\ncache_mis:1000" : "pid:77\ntid:78");
  return text.str();
}

std::string layer_info_text(const std::vector<GeneratedLayer>& layers) {
  std::ostringstream text;
  text << "#msprof-layers 1\n";
  for (const GeneratedLayer& layer : layers) {
    text << layer.id << "\t0\t" << layer.kind.type << '\t' << (layer.on_cpu ? "AA_CPU" : "AA_CORE")
         << '\t' << layer.name << '\t' << layer.name << "\n";
  }
  return text.str();
}

// Texts with their lengths, between small numbers.
std::string layer_info_slice(const std::vector<GeneratedLayer>& layers) {
  std::string bytes;
  const auto add = [&bytes](std::string_view word) {
    bytes += static_cast<char>(word.size() & 0x1f);
    bytes.append(3, '\0');
    bytes += word;
    bytes.append(2, '\0');
  };
  for (const GeneratedLayer& layer : layers) {
    bytes += static_cast<char>(layer.id & 0x1f);
    add(layer.kind.type);
    add(layer.name);
    bytes.append({'\x01', '\x02', '\0', '\x7f'});
  }
  return bytes;
}

TrueLayout truth_of(const std::vector<Column>& columns, std::size_t header, std::size_t record_size,
                    const Clock& clock) {
  TrueLayout layout;
  layout.header_size = header;
  layout.record_size = record_size;
  for (const Column& column : columns) {
    if (column.part != Part::field) continue;
    TrueField field;
    field.name = column.name;
    field.offset = column.offset;
    field.type = "u" + std::to_string(column.width * 8);
    if (column.name == "start" || column.name == "end") {
      field.scale = clock.scale;
      field.divisor = clock.divisor;
    }
    layout.fields.push_back(field);
  }
  return layout;
}

std::string json_of(const TrueLayout& layout) {
  std::ostringstream text;
  text << "{\"header_size\": " << layout.header_size << ", \"record_size\": " << layout.record_size;
  if (layout.select) {
    text << ", \"select\": {\"offset\": " << layout.select->offset << ", \"type\": \""
         << layout.select->type << "\", \"value\": " << layout.select->value << "}";
  }
  text << ", \"fields\": {";
  const char* comma = "";
  for (const TrueField& field : layout.fields) {
    text << comma << "\"" << field.name << "\": {\"offset\": " << field.offset << ", \"type\": \""
         << field.type << "\"";
    if (field.scale != 1) text << ", \"scale\": " << field.scale;
    if (field.divisor != 1) text << ", \"divisor\": " << field.divisor;
    text << "}";
    comma = ", ";
  }
  text << "}}";
  return text.str();
}

std::string model_info_of(const std::vector<GeneratedLayer>& layers) {
  std::ostringstream text;
  text << "{\"layers\": [";
  const char* comma = "";
  for (const GeneratedLayer& layer : layers) {
    text << comma << "\n  {\"layer_id\": " << layer.id << ", \"name\": \"" << layer.name
         << "\", \"type\": \"" << layer.kind.type << "\", \"macs\": " << layer.macs
         << ", \"weight_bytes\": " << layer.weight_bytes
         << ", \"input_bytes\": " << layer.input_bytes
         << ", \"output_bytes\": " << layer.output_bytes << "}";
    comma = ",";
  }
  text << "]}\n";
  return text.str();
}

}  // namespace

const TrueField* TrueLayout::find(const std::string& name) const {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const TrueField& field) { return field.name == name; });
  return at == fields.end() ? nullptr : &*at;
}

GeneratedJob make_layout_job(const std::filesystem::path& folder, std::uint64_t board_seed,
                             std::uint64_t capture_seed, const GeneratorChoice& choice) {
  Board board = draw_board(board_seed, choice);
  Dice dice(board_seed * 1000 + capture_seed);
  GeneratedJob job;
  job.folder = folder;
  job.core_mhz = board.core_mhz;
  const bool is_usual = dice.chance(0.6);  // 20 executions of 10 layers
  const std::size_t drawn_executions = is_usual ? 20 : dice.number(1, 40);
  const std::size_t drawn_layers = is_usual ? 10 : dice.number(1, 40);
  job.executions = choice.executions.value_or(drawn_executions);
  job.layers = choice.layers.value_or(drawn_layers);
  job.is_cut = dice.chance(0.2);
  if (choice.cut) job.is_cut = *choice.cut;
  job.has_done = !job.is_cut || dice.chance(0.6);

  const double up_s = dice.log_real(60, 2000);
  for (Clock* clock : {&board.core_clock, &board.call_clock}) {
    clock->zero_s = up_s - dice.real(0.001, 0.3);
    // 32 bits must hold the run; ns do so for four seconds.
    if (clock->width == 4) clock->zero_s = up_s - 0.02;
  }
  // The layers are those of the board's model: its captures have the same.
  Dice model_dice(board_seed * 77 + 5 + job.layers);
  const auto layers = draw_layers(model_dice, job.layers, board.text_layer_info, board.core_mhz);
  std::vector<Execution> spans;
  std::string core = core_file(board, layers, job.executions, up_s, dice, spans);
  std::string calls = call_file(board, spans, dice);

  job.aicore = truth_of(board.columns, board.header, board.record_size, board.core_clock);
  if (board.several_types) {
    const auto tag = std::find_if(board.columns.begin(), board.columns.end(),
                                  [](const Column& column) { return column.part == Part::tag; });
    job.aicore.select =
        TrueSelect{tag->offset, "u" + std::to_string(tag->width * 8), board.layer_tag};
  }
  job.acl_api =
      truth_of(board.call_columns, board.call_header, board.call_record_size, board.call_clock);

  job.aicore_file = "data/aicore.0.net.1.1.1.0";
  job.acl_api_file = "data/acl_api.0.net.1";
  const std::size_t whole = core.size();
  if (job.is_cut) {
    core.resize(board.header + static_cast<std::size_t>(static_cast<double>(whole - board.header) *
                                                        dice.real(0.4, 0.99)));
  }
  const double begin_s = spans.front().begin_s - dice.real(10e-6, 500e-6);
  const double end_s = spans.back().end_s + dice.real(10e-6, 500e-6);
  write_file(folder / "info.json.0",
             "{\"DeviceInfo\": [{\"aic_frequency\": \"" + std::to_string(board.info_mhz) + "\"}]}");
  write_file(folder / "data" / "net.1.net.info",
             "#msprof-net 1\nmodel_name:net\nmodel_id:1\nbatch_num:1\n");
  write_file(folder / "data" / "net.1.layer.info",
             board.text_layer_info ? layer_info_text(layers) : layer_info_slice(layers));
  write_file(folder / job.aicore_file, core);
  if (job.has_done) {
    write_file(folder / (job.aicore_file + ".done"), done_text(board, whole, begin_s, end_s, true));
  }
  write_file(folder / job.acl_api_file, calls);
  write_file(folder / (job.acl_api_file + ".done"),
             done_text(board, calls.size(), spans.front().begin_s - 10e-3,
                       spans.back().end_s + 3e-3, false));
  job.truth_file = folder.string() + ".truth.json";
  job.model_info_file = folder.string() + ".model.json";
  write_file(job.truth_file, "{\"aicore\": " + json_of(job.aicore) +
                                 ",\n\"acl_api\": " + json_of(job.acl_api) + "}\n");
  write_file(job.model_info_file, model_info_of(layers));
  return job;
}

}  // namespace msprof::test
