#include "msprof/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"

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
  // An empty value is most often a variable of a script that is not set.
  if (!std::holds_alternative<bool*>(option.target)) {
    bound->check([](const std::string& value) {
      return value.empty() ? std::string("its value is empty") : std::string();
    });
  }
  if (!option.choices.empty()) bound->check(CLI::IsMember(option.choices));
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

std::string joined_names(const Command& command) {
  std::string names;
  for (const auto& child : command.commands()) {
    if (!child->is_hidden()) names += (names.empty() ? "" : ", ") + child->name();
  }
  return names;
}

std::string option_names(const Command& command) {
  std::string names;
  for (const auto& option : command.options()) {
    if (!option->names.starts_with('-')) continue;
    names += (names.empty() ? "" : " ") + option->names;
  }
  return names;
}

// Unknown words end in the list of the valid ones.
Exit usage_error(const Bound& bound, const std::string& message) {
  const Command& command = *bound.command;
  std::string text = message;
  if (!command.commands().empty()) {
    text += fmt::format("\nvalid commands: {}", joined_names(command));
  } else {
    text += fmt::format("\nvalid options: {} {}", option_names(command), kHelpNames);
  }
  log::error("{}", text);
  return Exit::usage;
}

std::string unknown_words(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto extras = app.remaining(true);
  for (const auto& word : arguments) {
    if (std::find(extras.begin(), extras.end(), word) != extras.end()) {
      return fmt::format("unknown {} '{}'",
                         word.starts_with('-') ? "option" : "command or argument", word);
    }
  }
  return "unknown argument";
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
    return usage_error(selected(*tree), unknown_words(app, words));
  } catch (const CLI::ParseError& error) {
    return usage_error(selected(*tree), error.what());
  }
  const Bound& bound = selected(*tree);
  if (!bound.command->action()) return usage_error(bound, "a command is missing");
  if (has_rest) {
    if (bound.command->rest() == nullptr) {
      return usage_error(bound, fmt::format("'{}' takes nothing after --", bound.command->name()));
    }
    *bound.command->rest() = rest;
  }
  return bound.command->action()();
}

}  // namespace msprof::cli
