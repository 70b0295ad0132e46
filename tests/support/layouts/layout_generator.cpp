#include "support/layouts/layout_generator.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <sstream>

#include "support/files.hpp"
#include "support/layouts/layout_board.hpp"

namespace msprof::test {

using namespace layouts;

namespace {

void put(std::string& record, std::size_t offset, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) {
    record[offset + i] = static_cast<char>(i < 8 ? value >> (8 * i) : 0);
  }
}

struct Execution {
  double begin_s = 0, end_s = 0;
};

struct Moment {
  const GeneratedLayer* layer = nullptr;
  std::uint64_t execution = 0, record_number = 0;
  double enqueued_s = 0, execution_begin_s = 0, start_s = 0, end_s = 0;
  std::uint64_t total = 0;
  std::array<std::uint64_t, 8> units{};
};

std::uint64_t column_value(const Column& column, const Moment& moment, const Clock& clock,
                           Dice& dice, std::uint64_t tag) {
  const GeneratedLayer& layer = *moment.layer;
  switch (column.part) {
    case ColumnContent::constant:
      return column.a;
    case ColumnContent::random:
      return dice.bits();
    case ColumnContent::record_number:
      return column.a + moment.record_number;
    case ColumnContent::layer_constant:
      return layer.constants[column.a];
    case ColumnContent::layer_multiple:
      return layer.id * column.a + column.b;
    case ColumnContent::enqueued:
      return clock.value(moment.enqueued_s);
    case ColumnContent::execution_begin:
      return clock.value(moment.execution_begin_s);
    case ColumnContent::stall:
      return moment.total == 0 ? 0 : dice.number(0, moment.total);
    case ColumnContent::tag:
      return tag;
    case ColumnContent::field:
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

std::string make_record(const Board& board, const Moment& moment, Dice& dice) {
  std::string record(board.record_size, static_cast<char>(board.padding));
  for (const Column& column : board.columns) {
    put(record, column.offset, column.width,
        column_value(column, moment, board.core_clock, dice, board.layer_tag));
  }
  return record;
}

// A record of another type: its tag, a layer or execution, and a time.
std::string other_record(const Board& board, const Moment& moment, Dice& dice, std::uint64_t tag) {
  std::string record(board.record_size, static_cast<char>(board.padding));
  if (board.garbage_in_others) {
    for (char& byte : record) byte = static_cast<char>(dice.bits());
  }
  for (const Column& column : board.columns) {
    const bool is_mark = tag == board.mark_tag;
    if (column.part == ColumnContent::tag) {
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
      bytes += make_record(board, moment, dice);
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
          column.name == "api_id" ? id : column_value(column, moment, board.call_clock, dice, 0);
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

std::string board_done_text(const Board& board, std::size_t size, double begin_s, double end_s,
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

// Length-prefixed texts between small numbers.
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

TrueLayout make_truth(const std::vector<Column>& columns, std::size_t header,
                      std::size_t record_size, const Clock& clock) {
  TrueLayout layout;
  layout.header_size = header;
  layout.record_size = record_size;
  for (const Column& column : columns) {
    if (column.part != ColumnContent::field) continue;
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

std::string as_json(const TrueLayout& layout) {
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

std::string model_info_json(const std::vector<GeneratedLayer>& layers) {
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
    // 32 bits must hold the whole run; in ns they hold four seconds.
    if (clock->width == 4) clock->zero_s = up_s - 0.02;
  }
  // All captures of a board have the same model.
  Dice model_dice(board_seed * 77 + 5 + job.layers);
  const auto layers = draw_layers(model_dice, job.layers, board.text_layer_info, board.core_mhz);
  std::vector<Execution> spans;
  std::string core = core_file(board, layers, job.executions, up_s, dice, spans);
  std::string calls = call_file(board, spans, dice);

  job.aicore = make_truth(board.columns, board.header, board.record_size, board.core_clock);
  if (board.several_types) {
    const auto tag =
        std::find_if(board.columns.begin(), board.columns.end(),
                     [](const Column& column) { return column.part == ColumnContent::tag; });
    job.aicore.select =
        TrueSelect{tag->offset, "u" + std::to_string(tag->width * 8), board.layer_tag};
  }
  job.acl_api =
      make_truth(board.call_columns, board.call_header, board.call_record_size, board.call_clock);

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
    write_file(folder / (job.aicore_file + ".done"),
               board_done_text(board, whole, begin_s, end_s, true));
  }
  write_file(folder / job.acl_api_file, calls);
  write_file(folder / (job.acl_api_file + ".done"),
             board_done_text(board, calls.size(), spans.front().begin_s - 10e-3,
                             spans.back().end_s + 3e-3, false));
  job.truth_file = folder.string() + ".truth.json";
  job.model_info_file = folder.string() + ".model.json";
  write_file(job.truth_file, "{\"aicore\": " + as_json(job.aicore) +
                                 ",\n\"acl_api\": " + as_json(job.acl_api) + "}\n");
  write_file(job.model_info_file, model_info_json(layers));
  return job;
}

}  // namespace msprof::test
