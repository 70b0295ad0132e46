// Formats --help from the command tree. For command_line.cpp; man_page.cpp uses its parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprof/command_line.hpp"

namespace msprof::cli {

// The topic of --help-all.
inline constexpr std::string_view kAllOptions = "all";

inline constexpr std::string_view kHelpHelp = "print this help";

struct Example {
  std::string command;
  std::string comment;
  int comment_column = 0;
};

// Parses lines "  command   comment", separated by two or more blanks. Lines with a deeper indent
// continue the comment.
std::vector<Example> parse_examples(const std::string& text);

// Returns the names and the value: "--dir, --collection-dir DIR..."
std::string option_head(const Option& option);
// Returns the help text and appends the default, unless the text already mentions one.
std::string option_help(const Option& option);
// Returns the command with its arguments: "msprof list [OPTIONS] [DIR...]".
std::string synopsis(const Command& command, const std::string& path);

// Returns names and descriptions of the options of `command` that print help.
std::vector<Suggestion> help_options(const Command& command);

// Returns the help topic requested by one of `words`; "" means --help. Empty if no help is
// requested. -h is recognized even where an option expects a value.
std::optional<std::string> find_help_topic(const Command& command,
                                           const std::vector<std::string>& words);

// Returns the help for `command`, which is called by `path` ("msprof export summary"), wrapped at
// `width` columns. `topic`: lists the options of --help-TOPIC; empty: --help.
std::string help_text(const Command& command, const std::string& path, std::string_view topic,
                      int width);

}  // namespace msprof::cli
