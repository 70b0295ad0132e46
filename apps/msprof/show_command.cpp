// msprof show: prints the tables of a capture or cluster in the terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "analyze/capture_info.hpp"
#include "analyze/capture_list.hpp"
#include "analyze/overview.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "base/words.hpp"
#include "export/products.hpp"
#include "export/table/table_writers.hpp"
#include "msprof/cluster_show.hpp"
#include "msprof/cluster_store.hpp"
#include "msprof/json_values.hpp"
#include "msprof/pipeline.hpp"
#include "store/layout_origin.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

namespace {

using msprof::as_json;
using nlohmann::ordered_json;

struct ShowArguments {
  CaptureOptions capture;
  std::optional<long> top;
  std::string step;   // of --capture; empty: not given
  std::string table;  // the only table; empty: all that are shown
  std::optional<long> limit;
  std::optional<long> offset;
  bool json = false;
};

// Maximum rows of a table shown without --top, and maximum bytes of its cells: tables are kept in
// memory, and an untrusted store can have any number of rows.
constexpr std::size_t kMaxRows = 10'000;
constexpr std::size_t kMaxTableBytes = 8 << 20;

// Keeps the first rows of a table, or the hottest ones; in both cases also the last one if it is a
// total row ("-" instead of an id). Or keeps the rows of a window.
class ShownRows : public TableRows {
 public:
  // Thrown by row() after the window: no further rows are needed.
  struct WindowEnd {};

  // Keeps the first `most` rows.
  explicit ShownRows(std::size_t most = kMaxRows) : most_(most) {}
  // Keeps the rows with the largest numbers in the first of these columns that contains numbers.
  void sort_by(std::vector<std::size_t> heat_columns) { heat_columns_ = std::move(heat_columns); }

  // Skips the first `offset` rows, then keeps `most`.
  void set_window(std::uint64_t offset) {
    is_window_ = true;
    skipped_ = offset;
  }

  void row(std::span<const Cell> cells) override {
    if (is_window_) return add_to_window(cells);
    if (total_) add(std::move(*total_));
    total_.reset();
    Row row(cells, columns.size());
    ++count_;
    const Cell& first = row[0];
    if (first.form == CellForm::text && first.view() == "-") {
      total_ = std::move(row);
    } else {
      add(std::move(row));
    }
  }
  void end() override {
    if (is_window_) return;
    keep_most();
    if (total_) rows.push_back(std::move(*total_));
  }
  std::uint64_t count() const { return count_; }  // all rows, shown or not

 private:
  void add_to_window(std::span<const Cell> cells) {
    ++count_;
    if (count_ <= skipped_) return;
    if (rows.size() >= most_ || bytes_ >= kMaxTableBytes) throw WindowEnd();
    rows.emplace_back(cells, columns.size());
    bytes_ += rows.back().bytes();
  }
  void add(Row row) {
    bytes_ += row.bytes();
    rows.push_back(std::move(row));
    if (rows.size() / 2 >= most_ || bytes_ / 2 >= kMaxTableBytes) keep_most();
  }
  double heat(const Row& row) const {
    const auto known = std::find_if(heat_columns_.begin(), heat_columns_.end(),
                                    [&](std::size_t column) { return row[column].is_number(); });
    return known == heat_columns_.end() ? -1.0 : cell_number(row[*known]).value_or(0);
  }
  void keep_most() {
    if (!heat_columns_.empty()) {
      std::stable_sort(rows.begin(), rows.end(),
                       [&](const Row& a, const Row& b) { return heat(a) > heat(b); });
    }
    bytes_ = 0;
    std::size_t kept = 0;
    for (; kept < std::min(most_, rows.size()) && bytes_ < kMaxTableBytes; ++kept)
      bytes_ += rows[kept].bytes();
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end());
  }

  std::size_t most_;
  std::vector<std::size_t> heat_columns_;
  std::optional<Row> total_;  // the last row, if it is a total
  std::size_t bytes_ = 0;     // of `rows`
  std::uint64_t count_ = 0;
  bool is_window_ = false;
  std::uint64_t skipped_ = 0;
};

struct ShownTable {
  std::string name;
  std::string title;
  bool is_data = true;  // false for tables that only describe the capture
  ShownRows rows;
  std::uint64_t left_out = 0;    // rows omitted by the limits, not by --top
  std::optional<bool> is_cut{};  // of a window: there are more rows
};

struct TableSource {
  const SummaryTable* table = nullptr;
  OutputFile document;
};

// The rows to show of each table.
struct ShownPart {
  std::optional<long> top;
  std::optional<long> limit;
  std::optional<long> offset;

  bool is_window() const { return limit || offset; }
};

ShownTable make_shown(const Database& db, const TableSource& source, const ShownPart& part) {
  const SummaryTable& table = *source.table;
  // Tables that only describe the capture are not sorted by heat.
  const auto top = table.is_exported() ? part.top : std::nullopt;
  const auto most = static_cast<std::size_t>(part.limit.value_or(top.value_or(kMaxRows)));
  ShownTable shown{std::string(table.name()), std::string(table.info().title), table.is_exported(),
                   ShownRows(most)};
  if (top) shown.rows.sort_by(table.heat_columns());
  if (part.is_window()) shown.rows.set_window(static_cast<std::uint64_t>(part.offset.value_or(0)));
  shown.rows.begin(table.columns(db));
  RowBuilder rows(shown.rows);
  try {
    table.write(db, source.document, rows);
    if (part.is_window()) shown.is_cut = false;
  } catch (const ShownRows::WindowEnd&) {
    shown.is_cut = true;
  }
  shown.rows.end();
  if (part.is_window()) return shown;
  const std::uint64_t wanted =
      top ? std::min<std::uint64_t>(most, shown.rows.count()) : shown.rows.count();
  if (wanted > shown.rows.rows.size()) shown.left_out = shown.rows.count() - shown.rows.rows.size();
  return shown;
}

// Creates all tables in order. For a large store, uses two threads, each with its own connection.
std::vector<ShownTable> make_shown(const TraceDb& store, const std::vector<TableSource>& sources,
                                   const ShownPart& part) {
  constexpr std::uintmax_t kLarge = 16 << 20;
  std::vector<ShownTable> shown(sources.size());
  std::error_code ignored;
  const bool is_large = std::filesystem::file_size(store.path(), ignored) >= kLarge && !ignored;
  const auto second = is_large && sources.size() > 1 ? TraceDb::open(store.path()) : std::nullopt;
  in_parallel(sources.size(), second ? 2 : 1, [&](std::size_t at, std::size_t thread) {
    shown[at] = make_shown((thread == 0 ? store : *second).database(), sources[at], part);
  });
  return shown;
}

// Throws Error for a table that this capture does not have.
[[noreturn]] void refuse_table(const TraceDb& store, const std::string& name) {
  std::vector<std::string> all;
  std::vector<std::string> there;
  for (const auto& table : all_summary_tables()) all.emplace_back(table->name());
  for (const auto& table : summary_tables(store.database()))
    if (table->has_files(store.database())) there.emplace_back(table->name());
  if (std::find(all.begin(), all.end(), name) == all.end()) {
    throw Error(Exit::usage, fmt::format("--table: no table is named {}; this capture has: {}",
                                         printable(name), fmt::join(there, ", ")));
  }
  throw Error(Exit::nothing_to_do,
              fmt::format("this capture has no data for {}; it has: {}. `msprof doctor` explains "
                          "what is missing",
                          name, fmt::join(there, ", ")));
}

// Returns the tables of the selected step, of its model, or of the whole capture. `name`: only this
// table; empty: all that are shown.
std::vector<ShownTable> make_tables(const TraceDb& store, const StepInfo* step,
                                    const std::string& name, const ShownPart& part) {
  const Database& db = store.database();
  const auto tables = summary_tables(db);
  std::vector<TableSource> sources;
  for (const auto& table : tables) {
    if (name.empty() ? !table->info().is_shown : table->name() != name) continue;
    table->visit_files(db, [&](const OutputFile& document) {
      const bool other_step =
          document.step_id != kNull && (step == nullptr || document.step_id != step->step_id);
      const bool other_model =
          document.model_row != kNull && step != nullptr && document.model_row != step->model_row;
      if (!other_step && !other_model) sources.push_back({table.get(), document});
      return true;
    });
  }
  if (!name.empty() && sources.empty()) refuse_table(store, name);
  return make_shown(store, sources, part);
}

// Returns "0 to 3", or "0, 5, 10" if the numbers are not contiguous.
std::string numbers_text(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t kMaxNumbers = 20;
  const auto last = static_cast<std::int64_t>(numbers.size()) - 1;
  if (saturating_subtract(numbers.back(), numbers.front()) == last)
    return fmt::format("{} to {}", numbers.front(), numbers.back());
  const auto end = numbers.begin() + static_cast<long>(std::min(kMaxNumbers, numbers.size()));
  return fmt::format("{}{}", fmt::join(numbers.begin(), end, ", "),
                     end == numbers.end() ? "" : ", …");
}

// Returns the numbers that --capture accepts: "0 to 3", with several models "model 1: 0 to 3, model
// 2: 0 to 0".
std::string valid_captures(const std::vector<StepInfo>& steps) {
  constexpr std::size_t kMaxModels = 50;
  struct Captures {
    std::int64_t model_id;
    std::vector<std::int64_t> numbers;
  };
  std::map<std::int64_t, Captures> by_model;  // key: row of the model
  bool is_cut = false;
  for (const StepInfo& step : steps) {
    by_model.try_emplace(step.model_row, Captures{step.model_id.value_or(0), {}})
        .first->second.numbers.push_back(step.number);
    if (by_model.size() <= kMaxModels) continue;
    by_model.erase(std::prev(by_model.end()));
    is_cut = true;
  }
  std::string text;
  for (auto& [row, captures] : by_model) {
    std::sort(captures.numbers.begin(), captures.numbers.end());
    if (by_model.size() > 1)
      text += fmt::format("{}model {}: ", text.empty() ? "" : ", ", captures.model_id);
    text += numbers_text(captures.numbers);
  }
  return is_cut ? text + ", …" : text;
}

bool has_several_models(const std::vector<StepInfo>& steps) {
  return std::any_of(steps.begin(), steps.end(), [&](const StepInfo& step) {
    return step.model_row != steps.front().model_row;
  });
}

std::string step_line(const std::vector<StepInfo>& steps, std::size_t index, bool chosen) {
  const StepInfo& step = steps[index];
  std::string line;
  if (steps.size() > 1) {
    line = fmt::format("capture {} (of {}{}{}), ", step.number, valid_captures(steps),
                       chosen ? "" : "; the slowest, --capture ",
                       chosen                      ? ""
                       : has_several_models(steps) ? "MODEL_ID:N selects another"
                                                   : "N selects another");
  }
  line += fmt::format("model {}", printable(*step.model_name));
  const auto add = [&](const std::string& before, std::optional<std::int64_t> count,
                       std::string_view what) {
    if (count) line += before + counted(static_cast<std::uint64_t>(*count), what);
  };
  if (step.batch) line += fmt::format(", batch {}", *step.batch);
  add(", after ", step.current_pic_count, "picture");
  add(", ", step.execution_count, "execution");
  add(", ", step.task_count, "task");
  return line;
}

// Accepts "N", the number of a capture within its model, or "MODEL_ID:N". If several models have a
// capture N, the slowest is chosen.
std::size_t choose_step(const std::vector<StepInfo>& steps, const std::string& wanted) {
  if (wanted.empty()) return slowest(steps);
  const auto colon = wanted.find(':');
  const auto number = parse_i64(wanted.substr(colon == std::string::npos ? 0 : colon + 1));
  const auto model = colon == std::string::npos ? std::nullopt : parse_i64(wanted.substr(0, colon));
  std::vector<StepInfo> found;
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_of_model = colon == std::string::npos || (model && steps[i].model_id == model);
    if (!number || steps[i].number != *number || !is_of_model) continue;
    found.push_back(steps[i]);
    indexes.push_back(i);
  }
  if (found.empty()) {
    throw Error(Exit::usage,
                fmt::format("no capture {}; valid: {}", printable(wanted), valid_captures(steps)));
  }
  return indexes[slowest(found)];
}

constexpr std::size_t kMaxCapturesShown = 20;

void print_captures(const std::vector<StepInfo>& steps) {
  if (steps.size() < 2) return;
  TextTable table({"Capture", "Model ID", "Model", "Batch", "After Pictures", "Executions",
                   "Time per Execution(us)"},
                  {true, true, false, true, true, true, true});
  RowBuilder row(table);
  for (std::size_t i = 0; i < std::min(kMaxCapturesShown, steps.size()); ++i) {
    const StepInfo& step = steps[i];
    row.number(step.number);
    row.number_or_missing(step.model_id);
    row.text(printable(*step.model_name));
    row.number_or_missing(step.batch);
    row.number_or_missing(step.current_pic_count);
    row.number_or_missing(step.execution_count);
    const auto ns = step.ns_per_execution();
    row.number_or_missing(ns ? std::optional(fmt::format("{:.3f}", *ns / 1000)) : std::nullopt);
    row.end_row();
  }
  fmt::print("\nCaptures\n{}", table.for_terminal(STDOUT_FILENO));
  if (steps.size() > kMaxCapturesShown)
    fmt::print("and {} more: msprof query \"SELECT * FROM v_steps\"\n",
               steps.size() - kMaxCapturesShown);
}

// Returns the first kMaxRows captures.
ordered_json captures_json(const std::vector<StepInfo>& steps) {
  ordered_json all = ordered_json::array();
  for (const StepInfo& step : std::span(steps).first(std::min(kMaxRows, steps.size()))) {
    all.push_back({{"number", step.number},
                   {"model_id", as_json(step.model_id)},
                   {"model", valid_utf8(*step.model_name)},
                   {"batch", as_json(step.batch)},
                   {"pictures_before", as_json(step.current_pic_count)},
                   {"executions", as_json(step.execution_count)}});
  }
  return all;
}

void print_tables(const std::vector<ShownTable>& tables) {
  for (const ShownTable& table : tables) {
    TextTable text;
    table.rows.write(text);
    fmt::print("\n{}\n{}", table.title, text.for_terminal(STDOUT_FILENO));
    if (table.left_out > 0)
      fmt::print("and {} more: msprof query \"SELECT * FROM {}\" --format csv\n", table.left_out,
                 table.name);
    if (table.is_cut.value_or(false)) fmt::print("more rows follow; --offset skips rows\n");
  }
}

ordered_json as_json(const ShownTable& table) {
  ordered_json rows = ordered_json::array();
  for (const auto& row : table.rows.rows) {
    ordered_json object = ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      object[table.rows.columns[i]] = as_json(row[i]);
    }
    rows.push_back(std::move(object));
  }
  ordered_json one = {{"name", table.name},
                      {"title", table.title},
                      {"columns", table.rows.columns},
                      {"rows", std::move(rows)}};
  if (table.left_out > 0) one["left_out"] = table.left_out;
  if (table.is_cut) one["is_cut"] = *table.is_cut;
  return one;
}

// Returns known facts about files whose records could not be read: "layer.info
// (data/net.1.layer.info): 10 layers".
std::vector<std::array<std::string, 3>> known_facts(const Database& db) {
  std::vector<std::array<std::string, 3>> facts;
  Statement read = db.prepare(
      "SELECT ifnull(kind, ''), ifnull(file, ''), ifnull(detail, '') FROM import_log"
      " WHERE id = 'known_facts' ORDER BY file LIMIT 200");
  while (read.step()) {
    facts.push_back(
        {std::string(read.text(0)), std::string(read.text(1)), std::string(read.text(2))});
  }
  return facts;
}

Exit show_one(const ShowArguments& arguments, const ChosenCapture& capture,
              ordered_json& document) {
  const ReadyStore ready = ready_store(capture);
  const UnitLoads unit_loads = read_unit_loads(ready.db.database());
  const std::string layout = ready.db.meta(meta::kLayoutFile);
  const auto run = read_run_record(capture.folder);
  const LayoutOrigin layout_origin = read_layout_origin(ready.db.database());
  const auto steps = steps_with_tasks(ready.db.database());
  const std::size_t index = steps.empty() ? 0 : choose_step(steps, arguments.step);
  const StepInfo* step = steps.empty() ? nullptr : &steps[index];
  const auto tables = make_tables(ready.db, step, arguments.table,
                                  {arguments.top, arguments.limit, arguments.offset});
  const bool empty = std::none_of(tables.begin(), tables.end(),
                                  [](const ShownTable& table) { return table.is_data; }) &&
                     !has_any_product(ready.db.database());
  const auto overview = step == nullptr ? read_overview(ready.db.database()) : std::nullopt;
  std::string line = overview ? overview_line(*overview) : "no layer records";
  if (step != nullptr) line = step_line(steps, index, !arguments.step.empty());
  const auto facts = known_facts(ready.db.database());
  if (arguments.json) {
    ordered_json shown = ordered_json::array();
    for (const ShownTable& table : tables) shown.push_back(as_json(table));
    ordered_json one = {{"folder", valid_utf8(capture.folder.string())},
                        {"verdict", valid_utf8(ready.verdict)},
                        {"unit_loads", unit_loads_name(unit_loads)},
                        {"layout", nullptr},
                        {"run", nullptr},
                        {"layout_origin", layout_origin_name(layout_origin)},
                        {"capture", nullptr},
                        {"tables", std::move(shown)}};
    if (!layout.empty()) one["layout"] = valid_utf8(layout);
    if (run) one["run"] = run_json(*run);
    if (step != nullptr) {
      one["capture"] = {{"number", step->number},
                        {"count", steps.size()},
                        {"model_id", as_json(step->model_id)},
                        {"model", valid_utf8(*step->model_name)},
                        {"batch", as_json(step->batch)},
                        {"pictures_before", as_json(step->current_pic_count)},
                        {"executions", as_json(step->execution_count)},
                        {"task_count", step->task_count}};
      one["capture_list"] = captures_json(steps);
    }
    for (const auto& [kind, file, detail] : facts) {
      one["known"].push_back(
          {{"kind", valid_utf8(kind)}, {"file", valid_utf8(file)}, {"facts", valid_utf8(detail)}});
    }
    if (overview) {
      one["chip"] = valid_utf8(overview->chip);
      one["devices"] = overview->devices;
      one["tasks"] = overview->tasks;
    }
    document["captures"].push_back(std::move(one));
  } else {
    fmt::print("{}\n", printable(capture.folder.string()));
    if (run) fmt::print("{}\n", run_line(*run));
    fmt::print("{}\n", line);
    if (ready.exit != Exit::ok) fmt::print("PARTIAL DATA: `msprof import` lists what is missing\n");
    if (unit_loads == UnitLoads::modelled) fmt::print("{}\n", kModelledNote);
    if (!layout.empty()) fmt::print("records read with the layout {}\n", printable(layout));
    if (layout_origin == LayoutOrigin::inferred) fmt::print("{}\n", kInferredNote);
    for (const auto& [kind, file, detail] : facts)
      fmt::print("{} ({}): {}\n", printable(kind), printable(file), printable(detail));
    print_captures(steps);
    print_tables(tables);
  }
  if (!empty) return ready.exit;
  log::warn("{} has no profile data", capture.folder.string());
  return gravest(ready.exit, Exit::nothing_to_do);
}

// Rows per table of a cluster.
constexpr long kClusterRows = 10;

void check_rows(const ShowArguments& arguments) {
  if (arguments.top && *arguments.top < 1)
    throw Error(Exit::usage, fmt::format("--top: expected a number >= 1, got {}", *arguments.top));
  check_row_window(arguments.limit, arguments.offset);
  const bool is_window = arguments.limit || arguments.offset;
  if (is_window && arguments.table.empty())
    throw Error(Exit::usage, "--limit and --offset need --table NAME");
  if (is_window && arguments.top)
    throw Error(Exit::usage, "--top sorts the table: it cannot be used with --limit or --offset");
}

Exit run_show(const ShowArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  check_rows(arguments);
  ordered_json document = {{"schema", "msprof.show/2"}, {"captures", ordered_json::array()}};
  const auto clusters = find_cluster_dbs(arguments.capture.dirs);
  const auto work = [&] {
    if (!clusters.empty()) {
      if (!arguments.step.empty())
        throw Error(Exit::usage, "--capture works only with runs of JOB… captures");
      if (!arguments.table.empty())
        throw Error(Exit::usage, "--table works only with captures; use query for a cluster");
      const auto top = static_cast<std::size_t>(arguments.top.value_or(kClusterRows));
      return show_clusters(clusters, top, arguments.json, document);
    }
    return for_each_capture(
        choose_captures(arguments.capture),
        [&](const ChosenCapture& capture) { return show_one(arguments, capture, document); },
        &document["captures"]);
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace

void add_show_command(cli::Command& root) {
  auto arguments = std::make_shared<ShowArguments>();
  cli::Command& command = root.add_command(
      "show",
      "Print the tables of a capture. JOB…: core metrics of every layer, operator statistic, ACL "
      "statistic, frequency; the slowest of several captures. PROF…: operator and API statistic, "
      "steps, communication, devices. cluster.db: ranks, steps, operators, collectives. Imports "
      "first if needed.");
  command.set_examples(
      "  msprof show                       the newest capture in this folder\n"
      "  msprof show -dir JOBXXX --top 10  the ten hottest layers\n"
      "  msprof show -dir PROF_XXX         where the time went on an Atlas machine\n"
      "  msprof show -dir cluster.db       many ranks: steps, operators, collectives\n"
      "  msprof show -dir JOBXXX --json    for scripts");
  add_capture_options(command, arguments->capture);
  command.add_option({"--top", &arguments->top, "N", "only the N hottest rows of each table"});
  cli::Option table = {"--table", &arguments->table, "NAME",
                       "only this table of `export summary`, such as op_summary"};
  table.suggestions = [] {
    std::vector<cli::Suggestion> words;
    for (const auto& one : all_summary_tables())
      words.push_back({std::string(one->name()), std::string(one->info().help)});
    return words;
  };
  command.add_option(std::move(table));
  command.add_option({"--limit", &arguments->limit, "N", "with --table: at most N rows, in order"});
  command.add_option({"--offset", &arguments->offset, "N", "with --table: skip the first N rows"});
  command.add_option({"--capture", &arguments->step, "N",
                      "capture within the run: N or MODEL_ID:N, as in query and in file names"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_show(*arguments); });
}

}  // namespace msprof
