// msprof completion: prints a completion script for a shell. The script calls __complete.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "msprof/completion.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

using namespace completion;

namespace {

// Parses a command line that is being typed in a shell. Nothing in it is ever evaluated.

// State at the end of an unfinished word.
enum class Quote { none, single_quote, double_quote, backslash };

struct TypedWord {
  std::string typed;  // without quotes
  std::string value;  // `typed` with $HOME and other environment variables expanded
  Quote open = Quote::none;
  bool is_known = true;  // false: contains $(…), `…` or $'…', which only a shell can expand
  bool is_redirection = false;  // a file after > or <
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Returns true for NAME=value before a command.
bool is_assignment(const std::string& word) {
  const auto end = word.find('=');
  return end != std::string::npos && end > 0 && !(word[0] >= '0' && word[0] <= '9') &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(end), is_name_char);
}

// Splits a line character by character.
class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {}

  std::vector<TypedWord> scan() {
    for (at_ = 0; at_ < line_.size(); ++at_) take(line_[at_]);
    words_.push_back(std::move(word_));  // the word under the cursor
    while (words_.size() > 1 && is_assignment(words_.front().typed)) words_.erase(words_.begin());
    return std::move(words_);
  }

 private:
  void take(char c) {
    switch (word_.open) {
      case Quote::single_quote:
        return c == '\'' ? close() : add(c);
      case Quote::double_quote:
        return take_in_double_quotes(c);
      case Quote::backslash:
        return close(), c == '\n' ? void() : add(c);
      case Quote::none:
        return take_plain(c);
    }
  }

  void take_in_double_quotes(char c) {
    constexpr std::string_view kEscaped = "$`\"\\\n";
    if (c == '"') return close();
    if (c == '`') word_.is_known = false;
    if (c == '$') return take_dollar();
    if (c == '\\' && at_ + 1 < line_.size() &&
        kEscaped.find(line_[at_ + 1]) != std::string_view::npos) {
      const char escaped = line_[++at_];
      return escaped == '\n' ? void() : add(escaped);
    }
    add(c);
  }

  void take_plain(char c) {
    switch (c) {
      case '\'':
        return open(Quote::single_quote);
      case '"':
        return open(Quote::double_quote);
      case '\\':
        return open(Quote::backslash);
      case '$':
        return take_dollar();
      case '`':
        word_.is_known = false;
        return add(c);
      case ' ':
      case '\t':
        return end_word();
      case '<':
      case '>':
        return begin_redirection();
      case '\n':
      case ';':
      case '|':
      case '&':
      case '(':
      case ')':
        return end_command(c);
      default:
        return add(c);
    }
  }

  // Expands $NAME and ${NAME}; other forms are left to the shell.
  void take_dollar() {
    std::size_t begin = at_ + 1;
    const bool braces = begin < line_.size() && line_[begin] == '{';
    if (braces) ++begin;
    std::size_t end = begin;
    while (end < line_.size() && is_name_char(line_[end])) ++end;
    const std::string name(line_.substr(begin, end - begin));
    const bool is_whole = !braces || (end < line_.size() && line_[end] == '}');
    const char* value = name.empty() || !is_whole ? nullptr : std::getenv(name.c_str());
    if (value == nullptr) {
      word_.is_known = false;
      return add('$');
    }
    if (braces) ++end;
    word_.typed += line_.substr(at_, end - at_);
    word_.value += value;
    at_ = end - 1;
    is_begun_ = true;
  }

  void open(Quote quote) {
    word_.open = quote;
    is_begun_ = true;
  }
  void close() { word_.open = Quote::none; }
  void add(char c) {
    word_.typed += c;
    word_.value += c;
    is_begun_ = true;
  }

  void end_word() {
    if (!is_begun_) return;
    if (!word_.is_redirection) words_.push_back(std::move(word_));
    word_ = TypedWord();
    is_begun_ = false;
  }

  void begin_redirection() {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    // In "2>", the number is not a word.
    if (is_begun_ && std::all_of(word_.typed.begin(), word_.typed.end(), is_digit)) {
      word_ = TypedWord();
      is_begun_ = false;
    }
    end_word();
    word_.is_redirection = true;
  }

  void end_command(char c) {
    if (c == '&' && word_.is_redirection && !is_begun_) return;  // ">&"
    end_word();
    word_ = TypedWord();
    words_.clear();
  }

  std::string_view line_;
  std::size_t at_ = 0;
  TypedWord word_;
  bool is_begun_ = false;
  std::vector<TypedWord> words_;
};

bool is_plain(char c) {
  constexpr std::string_view kPlain = "@%+:,./-";
  return is_name_char(c) || static_cast<unsigned char>(c) >= 0x80 ||
         kPlain.find(c) != std::string_view::npos;
}

std::string in_double_quotes(std::string_view text) {
  constexpr std::string_view kEscaped = "$`\"\\";
  std::string result;
  for (const char c : text) {
    if (c == '!') {
      result += "\"'!'\"";  // otherwise bash and zsh would apply history expansion
      continue;
    }
    if (kEscaped.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string in_single_quotes(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result;
}

// Returns the words of the last command in `line`, which ends at the cursor. The first is the
// command's name, the last the word under the cursor, which may be empty. Other redirections are
// omitted.
std::vector<TypedWord> typed_words(std::string_view line) {
  return Scanner(line).scan();
}

// Quotes `rest` to be typed after a word that ends in state `open`, so that the shell reads exactly
// `rest`.
std::string quoted_rest(std::string_view rest, Quote open) {
  if (open == Quote::single_quote) return in_single_quotes(rest);
  if (open == Quote::double_quote) return in_double_quotes(rest);
  std::string result;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const bool is_escaped = i == 0 && open == Quote::backslash;
    if (!is_escaped && !is_plain(rest[i])) result += '\\';
    result += rest[i];
  }
  return result;
}

constexpr int kHelpWidth = 72;

struct CompletionArguments {
  std::string shell;
  std::vector<std::string> asked;  // SHELL LINE REPLACED
};

// Returns the first sentence, truncated if necessary.
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

// readline closes an open quote after a single candidate, unless the candidate ends in that quote
// character.
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

// Prints one candidate per line. bash, zsh: the quoted text that replaces REPLACED; fish: the whole
// word, unquoted. zsh and fish: followed by a tab and the help text.
Exit answer(const cli::Command& root, const std::vector<std::string>& asked) {
  if (asked.size() != 3) throw Error(Exit::usage, "usage: __complete -- SHELL LINE REPLACED");
  const std::string& shell = asked[0];
  const auto words = typed_words(asked[1]);
  const TypedWord& last = words.back();
  StdoutOutput out(DocumentForm::plain);
  for (const Candidate& candidate : candidates_behind(root, words)) {
    // A trailing backslash needs a following character, and an empty candidate has none.
    if (last.open == Quote::backslash && candidate.rest.empty()) continue;
    const std::string text = answer_line(shell, asked[2], last, candidate);
    const bool has_help = shell != "bash" && !candidate.help.empty();
    out.write(fmt::format("{}{}{}\n", text, has_help ? "\t" : "",
                          has_help ? short_help(candidate.help) : ""));
  }
  out.drain(1);
  return Exit::ok;
}

}  // namespace

void add_completion_command(cli::Command& root) {
  auto arguments = std::make_shared<CompletionArguments>();
  std::vector<std::string> shells;
  for (const auto& script : completion_scripts()) shells.emplace_back(script.shell);

  cli::Command& command =
      root.add_command("completion",
                       "Print a completion script for bash, zsh or fish. It completes commands, "
                       "options, captures and table names.");
  command.set_examples(
      "  source <(msprof completion bash)      bash, in ~/.bashrc\n"
      "  source <(msprof completion zsh)       zsh, in ~/.zshrc after compinit\n"
      "  msprof completion fish | source       fish, in ~/.config/fish/config.fish");
  command.add_option(
      {"shell", &arguments->shell, "SHELL", "bash, zsh or fish", std::move(shells), true});
  command.set_action([arguments] {
    for (const auto& script : completion_scripts()) {
      if (script.shell == arguments->shell) fmt::print("{}", script.text);
    }
    return Exit::ok;
  });

  cli::Command& hidden = root.add_command(
      "__complete", "Prints the candidates for a command line; used by the completion scripts.");
  hidden.set_hidden();
  hidden.set_examples("  msprof __complete -- bash 'msprof sh' sh");
  hidden.set_rest(&arguments->asked, "SHELL LINE REPLACED");
  hidden.set_action([arguments, &root] { return answer(root, arguments->asked); });
}

}  // namespace msprof
