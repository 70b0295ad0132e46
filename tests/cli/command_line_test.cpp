// The command tree as data, and the parser's treatment of arguments.
#include "msprof/command_line.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "msprof/verbs.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;

namespace {

using Words = std::vector<std::string>;

void visit(const cli::Command& command, const std::string& path,
           const std::function<void(const cli::Command&, const std::string&)>& look) {
  look(command, path);
  for (const auto& child : command.commands()) visit(*child, path + " " + child->name(), look);
}

// Captures what is printed on stderr during its lifetime.
class Stderr {
 public:
  Stderr() : old_(::dup(STDERR_FILENO)) {
    std::FILE* file = std::freopen((folder_ / "stderr").c_str(), "w", stderr);
    REQUIRE(file != nullptr);
  }
  ~Stderr() { restore(); }
  std::string text() {
    restore();
    return test::read_file(folder_ / "stderr");
  }

 private:
  void restore() {
    if (old_ < 0) return;
    std::fflush(stderr);
    ::dup2(old_, STDERR_FILENO);
    ::close(old_);
    old_ = -1;
  }
  test::TempFolder folder_;
  int old_;
};

struct Said {
  Exit exit;
  std::string text;
};

// Parses `words` with the real command tree; no verb may run.
Said said_to(const Words& words) {
  const auto root = build_command_tree();
  bool has_run = false;
  const std::function<void(cli::Command&)> disarm = [&](cli::Command& command) {
    if (command.action()) {
      // The action owns the variables to which its options write.
      command.set_action([&, kept = command.action()] {
        has_run = true;
        return Exit::ok;
      });
    }
    for (const auto& child : command.commands()) disarm(*child);
  };
  disarm(*root);
  Stderr captured;
  const Exit exit = cli::run(*root, "msprof 1", words);
  CHECK_FALSE(has_run);
  return {exit, captured.text()};
}

// Detects parser terms that are meaningless to a user, or a page of text instead of a line.
bool leaks(const std::string& text) {
  for (const char* part : {"required", ":{", " not in ", "Could not", "received", "allowed",
                           "RunTime", "INI", "TEXT:", "valid options"})
    if (text.find(part) != std::string::npos) return true;
  return std::count(text.begin(), text.end(), '\n') != 1 || !text.starts_with("error: ") ||
         text.size() > 400;
}

struct Sample {
  cli::Command root{"sample", "a sample"};
  bool flag = false;
  std::vector<std::string> dirs;
  std::string text = "old";
  std::optional<long> number;
  Words variables;
  Words rest;
  int runs = 0;

  Sample() {
    auto& verb = root.add_command("verb", "does it");
    verb.add_option({"-f,--flag", &flag, "", "a flag"});
    verb.add_option({"--dir", &dirs, "DIR", "folders"});
    verb.add_option({"--text", &text, "TEXT", "a text", {"old", "new"}});
    verb.add_option({"--number", &number, "N", "a number"});
    cli::Option variable = {"--set", &variables, "K=V", "one each"};
    variable.takes_one_each = true;
    verb.add_option(std::move(variable));
    verb.set_rest(&rest, "what stands behind");
    verb.set_action([this] {
      ++runs;
      return Exit::partial_data;
    });
    root.add_command("other", "takes no rest").set_action([] { return Exit::ok; });
  }
  Exit run(const Words& words) { return cli::run(root, "sample 1", words); }
};

}  // namespace

TEST_CASE("every verb and every option has a help text, every verb has examples that name it") {
  const auto root = build_command_tree();
  int options = 0;
  visit(*root, "msprof", [&](const cli::Command& command, const std::string& path) {
    INFO(path);
    CHECK(command.help().size() > 10);
    CHECK(command.examples().find("  " + path) != std::string::npos);
    // A verb either has an action or has subcommands.
    CHECK((command.action() != nullptr) == command.commands().empty());
    if (command.rest() != nullptr) CHECK_FALSE(command.rest_help().empty());
    for (const auto& option : command.options()) {
      INFO(option->names);
      CHECK(option->help.size() > 3);
      const bool is_flag = std::holds_alternative<bool*>(option->target);
      CHECK(option->value_name.empty() == is_flag);
      ++options;
    }
  });
  CHECK(options > 20);
}

TEST_CASE("the verbs are the manual's") {
  const auto root = build_command_tree();
  Words paths;
  visit(*root, "msprof",
        [&](const cli::Command&, const std::string& path) { paths.push_back(path); });
  std::sort(paths.begin(), paths.end());
  CHECK(paths == Words{"msprof",
                       "msprof __complete",
                       "msprof __man_pages",
                       "msprof advise",
                       "msprof cluster",
                       "msprof collect",
                       "msprof compare",
                       "msprof completion",
                       "msprof doctor",
                       "msprof export",
                       "msprof export all",
                       "msprof export cluster",
                       "msprof export db",
                       "msprof export parquet",
                       "msprof export summary",
                       "msprof export timeline",
                       "msprof follow",
                       "msprof import",
                       "msprof layout",
                       "msprof list",
                       "msprof mcp",
                       "msprof merge",
                       "msprof query",
                       "msprof rank",
                       "msprof report",
                       "msprof show"});
}

TEST_CASE("reading verbs take the same options for captures") {
  const auto root = build_command_tree();
  int verbs = 0;
  visit(*root, "msprof", [&](const cli::Command& command, const std::string& path) {
    if (command.action() == nullptr || command.name() == "collect") return;
    if (command.name() == "completion" || command.is_hidden()) return;
    if (command.name() == "compare") return;  // two captures as positional arguments
    // positional arguments are folders or rank summaries
    if (path == "msprof cluster" || command.name() == "merge") return;
    if (command.name() == "list") return;    // positional arguments are folders
    if (command.name() == "follow") return;  // a positional argument is the folder
    if (command.name() == "layout") return;  // makes no store
    if (command.name() == "mcp") return;     // captures are named by its client
    INFO(path);
    ++verbs;
    std::string names;
    for (const auto& option : command.options()) names += " " + option->names + " ";
    for (const char* name :
         {" --dir,--collection-dir ", " --output ", " -q,--quiet ", " -v,--verbose "}) {
      CHECK(names.find(name) != std::string::npos);
    }
  });
  CHECK(verbs == 13);
}

TEST_CASE("-dir becomes --dir, with a value behind = too, up to --") {
  CHECK(cli::rewrite_long_options({"import", "-dir", "A", "-dir=B", "--dir", "C"}) ==
        Words{"import", "--dir", "A", "--dir=B", "--dir", "C"});
  CHECK(cli::rewrite_long_options({"-dir", "A", "--", "-dir", "B", "-dir=C"}) ==
        Words{"--dir", "A", "--", "-dir", "B", "-dir=C"});
  CHECK(cli::rewrite_long_options({"-d", "-direct", "-q", "dir", "-dir"}) ==
        Words{"-d", "-direct", "-q", "dir", "--dir"});
}

TEST_CASE("options are parsed into their targets and the action's code is passed on") {
  Sample sample;
  CHECK(sample.run({"verb", "-f", "-dir", "a", "b", "--text=new", "--number", "-3", "--dir=c", "--",
                    "-f", "--text", "x"}) == Exit::partial_data);
  CHECK(sample.runs == 1);
  CHECK(sample.flag);
  CHECK(sample.dirs == Words{"a", "b", "c"});
  CHECK(sample.text == "new");
  CHECK(sample.number == -3);
  CHECK(sample.rest == Words{"-f", "--text", "x"});
}

TEST_CASE("an option of one value each takes the next word and no more, as often as it comes") {
  Sample sample;
  CHECK(sample.run({"verb", "--set", "a=1 2,3", "-f", "--set=b=[x,y]", "--set", "c="}) ==
        Exit::partial_data);
  CHECK(sample.variables == Words{"a=1 2,3", "b=[x,y]", "c="});
  Sample stray;
  CHECK(stray.run({"verb", "--set", "a=1", "b=2"}) == Exit::usage);
  CHECK(stray.runs == 0);
}

TEST_CASE("defaults stay where an option is not given") {
  Sample sample;
  CHECK(sample.run({"verb"}) == Exit::partial_data);
  CHECK_FALSE(sample.flag);
  CHECK(sample.dirs.empty());
  CHECK(sample.text == "old");
  CHECK_FALSE(sample.number);
}

TEST_CASE("every usage error of the parser is code 2, and nothing runs") {
  const Words words =
      GENERATE(as<Words>(), Words{"--"}, Words{"nothing"}, Words{"verb", "stray"},
               Words{"verb", "--unknown"}, Words{"verb", "-x"}, Words{"verb", "--text", "odd"},
               Words{"verb", "--text"}, Words{"verb", "--number", "x"},
               Words{"verb", "--number", "1", "--number", "2"}, Words{"verb", "--dir"},
               Words{"verb", "--flag=maybe"}, Words{"other", "--", "x"},
               Words{"verb", "--text", "new", "--text", "old"});
  Sample sample;
  CHECK(sample.run(words) == Exit::usage);
  CHECK(sample.runs == 0);
}

TEST_CASE("whatever is wrong with an option of a verb, one line says what it takes") {
  const auto root = build_command_tree();
  int provoked = 0;
  visit(*root, "", [&](const cli::Command& command, const std::string& path) {
    if (!command.action() || command.is_hidden()) return;
    Words begin;
    for (std::size_t at = 1, end = 0; at < path.size(); at = end + 1) {
      end = std::min(path.find(' ', at), path.size());
      begin.push_back(path.substr(at, end - at));
    }
    for (const auto& option : command.options()) {
      if (!option->names.starts_with('-')) continue;
      const std::string name = cli::option_names(*option).back();
      const auto check = [&](const Words& more, const std::string& part) {
        Words words = begin;
        words.insert(words.end(), more.begin(), more.end());
        // Required arguments of the verb are given, so that only the option is wrong.
        if (command.name() == "compare") words.insert(words.end(), {"A", "B"});
        const Said said = said_to(words);
        CAPTURE(words, said.text);
        CHECK(said.exit == Exit::usage);
        CHECK_FALSE(leaks(said.text));
        CHECK(said.text.find(part) != std::string::npos);
        ++provoked;
      };
      if (std::holds_alternative<bool*>(option->target)) {
        check({name + "=maybe"}, "is a switch and has no value");
        continue;
      }
      check({name + "="}, "");
      check({name, ""}, "is empty");
      const bool is_number = std::holds_alternative<std::optional<long>*>(option->target) ||
                             std::holds_alternative<std::optional<double>*>(option->target);
      if (is_number || !option->choices.empty()) check({name, "no-such"}, "got 'no-such'");
      for (const std::string& choice : option->choices) check({name, "no-such"}, choice);
      if (command.name() != "compare" && !option->is_value_optional)
        check({name}, "needs a value: ");
      const bool is_list = std::holds_alternative<Words*>(option->target);
      const std::string value = !option->choices.empty() ? option->choices.front() : "1";
      if (!is_list) check({name, value, name, value}, "only once");
    }
  });
  CHECK(provoked > 100);
}

TEST_CASE("a word that was mistyped or stands in a wrong place is answered with the right form") {
  const auto check = [](const Words& words, const std::string& part) {
    const Said said = said_to(words);
    CAPTURE(words);
    CHECK(said.exit == Exit::usage);
    CHECK_THAT(said.text, Catch::Matchers::Contains(part));
    CHECK(said.text.find("valid options") == std::string::npos);
  };
  check({"shwo"}, "unknown command 'shwo'; did you mean show?\nvalid commands: ");
  check({"summary", "-dir", "A"}, "unknown command 'summary'; did you mean msprof export summary?");
  check({"JOBXXX"}, "did you mean msprof show -dir JOBXXX?");
  check({"export", "timelin"}, "did you mean timeline?");
  check({"export", "JOBXXX"}, "did you mean msprof export all -dir JOBXXX?");
  check({"export"},
        "no command given\n"
        "valid commands: timeline, summary, db, parquet, cluster and all");
  check({"show", "JOBXXX"}, "give captures after -dir: msprof show -dir JOBXXX\n");
  check({"show", "--top", "3", "JOB A", "JOBB"}, "msprof show --top 3 -dir 'JOB A' JOBB\n");
  check({"advise", "PROF_1"}, "msprof advise -dir PROF_1\n");
  check({"show", "--tpo", "3"}, "unknown option '--tpo'; did you mean --top?");
  check({"import", "--directory", "A"}, "unknown option '--directory'; did you mean -dir?");
  check({"show", "--dirs", "A"}, "unknown option '--dirs'; did you mean --dir?");
  check({"show", "--jsonlines"}, "unknown option '--jsonlines'; did you mean --json?");
  check({"show", "-json"}, "unknown option '-json'; did you mean --json?");
  check({"collect", "--sink"}, "unknown option '--sink'; for a small disk, use --drain or --nfs\n");
  check({"show", "--nothing-like-it"}, "`msprof show --help` lists the options");
  check({"-dir", "A", "show"}, "-dir must follow the command: msprof show -dir …");
  check({"collect", "-m", "main", "plain", "2"}, "after --: msprof collect -m main -- plain 2\n");
  check({"collect", "-m", "main", "a b", "--", "c"}, "msprof collect -m main -- 'a b' c\n");
  check({"collect", "main", "2"}, "give the executable after -m: msprof collect -m main -- 2\n");
  check({"compare", "A"}, "NEW is missing: msprof compare BASE NEW");
  check({"compare"}, "BASE and NEW are missing: msprof compare BASE NEW");
  check({"compare", "A", "B", "C"},
        "too many arguments, starting with 'C': msprof compare BASE and NEW");
  check({"completion", "fsh"}, "expected bash, zsh or fish, got 'fsh'; did you mean fish");
  check({"export", "summary", "--format", "jsn"}, "--format: expected csv or json, got 'jsn'");
  check({"collect", "-m", "a", "--aicpu"}, "--aacpu needs a value: on or off");
  check({"show", "--", "x"}, "'show' does not accept arguments after --");
}
