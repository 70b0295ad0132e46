#include "msprof/help_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"

namespace msprof::cli {

namespace {

// Column of help texts: beside the option or command on a normal terminal, below it on a narrow
// one.
constexpr int kHelpColumn = 30;
constexpr int kNarrowHelpColumn = 6;
constexpr int kNarrow = 70;
constexpr std::string_view kTopicPrefix = "--help-";
// Minimum width for a text beside something else.
constexpr int kLeastRoom = 24;

// Appends texts word by word, wrapped at `width`; continuation lines start at `indent`.
class Wrapped {
 public:
  Wrapped(std::string& out, int width) : out_(out), width_(width) {}

  // Moves to `column`, on a new line if the current one is already longer.
  void start_at(int column) {
    const bool is_beside = used_ == 0 || used_ + 2 <= column;
    if (!is_beside) end_line();
    out_.append(static_cast<std::size_t>(column - used_), ' ');
    used_ = indent_ = column;
    has_word_ = false;
  }
  void set_indent(int indent) { indent_ = indent; }
  // `more` is appended to the line if it is continued on the next one.
  void add_word(std::string_view word, std::string_view more = "") {
    const int needed = display_width(word) + display_width(more);
    if (has_word_ && used_ + 1 + needed > width_) {
      out_ += more;
      end_line();
      out_.append(static_cast<std::size_t>(indent_), ' ');
      used_ = indent_;
    } else if (has_word_) {
      out_ += ' ';
      ++used_;
    }
    out_ += word;
    used_ += display_width(word);
    has_word_ = true;
  }
  void add_words(std::string_view text) {
    for (const std::string_view word : split(text, ' '))
      if (!word.empty()) add_word(word);
  }
  void end_line() {
    out_ += '\n';
    used_ = 0;
    has_word_ = false;
  }

 private:
  std::string& out_;
  int width_;
  int indent_ = 0;
  int used_ = 0;
  bool has_word_ = false;
};

// Splits a command line of an example. A quoted text is one word, which is never wrapped.
std::vector<std::string_view> command_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  char quote = '\0';
  for (std::size_t at = 0; at <= line.size(); ++at) {
    const char c = at < line.size() ? line[at] : ' ';
    if (quote != '\0' ? c == quote : c == '\'' || c == '"') quote = quote == '\0' ? c : '\0';
    if (c != ' ' || (quote != '\0' && at < line.size())) continue;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
    begin = at + 1;
  }
  return words;
}

// Returns the position of the first two blanks outside quotes.
std::size_t find_gap(std::string_view line) {
  char quote = '\0';
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (quote == '\0' && line.substr(at, 2) == "  ") return at;
    if (quote == '\0' ? line[at] == '\'' || line[at] == '"' : line[at] == quote)
      quote = quote == '\0' ? line[at] : '\0';
  }
  return std::string_view::npos;
}

bool takes_list(const Option& option) {
  return std::holds_alternative<std::vector<std::string>*>(option.target) && !option.takes_one_each;
}

void add_examples(std::string& out, const std::string& text, int width) {
  out += "Examples:\n";
  Wrapped lines(out, width);
  for (const Example& example : parse_examples(text)) {
    lines.start_at(2);
    lines.set_indent(6);
    // A continued line ends in a backslash, so that it can be copied to a shell.
    for (const std::string_view word : command_words(example.command)) lines.add_word(word, " \\");
    if (!example.comment.empty()) {
      const bool has_room = example.comment_column + kLeastRoom <= width;
      lines.start_at(has_room ? example.comment_column : 6);
      lines.add_words(example.comment);
    }
    lines.end_line();
  }
}

void add_text(std::string& out, std::string_view text, int indent, int width) {
  Wrapped lines(out, width);
  lines.start_at(indent);
  lines.add_words(text);
  lines.end_line();
}

void add_entry(std::string& out, const std::string& head, const std::string& help, int width) {
  Wrapped lines(out, width);
  lines.start_at(2);
  lines.set_indent(4);
  lines.add_words(head);
  lines.start_at(width < kNarrow ? kNarrowHelpColumn : kHelpColumn);
  lines.add_words(help);
  lines.end_line();
}

bool is_listed(const Command& command, const Option& option, std::string_view topic) {
  if (topic == kAllOptions) return true;
  if (!topic.empty()) return command.find_topic(option.group) == topic;
  return command.is_usual(option);
}

void add_commands(std::string& out, const Command& command, bool is_root, int width) {
  if (command.commands().empty()) return;
  out += "\nCommands:\n";
  for (const auto& child : command.commands()) {
    if (!child->is_hidden()) add_entry(out, child->name(), child->help(), width);
  }
  if (is_root)
    add_entry(out, fmt::format("{} COMMAND", kHelpVerb), std::string(kHelpVerbHelp), width);
}

void add_arguments(std::string& out, const Command& command, int width) {
  std::string entries;
  for (const auto& option : command.options())
    if (is_positional(*option))
      add_entry(entries, option_head(*option), option_help(*option), width);
  if (command.rest() != nullptr) add_entry(entries, "-- ARGUMENTS...", command.rest_help(), width);
  if (!entries.empty()) out += "\nArguments:\n" + entries;
}

std::string format_entries(const Command& command, const std::string& group, std::string_view topic,
                           int width) {
  std::string entries;
  for (const auto& option : command.options()) {
    if (option->group == group && !is_positional(*option) && is_listed(command, *option, topic))
      add_entry(entries, option_head(*option), option_help(*option), width);
  }
  return entries;
}

void add_section(std::string& out, const std::string& title, const std::string& entries,
                 int width) {
  out += '\n';
  add_text(out, title + ":", 0, width);
  out += entries;
}

void add_options(std::string& out, const Command& command, bool is_root, std::string_view topic,
                 int width) {
  for (const OptionGroup& group : command.groups()) {
    const std::string entries = format_entries(command, group.title, topic, width);
    if (!entries.empty()) add_section(out, group.title, entries, width);
  }
  // The remaining options, including those that print help.
  add_section(out, command.groups().empty() ? "Options" : "Other options",
              format_entries(command, "", topic, width), width);
  add_entry(out, "-h, --help", std::string(kHelpHelp), width);
  if (is_root) add_entry(out, std::string(kVersionNames), std::string(kVersionHelp), width);
  for (const HelpTopic& of : command.help_topics())
    add_entry(out, fmt::format("{}{}", kTopicPrefix, of.name), of.help, width);
}

}  // namespace

std::vector<Example> parse_examples(const std::string& text) {
  std::vector<Example> examples;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view content = trim(line);
    if (content.empty()) continue;
    if (line.starts_with("    ") && !examples.empty()) {
      examples.back().comment += fmt::format(" {}", content);
      continue;
    }
    const std::size_t gap = find_gap(content);
    Example& example = examples.emplace_back();
    example.command = content.substr(0, gap);
    if (gap == std::string_view::npos) continue;
    example.comment = trim(content.substr(gap));
    example.comment_column = display_width(line.substr(0, line.find(example.comment)));
  }
  return examples;
}

std::string option_head(const Option& option) {
  std::string head = fmt::format("{}", fmt::join(split(option.names, ','), ", "));
  const std::string value = option.choices.empty()
                                ? option.value_name
                                : fmt::format("{}", fmt::join(option.choices, "|"));
  if (value.empty()) return head;
  if (is_positional(option)) return value;
  head += option.is_value_optional ? fmt::format(" [{}]", value) : " " + value;
  return head + (takes_list(option) ? "..." : "");
}

std::string option_help(const Option& option) {
  const auto* const text = std::get_if<std::string*>(&option.target);
  if (text == nullptr || (*text)->empty() || option.help.find("default") != std::string::npos)
    return option.help;
  return fmt::format("{} (default {})", option.help, **text);
}

std::string synopsis(const Command& command, const std::string& path) {
  std::string usage = path + (command.commands().empty() ? " [OPTIONS]" : " COMMAND");
  for (const auto& option : command.options()) {
    if (!is_positional(*option)) continue;
    const std::string name = option->value_name + (takes_list(*option) ? "..." : "");
    usage += option->is_required ? " " + name : " [" + name + "]";
  }
  return usage + (command.rest() == nullptr ? "" : " [-- ARGUMENTS...]");
}

std::vector<Suggestion> help_options(const Command& command) {
  std::vector<Suggestion> options;
  for (const std::string_view name : split(kHelpNames, ','))
    options.push_back({std::string(name), std::string(kHelpHelp)});
  for (const HelpTopic& topic : command.help_topics())
    options.push_back({fmt::format("{}{}", kTopicPrefix, topic.name), topic.help});
  return options;
}

std::optional<std::string> find_help_topic(const Command& command,
                                           const std::vector<std::string>& words) {
  const auto options = help_options(command);
  for (const std::string& word : words) {
    const bool is_one = std::any_of(options.begin(), options.end(),
                                    [&](const auto& option) { return option.word == word; });
    if (!is_one) continue;
    return word.starts_with(kTopicPrefix) ? word.substr(kTopicPrefix.size()) : "";
  }
  return std::nullopt;
}

std::string help_text(const Command& command, const std::string& path, std::string_view topic,
                      int width) {
  std::string out;
  const bool is_root = path == command.name();
  if (topic.empty()) {
    add_examples(out, command.examples(), width);
    out += '\n';
    add_text(out, command.help(), 0, width);
    out += '\n';
  }
  add_text(out, "Usage: " + synopsis(command, path), 0, width);
  if (topic.empty() || topic == kAllOptions) {
    add_commands(out, command, is_root, width);
    add_arguments(out, command, width);
  }
  add_options(out, command, is_root, topic, width);
  return out;
}

}  // namespace msprof::cli
