// msprof query: what a capture is, and answers to SQL about it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "export/products.hpp"
#include "msprof/query_parts.hpp"
#include "msprof/usage_words.hpp"
#include "query/views.hpp"

namespace msprof {

namespace {

constexpr std::size_t kLongestSql = 1 << 20;  // read; the limit of SQL is lower

// Whether a word behind -dir, which takes all words, is meant as SQL.
bool is_sql(const std::string& word) {
  std::error_code error;
  if (word == "-") return true;
  if (std::filesystem::exists(word, error)) return false;
  const std::string text = lower_ascii(trim(word));
  constexpr std::array<std::string_view, 6> kBegins = {"select",  "with", "values",
                                                       "explain", "(",    "/*"};
  return std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) {
    return text.starts_with(begin) && text.find_first_of(" \t\n*('\"") != std::string::npos;
  });
}

void sort_out_sql(QueryArguments& arguments) {
  if (!arguments.sql.empty() && !is_sql(arguments.sql) && cli::looks_like_capture(arguments.sql)) {
    throw Error(Exit::usage, fmt::format("'{}' is no SQL; captures stand behind -dir: "
                                         "msprof query -dir {}",
                                         arguments.sql, shell_word(arguments.sql)));
  }
  auto& dirs = arguments.capture.dirs;
  const auto sql = std::find_if(dirs.begin(), dirs.end(), is_sql);
  if (sql == dirs.end()) return;
  if (!arguments.sql.empty()) throw Error(Exit::usage, "give one SQL text, in quotes");
  arguments.sql = *sql;
  dirs.erase(sql);
}

std::string all_of_stdin() {
  std::string text;
  std::array<char, 4096> some;
  for (ssize_t got = 0; (got = ::read(STDIN_FILENO, some.data(), some.size())) > 0;) {
    text.append(some.data(), static_cast<std::size_t>(got));
    if (text.size() > kLongestSql)
      throw Error(Exit::usage, "the SQL on standard input is too long");
  }
  interrupt::check();
  return text;
}

// Empty where none is given.
std::string sql_of(const QueryArguments& arguments) {
  if (arguments.sql_file.empty()) return arguments.sql == "-" ? all_of_stdin() : arguments.sql;
  if (!arguments.sql.empty()) throw Error(Exit::usage, "give SQL or --file, not both");
  try {
    return read_text_file(arguments.sql_file, kLongestSql);
  } catch (const Error& error) {
    throw Error(Exit::usage, error.what());
  }
}

void check(const QueryArguments& arguments, bool has_sql) {
  if (arguments.schema && has_sql)
    throw Error(Exit::usage, "--schema says what can be asked; leave the SQL out");
  if (arguments.json && arguments.format)
    throw Error(Exit::usage, "--json is a document, --format only the rows: give one of them");
  if (arguments.timeout_seconds && !(*arguments.timeout_seconds >= 0))
    throw Error(Exit::usage, "--timeout takes seconds from 0 (no limit) on");
  if (arguments.limit && *arguments.limit < 1)
    throw Error(Exit::usage, "--limit takes a number of rows from 1 on");
  if (!has_sql && !arguments.schema && (arguments.format || arguments.limit))
    throw Error(Exit::usage,
                "--format and --limit are for SQL: msprof query \"SELECT * FROM v_ops\"");
}

Exit run_query(QueryArguments& arguments) {
  apply_verbosity(arguments.capture.verbosity);
  sort_out_sql(arguments);
  const bool has_sql = !arguments.sql.empty() || !arguments.sql_file.empty();
  check(arguments, has_sql);
  if (arguments.schema) return print_query_schema(arguments);
  return has_sql ? answer_sql(arguments, sql_of(arguments)) : tell_facts(arguments);
}

}  // namespace

void add_query_command(cli::Command& root) {
  auto arguments = std::make_shared<QueryArguments>();
  cli::Command& command = root.add_command(
      "query",
      "Ask a capture with SQL, read only. Without SQL say what it is: chip, time, verdict, "
      "devices, "
      "ranks, models and their iterations (JOB…: steps), and which products it gives. Imports "
      "first where needed.");
  command.set_examples(
      "  msprof query                      the newest capture in this folder\n"
      "  msprof query -dir PROF_XXX        model and iteration numbers for `export --model-id`\n"
      "  msprof query \"SELECT name, total_us FROM v_ops ORDER BY total_us DESC LIMIT 5\"\n"
      "  msprof query \"SELECT * FROM v_tasks\" -dir PROF_XXX --format csv > tasks.csv\n"
      "  msprof query --schema             the views and tables, their columns and units");
  cli::Option sql = {"sql", &arguments->sql, "SQL",
                     "one SELECT over the views and tables of --schema; - reads it from stdin"};
  sql.suggestions = [] {
    std::vector<cli::Suggestion> words;
    for (const View& view : views())
      words.push_back({std::string(view.name), std::string(view.help)});
    for (const auto& table : all_summary_tables())
      words.push_back({std::string(table->name()), std::string(table->info().help)});
    return words;
  };
  sql.takes_text = true;
  command.add_option(std::move(sql));
  add_capture_options(command, arguments->capture);
  command.add_option({"--file", &arguments->sql_file, "FILE", "read the SQL from a file"});
  command.add_option({"--format",
                      &arguments->format,
                      "FORMAT",
                      "the answer as table (default), csv or json (an array of objects)",
                      {"table", "csv", "json"}});
  command.add_option(
      {"--limit", &arguments->limit, "N", "at most N rows (table: 1000 where nothing is said)"});
  command.add_option({"--timeout", &arguments->timeout_seconds, "S",
                      "seconds that the SQL may take (60); 0: no limit"});
  command.add_option({"--schema", &arguments->schema, "",
                      "print the views and tables that SQL can name, their columns and units"});
  command.add_option({"--json", &arguments->json, "", "print one JSON document on stdout"});
  command.set_action([arguments] { return run_query(*arguments); });
}

}  // namespace msprof
