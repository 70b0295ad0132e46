// Text of --help, made of the command tree. For command_line.cpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "msprof/command_line.hpp"

namespace msprof::cli {

// The topic of --help-all.
inline constexpr std::string_view kAllOptions = "all";

// Names of the options of `command` that print help, with what they print.
std::vector<Suggestion> help_options(const Command& command);

// Returns the help topic that one of `words` requests. -h is help also where an option expects a
// value.
// "" is that of --help; nothing where no help is asked for.
std::optional<std::string> help_topic_in(const Command& command,
                                         const std::vector<std::string>& words);

// Help about `command`, which is called by `path` ("msprof export summary"), in lines of at most
// `width` columns that are broken at words. `topic`: the options of --help-TOPIC; empty: --help.
std::string help_text(const Command& command, const std::string& path, std::string_view topic,
                      int width);

}  // namespace msprof::cli
