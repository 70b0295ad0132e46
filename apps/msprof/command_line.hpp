// Command line as data: commands and options with their help texts. Verbs describe themselves with
// it. Only command_line.cpp uses the parser (CLI11), because a file that includes it takes half a
// minute to compile with sanitizers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"

namespace msprof::cli {

// Every command has the help names; only the program has --version.
inline constexpr std::string_view kHelpNames = "-h,--help";
inline constexpr std::string_view kVersionNames = "--version";
inline constexpr std::string_view kVersionHelp = "print the version";
// `msprof help VERB` is equivalent to `msprof VERB --help`.
inline constexpr std::string_view kHelpVerb = "help";
inline constexpr std::string_view kHelpVerbHelp = "Print the help of a command.";

// A word offered by completion.
struct Suggestion {
  std::string word;
  std::string help;  // may be empty
};

struct Option {
  // Target of the value. `bool` is a flag. A vector accepts one or more values, and the option may
  // be repeated.
  using Target =
      std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*,
                   std::optional<long>*, std::optional<double>*>;
  std::string names;  // "-m,--main"; without dashes: a positional argument
  Target target;
  std::string value_name;  // shown in the help, such as "DIR"
  std::string help;
  std::vector<std::string> choices{};  // the accepted values; empty: any
  bool is_required = false;
  bool takes_one_each = false;  // a vector accepts one value per occurrence of the option
  // Words for completion, which already handles `choices`, files (value_name FILE) and folders
  // (DIR).
  std::function<std::vector<Suggestion>()> suggestions{};  // possible values; others may be valid,
                                                           // too
  bool takes_captures = false;                             // values are folders JOB… and PROF…
  bool takes_lists = false;                                // values are comma-separated lists
  bool takes_text = false;                                 // the value is SQL: suggestions apply to
                                                           // its last word
  bool is_value_optional = false;                          // if the value is omitted, it is ""
  bool last_counts = false;                                // may be repeated; the last occurrence
                                                           // wins
  std::string group{};                                     // title in --help, set by begin_group()
};

// Options under one title of --help. --help-TOPIC lists all options of its groups, including rare
// ones.
struct OptionGroup {
  std::string title;
  std::string topic;  // empty: no topic
};

// "--help-NAME".
struct HelpTopic {
  std::string name;
  std::string help;
};

inline bool is_positional(const Option& option) {
  return !option.names.starts_with('-');
}

class Command {
 public:
  Command(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}

  Command& add_command(std::string name, std::string help);
  Option& add_option(Option option);
  // Examples of whole tasks, shown at the top of --help.
  void set_examples(std::string examples) { examples_ = std::move(examples); }
  void set_action(std::function<Exit()> action) { action_ = std::move(action); }
  // Adds all further options to this group. May be called again for the same group.
  void begin_group(std::string title, std::string topic = "");
  // Shortens --help to the options of these names; the topics list the others. Adds the topic
  // "all".
  void set_usual_options(std::vector<std::string> names, std::vector<HelpTopic> topics);
  // Keeps the targets of options alive as long as the command.
  void keep(std::shared_ptr<void> owned) { owned_ = std::move(owned); }
  // Hides the command from --help: for internal scripts.
  void set_hidden() { is_hidden_ = true; }
  // Target of the arguments after "--", which are not parsed.
  void set_rest(std::vector<std::string>* rest, std::string help);

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  const std::string& examples() const { return examples_; }
  const std::vector<std::unique_ptr<Command>>& commands() const { return commands_; }
  const std::vector<std::unique_ptr<Option>>& options() const { return options_; }
  const std::function<Exit()>& action() const { return action_; }
  std::vector<std::string>* rest() const { return rest_; }
  const std::string& rest_help() const { return rest_help_; }
  bool is_hidden() const { return is_hidden_; }
  const std::vector<OptionGroup>& groups() const { return groups_; }
  const std::vector<HelpTopic>& help_topics() const { return help_topics_; }
  std::string find_topic(const std::string& group) const;
  bool is_usual(const Option& option) const;

 private:
  std::string name_;
  std::string help_;
  std::string examples_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<std::unique_ptr<Option>> options_;
  std::function<Exit()> action_;
  std::shared_ptr<void> owned_;
  std::vector<std::string>* rest_ = nullptr;
  std::string rest_help_;
  bool is_hidden_ = false;
  std::vector<OptionGroup> groups_;
  std::string group_;  // for options added next
  std::vector<std::string> usual_options_;
  std::vector<HelpTopic> help_topics_;
};

// Returns the names of an option as words: "-m", "--main"; --dir also has "-dir".
std::vector<std::string> option_names(const Option& option);

// Returns options that have a value, by their last name with two dashes: {"--interval", "10"},
// {"--all", "true"}. Multiple values are joined into one text. Positional arguments are omitted.
std::vector<std::pair<std::string, std::string>> given_options(const Command& command);

// Returns true if `word` is an existing folder or is named like a capture.
bool is_capture_name(const std::string& word);

// Returns `arguments` (without the program's name) with -dir and -dir=X rewritten to --dir, up to
// "--".
std::vector<std::string> rewrite_long_options(const std::vector<std::string>& arguments);

// Parses and runs the command line. Prints usage errors on stderr and returns Exit::usage. --help,
// --version and an empty line print on stdout. Errors thrown by an action are passed to the caller.
Exit run(Command& root, const std::string& version, const std::vector<std::string>& arguments);

}  // namespace msprof::cli
