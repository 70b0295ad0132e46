// msprof completion: in real shells on a terminal, and the queries that the scripts send to the
// program.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>

#include "base/text.hpp"
#include "cli/cli_fixture.hpp"
#include "msprof/completion.hpp"
#include "msprof/verbs.hpp"
#include "support/eventually.hpp"
#include "support/require.hpp"
#include "support/typed_terminal.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Returns the sorted completions that bash gets for `line`, of which readline replaces the last
// part, `replaced`.
Words answers(const fs::path& folder, const std::string& line, const std::string& replaced = "") {
  const RunResult run = run_msprof({"__complete", "--", "bash", line, replaced}, {folder, {}});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  Words lines;
  for (const auto one : split(run.out, '\n')) lines.emplace_back(one);
  lines.pop_back();
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A shell on a terminal in which `msprof` only prints its arguments.
class Shell {
 public:
  Shell(const std::string& program, const Words& options, const std::string& setup,
        const fs::path& folder)
      : terminal_(program, options, terminal_options(folder)) {
    terminal_.type(setup + "\n");
    terminal_.type("cd " + folder.string() + "\n");
  }

  // Types `keys` and Enter; returns the arguments that the command received, as "<one><two>".
  std::string type_command(const std::string& keys) {
    const std::string end = "@" + std::to_string(++count_) + ";";
    terminal_.type(keys + "\n");
    const bool shown = terminal_.wait_for(end);
    INFO(terminal_.screen());
    REQUIRE(shown);
    const std::string& screen = terminal_.screen();
    const auto stop = screen.rfind(end);
    const auto start = screen.rfind("@<", stop);
    return screen.substr(start + 1, stop - start - 1);
  }
  const std::string& screen() const { return terminal_.screen(); }

 private:
  static TerminalOptions terminal_options(const fs::path& folder) {
    const std::string path =
        fs::path(msprof_path()).parent_path().string() + ":" + std::getenv("PATH");
    return {{{"PATH", path},
             {"HOME", folder.string()},
             {"TERM", "dumb"},
             {"INPUTRC", "/dev/null"},
             {"HISTFILE", "/dev/null"}},
            true,
            true,
            false};
  }
  TypedTerminal terminal_;
  int count_ = 0;
};

Shell bash_in(const fs::path& folder) {
  return {"/bin/bash",
          {"--norc", "--noprofile", "-i"},
          "bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; "
          "source <(msprof completion bash); "
          "msprof() { printf '@'; printf '<%s>' \"$@\"; printf '@%d;\\n' $((++n)); }",
          folder};
}

// Names that have side effects if a shell evaluates them.
const Words kOddNames = {
    "JOB one two",      "JOB$(touch owned)", "JOB`touch owned`", "JOB;touch owned",
    "JOB&touch owned&", "JOB'single'",       "JOB\"double\"",    "JOB!!",
    "JOB\\back",        "JOB$HOME",          "JOB{a,b}*?[x]",    "JOB#~ü"};

// Puts each odd name in its own folder: 0/, 1/, …
void make_odd_captures(const fs::path& parent) {
  for (std::size_t i = 0; i < kOddNames.size(); ++i)
    make_face(parent / std::to_string(i), kOddNames[i]);
}

}  // namespace

TEST_CASE("bash completes names with quotes, blanks and commands in them, and evaluates nothing") {
  const TempFolder folder;
  make_odd_captures(folder.path());
  Shell bash = bash_in(folder.path());
  for (std::size_t i = 0; i < kOddNames.size(); ++i) {
    const std::string below = std::to_string(i) + "/";
    const std::string wanted = "<show><-dir><" + below + kOddNames[i] + ">";
    INFO(kOddNames[i]);
    for (const char* quote : {"", "\"", "'"})
      CHECK(bash.type_command("msprof show -dir " + (quote + below) + "\t") == wanted);
  }
  CHECK_FALSE(fs::exists(folder.path() / "owned"));
}

TEST_CASE("bash completes commands, options, values, lists and paths") {
  const TempFolder folder;
  make_face(folder.path() / "runs", "JOBA B");
  make_face(folder.path() / "runs", "JOBA C");
  write_file(folder.path() / "board one.ini", "");
  Shell bash = bash_in(folder.path());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"msprof impo\t", "<import>"},
      {"msprof export summ\top_su\t", "<export><summary><op_summary>"},
      {"msprof export summary -dir runs/\tB\t task_\t",
       "<export><summary><-dir><runs/JOBA B><task_time>"},
      {"msprof export timeline --lay\tcann,counte\t",
       "<export><timeline><--layers><cann,counters>"},
      {"msprof export summary --format=j\t", "<export><summary><--format=json>"},
      {"msprof show -dir=ru\tJ\tC\t", "<show><-dir=runs/JOBA C>"},
      {"msprof show -dir $HOME/ru\tJOBA\\ B\t",
       "<show><-dir><" + folder.path().string() + "/runs/JOBA B>"},
      {"msprof show -dir ~/ru\tJOBA\\ B\t",
       "<show><-dir><" + folder.path().string() + "/runs/JOBA B>"},
      {"msprof query 'SELECT * FROM v_op\t", "<query><SELECT * FROM v_ops>"},
      {"msprof collect -m main --config bo\t", "<collect><-m><main><--config><board one.ini>"},
      {"msprof collect -m main -- bo\t", "<collect><-m><main><--><board one.ini>"},
      {"true; A=1 msprof import --outp\trun\t", "<import><--output><runs/>"},
      {"msprof show -dir $(touch owned; echo z\t); true", "<show><-dir><z>"},
  };
  for (const auto& [keys, wanted] : cases) {
    INFO(keys);
    CHECK(bash.type_command(keys) == wanted);
  }
}

TEST_CASE("-dir offers captures not named yet, and folders that lead to one") {
  const TempFolder folder;
  const fs::path root = folder.path() / "here";
  for (const char* name : {"JOBA", "JOBB", "renamed"}) make_face(root, name);
  make_face(root / "a/b/c", "JOBDEEP");
  fs::create_directories(root / "PROF_1/host");
  write_file(root / "PROF_1/host/info.json.0", "{}");
  fs::create_directories(root / "nothing/here");
  make_face(root, "JOB\nnewline");
  write_file(root / "JOBfile", "");
  fs::create_directory_symlink("JOBA", root / "link");

  // On a busy machine a folder that could not be scanned in time is offered, too: retry.
  const auto offers = [&](const Words& wanted, const std::string& line,
                          const std::string& typed = "") {
    return eventually([&] { return answers(root, line, typed) == wanted; });
  };
  CHECK(offers({"JOBA", "JOBB", "PROF_1", "a/", "link", "renamed"}, "msprof show -dir "));
  CHECK(offers({"JOBB"}, "msprof show -dir JOBA J", "J"));
  CHECK(offers({"JOBA,JOBB"}, "msprof compare JOBA,J", "JOBA,J"));
  CHECK(offers({"JOBB"}, "msprof compare JOBA,renamed J", "J"));
  CHECK(offers({"a/b/c/"}, "msprof show -dir a/b/", "a/b/"));
  CHECK(offers({"../here/"}, "msprof show --collection-dir=../", "../"));
  // If no folder leads to a capture, all folders are offered.
  CHECK(offers({"nothing/"}, "msprof show -dir not", "not"));
  CHECK(answers(root, "msprof show -dir missing/x", "missing/x").empty());
  CHECK(answers(root, "msprof import --layout J", "J") == Words{"JOBA/", "JOBB/", "JOBfile"});
}

TEST_CASE("completion of -dir shows time, model and verdict") {
  const TempFolder folder;
  set_age(make_face(folder.path(), "JOBA"), 60);
  const auto job = make_partial(folder.path(), "JOBB");
  set_age(job, 120);
  REQUIRE(run_msprof({"import", "-q", "-dir", job.folder().string()}).exit_code == 3);
  const auto said = run_msprof({"__complete", "--", "zsh", "msprof show -dir JOB", "JOB"},
                               {.folder = folder.path()});
  CHECK(said.out ==
        "JOBB\t2020-01-01 00:02, net, PARTIAL DATA\n"
        "JOBA\t2020-01-01 00:01, face, not imported\n");
}

TEST_CASE("every command, option, choice and word of the command tree is offered") {
  const auto tree = build_command_tree();
  const auto offered = [&](const Words& before, const std::string& typed) {
    Words words;
    for (const auto& one : completion::candidates(*tree, before, typed))
      words.push_back(typed + one.rest);
    return words;
  };
  int checked = 0;
  std::function<void(const cli::Command&, const Words&)> visit = [&](const auto& command,
                                                                     const Words& path) {
    for (const auto& child : command.commands()) {
      CHECK(has(offered(path, ""), child->name()) != child->is_hidden());
      Words below = path;
      below.push_back(child->name());
      visit(*child, below);
    }
    for (const auto& option : command.options()) {
      const auto names = cli::option_names(*option);
      INFO(option->names);
      Words behind = path;
      if (names[0].starts_with('-')) {
        for (const auto& name : names) CHECK(has(offered(path, name), name));
        behind.push_back(names[0]);
        const bool again = std::holds_alternative<std::vector<std::string>*>(option->target);
        Words given = behind;
        if (!std::holds_alternative<bool*>(option->target)) given.push_back("x");
        CHECK(has(offered(given, names.back()), names.back()) == again);
      }
      for (const auto& choice : option->choices) CHECK(has(offered(behind, ""), choice));
      if (option->suggestions) {
        const std::string text = option->takes_text ? "SELECT * FROM " : "";
        for (const auto& one : option->suggestions())
          CHECK(has(offered(behind, text), text + one.word));
      }
      ++checked;
    }
    CHECK(has(offered(path, "--"), "--help"));
  };
  visit(*tree, {});
  CHECK(checked > 60);
  CHECK(offered({"export", "timeline", "--layers", "cann"}, "cann,com") ==
        Words{"cann,communication"});
  CHECK(offered({"export", "timeline", "--layers"}, "acl,acl").empty());
  CHECK(offered({"completion"}, "z") == Words{"zsh"});
  CHECK(offered({"query"}, "v_op").empty());  // SQL cannot start with a table name
  CHECK(offered({"nothing"}, "") == offered({}, ""));
}

TEST_CASE("completion runs no shell, accepts any line and writes no files") {
  const TempFolder folder;
  make_face(folder.path(), "JOBA");
  const auto listing = [&] {
    Words names;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    return names;
  };
  const Words before = listing();
  for (const std::string line :
       {"", " ", "msprof", "msprof show -dir $(touch owned) ", "msprof show -dir `touch owned",
        "msprof show -dir ${HOME", "msprof show -dir \"$(touch owned)", "msprof \\", "msprof 'a\"",
        "msprof > ", "msprof 2>&1 ", "a=b c=d", "msprof show --top= ", "msprof show -= "})
    answers(folder.path(), line);
  answers(folder.path(), "msprof show -dir " + std::string(100'000, 'x'));
  CHECK(answers(folder.path(), "msprof show -dir JOBA ; msprof > J", "J") == Words{"JOBA/"});
  CHECK(answers(folder.path(), "msprof show 2>/dev/null -dir J", "J") == Words{"JOBA"});
  CHECK(listing() == before);

  CHECK(run_msprof({"__complete", "--", "bash"}).exit_code == 2);
  CHECK(run_msprof({"completion", "tcsh"}).exit_code == 2);
  const auto help = run_msprof({"--help"});
  CHECK(contains(help.out, "completion"));
  CHECK_FALSE(contains(help.out, "__complete"));
}

TEST_CASE("zsh and fish, if installed, complete unusual names and evaluate nothing") {
  const TempFolder folder;
  make_odd_captures(folder.path());
  struct Other {
    std::string program;
    Words options;
    std::string setup;
  };
  const std::vector<Other> shells = {
      {"/usr/bin/zsh",
       {"-f", "-i"},
       "autoload -U compinit; compinit -D; source <(msprof completion zsh); setopt no_beep; "
       "msprof() { printf '@'; printf '<%s>' \"$@\"; printf '@%d;\\n' $((++n)) }"},
      {"/usr/bin/fish",
       {"--no-config", "-i"},
       "msprof completion fish | source; set -g n 0; function msprof; set -g n (math $n + 1); "
       "printf '@'; printf '<%s>' $argv; printf '@%d;\\n' $n; end"}};
  for (const auto& shell : shells) {
    if (!require_program_or_skip(fs::path(shell.program).filename())) continue;
    Shell typed(shell.program, shell.options, shell.setup, folder.path());
    INFO(shell.program);
    CHECK(typed.type_command("msprof exp\tsumm\top_su\t") == "<export><summary><op_summary>");
    for (std::size_t i = 0; i < kOddNames.size(); ++i) {
      const std::string below = std::to_string(i) + "/";
      INFO(kOddNames[i]);
      for (const char* quote : {"", "\"", "'"})
        CHECK(typed.type_command("msprof show -dir " + (quote + below) + "\t") ==
              "<show><-dir><" + below + kOddNames[i] + ">");
    }
    CHECK_FALSE(fs::exists(folder.path() / "owned"));
  }
}
