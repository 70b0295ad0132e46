#include "support/layouts/layout_board.hpp"

#include <numeric>

namespace msprof::test::layouts {

namespace {

Clock draw_clock(Dice& dice, const std::string& unit, std::uint64_t info_mhz, double core_mhz) {
  Clock clock;
  clock.unit = unit;
  if (unit == "us") {
    clock.hertz = 1e6;
    clock.scale = 1000;
  } else if (unit == "ticks") {
    std::vector<std::uint64_t> rates = {24'000'000, 25'000'000, 50'000'000, 100'000'000,
                                        12'000'000, 3'000'000,  19'200'000};
    // Ticks may be the core's own cycles.
    if (core_mhz == static_cast<double>(info_mhz)) rates.push_back(info_mhz * 1'000'000);
    const std::uint64_t rate = dice.choose_one(rates);
    clock.hertz = static_cast<double>(rate);
    const std::uint64_t common = std::gcd(std::uint64_t{1'000'000'000}, rate);
    clock.scale = static_cast<std::int64_t>(1'000'000'000 / common);
    clock.divisor = static_cast<std::int64_t>(rate / common);
  }
  clock.width = dice.chance(0.6) ? 8 : 4;
  clock.from_boot = dice.chance(0.75);
  // 32 bits would overflow with time since boot of a fast clock.
  if (clock.width == 4 && clock.hertz > 3e6) clock.from_boot = false;
  return clock;
}

std::string make_header(Dice& dice, std::size_t size) {
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

// Places the columns one after the other; false if they do not fit.
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
  // Keeps the needed columns and drops others until the rest fits.
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
  const std::vector<ColumnContent> kinds =
      times ? std::vector<ColumnContent>{ColumnContent::constant, ColumnContent::random,
                                         ColumnContent::record_number}
            : std::vector<ColumnContent>{
                  ColumnContent::constant,       ColumnContent::constant,
                  ColumnContent::random,         ColumnContent::record_number,
                  ColumnContent::layer_constant, ColumnContent::layer_multiple,
                  ColumnContent::enqueued,       ColumnContent::execution_begin,
                  ColumnContent::stall};
  column.part = dice.choose_one(kinds);
  switch (column.part) {
    case ColumnContent::constant:
      column.a = dice.chance(0.4) ? dice.number(0, 9) : dice.bits();
      break;
    case ColumnContent::record_number:
      column.a = dice.chance(0.5) ? 0 : dice.number(1, 5000);
      break;
    case ColumnContent::layer_constant:
      column.a = dice.number(0, 3);
      break;
    case ColumnContent::layer_multiple:
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
  board.header_bytes = make_header(dice, board.header);
  board.record_size = 4 * dice.number(8, 64);
  const std::size_t counter_width = dice.chance(0.5) && board.record_size > 40 ? 8 : 4;
  const auto field = [](const std::string& name, std::size_t width) {
    return Column{ColumnContent::field, name, width, 0, 0, 0};
  };
  std::vector<Column>& columns = board.columns;
  const std::size_t layer_width = dice.choose_one<std::size_t>({4, 4, 4, 2, 8});
  columns.push_back(field("layer_id", board.record_size < 40 ? 4 : layer_width));
  if (board.record_size < 40 && board.several_types) board.core_clock.width = 4;
  columns.push_back(field("start", board.core_clock.width));
  columns.push_back(field("end", board.core_clock.width));
  columns.push_back(field("total_cycles", counter_width));
  if (board.several_types) {
    board.tag_width = dice.choose_one<std::size_t>({4, 4, 2, 1});
    columns.push_back({ColumnContent::tag, "tag", board.tag_width, 0, 0, 0});
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
  board.call_header_bytes = make_header(dice, board.call_header);
  board.call_record_size = 8 * dice.number(3, 8);
  std::vector<Column>& columns = board.call_columns;
  columns.push_back({ColumnContent::field, "api_id", 4, 0, 0, 0});
  columns.push_back({ColumnContent::field, "start", board.call_clock.width, 0, 0, 0});
  columns.push_back({ColumnContent::field, "end", board.call_clock.width, 0, 0, 0});
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

}  // namespace

Board draw_board(std::uint64_t seed, const GeneratorChoice& choice) {
  Dice dice(seed);
  Board board;
  board.info_mhz = dice.choose_one<std::uint64_t>({400, 500, 600, 750, 800, 900, 1000, 1200});
  board.core_mhz = static_cast<double>(board.info_mhz);
  if (dice.chance(0.1)) board.core_mhz *= dice.choose_one<double>({0.5, 0.6, 0.75, 0.8});
  std::string unit = dice.choose_one<std::string>({"us", "ns", "ticks"});
  if (choice.time_unit) unit = *choice.time_unit;
  board.core_clock = draw_clock(dice, unit, board.info_mhz, board.core_mhz);
  board.call_clock =
      draw_clock(dice, dice.choose_one<std::string>({"us", "ns"}), board.info_mhz, board.core_mhz);
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
  board.padding = dice.choose_one<std::uint8_t>({0, 0, 0, 0xff, 0xcc});
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

}  // namespace msprof::test::layouts
