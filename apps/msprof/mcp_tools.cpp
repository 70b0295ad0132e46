#include "msprof/mcp_tools.hpp"

namespace msprof {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kCaptureHelp = "capture folder JOB… or PROF_… (or cluster.db)";

constexpr ToolInput kPath = {"path", InputKind::path, kCaptureHelp, "--dir", {}, true};
constexpr ToolInput kTop = {"top", InputKind::count, "rows per table", "--top", "5"};

const char* type_of(InputKind kind) {
  switch (kind) {
    case InputKind::paths:
      return "array";
    case InputKind::count:
      return "integer";
    case InputKind::number:
      return "number";
    case InputKind::flag:
      return "boolean";
    case InputKind::path:
    case InputKind::text:
    case InputKind::sql:
      break;
  }
  return "string";
}

}  // namespace

const std::vector<McpTool>& mcp_tools() {
  static const std::vector<McpTool> tools = {
      {"list",
       "list",
       "List captures and cluster.db files, newest first: model, executions, median_us, verdict.",
       {{"folder", InputKind::path, "only below this folder (default: all roots)", ""}}},
      {"open",
       "query",
       "Describe a capture: chip, time, verdict, devices, ranks, models, iterations, and the "
       "tables that have data. Imports it if needed, which can take minutes.",
       {kPath}},
      {"summary",
       "show",
       "The run at a glance: the hottest layers or operators, calls, steps, communication.",
       {kPath, kTop}},
      {"advise",
       "advise",
       "Find what makes a run slow and how to fix it. Each finding has an id (rule), its share of "
       "the time, evidence and a remedy. Rules without data give their reason.",
       {kPath}},
      {"table",
       "show",
       "Rows of one summary table, such as op_summary; units are in the column names. `open` lists "
       "the tables.",
       {kPath,
        {"name", InputKind::text, "name of the table", "--table", {}, true},
        {"top", InputKind::count, "only the hottest rows; reads the whole table", "--top"}},
       true},
      {"query",
       "query",
       "Run one read-only SELECT (SQLite) on the views v_ops, v_tasks, v_api_calls, v_executions, "
       "v_user_ranges, v_counters, … and on summary tables.",
       {kPath,
        {"sql", InputKind::sql, "the SELECT; _ns and _us are the units of columns", ""},
        {"schema", InputKind::flag, "instead list views, tables, columns and units", "--schema"}},
       true},
      {"timeline",
       "query",
       "What ran in a time window, in order: tasks of devices, host calls, ranges of the "
       "application.",
       {kPath,
        {"from_us", InputKind::number,
         "start of the window, in us after the start of the collection", "", "0"},
        {"to_us", InputKind::number, "its end (default: no end)", ""},
        {"min_us", InputKind::number, "leave out what is shorter", "", "0"}},
       true},
      {"compare",
       "compare",
       "What changed between two runs, and which changes are noise: total, operators, types, "
       "calls, ranges, counters.",
       {{"base",
         InputKind::paths,
         "capture before the change, or several runs of it",
         "",
         {},
         true},
        {"new", InputKind::paths, "capture after the change", "", {}, true},
        kTop}},
      {"doctor",
       "doctor",
       "Why data is missing from a capture: checks with evidence and remedy.",
       {kPath}},
      {"layout",
       "layout",
       "Infer the record layout of a board's captures (JOB…): fields, evidence, certainty.",
       {{"paths", InputKind::paths, "capture folders of one board", "--dir", {}, true}}},
      {"cluster",
       "show",
       "Many ranks: slow ranks, hosts and links, steps, collectives, operators.",
       {{"path", InputKind::path, "a cluster.db or its folder", "--dir", {}, true}, kTop}},
  };
  return tools;
}

const std::vector<ToolInput>& common_inputs() {
  static const std::vector<ToolInput> inputs = {
      {"cursor", InputKind::text, "next_cursor of the previous answer", ""},
      {"max_bytes", InputKind::count, "2500 to 100000 (default 8000)", ""}};
  return inputs;
}

ordered_json input_schema(const McpTool& tool) {
  ordered_json schema = {{"type", "object"},
                         {"properties", ordered_json::object()},
                         {"required", ordered_json::array()},
                         {"additionalProperties", false}};
  const auto add = [&](const ToolInput& input) {
    ordered_json property = {{"type", type_of(input.kind)}};
    if (input.kind == InputKind::paths) property["items"] = {{"type", "string"}};
    property["description"] = input.help;
    schema["properties"][std::string(input.name)] = std::move(property);
    if (input.is_required) schema["required"].push_back(input.name);
  };
  for (const ToolInput& input : tool.inputs) add(input);
  for (const ToolInput& input : common_inputs()) add(input);
  if (schema["required"].empty()) schema.erase("required");
  return schema;
}

}  // namespace msprof
