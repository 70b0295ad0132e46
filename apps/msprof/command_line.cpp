#include "msprof/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "msprof/usage_words.hpp"

namespace msprof::cli {

namespace {

// Options that other tools write with one dash; CLI11 cannot declare them.
constexpr std::string_view kOneDashNames[] = {"dir"};

struct Bound {
  Command* command = nullptr;
  CLI::App* app = nullptr;
  std::vector<std::unique_ptr<Bound>> children;
};

struct Binder {
  CLI::App& app;
  const Option& option;

  CLI::Option* operator()(bool* value) const {
    return app.add_flag(option.names, *value, option.help);
  }
  CLI::Option* operator()(std::vector<std::string>* value) const {
    return app.add_option(option.names, *value, option.help)->allow_extra_args(!option.one_each);
  }
  CLI::Option* operator()(std::string* value) const {
    return app.add_option(option.names, *value, option.help)->capture_default_str();
  }
  template <typename T>
  CLI::Option* operator()(std::optional<T>* value) const {
    return app.add_option_function<T>(
        option.names, [value](const T& given) { *value = given; }, option.help);
  }
};

void bind(CLI::App& app, const Option& option) {
  CLI::Option* bound = std::visit(Binder{app, option}, option.target);
  if (!option.value_name.empty()) bound->type_name(option.value_name);
  if (option.required) bound->required();
  if (std::holds_alternative<bool*>(option.target)) return;
  // An empty value is most often a variable of a script that is not set.
  bound->check([&option](const std::string& value) {
    const std::string problem = value_problem(option, value);
    if (!problem.empty()) throw Error(Exit::usage, problem);
    return problem;
  });
  if (!option.choices.empty()) bound->type_name(fmt::format("{}", fmt::join(option.choices, "|")));
}

std::unique_ptr<Bound> bind_tree(Command& command, CLI::App& app) {
  auto bound = std::make_unique<Bound>();
  bound->command = &command;
  bound->app = &app;
  for (const auto& option : command.options()) bind(app, *option);
  if (command.rest() != nullptr) {
    app.footer(fmt::format("-- ARGUMENTS...\n  {}", command.rest_help()));
  }
  for (const auto& child : command.commands()) {
    CLI::App* sub = app.add_subcommand(child->name(), child->help());
    if (child->is_hidden()) sub->group("");
    bound->children.push_back(bind_tree(*child, *sub));
  }
  return bound;
}

// The deepest command that was named.
const Bound& selected(const Bound& bound) {
  for (const auto& child : bound.children) {
    if (child->app->parsed()) return selected(*child);
  }
  return bound;
}

std::string path_of(const Bound& root, const Bound& bound) {
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

// The option that an error of the parser is about: the first name in its text.
const Option* option_of(const Command& command, const CLI::Error& error) {
  std::string text = error.what();
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ':' || c == '='; }, ' ');
  for (const std::string_view word : split(text, ' ')) {
    for (const auto& option : command.options()) {
      const auto names = names_of(*option);
      if (std::find(names.begin(), names.end(), word) != names.end()) return option.get();
    }
  }
  return nullptr;
}

// Words that fit nowhere, in the order in which they were given.
std::vector<std::string> strays_of(const CLI::App& app, const std::vector<std::string>& words) {
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

// An error of the parser in our words.
std::string problem_of(const CLI::ParseError& error, const Bound& bound, const std::string& path) {
  const Command& command = *bound.command;
  const Option* option = option_of(command, error);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    std::vector<const Option*> missing;
    for (const auto& one : command.options()) {
      if (one->required && bound.app->get_option(names_of(*one).front())->count() == 0)
        missing.push_back(one.get());
    }
    if (!missing.empty()) return missing_words({&command, path, nullptr}, missing);
  }
  if (option != nullptr && dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    return takes_no_value(*option);
  if (option != nullptr && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool is_given = bound.app->get_option(names_of(*option).front())->count() > 1;
    return is_given ? given_twice(*option) : missing_value(*option);
  }
  return fmt::format("this cannot be read; `{} --help` says what {} takes", path, command.name());
}

Exit usage_error(const std::string& problem) {
  log::error("{}", problem);
  return Exit::usage;
}

}  // namespace

Command& Command::add_command(std::string name, std::string help) {
  commands_.push_back(std::make_unique<Command>(std::move(name), std::move(help)));
  return *commands_.back();
}

Option& Command::add_option(Option option) {
  options_.push_back(std::make_unique<Option>(std::move(option)));
  return *options_.back();
}

void Command::set_rest(std::vector<std::string>* rest, std::string help) {
  rest_ = rest;
  rest_help_ = std::move(help);
}

std::vector<std::string> names_of(const Option& option) {
  std::vector<std::string> names;
  for (const std::string_view name : split(option.names, ',')) {
    names.emplace_back(trim(name));
    for (const std::string_view one_dash : kOneDashNames) {
      if (name == fmt::format("--{}", one_dash)) names.push_back(fmt::format("-{}", one_dash));
    }
  }
  return names;
}

std::vector<std::string> rewrite_long_options(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  bool rewriting = true;
  for (const std::string& argument : arguments) {
    if (argument == "--") rewriting = false;
    const bool one_dash =
        rewriting &&
        std::any_of(std::begin(kOneDashNames), std::end(kOneDashNames), [&](auto name) {
          return argument == fmt::format("-{}", name) ||
                 argument.starts_with(fmt::format("-{}=", name));
        });
    result.push_back(one_dash ? "-" + argument : argument);
  }
  return result;
}

Exit run(Command& root, const std::string& version, const std::vector<std::string>& arguments) {
  CLI::App app(root.help(), root.name());
  app.set_version_flag(std::string(kVersionNames), version);
  const auto tree = bind_tree(root, app);

  std::vector<std::string> words = rewrite_long_options(arguments);
  const auto separator = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> rest;
  const bool has_rest = separator != words.end();
  if (has_rest) rest.assign(separator + 1, words.end());
  words.erase(separator, words.end());

  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    const Bound& bound = selected(*tree);
    fmt::print("Examples:\n{}\n\n{}", bound.command->examples(), app.help());
    return Exit::ok;
  } catch (const CLI::Success& success) {
    app.exit(success);  // --version: on stdout
    return Exit::ok;
  } catch (const CLI::ExtrasError&) {
    const Bound& bound = selected(*tree);
    const NamedCommand named{bound.command, path_of(*tree, bound), &root};
    return usage_error(stray_words(named, strays_of(app, words), words, rest));
  } catch (const Error& error) {  // of a value that does not fit
    return usage_error(error.what());
  } catch (const CLI::ParseError& error) {
    const Bound& bound = selected(*tree);
    return usage_error(problem_of(error, bound, path_of(*tree, bound)));
  }
  const Bound& bound = selected(*tree);
  if (!bound.command->action())
    return usage_error("a command is missing" + command_list(*bound.command));
  if (has_rest) {
    if (bound.command->rest() == nullptr)
      return usage_error(fmt::format("'{}' takes nothing behind --", bound.command->name()));
    *bound.command->rest() = rest;
  }
  return bound.command->action()();
}

}  // namespace msprof::cli
