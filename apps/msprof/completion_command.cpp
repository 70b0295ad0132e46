// msprof completion: a script for a shell; and __complete, which that script asks.
#include <fmt/format.h>

#include "base/text.hpp"
#include "msprof/completion_candidates.hpp"
#include "msprof/completion_scripts.hpp"
#include "msprof/completion_words.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

namespace {

using namespace completion;

constexpr int kHelpWidth = 72;

struct CompletionArguments {
  std::string shell;
  std::vector<std::string> asked;  // SHELL LINE REPLACED
};

// The first sentence, as far as there is room.
std::string short_help(const std::string& help) {
  const auto end = help.find(". ");
  return shorten(printable(end == std::string::npos ? help : help.substr(0, end)), kHelpWidth);
}

std::vector<Candidate> candidates_behind(const cli::Command& root,
                                         const std::vector<TypedWord>& words) {
  const TypedWord& last = words.back();
  if (words.size() < 2 || !last.is_known) return {};
  if (last.is_redirection) return file_candidates(last.value);
  std::vector<std::string> before;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) before.push_back(words[i].value);
  return candidates(root, before, last.value);
}

// readline closes an open quote behind the only candidate, unless that ends in such a quote.
std::string closed_for_bash(std::string text, Quote open) {
  const char quote = open == Quote::single_quote ? '\'' : '"';
  const bool is_open = open == Quote::single_quote || open == Quote::double_quote;
  if (is_open && text.ends_with(quote)) text += quote;
  return text;
}

std::string answer_line(const std::string& shell, const std::string& replaced,
                        const TypedWord& word, const Candidate& candidate) {
  if (shell == "fish") return word.typed + candidate.rest;
  const std::string text = replaced + quoted_rest(candidate.rest, word.open);
  return shell == "bash" ? closed_for_bash(text, word.open) : text;
}

// One candidate a line. bash, zsh: the text that takes the place of REPLACED, as it is typed; fish:
// the whole word, unquoted. zsh and fish: a tab and the help behind it.
Exit answer(const cli::Command& root, const std::vector<std::string>& asked) {
  if (asked.size() != 3) throw Error(Exit::usage, "__complete takes: -- SHELL LINE REPLACED");
  const std::string& shell = asked[0];
  const auto words = typed_words(asked[1]);
  const TypedWord& last = words.back();
  for (const Candidate& candidate : candidates_behind(root, words)) {
    // A backslash that waits for its character: there is none.
    if (last.open == Quote::backslash && candidate.rest.empty()) continue;
    const std::string text = answer_line(shell, asked[2], last, candidate);
    const bool has_help = shell != "bash" && !candidate.help.empty();
    fmt::print("{}{}{}\n", text, has_help ? "\t" : "", has_help ? short_help(candidate.help) : "");
  }
  return Exit::ok;
}

}  // namespace

void add_completion_command(cli::Command& root) {
  auto arguments = std::make_shared<CompletionArguments>();
  std::vector<std::string> shells;
  for (const auto& script : completion_scripts()) shells.emplace_back(script.shell);

  cli::Command& command = root.add_command(
      "completion",
      "Print a script that completes commands, options, captures and names of tables at the TAB "
      "key of bash, zsh or fish.");
  command.set_examples(
      "  source <(msprof completion bash)      bash, in ~/.bashrc\n"
      "  source <(msprof completion zsh)       zsh, in ~/.zshrc behind compinit\n"
      "  msprof completion fish | source       fish, in ~/.config/fish/config.fish");
  command.add_option(
      {"shell", &arguments->shell, "SHELL", "bash, zsh or fish", std::move(shells), true});
  command.set_action([arguments] {
    for (const auto& script : completion_scripts()) {
      if (script.shell == arguments->shell) fmt::print("{}", script.text);
    }
    return Exit::ok;
  });

  cli::Command& hidden =
      root.add_command("__complete", "What may follow on a command line; for the scripts.");
  hidden.set_hidden();
  hidden.set_examples("  msprof __complete -- bash 'msprof sh' sh");
  hidden.set_rest(&arguments->asked, "SHELL LINE REPLACED");
  hidden.set_action([arguments, &root] { return answer(root, arguments->asked); });
}

}  // namespace msprof
