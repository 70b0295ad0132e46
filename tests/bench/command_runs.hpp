// Runs whole commands in separate processes and measures their time and memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace msprof::bench {

struct CommandRun {
  double seconds = 0;
  double peak_mb = 0;
  double cpu_seconds = 0;
};

// Runs a command and discards its stdout. Ends the benchmark if the command fails.
CommandRun run_command(std::vector<std::string> words);

double median(std::vector<double> values);
double median_seconds(const std::vector<CommandRun>& runs);
double peak_mb(const std::vector<CommandRun>& runs);

std::uint64_t bytes_in(const std::filesystem::path& folder);

// Runs `work` in a separate process, so that its memory does not count towards the peak of the
// commands; returns the seconds that it measured.
double seconds_in_child(double (*work)(const std::filesystem::path&, const std::filesystem::path&),
                        const std::filesystem::path& from, const std::filesystem::path& to);

// Seconds of a bare write of `bytes`; like msprof's products, not flushed to the disk. Removes
// `file`.
double bare_write_seconds(const std::filesystem::path& file, std::uint64_t bytes);

}  // namespace msprof::bench
