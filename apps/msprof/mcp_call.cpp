// Runs a tool of `msprof mcp`: starts the verb as a separate process, so that a call can be
// cancelled and a damaged store ends only its own call, and passes on its --json document.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <optional>

#include "base/error.hpp"
#include "base/json_levels.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "cluster/run/local_run.hpp"
#include "msprof/cluster_store.hpp"
#include "msprof/mcp_tools.hpp"
#include "session/capture_walk.hpp"
#include "store/rows/mark_rows.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kMostOutputBytes = 32 << 20;
constexpr std::size_t kMostErrorBytes = 16 << 10;
constexpr std::size_t kMostTextBytes = 64 << 10;  // of an input
constexpr std::size_t kMostPaths = 100;
constexpr std::int64_t kRowsAtOnce = 500;  // more than a page of 8,000 bytes can hold
constexpr std::int64_t kLeastBytes = 2500;
constexpr std::int64_t kMostBytes = 100'000;
constexpr std::size_t kMostCommandBytes = 1 << 20;  // Linux accepts 2 MiB
constexpr std::chrono::seconds kGrace{2};
constexpr std::chrono::milliseconds kBetweenChecks{50};

[[noreturn]] void refuse(std::string_view input, std::string_view what) {
  throw Error(Exit::usage, fmt::format("{}: {}", input, what));
}

std::string text_value(std::string_view input, const ordered_json& value) {
  if (!value.is_string()) refuse(input, "expected a string");
  auto text = value.get<std::string>();
  if (text.size() > kMostTextBytes) refuse(input, "the text is too long");
  if (text.find('\0') != std::string::npos) refuse(input, "the text contains a NUL character");
  return text;
}

std::int64_t count_value(std::string_view input, const ordered_json& value, std::int64_t least,
                         std::int64_t most) {
  const bool is_known = value.is_number_integer() &&
                        !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX);
  const std::int64_t count = is_known ? value.get<std::int64_t>() : least - 1;
  if (count < least || count > most)
    refuse(input, fmt::format("expected an integer from {} to {}", least, most));
  return count;
}

double number_value(std::string_view input, const ordered_json& value) {
  const double number = value.is_number() ? value.get<double>() : -1;
  if (!(number >= 0 && number < 1e15)) refuse(input, "expected a number of us, at least 0");
  return number;
}

// Position in an answer: the rows before it (--offset), and its position in the document that
// starts there. "500.12"
struct Cursor {
  std::uint64_t rows = 0;
  std::uint64_t position = 0;
};

Cursor read_cursor(const std::string& text) {
  Cursor cursor;
  const std::size_t dot = text.find('.');
  constexpr std::uint64_t kMost = INT64_MAX;
  const bool is_read = dot != std::string::npos &&
                       parse_u64(std::string_view(text).substr(0, dot), cursor.rows) &&
                       parse_u64(std::string_view(text).substr(dot + 1), cursor.position) &&
                       cursor.rows <= kMost && cursor.position <= kMost;
  if (!is_read) refuse("cursor", "expected next_cursor of an earlier answer of this tool");
  return cursor;
}

// The inputs of a call, checked.
class Inputs {
 public:
  Inputs(const McpTool& tool, const ordered_json& given) : tool_(tool), given_(given) {
    for (const auto& [name, value] : given.items())
      if (!is_input(name)) refuse(shorten(printable(name), 80), "this tool has no such input");
    for (const ToolInput& input : tool.inputs)
      if (input.is_required && !find(input.name)) refuse(input.name, "is missing");
  }

  const McpTool& tool() const { return tool_; }
  const ordered_json* find(std::string_view name) const {
    const auto found = given_.find(std::string(name));
    return found == given_.end() || found->is_null() ? nullptr : &*found;
  }
  std::optional<double> number(std::string_view name) const {
    const ordered_json* const value = find(name);
    return value == nullptr ? std::nullopt : std::optional(number_value(name, *value));
  }

 private:
  bool is_input(const std::string& name) const {
    const auto has = [&](const std::vector<ToolInput>& inputs) {
      return std::any_of(inputs.begin(), inputs.end(),
                         [&](const ToolInput& input) { return input.name == name; });
    };
    return has(tool_.inputs) || has(common_inputs());
  }

  const McpTool& tool_;
  const ordered_json& given_;
};

// Returns the real path of an input, all of whose files are below the roots.
std::string checked_path(const Roots& roots, std::string_view input, const ordered_json& value) {
  const fs::path path = roots.resolve(text_value(input, value));
  std::error_code error;
  const fs::path way_out = fs::is_directory(path, error) ? roots.find_way_out(path) : fs::path();
  if (way_out.empty()) return path.string();
  refuse(input, fmt::format("{} is a link that leads out of the folders that may be read",
                            way_out.string()));
}

std::vector<std::string> checked_paths(const Roots& roots, std::string_view input,
                                       const ordered_json& value) {
  if (!value.is_array() || value.empty() || value.size() > kMostPaths)
    refuse(input, fmt::format("expected an array of 1 to {} paths", kMostPaths));
  std::vector<std::string> paths;
  for (const ordered_json& one : value) {
    paths.push_back(checked_path(roots, input, one));
    // compare separates runs by commas.
    if (value.size() > 1 && paths.back().find(',') != std::string::npos)
      refuse(input, fmt::format("{} contains a comma: rename it", paths.back()));
  }
  return paths;
}

// SQL for the events of a window. Offsets count from the start of the collection, as those of
// `export --time-range`; if that is unknown, from the first event. Reads the time blocks that can
// have rows of this page, and finds the rows before their names, since a long window has very many.
std::string timeline_sql(const Inputs& inputs, const Cursor& cursor) {
  const double from = inputs.number("from_us").value_or(0);
  const double least = inputs.number("min_us").value_or(0);
  const auto to = inputs.number("to_us");
  if (to && *to < from) refuse("to_us", "the window ends before it starts");
  const auto ns = [](double us) { return std::llround(us * 1000); };
  const std::uint64_t rows = cursor.rows + kRowsAtOnce + 1;
  std::string until = to ? fmt::format("origin_ns + {}", ns(*to)) : "9223372036854775807";
  // Blocks that start in the window and together have enough rows: the page ends within them.
  if (least == 0) {
    until = fmt::format(
        "min({}, ifnull((SELECT last_end_ns + 1 FROM (SELECT last_end_ns,"
        " sum(last_row_id - first_row_id + 1) OVER (ORDER BY last_end_ns) AS row_count"
        " FROM time_block WHERE first_start_ns >= origin_ns + {}) WHERE row_count >= {}"
        " ORDER BY last_end_ns LIMIT 1), 9223372036854775807))",
        until, ns(from), rows);
  }
  const auto select = [&](std::string_view kind, std::string_view table, std::string_view duration,
                          std::string_view blocks) {
    std::string sql =
        fmt::format("SELECT start_ns, '{}' AS kind, id FROM page CROSS JOIN {}{} WHERE", kind,
                    blocks.empty() ? "" : "blocks CROSS JOIN ", table);
    // First, because it is true for the fewest rows.
    if (least > 0) sql += fmt::format(" {} >= {} AND", duration, ns(least));
    sql += fmt::format(" start_ns < until_ns AND start_ns + ifnull({}, 0) >= from_ns", duration);
    if (!blocks.empty())
      sql += fmt::format(" AND of_table = {} AND id BETWEEN first_id AND last_id", blocks);
    return sql;
  };
  static_assert(TimeBlockRow::kTasks == 0 && TimeBlockRow::kCalls == 1);
  return fmt::format(
      " WITH origin(origin_ns) AS MATERIALIZED (SELECT coalesce("
      "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'window.begin_ns'),"
      " (SELECT min(ns) FROM (SELECT min(start_ns) AS ns FROM task"
      " UNION ALL SELECT min(start_ns) FROM api_call"
      " UNION ALL SELECT min(start_ns) FROM user_range)))),"
      " page(from_ns, until_ns) AS MATERIALIZED (SELECT origin_ns + {}, {} FROM origin),"
      // Captures without device tasks have no blocks.
      " blocks(of_table, first_id, last_id) AS MATERIALIZED ("
      "SELECT of_table, first_row_id, last_row_id FROM page CROSS JOIN time_block"
      " WHERE ifnull(first_start_ns < until_ns, 1) AND ifnull(last_end_ns >= from_ns, 1)"
      " UNION ALL SELECT column1, 0, 9223372036854775807 FROM (VALUES (0), (1))"
      " WHERE column1 NOT IN (SELECT of_table FROM time_block)),"
      " picked AS MATERIALIZED (SELECT * FROM ({} UNION ALL {} UNION ALL {})"
      " ORDER BY start_ns, kind, id LIMIT {})"
      " SELECT (start_ns - origin_ns) / 1000.0 AS start_us, duration_us, kind, lane, name"
      " FROM origin CROSS JOIN (SELECT picked.*, duration_us, 'device ' || device_id || ifnull("
      "' stream ' || stream_id, '') AS lane, ifnull(op_name, task_type) AS name"
      " FROM picked JOIN v_tasks ON task_id = picked.id WHERE kind = 'task'"
      " UNION ALL SELECT picked.*, duration_us, 'thread ' || thread_id, name"
      " FROM picked JOIN v_api_calls ON call_id = picked.id WHERE kind = 'call'"
      " UNION ALL SELECT picked.*, (end_ns - user_range.start_ns) / 1000.0, 'thread ' || thread_id,"
      " (SELECT text FROM name WHERE id = message_name_id)"
      " FROM picked JOIN user_range ON user_range.id = picked.id WHERE kind = 'range')"
      " ORDER BY start_ns, kind, id",
      ns(from), until, select("task", "task", "duration_ns", "0"),
      select("call", "api_call", "end_ns - start_ns", "1"),
      select("range", "user_range", "end_ns - start_ns", ""), rows);
}

bool is_sound(const Roots& roots, const fs::path& folder) {
  try {
    return roots.find_way_out(folder).empty();
  } catch (const Error& error) {
    if (error.code() == Exit::interrupted) throw;
    return false;  // cannot be read, or has too many files
  }
}

// Captures below the roots whose files are all below the roots, too.
std::vector<std::string> listed_folders(const Roots& roots, const Inputs& inputs,
                                        std::vector<std::string>& left_out) {
  std::vector<fs::path> folders = roots.folders();
  if (const ordered_json* const folder = inputs.find("folder"))
    folders = {roots.resolve(text_value("folder", *folder))};
  std::vector<std::string> words;
  for (const fs::path& folder : folders) {
    std::vector<std::string> sound;
    const std::size_t left_out_before = left_out.size();
    const CapturesBelow below = walk_captures(folder, [&] { roots.check(); });
    for (const FoundCapture& capture : below.captures)
      (is_sound(roots, capture.folder) ? sound : left_out).push_back(capture.folder.string());
    // The verb takes folders.
    for (const fs::path& file : below.cluster_files)
      if (is_sound(roots, file.parent_path())) sound.push_back(file.parent_path().string());
    if (left_out.size() == left_out_before) sound = {folder.string()};
    words.insert(words.end(), sound.begin(), sound.end());
  }
  std::size_t bytes = 0;
  for (const std::string& word : words) bytes += word.size() + sizeof(char*);
  if (bytes > kMostCommandBytes && !left_out.empty()) {
    refuse("folder", fmt::format("name a smaller folder: there are too many captures beside {}, "
                                 "which has a link that leads out",
                                 left_out.front()));
  }
  return words;
}

std::string option_word(const ToolInput& input, const std::string& value) {
  return input.option.empty() ? value : fmt::format("{}={}", input.option, value);
}

void add_words(const Roots& roots, const ToolInput& input, const ordered_json& value,
               std::vector<std::string>& words) {
  switch (input.kind) {
    case InputKind::path:
      return words.push_back(option_word(input, checked_path(roots, input.name, value)));
    case InputKind::paths: {
      const auto paths = checked_paths(roots, input.name, value);
      if (input.option.empty()) return words.push_back(fmt::format("{}", fmt::join(paths, ",")));
      for (const std::string& path : paths) words.push_back(option_word(input, path));
      return;
    }
    case InputKind::text:
      return words.push_back(option_word(input, text_value(input.name, value)));
    case InputKind::sql:
      // The blank keeps SQL that starts with a comment from being read as an option.
      return words.push_back(" " + text_value(input.name, value));
    case InputKind::count:
      return words.push_back(
          option_word(input, std::to_string(count_value(input.name, value, 1, 10'000))));
    case InputKind::number:
      return;  // part of SQL
    case InputKind::flag:
      if (!value.is_boolean()) refuse(input.name, "expected true or false");
      if (value.get<bool>()) words.emplace_back(input.option);
      return;
  }
}

bool is_given(const Inputs& inputs, std::string_view name) {
  return inputs.find(name) != nullptr;
}

// The command line of the verb. Positional arguments come first: -dir would take them as folders.
std::vector<std::string> verb_words(const Roots& roots, const Inputs& inputs,
                                    const Cursor& cursor) {
  const McpTool& tool = inputs.tool();
  const ordered_json* const schema = inputs.find("schema");
  const bool wants_schema = schema != nullptr && *schema != false;  // add_words() refuses others
  if (tool.name == "query" && is_given(inputs, "sql") == wants_schema)
    refuse("sql", "give either sql or schema");
  std::vector<std::string> arguments;
  std::vector<std::string> options;
  if (tool.name == "timeline") arguments.push_back(timeline_sql(inputs, cursor));
  for (const ToolInput& input : tool.inputs) {
    const ordered_json* const value = inputs.find(input.name);
    auto& words = input.option.empty() ? arguments : options;
    if (value != nullptr) {
      add_words(roots, input, *value, words);
    } else if (!input.fallback.empty() && !input.option.empty()) {
      words.push_back(option_word(input, std::string(input.fallback)));
    }
  }
  if (tool.has_rows && !is_given(inputs, "top") && !wants_schema) {
    options.push_back(fmt::format("--limit={}", kRowsAtOnce));
    options.push_back(fmt::format("--offset={}", cursor.rows));
  }
  if (tool.name == "advise") options.emplace_back("--lang=en");
  std::vector<std::string> words = {std::string(tool.verb)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

struct VerbOutput {
  ProcessEnd end;
  std::string out;
  std::string err;
  bool is_too_long = false;
};

// Runs a verb and returns its output, which is incomplete if the call was cancelled.
VerbOutput run_verb(std::vector<std::string> words, const mcp::KeepWorking& keep_working) {
  words.insert(words.begin(), cluster::own_program().string());
  words.insert(words.end(), {"--json", "-q"});
  const FileDescriptor out = output_file();
  const FileDescriptor err = output_file();
  ChildProcess verb(words, out.get(), err.get());
  VerbOutput output;
  while (!verb.has_ended()) {
    output.is_too_long =
        output_bytes(out) > kMostOutputBytes || output_bytes(err) > kMostOutputBytes;
    if (output.is_too_long || !keep_working()) {
      verb.stop(kGrace);  // it removes its temporary files
      return output;
    }
  }
  verb.signal(SIGKILL);  // and what it may have started
  output.end = verb.wait();
  output.is_too_long = output_bytes(out) > kMostOutputBytes;
  output.out = read_output(out, kMostOutputBytes);
  output.err = read_output(err, kMostErrorBytes);
  return output;
}

ordered_json error_document(std::string_view text) {
  return {{"error", shorten(printable(text), 2000)}};
}

// Messages of a verb that printed no document, without their prefix.
std::string message_in(const VerbOutput& output) {
  std::string_view text = trim(output.err);
  constexpr std::string_view kPrefix = "error: ";
  if (const std::size_t at = text.rfind(kPrefix); at != std::string_view::npos)
    text.remove_prefix(at + kPrefix.size());
  return text.empty() ? output.end.text() : std::string(text);
}

// Rows become arrays, as the document lists their columns.
void shorten_rows(ordered_json& value) {
  if (!value.is_structured()) return;
  for (ordered_json& member : value) shorten_rows(member);
  if (!value.is_object() || !value.contains("columns") || !value.contains("rows")) return;
  const ordered_json& columns = value["columns"];
  for (ordered_json& row : value["rows"]) {
    if (!row.is_object() || row.size() != columns.size()) continue;
    ordered_json cells = ordered_json::array();
    for (ordered_json& cell : row) cells.push_back(std::move(cell));
    row = std::move(cells);
  }
}

// Removes `is_cut`, which the cursor shows. Returns true if a table or answer has more rows.
bool take_cut(ordered_json& document) {
  bool is_cut = false;
  for (ordered_json& capture : document["captures"]) {
    const auto take = [&](ordered_json& table) {
      if (!table.is_object() || !table.contains("is_cut")) return;
      is_cut = is_cut || table["is_cut"] == true;
      table.erase("is_cut");
    };
    take(capture);
    if (capture.is_object() && capture.contains("tables"))
      for (ordered_json& table : capture["tables"]) take(table);
  }
  return is_cut;
}

void read_document(const VerbOutput& output, mcp::ToolResult& result) {
  if (output.is_too_long) {
    result.document = error_document("the answer is too large: ask for fewer columns or rows");
    result.is_error = true;
    return;
  }
  ordered_json document;
  if (!is_nested_deeper(output.out)) document = ordered_json::parse(output.out, nullptr, false);
  if (!document.is_object()) {
    result.document = error_document(message_in(output));
    result.is_error = true;
    return;
  }
  result.document = std::move(document);
  if (!result.document.contains("error")) return;
  const auto code = to_exit(output.end.exit_code);
  ordered_json error = {
      {code == Exit::nothing_to_do ? "cannot_be_answered" : "error", result.document["error"]}};
  if (result.document.contains("error_id")) error["error_id"] = result.document["error_id"];
  error["exit_code"] = output.end.exit_code;
  result.document = std::move(error);
  result.is_error = code != Exit::nothing_to_do;
}

mcp::ToolResult answer_call(const Roots& roots, const McpTool& tool, const ordered_json& arguments,
                            const mcp::KeepWorking& keep_working) {
  const Inputs inputs(tool, arguments);
  mcp::ToolResult result;
  if (const auto* const bytes = inputs.find("max_bytes"))
    result.most_bytes =
        static_cast<std::size_t>(count_value("max_bytes", *bytes, kLeastBytes, kMostBytes));
  Cursor cursor;
  if (const auto* const text = inputs.find("cursor"))
    cursor = read_cursor(text_value("cursor", *text));
  std::vector<std::string> left_out;
  std::vector<std::string> words;
  if (tool.name == "list") {
    words = listed_folders(roots, inputs, left_out);
    if (!words.empty()) words.insert(words.begin(), "list");
  } else {
    words = verb_words(roots, inputs, cursor);
  }
  if (tool.name == "cluster") {
    const std::string path = roots.resolve(text_value("path", *inputs.find("path"))).string();
    if (!find_cluster_db(path)) {
      throw Error(Exit::nothing_to_do,
                  fmt::format("{} has no cluster.db; `msprof cluster {} --output DIR` makes one",
                              path, shell_word(path)));
    }
  }
  if (words.empty()) {
    result.document = ordered_json::object();
  } else {
    read_document(run_verb(words, keep_working), result);
  }
  if (!left_out.empty()) result.document["links_lead_out"] = left_out;
  shorten_rows(result.document);
  result.page_from = cursor.position;
  result.cursor_prefix = fmt::format("{}.", cursor.rows);
  if (tool.has_rows && result.document.contains("captures") && take_cut(result.document))
    result.cursor_after = fmt::format("{}.0", cursor.rows + kRowsAtOnce);
  return result;
}

}  // namespace

mcp::ToolResult call_mcp_tool(const Roots& roots, const std::string& name,
                              const ordered_json& arguments, const mcp::KeepWorking& keep_working) {
  const auto& tools = mcp_tools();
  const auto tool = std::find_if(tools.begin(), tools.end(),
                                 [&](const McpTool& one) { return one.name == name; });
  mcp::ToolResult result;
  Roots roots_of_call = roots;
  roots_of_call.set_check([&keep_working, last = std::chrono::steady_clock::now()]() mutable {
    if (std::chrono::steady_clock::now() - last < kBetweenChecks) return;
    if (!keep_working()) throw Error(Exit::interrupted, "the call was cancelled");
    last = std::chrono::steady_clock::now();
  });
  try {
    return answer_call(roots_of_call, *tool, arguments, keep_working);
  } catch (const Error& error) {
    const bool is_data = error.code() == Exit::nothing_to_do;
    result.document = error_document(error.what());
    if (is_data) result.document = {{"cannot_be_answered", result.document["error"]}};
    result.is_error = !is_data;
  }
  return result;
}

}  // namespace msprof
