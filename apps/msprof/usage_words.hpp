// What is wrong with a command line, in words: which value an option takes, what a word that fits
// nowhere may have meant, and the right form of the line. For command_line.cpp, which knows the
// parser; no word of the parser's own reaches a user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "msprof/command_line.hpp"

namespace msprof::cli {

// As messages call it: "--format", "-dir", "BASE".
std::string shown_name(const Option& option);

// "csv or json", "a whole number", "DIR"
std::string wanted_value(const Option& option);

// Why an option does not take a value; empty where it does.
std::string value_problem(const Option& option, const std::string& value);

std::string missing_value(const Option& option);
std::string given_twice(const Option& option);
std::string takes_no_value(const Option& option);

// A command with the words that lead to it, "msprof export summary".
struct NamedCommand {
  const Command* command = nullptr;
  std::string path;
  const Command* root = nullptr;
};

// Required words that are not there.
std::string missing_words(const NamedCommand& named, const std::vector<const Option*>& missing);

// `strays`: words that fit nowhere, in order; `words`: all behind the program's name; `rest`: what
// stands behind "--".
std::string stray_words(const NamedCommand& named, const std::vector<std::string>& strays,
                        const std::vector<std::string>& words,
                        const std::vector<std::string>& rest);

// Whether a word is a folder that is there, or a name as captures have it.
bool looks_like_capture(const std::string& word);

// The names of the commands below one, on a line of their own; empty where there are none.
std::string command_list(const Command& command);

}  // namespace msprof::cli
