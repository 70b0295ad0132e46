// The command tree as data: parsed by command_line.cpp, printed by help_text.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "msprof/command_line.hpp"
#include "msprof/help_text.hpp"

namespace msprof::cli {

namespace {

// Long options with one dash, as in other tools; CLI11 does not support them.
constexpr std::string_view kOneDashNames[] = {"dir"};

// Returns an option's value as text; empty if it was not given.
struct ValueText {
  std::string operator()(const bool* flag) const { return *flag ? "true" : ""; }
  std::string operator()(const std::string* text) const { return *text; }
  std::string operator()(const std::optional<std::string>* text) const {
    return text->value_or("");
  }
  std::string operator()(const std::vector<std::string>* list) const {
    return fmt::format("{}", fmt::join(*list, " "));
  }
  std::string operator()(const std::optional<long>* number) const {
    return *number ? std::to_string(**number) : "";
  }
  std::string operator()(const std::optional<double>* number) const {
    return *number ? fmt::format("{}", **number) : "";
  }
};

}  // namespace

Command& Command::add_command(std::string name, std::string help) {
  commands_.push_back(std::make_unique<Command>(std::move(name), std::move(help)));
  return *commands_.back();
}

Option& Command::add_option(Option option) {
  option.group = group_;
  options_.push_back(std::make_unique<Option>(std::move(option)));
  return *options_.back();
}

void Command::begin_group(std::string title, std::string topic) {
  group_ = std::move(title);
  const bool is_known = std::any_of(groups_.begin(), groups_.end(),
                                    [&](const auto& group) { return group.title == group_; });
  if (!is_known && !group_.empty()) groups_.push_back({group_, std::move(topic)});
}

void Command::set_usual_options(std::vector<std::string> names, std::vector<HelpTopic> topics) {
  usual_options_ = std::move(names);
  help_topics_ = std::move(topics);
  help_topics_.push_back({std::string(kAllOptions), "print all options"});
}

std::string Command::find_topic(const std::string& group) const {
  for (const OptionGroup& one : groups_)
    if (one.title == group) return one.topic;
  return "";
}

bool Command::is_usual(const Option& option) const {
  const auto names = option_names(option);
  return usual_options_.empty() ||
         std::any_of(usual_options_.begin(), usual_options_.end(), [&](const auto& usual) {
           return std::find(names.begin(), names.end(), usual) != names.end();
         });
}

void Command::set_rest(std::vector<std::string>* rest, std::string help) {
  rest_ = rest;
  rest_help_ = std::move(help);
}

std::vector<std::pair<std::string, std::string>> given_options(const Command& command) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& option : command.options()) {
    std::string value = std::visit(ValueText(), option->target);
    if (is_positional(*option) || value.empty()) continue;
    std::string name;
    for (const std::string& one : option_names(*option)) {
      if (name.empty() || (one.starts_with("--") && !name.starts_with("--"))) name = one;
    }
    given.emplace_back(std::move(name), std::move(value));
  }
  return given;
}

bool is_capture_name(const std::string& word) {
  std::error_code ignored;
  const std::string name = std::filesystem::path(word).filename().string();
  return std::filesystem::is_directory(word, ignored) || name.starts_with("JOB") ||
         name.starts_with("PROF");
}

std::vector<std::string> option_names(const Option& option) {
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

}  // namespace msprof::cli
