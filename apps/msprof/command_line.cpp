#include "msprof/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "msprof/help_text.hpp"

namespace msprof::cli {

namespace {

// Error messages of the command line: the values that an option accepts, suggestions for unexpected
// arguments, and the correct form of the line. Messages of the parser library are never shown to
// users.

// A command with its full name, "msprof export summary".
struct NamedCommand {
  const Command* command = nullptr;
  std::string path;
  const Command* root = nullptr;
  std::size_t depth = 0;  // number of words below the root
};

template <typename Number>
bool is_number(const std::string& text) {
  Number number{};
  // The parser accepts a leading plus.
  const std::size_t sign = text.starts_with('+') && text.size() > 1 && text[1] != '-' ? 1 : 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + sign, end, number);
  return read.ec == std::errc() && read.ptr == end;
}

template <typename Target>
bool has_target(const Option& option) {
  return std::holds_alternative<Target>(option.target);
}

const Option* find_option_named(const Command& command, std::string_view name) {
  for (const auto& option : command.options()) {
    const auto names = option_names(*option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return option.get();
  }
  return nullptr;
}

bool has_positional(const Command& command) {
  return std::any_of(command.options().begin(), command.options().end(),
                     [](const auto& option) { return is_positional(*option); });
}

std::string shown_word(const std::string& word) {
  return word == "--dir" || word.starts_with("--dir=") ? word.substr(1) : word;
}

// Returns the name for messages: "--format", "-dir", "BASE".
std::string shown_name(const Option& option) {
  // "BASE" is shown as it is; lower-case "names" is shown by its value name, NAME.
  if (is_positional(option))
    return lower_ascii(option.names) == option.names ? option.value_name : option.names;
  std::string shown;
  for (const std::string& name : option_names(option)) {
    if (shown.empty() || (name.starts_with("--") && !shown.starts_with("--"))) shown = name;
  }
  return shown_word(shown);
}

std::vector<std::string> positional_names(const Command& command) {
  std::vector<std::string> names;
  for (const auto& option : command.options())
    if (is_positional(*option)) names.push_back(shown_name(*option));
  return names;
}

std::vector<std::string> command_names(const Command& command) {
  std::vector<std::string> names;
  for (const auto& child : command.commands())
    if (!child->is_hidden()) names.push_back(child->name());
  return names;
}

// Returns the subcommands of a command, on a separate line; empty if it has none.
std::string command_list(const Command& command) {
  const auto names = command_names(command);
  return names.empty() ? "" : "\nvalid commands: " + listed(names);
}

// Returns "msprof export summary" for "summary"; empty if there is no command of that name.
std::string path_below(const Command& command, const std::string& path, const std::string& word) {
  for (const auto& child : command.commands()) {
    std::string below = path + " " + child->name();
    if (child->name() == word && !child->is_hidden()) return below;
    std::string deeper = path_below(*child, below, word);
    if (!deeper.empty()) return deeper;
  }
  return "";
}

// Returns a subcommand of `command` that has this option.
std::string path_with_option(const Command& command, const std::string& path,
                             std::string_view name) {
  for (const auto& child : command.commands()) {
    if (child->is_hidden()) continue;
    std::string below = path + " " + child->name();
    if (child->action() && find_option_named(*child, name) != nullptr) return below;
    std::string deeper = path_with_option(*child, below, name);
    if (!deeper.empty()) return deeper;
  }
  return "";
}

// A command line that can be copied to a shell.
class Line {
 public:
  explicit Line(std::string begin = "msprof") : text_(std::move(begin)) {}
  Line& add(const std::string& word) {
    text_ += " " + shell_word(shown_word(word));
    return *this;
  }
  Line& add_all(const std::vector<std::string>& words) {
    for (const std::string& word : words) add(word);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class UnexpectedArguments {
 public:
  UnexpectedArguments(const NamedCommand& named, const std::vector<std::string>& strays,
                      const std::vector<std::string>& words, const std::vector<std::string>& rest)
      : named_(named), command_(*named.command), strays_(strays), words_(words), rest_(rest) {}

  std::string text() const {
    const std::string& first = strays_.front();
    if (first.size() > 1 && first.starts_with('-')) return unknown_option(first);
    if (!command_.commands().empty()) return unknown_command(first);
    if (command_.rest() != nullptr) return for_the_application();
    if (is_for_dir(first)) return capture_without_dir(first);
    return one_too_many(first);
  }

 private:
  std::string unknown_option(const std::string& word) const {
    const std::string name = word.substr(0, word.find('='));
    if (find_option_named(command_, name) != nullptr) {
      return fmt::format("{0} must follow the command: {1} {0} …", shown_word(name), named_.path);
    }
    const std::string where =
        command_.commands().empty() ? "" : path_with_option(command_, named_.path, name);
    if (!where.empty()) {
      return fmt::format("{0} must follow the command: {1} {0} …", shown_word(name), where);
    }
    std::string text = fmt::format("unknown option '{}'", shown_word(name));
    if (name == "--sink") return text + "; for a small disk, use --drain or --nfs";
    std::vector<std::string> known;
    for (const Suggestion& help : help_options(command_)) known.push_back(help.word);
    for (const auto& option : command_.options()) {
      for (const std::string& one : option_names(*option))
        if (one.starts_with("--")) known.push_back(one);
    }
    // With so few letters, every name is equally similar.
    const std::string near = name.size() > 2 ? did_you_mean(name, known) : "";
    if (!near.empty()) return text + near;
    const std::string begin = longest_begin(name, known);
    if (!begin.empty()) return fmt::format("{}; did you mean {}?", text, shown_word(begin));
    return text + see_help();
  }

  // Returns the longest of `known` that is a prefix of `name`: "--dir" for "--directory".
  static std::string longest_begin(std::string_view name, const std::vector<std::string>& known) {
    std::string longest;
    for (const std::string& one : known)
      if (name.starts_with(one) && one.size() > longest.size()) longest = one;
    return longest;
  }

  std::string unknown_command(const std::string& word) const {
    std::string text = fmt::format("unknown command '{}'", word);
    const bool is_root = &command_ == named_.root;
    auto names = command_names(command_);
    if (is_root) names.emplace_back(kHelpVerb);
    std::string near = did_you_mean(word, names);
    const std::string elsewhere = path_below(*named_.root, "msprof", word);
    if (near.empty() && !elsewhere.empty()) near = fmt::format("; did you mean {}?", elsewhere);
    if (near.empty() && is_capture_name(word)) {
      near = fmt::format("; did you mean {}?", Line(named_.path)
                                                   .add(is_root ? "show" : names.back())
                                                   .add("-dir")
                                                   .add_all(strays_)
                                                   .text());
    }
    return text + near + command_list(command_);
  }

  // For "collect -m main plain 2": suggests a line that passes the arguments to the application.
  std::string for_the_application() const {
    const auto first = std::find(words_.begin(), words_.end(), strays_.front());
    const bool has_main = std::any_of(words_.begin(), words_.end(), [](const auto& word) {
      return word == "-m" || word == "--main" || word.starts_with("--main=");
    });
    Line line;
    line.add_all({words_.begin(), first});
    auto moved = strays_.begin();
    if (!has_main && find_option_named(command_, "--main") != nullptr) line.add("-m").add(*moved++);
    // Arguments after the first unexpected one belong to the application, too.
    std::vector<std::string> own(moved, strays_.end());
    for (auto word = first; word != words_.end(); ++word) {
      if (std::find(strays_.begin(), strays_.end(), *word) == strays_.end()) line.add(*word);
    }
    own.insert(own.end(), rest_.begin(), rest_.end());
    if (!own.empty()) line.add("--").add_all(own);
    if (moved != strays_.begin()) {
      return fmt::format("unexpected argument '{}'; give the executable after -m: {}",
                         strays_.front(), line.text());
    }
    return fmt::format("unexpected argument '{}'; give application arguments after --: {}",
                       strays_.front(), line.text());
  }

  bool is_for_dir(const std::string& word) const {
    const bool has_dir = find_option_named(command_, "--dir") != nullptr;
    return has_dir && (is_capture_name(word) || !has_positional(command_));
  }

  std::string capture_without_dir(const std::string& word) const {
    Line line;
    bool is_said = false;
    for (const std::string& one : words_) {
      if (one == word && !is_said) {
        line.add("-dir");
        is_said = true;
      }
      line.add(one);
    }
    return fmt::format("unexpected argument '{}'; give captures after -dir: {}", word, line.text());
  }

  std::string one_too_many(const std::string& word) const {
    const auto names = positional_names(command_);
    if (names.empty()) return fmt::format("unexpected argument '{}'", word);
    return fmt::format("too many arguments, starting with '{}': {} {}", word, named_.path,
                       fmt::format("{}", listed(names, "and")));
  }

  std::string see_help() const {
    return fmt::format("; `{} --help` lists the options", named_.path);
  }

  const NamedCommand& named_;
  const Command& command_;
  const std::vector<std::string>& strays_;
  const std::vector<std::string>& words_;
  const std::vector<std::string>& rest_;
};

// Describes the accepted values: "csv or json", "a whole number", "DIR".
std::string wanted_value(const Option& option) {
  if (!option.choices.empty()) return listed(option.choices, "or");
  if (has_target<std::optional<long>*>(option)) return "a whole number";
  if (has_target<std::optional<double>*>(option)) return "a number";
  return option.value_name;
}

// Returns why an option does not accept a value; empty if it does.
std::string value_problem(const Option& option, const std::string& value) {
  const std::string name = shown_name(option);
  if (value.empty()) return fmt::format("the value of {} is empty", name);
  const auto& choices = option.choices;
  bool fits = choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
  if (has_target<std::optional<long>*>(option)) fits = is_number<long>(value);
  if (has_target<std::optional<double>*>(option)) fits = is_number<double>(value);
  if (fits) return "";
  return fmt::format("{}: expected {}, got '{}'{}", name, wanted_value(option), value,
                     did_you_mean(value, choices));
}

std::string missing_value(const Option& option) {
  return fmt::format("{} needs a value: {}", shown_name(option), wanted_value(option));
}

std::string given_twice(const Option& option) {
  return fmt::format("{} can be given only once", shown_name(option));
}

std::string takes_no_value(const Option& option) {
  return fmt::format("{} is a switch and has no value", shown_name(option));
}

std::string missing_words(const NamedCommand& named, const std::vector<const Option*>& missing) {
  std::vector<std::string> names;
  names.reserve(missing.size());
  for (const Option* option : missing) names.push_back(shown_name(*option));
  std::string form = named.path;
  for (const std::string& name : positional_names(*named.command)) form += " " + name;
  std::string text =
      fmt::format("{} {} missing: {}", listed(names), names.size() == 1 ? "is" : "are", form);
  if (missing.size() == 1) {
    text += missing.front()->choices.empty()
                ? fmt::format("; {}: {}", names.front(), missing.front()->help)
                : fmt::format("; {} is {}", names.front(), wanted_value(*missing.front()));
  }
  return text;
}

// `strays`: unexpected arguments, in order; `words`: all arguments of the program; `rest`: the
// arguments after "--".
std::string stray_words(const NamedCommand& named, const std::vector<std::string>& strays,
                        const std::vector<std::string>& words,
                        const std::vector<std::string>& rest) {
  return UnexpectedArguments(named, strays, words, rest).text();
}

struct Bound {
  Command* command = nullptr;
  CLI::App* app = nullptr;
  std::vector<std::unique_ptr<Bound>> children;
};

// Placeholder for an omitted optional value.
constexpr std::string_view kLeftOut = "\x01";

// Adds the placeholder to options whose value was omitted, to distinguish this from an empty value.
void fill_left_out(const Command& command, std::vector<std::string>& words) {
  for (const auto& option : command.options()) {
    for (std::size_t i = 0; option->is_value_optional && i < words.size(); ++i) {
      const bool is_alone = i + 1 == words.size() || words[i + 1].starts_with('-');
      if (is_alone && words[i] == option->names) words[i].append("=").append(kLeftOut);
    }
  }
  for (const auto& child : command.commands()) {
    if (!words.empty() && words.front() == child->name()) fill_left_out(*child, words);
  }
}

// Prefix for a text that looks like an option but is not one.
constexpr char kTextMark = '\x02';

// SQL may start with a comment: "-- Which operators?\nSELECT …". No option name contains a blank,
// and a text consisting only of a comment is not SQL.
bool is_text(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  return word.starts_with("--") && word.find('\n') != std::string_view::npos &&
         name.find_first_of(" \t\n") != std::string_view::npos;
}

void mark_texts(const Command& command, std::vector<std::string>& words) {
  const bool takes_text = std::any_of(command.options().begin(), command.options().end(),
                                      [](const auto& option) { return option->takes_text; });
  for (std::string& word : words)
    if (takes_text && is_text(word)) word.insert(word.begin(), kTextMark);
}

void unmark_texts(const Command& command) {
  const auto unmark = [](std::string& word) {
    if (word.starts_with(kTextMark)) word.erase(0, 1);
  };
  for (const auto& option : command.options()) {
    if (const auto* text = std::get_if<std::string*>(&option->target)) unmark(**text);
    if (const auto* list = std::get_if<std::vector<std::string>*>(&option->target))
      std::for_each((*list)->begin(), (*list)->end(), unmark);
  }
}

struct Binder {
  CLI::App& app;
  const Option& option;

  CLI::Option* operator()(bool* value) const { return app.add_flag(option.names, *value); }
  CLI::Option* operator()(std::vector<std::string>* value) const {
    return app.add_option(option.names, *value)->allow_extra_args(!option.takes_one_each);
  }
  CLI::Option* operator()(std::string* value) const { return app.add_option(option.names, *value); }
  template <typename T>
  CLI::Option* operator()(std::optional<T>* value) const {
    return app.add_option_function<T>(option.names, [value](const T& given) { *value = given; });
  }
  CLI::Option* operator()(std::optional<std::string>* value) const {
    return app.add_option_function<std::string>(
        option.names, [value](const auto& given) { *value = given == kLeftOut ? "" : given; });
  }
};

void bind(CLI::App& app, const Option& option) {
  CLI::Option* bound = std::visit(Binder{app, option}, option.target);
  if (option.is_required) bound->required();
  if (option.last_counts) bound->take_last();
  if (std::holds_alternative<bool*>(option.target)) return;
  // An empty value is usually an unset variable of a script.
  bound->check([&option](const std::string& value) {
    std::string problem = value_problem(option, value);
    if (!problem.empty()) throw Error(Exit::usage, problem);
    return problem;
  });
}

std::unique_ptr<Bound> bind_tree(Command& command, CLI::App& app) {
  auto bound = std::make_unique<Bound>();
  bound->command = &command;
  bound->app = &app;
  app.set_help_flag();  // help is printed before the line is parsed
  for (const auto& option : command.options()) bind(app, *option);
  for (const auto& child : command.commands())
    bound->children.push_back(bind_tree(*child, *app.add_subcommand(child->name())));
  return bound;
}

// Returns the innermost command that was given.
const Bound& selected(const Bound& bound) {
  for (const auto& child : bound.children) {
    if (child->app->parsed()) return selected(*child);
  }
  return bound;
}

std::string command_path(const Bound& root, const Bound& bound) {
  std::string path = root.command->name();
  const Bound* at = &root;
  while (at != &bound) {
    const auto next = std::find_if(at->children.begin(), at->children.end(),
                                   [](const auto& child) { return child->app->parsed(); });
    if (next == at->children.end()) break;
    at = next->get();
    path += " " + at->command->name();
  }
  return path;
}

// Returns the option that a parser error refers to: the first option name in its text.
const Option* find_option(const Command& command, const CLI::Error& error) {
  std::string text = error.what();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ':' || c == '='; }, ' ');
  for (const std::string_view word : split(text, ' ')) {
    for (const auto& option : command.options()) {
      const auto names = option_names(*option);
      if (std::find(names.begin(), names.end(), word) != names.end()) return option.get();
    }
  }
  return nullptr;
}

// Returns unexpected arguments in their original order.
std::vector<std::string> unexpected_arguments(const CLI::App& app,
                                              const std::vector<std::string>& words) {
  auto extras = app.remaining(true);
  std::vector<std::string> strays;
  for (const auto& word : words) {
    const auto found = std::find(extras.begin(), extras.end(), word);
    if (found == extras.end()) continue;
    strays.push_back(word);
    extras.erase(found);
  }
  return strays.empty() ? extras : strays;
}

// Translates a parser error to our own message.
std::string describe_parse_error(const CLI::ParseError& error, const Bound& bound,
                                 const std::string& path) {
  const Command& command = *bound.command;
  const Option* option = find_option(command, error);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    std::vector<const Option*> missing;
    for (const auto& one : command.options()) {
      if (one->is_required && bound.app->get_option(option_names(*one).front())->count() == 0)
        missing.push_back(one.get());
    }
    if (!missing.empty()) return missing_words({&command, path, nullptr}, missing);
  }
  if (option != nullptr && dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return takes_no_value(*option);
  if (option != nullptr && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool is_given = bound.app->get_option(option_names(*option).front())->count() > 1;
    return is_given ? given_twice(*option) : missing_value(*option);
  }
  return fmt::format("invalid command line; see `{} --help` for the arguments of {}", path,
                     command.name());
}

NamedCommand named_command(const Command& root, const std::vector<std::string>& words) {
  NamedCommand named{&root, root.name(), &root};
  for (const std::string& word : words) {
    const auto& below = named.command->commands();
    const auto child = std::find_if(below.begin(), below.end(),
                                    [&](const auto& one) { return one->name() == word; });
    if (child == below.end()) break;
    named = {child->get(), named.path + " " + word, &root, named.depth + 1};
  }
  return named;
}

Exit print_help(const NamedCommand& named, std::string_view topic) {
  constexpr int kUsualWidth = 80;
  const int width = text_width(STDOUT_FILENO);
  fmt::print("{}", help_text(*named.command, named.path, topic, width > 0 ? width : kUsualWidth));
  return Exit::ok;
}

Exit usage_error(const std::string& problem) {
  log::error("{}", problem);
  return Exit::usage;
}

// `msprof help WORDS`: all words must be names of commands.
Exit help_about(const NamedCommand& named, const std::vector<std::string>& words) {
  if (words.size() == named.depth) return print_help(named, "");
  const std::vector<std::string> strays(words.begin() + static_cast<std::ptrdiff_t>(named.depth),
                                        words.end());
  if (!named.command->commands().empty()) return usage_error(stray_words(named, strays, words, {}));
  return usage_error(fmt::format("unknown command '{}' of {}", strays.front(), named.path));
}

}  // namespace

Exit run(Command& root, const std::string& version, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = rewrite_long_options(arguments);
  const auto separator = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> rest;
  const bool has_rest = separator != words.end();
  if (has_rest) rest.assign(separator + 1, words.end());
  words.erase(separator, words.end());
  if (words.empty() && !has_rest) return print_help({&root, root.name(), &root}, "");
  const bool is_help = !words.empty() && words.front() == kHelpVerb;
  while (!words.empty() && words.front() == kHelpVerb) words.erase(words.begin());
  const NamedCommand wanted = named_command(root, words);
  const auto topic = find_help_topic(*wanted.command, words);
  if (topic) return print_help(wanted, *topic);
  if (is_help) return help_about(wanted, words);

  CLI::App app;
  app.set_version_flag(std::string(kVersionNames), version);
  const auto tree = bind_tree(root, app);
  fill_left_out(root, words);
  mark_texts(*wanted.command, words);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::Success& success) {
    app.exit(success);  // --version: printed on stdout
    return Exit::ok;
  } catch (const CLI::ExtrasError&) {
    const Bound& bound = selected(*tree);
    const NamedCommand named{bound.command, command_path(*tree, bound), &root};
    return usage_error(stray_words(named, unexpected_arguments(app, words), words, rest));
  } catch (const Error& error) {  // invalid option value
    return usage_error(error.what());
  } catch (const CLI::ParseError& error) {
    const Bound& bound = selected(*tree);
    return usage_error(describe_parse_error(error, bound, command_path(*tree, bound)));
  }
  const Bound& bound = selected(*tree);
  if (!bound.command->action())
    return usage_error("no command given" + command_list(*bound.command));
  if (has_rest) {
    if (bound.command->rest() == nullptr)
      return usage_error(
          fmt::format("'{}' does not accept arguments after --", bound.command->name()));
    *bound.command->rest() = rest;
  }
  unmark_texts(*bound.command);
  return bound.command->action()();
}

}  // namespace msprof::cli
