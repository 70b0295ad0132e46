// Runs a short program with a time limit and returns its output. Used to identify tools.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msprof {

// Runs `program` (absolute) with `arguments`, and with `variables` ("NAME=value") added to this
// process's environment; stdin and stderr are empty. Returns at most 64 KiB of its stdout; nullopt
// if it cannot be run, or exceeds `limit`: it is then killed with all its children.
std::optional<std::string> program_output(const std::filesystem::path& program,
                                          const std::vector<std::string>& arguments,
                                          const std::vector<std::string>& variables,
                                          std::chrono::milliseconds limit);

}  // namespace msprof
