// What a short program prints, asked with a limit of time. For finding out what a tool is.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace msprof {

// Runs `program` (absolute) with `arguments` and this process's environment with `variables`
// ("NAME=value") set, its stdin and stderr empty; returns at most 64 KiB of its stdout. Empty where
// it cannot be run, or was not done within `limit`: it is then killed with all that it started.
std::optional<std::string> program_output(const std::filesystem::path& program,
                                          const std::vector<std::string>& arguments,
                                          const std::vector<std::string>& variables,
                                          std::chrono::milliseconds limit);

}  // namespace msprof
