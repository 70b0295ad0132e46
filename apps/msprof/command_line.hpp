// Command line as data: commands and options, each with its help. For the verbs, which describe
// themselves here; command_line.cpp alone knows the parser (CLI11), because a file that includes it
// takes half a minute to compile under sanitizers.
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

// Every command has the first, the program also the second.
inline constexpr std::string_view kHelpNames = "-h,--help";
inline constexpr std::string_view kVersionNames = "--version";
inline constexpr std::string_view kVersionHelp = "print the version";
// `msprof help VERB` is `msprof VERB --help`.
inline constexpr std::string_view kHelpVerb = "help";
inline constexpr std::string_view kHelpVerbHelp = "Print the help of a command.";

// A word that completion offers.
struct Suggestion {
  std::string word;
  std::string help;  // may be empty
};

struct Option {
  // Target of the value. `bool` is a flag; a vector takes one value or more, and the option may
  // come again.
  using Target =
      std::variant<bool*, std::string*, std::optional<std::string>*, std::vector<std::string>*,
                   std::optional<long>*, std::optional<double>*>;
  std::string names;  // "-m,--main"; without a dash: a positional argument
  Target target;
  std::string value_name;  // "DIR" in the help
  std::string help;
  std::vector<std::string> choices{};  // the only values taken; empty: any
  bool required = false;
  bool one_each = false;  // a vector takes one value each time that the option comes
  // Words for completion, which knows by itself `choices`, files (value_name FILE) and folders
  // (DIR).
  std::function<std::vector<Suggestion>()> suggestions{};  // words that fit; others may, too
  bool takes_captures = false;                             // folders JOB… and PROF…
  bool takes_lists = false;                                // of values with commas between them
  bool takes_text = false;                                 // SQL: suggestions fit its last word
  bool value_optional = false;                             // given without one, it is ""
  bool last_counts = false;                                // it may come again; the last one counts
  std::string group{};                                     // title in --help, of begin_group()
};

// Options under one title of --help; --help-TOPIC lists those of its groups, also the rare ones.
struct OptionGroup {
  std::string title;
  std::string topic;  // empty: none
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
  // Whole tasks, shown at the top of --help.
  void set_examples(std::string examples) { examples_ = std::move(examples); }
  void set_action(std::function<Exit()> action) { action_ = std::move(action); }
  // Options added from now on are in this group, which may be begun again.
  void begin_group(std::string title, std::string topic = "");
  // Makes --help short: it lists the options of these names, and the topics list the others. The
  // topic "all" is added.
  void set_usual_options(std::vector<std::string> names, std::vector<HelpTopic> topics);
  // Keeps what options write to for as long as the command lives.
  void keep(std::shared_ptr<void> owned) { owned_ = std::move(owned); }
  // Hides it from --help: for scripts of ours.
  void set_hidden() { is_hidden_ = true; }
  // Target of the words behind "--", untouched.
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
  std::string topic_of(const std::string& group) const;
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
  std::string group_;  // of the options that are added
  std::vector<std::string> usual_options_;
  std::vector<HelpTopic> help_topics_;
};

// Names of an option as words: "-m", "--main"; of --dir also "-dir".
std::vector<std::string> names_of(const Option& option);

// Options that have a value, by their last name with two dashes: {"--interval", "10"}, {"--all",
// "true"}; the values of one with several are in one text. Arguments without a dash are left out.
std::vector<std::pair<std::string, std::string>> given_options(const Command& command);

// True if a word is a folder that is there, or a name like those of captures.
bool is_capture_name(const std::string& word);

// Returns `arguments` (without the program's name) with -dir and -dir=X written as --dir, up to
// "--".
std::vector<std::string> rewrite_long_options(const std::vector<std::string>& arguments);

// Parses and runs. Usage errors are a sentence of ours on stderr and Exit::usage; --help and
// --version print on stdout, and so does a line without words. Errors thrown by an action pass
// through.
Exit run(Command& root, const std::string& version, const std::vector<std::string>& arguments);

}  // namespace msprof::cli
