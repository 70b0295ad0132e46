// The command tree as data, and what the parser makes of words.
#include "msprof/command_line.hpp"

#include <catch2/catch.hpp>

#include "msprof/verbs.hpp"

using namespace msprof;

namespace {

using Words = std::vector<std::string>;

void visit(const cli::Command& command, const std::string& path,
           const std::function<void(const cli::Command&, const std::string&)>& look) {
  look(command, path);
  for (const auto& child : command.commands()) visit(*child, path + " " + child->name(), look);
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
    variable.one_each = true;
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
    // A verb either does something or has verbs below it.
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
  CHECK(paths == Words{"msprof", "msprof __complete", "msprof advise", "msprof collect",
                       "msprof compare", "msprof completion", "msprof doctor", "msprof export",
                       "msprof export all", "msprof export db", "msprof export summary",
                       "msprof export timeline", "msprof import", "msprof query", "msprof show"});
}

TEST_CASE("reading verbs take the same options for captures") {
  const auto root = build_command_tree();
  int verbs = 0;
  visit(*root, "msprof", [&](const cli::Command& command, const std::string& path) {
    if (command.action() == nullptr || command.name() == "collect") return;
    if (command.name() == "completion" || command.is_hidden()) return;
    if (command.name() == "compare") return;  // of two captures, by place
    INFO(path);
    ++verbs;
    std::string names;
    for (const auto& option : command.options()) names += " " + option->names + " ";
    for (const char* name :
         {" --dir,--collection-dir ", " --output ", " -q,--quiet ", " -v,--verbose "}) {
      CHECK(names.find(name) != std::string::npos);
    }
  });
  CHECK(verbs == 9);
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
  const Words words = GENERATE(
      as<Words>(), Words{}, Words{"nothing"}, Words{"verb", "stray"}, Words{"verb", "--unknown"},
      Words{"verb", "-x"}, Words{"verb", "--text", "odd"}, Words{"verb", "--text"},
      Words{"verb", "--number", "x"}, Words{"verb", "--number", "1", "--number", "2"},
      Words{"verb", "--dir"}, Words{"verb", "--flag=maybe"}, Words{"other", "--", "x"},
      Words{"verb", "--text", "new", "--text", "old"});
  Sample sample;
  CHECK(sample.run(words) == Exit::usage);
  CHECK(sample.runs == 0);
}
