// msprof query: describes captures, and runs SQL queries on them.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "analyze/capture_info.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "base/time_text.hpp"
#include "base/words.hpp"
#include "export/products.hpp"
#include "export/table/table_writers.hpp"
#include "msprof/cluster_info.hpp"
#include "msprof/cluster_store.hpp"
#include "msprof/json_values.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/query_sql.hpp"
#include "query/cluster_views.hpp"
#include "query/views.hpp"
#include "session/run_record.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

using msprof::as_json;
using nlohmann::ordered_json;

std::string capture_name(const ChosenCapture& capture) {
  return std::filesystem::weakly_canonical(capture.folder).filename().string();
}

ordered_json as_json(const ProductLists& products) {
  return {{"with_data", products.with_data}, {"without_data", products.without_data}};
}

ordered_json as_json(const std::vector<DeviceInfo>& devices) {
  ordered_json all = ordered_json::array();
  for (const DeviceInfo& device : devices) {
    all.push_back({{"id", device.id},
                   {"chip", as_json(device.chip)},
                   {"frequency_hz", as_json(device.frequency_hz)},
                   {"cores", as_json(device.core_count)},
                   {"vector_cores", as_json(device.vector_core_count)},
                   {"tasks", device.task_count}});
  }
  return all;
}

ordered_json as_json(const std::vector<RankInfo>& ranks) {
  ordered_json all = ordered_json::array();
  for (const RankInfo& rank : ranks) {
    all.push_back({{"group", as_json(rank.group)},
                   {"rank", as_json(rank.rank)},
                   {"rank_count", as_json(rank.rank_count)}});
  }
  return all;
}

ordered_json as_json(const std::vector<ModelInfo>& models) {
  ordered_json all = ordered_json::array();
  for (const ModelInfo& model : models) {
    all.push_back(
        {{"id", as_json(model.id)}, {"name", as_json(model.name)}, {"tasks", model.task_count}});
  }
  return all;
}

ordered_json as_json(const std::vector<IterationInfo>& iterations) {
  ordered_json all = ordered_json::array();
  for (const IterationInfo& of : iterations) {
    all.push_back({{"device", as_json(of.device_id)},
                   {"model", as_json(of.model_id)},
                   {"model_name", as_json(of.model_name)},
                   {"first", of.first},
                   {"last", of.last},
                   {"count", of.count},
                   {"mean_ns", as_json(of.mean_ns)}});
  }
  return all;
}

ordered_json as_json(const ChosenCapture& capture, const CaptureInfo& info,
                     const ReadyStore& ready) {
  ordered_json one = {
      {"folder", valid_utf8(capture.folder.string())},
      {"name", valid_utf8(capture_name(capture))},
      {"dialect", as_json(info.dialect)},
      {"chip", as_json(info.chip)},
      {"begin_ns", as_json(info.begin_ns)},
      {"begin_utc", info.begin_ns ? as_json(utc_text(*info.begin_ns)) : ordered_json()},
      {"duration_ns", as_json(info.duration_ns)},
      {"verdict", as_json(ready.verdict)},
      {"unit_loads", unit_loads_name(info.unit_loads)},
      {"layout_origin", layout_origin_name(info.layout_origin)},
      {"host_rank", as_json(info.host_rank)},
      {"devices", as_json(info.devices)},
      {"ranks", as_json(info.ranks)},
      {"models", as_json(info.models)}};
  one[info.has_steps ? "steps" : "iterations"] = as_json(info.iterations);
  one["products"] = {{"summaries", as_json(info.summaries)},
                     {"timelines", as_json(info.timelines)},
                     {"db", info.has_db}};
  return one;
}

void print_listing(std::string_view title, const TextTable& table) {
  if (table.row_count() > 0) fmt::print("\n{}\n{}", title, table.for_terminal(STDOUT_FILENO));
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::optional<std::string> fraction(std::optional<std::int64_t> number, std::int64_t unit,
                                    int decimals) {
  if (!number) return std::nullopt;
  return fixed(*number, unit, decimals);
}

void print_head(const ChosenCapture& capture, const CaptureInfo& info, const ReadyStore& ready) {
  const std::string begin =
      info.begin_ns ? local_time_text(*info.begin_ns, TimePrecision::milliseconds) : "";
  fmt::print("{}\n", printable(capture_name(capture)));
  fmt::print("dialect    {}\n", printable(or_dash(info.dialect)));
  fmt::print("chip       {}\n", printable(or_dash(info.chip)));
  fmt::print("collected  {}{}\n", begin.empty() ? "at an unknown time" : begin,
             info.duration_ns
                 ? fmt::format(", for {} s", fixed(*info.duration_ns, 1'000'000'000, 3))
                 : "");
  fmt::print("verdict    {}\n", ready.exit == Exit::ok
                                    ? printable(ready.verdict_text)
                                    : "PARTIAL DATA: `msprof import` lists what is missing");
  if (info.unit_loads == UnitLoads::modelled) fmt::print("source     {}\n", kModelledNote);
  if (info.layout_origin == LayoutOrigin::inferred) fmt::print("layout     {}\n", kInferredNote);
  if (info.host_rank) fmt::print("rank       {}\n", *info.host_rank);
}

void print_devices(const CaptureInfo& info) {
  TextTable table({"Device", "Chip", "Frequency(MHz)", "AI Cores", "Vector Cores", "Tasks"},
                  {true, false, true, true, true, true});
  RowBuilder row(table);
  for (const DeviceInfo& device : info.devices) {
    row.number(device.id);
    row.text(or_dash(device.chip));
    row.number_or_missing(fraction(device.frequency_hz, 1'000'000, 0));
    row.number_or_missing(device.core_count);
    row.number_or_missing(device.vector_core_count);
    row.number(device.task_count);
    row.end_row();
  }
  print_listing("Devices", table);
}

void print_ranks(const CaptureInfo& info) {
  TextTable table({"Group", "Rank", "Ranks"}, {false, true, true});
  RowBuilder row(table);
  for (const RankInfo& rank : info.ranks) {
    row.text(or_dash(rank.group));
    row.number_or_missing(rank.rank);
    row.number_or_missing(rank.rank_count);
    row.end_row();
  }
  print_listing("Ranks", table);
}

void print_models(const CaptureInfo& info) {
  TextTable table({"Model ID", "Name", "Tasks"}, {true, false, true});
  RowBuilder row(table);
  for (const ModelInfo& model : info.models) {
    row.number_or_missing(model.id);
    row.text(or_dash(model.name));
    row.number(model.task_count);
    row.end_row();
  }
  print_listing("Models", table);
}

void print_iterations(const CaptureInfo& info) {
  TextTable table({"Device", "Model ID", "Name", "First", "Last", "Count", "Mean Time(us)"},
                  {true, true, false, true, true, true, true});
  RowBuilder row(table);
  for (const IterationInfo& of : info.iterations) {
    row.number_or_missing(of.device_id);
    row.number_or_missing(of.model_id);
    row.text(or_dash(of.model_name));
    row.number(of.first);
    row.number(of.last);
    row.number(of.count);
    row.number_or_missing(fraction(of.mean_ns, 1000, 3));
    row.end_row();
  }
  print_listing(info.has_steps ? "Steps" : "Iterations", table);
}

void print_products(std::string_view verb, const ProductLists& products) {
  fmt::print("{:<18} {}\n", verb,
             products.with_data.empty() ? "nothing"
                                        : fmt::format("{}", fmt::join(products.with_data, ", ")));
  if (!products.without_data.empty())
    fmt::print("{:<18} no data for {}\n", "", fmt::join(products.without_data, ", "));
}

void print_text(const ChosenCapture& capture, const CaptureInfo& info, const ReadyStore& ready) {
  print_head(capture, info, ready);
  print_devices(info);
  print_ranks(info);
  print_models(info);
  print_iterations(info);
  fmt::print("\nProducts\n");
  print_products("export summary", info.summaries);
  print_products("export timeline", info.timelines);
  fmt::print("{:<18} {}\n", "export db",
             info.has_db ? "msprof_*.db" : "not of this kind of capture");
}

// Boards record no time of day; run.json contains it.
void take_run_time(const std::filesystem::path& folder, CaptureInfo& info) {
  const auto run = read_run_record(folder);
  if (!run || run->begin_ns <= 0) return;
  info.begin_ns = run->begin_ns;
  if (!info.duration_ns && run->seconds > 0)
    info.duration_ns = static_cast<std::int64_t>(run->seconds * 1e9);
}

Exit print_one(const QueryArguments& arguments, const ChosenCapture& capture,
               ordered_json& document) {
  const ReadyStore ready = ready_store(capture);
  CaptureInfo info = capture_info(ready.db.database());
  if (!info.begin_ns) take_run_time(capture.folder, info);
  if (arguments.json) {
    document["captures"].push_back(as_json(capture, info, ready));
  } else {
    print_text(capture, info, ready);
  }
  return ready.exit;
}

Exit print_cluster(const QueryArguments& arguments, const std::filesystem::path& path,
                   ordered_json& document) {
  if (!arguments.json) return print_cluster_info(path, nullptr);
  ordered_json one;
  const Exit exit = print_cluster_info(path, &one);
  document["captures"].push_back(std::move(one));
  return exit;
}

Exit print_info(const QueryArguments& arguments) {
  ordered_json document = {{"schema", "msprof.query/2"}, {"captures", ordered_json::array()}};
  bool is_first = true;
  const auto work = [&] {
    const ChosenInputs chosen = choose_inputs(arguments.capture);
    return for_each_capture(
        chosen.inputs,
        [&](const ChosenCapture& capture) {
          if (!arguments.json && !is_first) fmt::print("\n");
          is_first = false;
          return chosen.are_clusters ? print_cluster(arguments, capture.folder, document)
                                     : print_one(arguments, capture, document);
        },
        &document["captures"]);
  };
  return arguments.json ? print_document(document, work) : work();
}

constexpr std::string_view kAboutViews =
    "Views: stable names and units, for JOB… and PROF… alike; NULL means unknown.";
constexpr std::string_view kAboutClusters =
    "Views of a cluster, the file written by `msprof merge` or `msprof cluster`; NULL means "
    "unknown.";
constexpr std::string_view kOfClusters =
    "`msprof query --schema -dir cluster.db` lists the views of a cluster.";
constexpr std::string_view kAboutProducts =
    "Summary tables of `export summary`, computed when the SQL names them. Columns are the file's "
    "headers in\n"
    "lower case without units: \"Task Duration(us)\" is task_duration. N/A is NULL; total rows "
    "are\n"
    "omitted. For JOB… captures, the columns model_id and step identify the model's capture of a "
    "row.\n"
    "`SELECT * FROM op_summary LIMIT 1` shows the columns that a capture has.";
constexpr std::string_view kAboutTables =
    "Tables of the store. They can change between msprof versions; the views do not. If a summary "
    "table\n"
    "has the same name, use main.NAME. Texts are ids into `name`, times are in ns.";

struct ProductHelp {
  std::string name;
  std::string help;
};

// A name used by both kinds of captures is listed once, with both help texts.
std::vector<ProductHelp> products() {
  std::vector<ProductHelp> all;
  for (const auto& table : all_summary_tables()) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const ProductHelp& product) {
      return product.name == table->name();
    });
    if (same == all.end()) {
      all.push_back({std::string(table->name()), std::string(table->info().help)});
    } else if (same->help != table->info().help) {
      same->help += fmt::format("; {}", table->info().help);
    }
  }
  return all;
}

// Returns the column name: "id" for "id INTEGER PRIMARY KEY".
std::string column_name(const std::string& declaration) {
  return declaration.substr(0, declaration.find(' '));
}

void print_views(const std::vector<View>& all) {
  for (const View& view : all) {
    std::size_t width = 16;
    for (const ViewColumn& column : view.columns) width = std::max(width, column.name.size());
    fmt::print("\n{}: {}\n", view.name, view.help);
    for (const ViewColumn& column : view.columns)
      fmt::print("  {:<{}} {:<6} {}\n", column.name, width, column.unit, column.help);
  }
}

void print_text(bool of_cluster) {
  if (of_cluster) {
    fmt::print("{}\n", kAboutClusters);
    return print_views(cluster_views());
  }
  fmt::print("{}\n", kAboutViews);
  print_views(views());
  fmt::print("\n{}\n", kOfClusters);
  fmt::print("\n{}\n\n", kAboutProducts);
  for (const ProductHelp& product : products())
    fmt::print("  {:<24} {}\n", product.name, product.help);
  fmt::print("\n{}\n\n", kAboutTables);
  for (const StoreTable& table : store_tables()) {
    std::string line = "  " + table.name + ":";
    for (const std::string& declaration : table.columns) {
      const std::string column = column_name(declaration);
      if (line.size() + column.size() > 98) {
        fmt::print("{}\n", line);
        line = "     ";
      }
      line += " " + column;
    }
    fmt::print("{}\n", line);
  }
}

void write_row(RowBuilder& out, std::initializer_list<std::string_view> cells) {
  for (const std::string_view cell : cells) out.text(cell);
  out.end_row();
}

void print_csv(bool of_cluster, bool excel) {
  StdoutOutput out(DocumentForm::plain);
  CsvWriter csv(out);
  if (excel) csv.write_for_excel();
  csv.begin(std::vector<std::string>{"kind", "table", "column", "unit", "help"});
  RowBuilder rows(csv);
  for (const View& view : of_cluster ? cluster_views() : views()) {
    write_row(rows, {"view", view.name, "", "", view.help});
    for (const ViewColumn& column : view.columns)
      write_row(rows, {"view", view.name, column.name, column.unit, column.help});
  }
  if (of_cluster) return out.drain(1);
  for (const ProductHelp& product : products())
    write_row(rows, {"summary table", product.name, "", "", product.help});
  for (const StoreTable& table : store_tables()) {
    for (const std::string& column : table.columns)
      write_row(rows, {"table", table.name, column_name(column), "", ""});
  }
  out.drain(1);
}

ordered_json document(bool of_cluster) {
  ordered_json all = {{"schema", "msprof.query.schema/1"},
                      {"views", ordered_json::array()},
                      {"summary_tables", ordered_json::array()},
                      {"tables", ordered_json::array()}};
  for (const View& view : of_cluster ? cluster_views() : views()) {
    ordered_json columns = ordered_json::array();
    for (const ViewColumn& column : view.columns) {
      const ordered_json unit = column.unit.empty() ? ordered_json() : ordered_json(column.unit);
      columns.push_back({{"name", column.name}, {"unit", unit}, {"help", column.help}});
    }
    all["views"].push_back({{"name", view.name}, {"help", view.help}, {"columns", columns}});
  }
  if (of_cluster) return all;
  for (const ProductHelp& product : products())
    all["summary_tables"].push_back({{"name", product.name}, {"help", product.help}});
  for (const StoreTable& table : store_tables()) {
    ordered_json columns = ordered_json::array();
    for (const std::string& declaration : table.columns)
      columns.push_back(column_name(declaration));
    all["tables"].push_back({{"name", table.name}, {"columns", columns}});
  }
  return all;
}

// Prints the views, tables, columns and units available to SQL.
Exit print_query_schema(const QueryArguments& arguments) {
  const std::string format = arguments.json ? "json" : arguments.format.value_or("table");
  const bool of_cluster = !find_cluster_dbs(arguments.capture.dirs).empty();
  if (format == "json") {
    ordered_json all = document(of_cluster);
    return print_document(all, [] { return Exit::ok; });
  }
  format == "csv" ? print_csv(of_cluster, arguments.excel) : print_text(of_cluster);
  return Exit::ok;
}

constexpr std::size_t kMaxSql = 1 << 20;  // bytes read; the limit for SQL is lower

// Returns true for a word that cannot be a path: SQL, perhaps with a typo in its first word.
bool reads_as_sql(const std::string& word) {
  const std::string text = lower_ascii(trim(word));
  constexpr std::array<std::string_view, 7> kBegins = {"select", "with", "values", "explain",
                                                       "(",      "/*",   "--"};
  const bool is_begun = std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) {
    return text.starts_with(begin) && text.find_first_of(" \t\n*('\"") != std::string::npos;
  });
  const std::size_t end = text.find_first_of(" \t\n");
  if (is_begun || end == std::string::npos || cli::is_capture_name(word)) return is_begun;
  static const std::vector<std::string> kStatements = {
      "select", "values", "explain", "insert", "update", "delete", "replace", "create",
      "pragma", "attach", "vacuum",  "drop",   "alter",  "show",   "describe"};
  // Short words resemble too many others, so they must match exactly.
  const std::string first = text.substr(0, end);
  const bool is_statement = first.size() < 5 ? std::find(kStatements.begin(), kStatements.end(),
                                                         first) != kStatements.end()
                                             : !nearest_names(first, kStatements).empty();
  return is_statement || (" " + text).find(" from ") != std::string::npos;
}

// -dir consumes all following words: detects one that is SQL.
bool is_sql(const std::string& word) {
  std::error_code error;
  return word == "-" || (!std::filesystem::exists(word, error) && reads_as_sql(word));
}

void sort_out_sql(QueryArguments& arguments) {
  if (!arguments.sql.empty() && !is_sql(arguments.sql) && cli::is_capture_name(arguments.sql)) {
    throw Error(Exit::usage,
                fmt::format("'{}' is not SQL; give captures after -dir: msprof query -dir {}",
                            arguments.sql, shell_word(arguments.sql)));
  }
  auto& dirs = arguments.capture.dirs;
  for (const std::string& word : dirs) {
    if (lower_ascii(word) == "select" && !std::filesystem::exists(word))
      throw Error(
          Exit::usage,
          "the SQL is several arguments: put it in quotes, msprof query \"SELECT …\" -dir …");
  }
  const auto sql = std::find_if(dirs.begin(), dirs.end(), is_sql);
  if (sql == dirs.end()) return;
  if (!arguments.sql.empty()) throw Error(Exit::usage, "give one SQL text, in quotes");
  arguments.sql = *sql;
  dirs.erase(sql);
}

std::string read_stdin() {
  std::string text;
  std::array<char, 4096> some;
  for (ssize_t got = 0; (got = ::read(STDIN_FILENO, some.data(), some.size())) > 0;) {
    text.append(some.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxSql) throw Error(Exit::usage, "the SQL on standard input is too long");
  }
  interrupt::check();
  return text;
}

// Returns SQL that names the table as it is written: "table.name" is one name.
std::string select_all(const std::string& table) {
  std::string sql = "SELECT * FROM \"";
  for (const char c : table) sql += c == '"' ? "\"\"" : std::string(1, c);
  return sql + '"';
}

std::string read_sql(const QueryArguments& arguments) {
  if (!arguments.table.empty()) return select_all(arguments.table);
  if (arguments.sql_file.empty()) return arguments.sql == "-" ? read_stdin() : arguments.sql;
  if (!arguments.sql.empty()) throw Error(Exit::usage, "give SQL or --file, not both");
  try {
    return read_text_file(arguments.sql_file, kMaxSql);
  } catch (const Error& error) {
    throw Error(Exit::usage, error.what());
  }
}

void check(const QueryArguments& arguments, bool has_sql) {
  if (arguments.schema && has_sql)
    throw Error(Exit::usage, "--schema lists the views and tables: it cannot be used with SQL");
  if (arguments.json && arguments.format)
    throw Error(
        Exit::usage,
        "--json and --format cannot be combined: --json prints a document, --format only the rows");
  if (arguments.timeout_seconds && !(*arguments.timeout_seconds >= 0))
    throw Error(Exit::usage, fmt::format("--timeout: expected seconds >= 0 (0: no limit), got {}",
                                         *arguments.timeout_seconds));
  check_row_window(arguments.limit, arguments.offset);
  if (!has_sql && !arguments.schema && (arguments.format || arguments.limit || arguments.offset))
    throw Error(Exit::usage,
                "--format, --limit and --offset are for SQL: msprof query \"SELECT * FROM v_ops\"");
}

Exit run_query(QueryArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  sort_out_sql(arguments);
  if (arguments.excel && (arguments.json || arguments.format.value_or("csv") != "csv"))
    throw Error(Exit::usage, "--excel implies --format csv: remove --excel or the other format");
  if (arguments.excel) arguments.format = "csv";
  bool has_sql = !arguments.sql.empty() || !arguments.sql_file.empty();
  if (has_sql && !arguments.table.empty())
    throw Error(Exit::usage, "give SQL or --table, not both");
  has_sql |= !arguments.table.empty();
  check(arguments, has_sql);
  if (arguments.schema) return print_query_schema(arguments);
  return has_sql ? answer_sql(arguments, read_sql(arguments)) : print_info(arguments);
}

}  // namespace

void add_query_command(cli::Command& root) {
  auto arguments = std::make_shared<QueryArguments>();
  cli::Command& command =
      root.add_command("query",
                       "Run SQL on a capture, read-only. Without SQL, describe it: chip, time, "
                       "verdict, devices, ranks, models and their iterations (JOB…: steps), and "
                       "the available products. Imports first if needed.");
  command.set_examples(
      "  msprof query                      the newest capture in this folder\n"
      "  msprof query -dir PROF_XXX        model and iteration numbers for `export --model-id`\n"
      "  msprof query \"SELECT name, total_us FROM v_ops ORDER BY total_us DESC LIMIT 5\"\n"
      "  msprof query \"SELECT * FROM v_tasks\" -dir PROF_XXX --format csv > tasks.csv\n"
      "  msprof query --schema             the views and tables, their columns and units");
  cli::Option sql = {"sql", &arguments->sql, "SQL",
                     "one SELECT on the views and tables of --schema; - reads it from stdin"};
  sql.suggestions = [] {
    std::vector<cli::Suggestion> words;
    for (const View& view : views())
      words.push_back({std::string(view.name), std::string(view.help)});
    for (const View& view : cluster_views()) {
      const bool is_there = std::any_of(words.begin(), words.end(),
                                        [&](const auto& word) { return word.word == view.name; });
      if (!is_there) words.push_back({std::string(view.name), std::string(view.help)});
    }
    for (const auto& table : all_summary_tables())
      words.push_back({std::string(table->name()), std::string(table->info().help)});
    return words;
  };
  sql.takes_text = true;
  command.add_option(std::move(sql));
  add_capture_options(command, arguments->capture);
  command.add_option({"--file", &arguments->sql_file, "FILE", "read the SQL from a file"});
  command.add_option({"--table", &arguments->table, "NAME",
                      "print all rows of a view or table instead of running SQL"});
  command.add_option({"--format",
                      &arguments->format,
                      "FORMAT",
                      "output as table (default), csv, json (array of objects) or columns "
                      "(binary, for programs: msprof for Python)",
                      {"table", "csv", "json", "columns"}});
  add_excel_option(command, arguments->excel);
  command.add_option({"--limit", &arguments->limit, "N",
                      "at most N rows (default: 1000 for table, otherwise all)"});
  command.add_option({"--offset", &arguments->offset, "N", "skip the first N rows"});
  command.add_option({"--timeout", &arguments->timeout_seconds, "S",
                      "time limit for the SQL in seconds (default 60; 0: no limit)"});
  command.add_option({"--schema", &arguments->schema, "",
                      "list the views and tables for SQL, with columns and units"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_query(*arguments); });
}

}  // namespace msprof
