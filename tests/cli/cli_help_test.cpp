// --help, `msprof help` and a command line without arguments: output and width.
#include <catch2/catch.hpp>
#include <functional>
#include <regex>

#include "base/text.hpp"
#include "cli/cli_fixture.hpp"
#include "msprof/completion.hpp"
#include "msprof/help_text.hpp"
#include "msprof/verbs.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

void visit(const cli::Command& command, const std::string& path,
           const std::function<void(const cli::Command&, const std::string&)>& look) {
  look(command, path);
  for (const auto& child : command.commands()) visit(*child, path + " " + child->name(), look);
}

Words help_lines(const std::string& text) {
  Words lines;
  for (const auto line : split(text, '\n')) lines.emplace_back(line);
  return lines;
}

// Collapses white space and removes the line continuations of long commands.
std::string on_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("( \\\\\n)?\\s+"), " ");
}

int widest(const std::string& text) {
  int width = 0;
  for (const std::string& line : help_lines(text)) width = std::max(width, display_width(line));
  return width;
}

// Counts the lines that start an option, e.g. "  -m, --main FILE   the executable".
int count_options(const std::string& help) {
  const Words lines = help_lines(help);
  return static_cast<int>(std::count_if(lines.begin(), lines.end(), [](const auto& line) {
    return line.starts_with("  -") && !line.starts_with("  -- ") && !line.starts_with("  -h") &&
           !line.starts_with("  --help");
  }));
}

const cli::Command& find_collect(const cli::Command& root) {
  return **std::find_if(root.commands().begin(), root.commands().end(),
                        [](const auto& verb) { return verb->name() == "collect"; });
}

}  // namespace

TEST_CASE("help wraps between words at any width without losing any") {
  const auto root = build_command_tree();
  const int width = GENERATE(44, 60, 80, 100, 240);
  int commands = 0;
  visit(*root, "msprof", [&](const cli::Command& command, const std::string& path) {
    const std::string help = cli::help_text(command, path, cli::kAllOptions, width);
    const std::string usual = cli::help_text(command, path, "", width);
    CAPTURE(path, width, help, usual);
    for (const std::string& line : help_lines(help + usual)) {
      // Only a single word or a quoted text may exceed a narrow line.
      const auto content = trim(line);
      const bool is_word = content.find(' ') == std::string_view::npos ||
                           content.find_first_of("'\"") != std::string_view::npos;
      CHECK((display_width(line) <= width || (is_word && width < 80)));
      CHECK_FALSE(line.ends_with(' '));
    }
    const std::string words = on_one_line(help);
    for (const auto& option : command.options()) {
      CHECK(contains(words, on_one_line(option->help)));
      for (const auto name : split(option->names, ','))
        CHECK((cli::is_positional(*option) || contains(words, std::string(name))));
    }
    CHECK(contains(on_one_line(usual), on_one_line(command.help())));
    for (const std::string& line : help_lines(command.examples()))
      CHECK(contains(on_one_line(usual), on_one_line(std::string(trim(line)))));
    ++commands;
  });
  CHECK(commands > 20);
}

TEST_CASE("option help is aligned in one column, also after non-ASCII names") {
  bool flag = false;
  std::optional<std::string> hosts, list;
  cli::Command command("sample", "Shows how a name of any letters is aligned.");
  command.set_examples("  sample");
  command.add_option({"--all", &flag, "", "everything"});
  command.add_option({"--jump", &hosts, "HOST,…", "servers"});
  command.add_option({"--name", &list, "名字", "names"});
  const std::string help = cli::help_text(command, "sample", "", 80);
  for (const char* text : {"everything", "servers", "names"}) {
    CAPTURE(help, text);
    const auto lines = help_lines(help);
    const auto line = std::find_if(lines.begin(), lines.end(),
                                   [&](const auto& one) { return one.ends_with(text); });
    REQUIRE(line != lines.end());
    CHECK(display_width(line->substr(0, line->find(text))) == 30);
  }
}

TEST_CASE("the terminal sets the width of help, otherwise COLUMNS, otherwise 80 columns") {
  for (const Words& words : {Words{"--help"}, Words{"collect", "--help-all"}, Words{"help"}}) {
    CAPTURE(words);
    CHECK(widest(run_msprof(words).out) <= 80);
    CHECK(widest(run_msprof(words).out) > 74);
    const auto wide = run_msprof(words, {.variables = {{"COLUMNS", "120"}}});
    CHECK(widest(wide.out) <= 120);
    CHECK(widest(wide.out) > 100);
    // On a terminal, lines end with \r\n.
    const auto terminal = run_msprof(words, {.terminal_columns = 71});
    CHECK(widest(std::regex_replace(terminal.out, std::regex("\r"), "")) <= 71);
  }
}

TEST_CASE("a wrapped example is still one command for a shell") {
  cli::Command command("sample", "Shows how a long example is broken.");
  command.set_examples(
      "  sample --first one --second \"two  words that stay\" --third 'a b c d e f g'   a comment\n"
      "                                                 that goes on");
  const std::string help = cli::help_text(command, "sample", "", 50);
  CHECK(
      help.starts_with("Examples:\n"
                       "  sample --first one --second \\\n"
                       "      \"two  words that stay\" --third \\\n"
                       "      'a b c d e f g'\n"
                       "      a comment that goes on\n"));
}

TEST_CASE("collect --help lists the twenty usual options in groups, its topics list all others") {
  const auto root = build_command_tree();
  const cli::Command& collect = find_collect(*root);
  const std::string usual = run_msprof({"collect", "--help"}).out;
  CHECK(count_options(usual) == 20);
  for (const char* title : {"\nApplication:\n", "\nBoards and servers, over SSH:\n", "\nResults:\n",
                            "  --help-board ", "  --help-cann ", "  --help-all "})
    CHECK(contains(usual, title));
  const std::string board = run_msprof({"collect", "--help-board"}).out;
  const std::string cann = run_msprof({"collect", "--help-cann"}).out;
  const std::string all = run_msprof({"collect", "--help-all"}).out;
  CHECK(count_options(all) == static_cast<int>(collect.options().size()));
  for (const auto& option : collect.options()) {
    // Start of the option's entry, e.g. "  --env NAME=VALUE".
    const std::string start = "\n  " + std::string(split(option->names, ',').front());
    CAPTURE(start);
    CHECK(contains(all, start));
    const bool is_rare = !contains(usual, start);
    if (is_rare && start != "\n  --warm-up")
      CHECK((contains(board, start) != contains(cann, start)));
  }
  CHECK(contains(board, "\n  --config FILE"));
  CHECK_FALSE(contains(board, "--ascendcl"));
  CHECK(contains(cann, "\n  --ascendcl on|off"));
  CHECK_FALSE(contains(cann, "\n  --config"));
  const auto wrong = run_msprof({"collect", "--help-baord"});
  CHECK(wrong.exit_code == 2);
  CHECK(contains(wrong.err, "did you mean --help-board"));
}

TEST_CASE("msprof and msprof help print help, msprof help VERB that of the verb") {
  const std::string all = run_msprof({"--help"}).out;
  REQUIRE(all.starts_with("Examples:\n  msprof "));
  for (const Words& words :
       {Words{}, Words{"help"}, Words{"-h"}, Words{"help", "--help"}, Words{"help", "help"}}) {
    const auto result = run_msprof(words);
    CAPTURE(words);
    CHECK(result.exit_code == 0);
    CHECK(result.out == all);
    CHECK(result.err.empty());
  }
  CHECK(run_msprof({"help", "show"}).out == run_msprof({"show", "--help"}).out);
  CHECK(run_msprof({"help", "export", "timeline"}).out ==
        run_msprof({"export", "timeline", "-h"}).out);
  // Commands are listed before the many options of CANN's collector.
  CHECK(all.find("\nCommands:\n") < all.find("--type"));
  CHECK(contains(all, "\n  help COMMAND "));

  const auto wrong = run_msprof({"help", "shwo"});
  CHECK(wrong.exit_code == 2);
  CHECK(contains(wrong.err, "unknown command 'shwo'; did you mean show?"));
  CHECK(run_msprof({"help", "show", "all"}).exit_code == 2);
  CHECK(contains(run_msprof({"hlep"}).err, "did you mean help?"));
}

TEST_CASE("-h prints help even if a value is expected, but not after --") {
  const std::string show = run_msprof({"show", "--help"}).out;
  for (const Words& words : {Words{"show", "-dir", "-h"}, Words{"show", "-dir", "JOB", "--help"},
                             Words{"show", "--top", "-h"}, Words{"show", "--no-such", "-h"}}) {
    const auto result = run_msprof(words);
    CAPTURE(words);
    CHECK(result.exit_code == 0);
    CHECK(result.out == show);
  }
  CHECK(run_msprof({"collect", "--env", "-h"}).out == run_msprof({"collect", "--help"}).out);
  for (const Words& words : {Words{"--output", "-h"}, Words{"--output=x", "--help"},
                             Words{"--output=x", "-h"}, Words{"--application", "--help"}})
    CHECK(run_msprof(words).out == run_msprof({"--help"}).out);
  const auto application = run_msprof({"collect", "-m", "no-such-program", "--", "-h"});
  CHECK(application.out.empty());
  CHECK(application.exit_code == 4);
}

TEST_CASE("completion offers help of a command, and commands after help") {
  const auto tree = build_command_tree();
  const auto offered = [&](const Words& before, const std::string& typed) {
    Words words;
    for (const auto& one : completion::candidates(*tree, before, typed))
      words.push_back(typed + one.rest);
    return words;
  };
  CHECK(offered({"collect"}, "--help") ==
        Words{"--help", "--help-board", "--help-cann", "--help-all"});
  CHECK(offered({"show"}, "--help") == Words{"--help"});
  CHECK(offered({}, "hel") == Words{"help"});
  Words verbs;
  for (const auto& verb : tree->commands())
    if (!verb->is_hidden()) verbs.push_back(verb->name());
  CHECK(offered({"help"}, "") == verbs);
  CHECK(offered({"help", "export"}, "t") == Words{"timeline"});
  CHECK(offered({"help", "show"}, "").empty());
  CHECK(offered({"help"}, "--").empty());
}
