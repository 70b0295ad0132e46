// Formats --help from the command tree. For command_line.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprof/command_line.hpp"

namespace msprof::cli {

// The topic of --help-all.
inline constexpr std::string_view kAllOptions = "all";

// Names and descriptions of the options of `command` that print help.
std::vector<Suggestion> help_options(const Command& command);

// Returns the help topic requested by one of `words`; "" means --help. Empty if no help is
// requested. -h is recognized even where an option expects a value.
std::optional<std::string> help_topic_in(const Command& command,
                                         const std::vector<std::string>& words);

// Help for `command`, which is called by `path` ("msprof export summary"), wrapped at `width`
// columns. `topic`: lists the options of --help-TOPIC; empty: --help.
std::string help_text(const Command& command, const std::string& path, std::string_view topic,
                      int width);

}  // namespace msprof::cli
