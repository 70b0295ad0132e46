// Whole commands as processes of their own, with their time and memory. For the benchmarks of
// commands.
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

// Its stdout is dropped. Ends the benchmark when the command fails.
CommandRun run_command(std::vector<std::string> words);

double median(std::vector<double> values);
double median_seconds(const std::vector<CommandRun>& runs);
double peak_mb(const std::vector<CommandRun>& runs);

std::uint64_t bytes_in(const std::filesystem::path& folder);

// Seconds that `work` measures in a process of its own, so that its memory is not that of the
// commands, which are started from here.
double seconds_in_child(double (*work)(const std::filesystem::path&, const std::filesystem::path&),
                        const std::filesystem::path& from, const std::filesystem::path& to);

// Seconds of a bare write of as many bytes; like a product, not flushed to the disk. Removes
// `file`.
double bare_write_seconds(const std::filesystem::path& file, std::uint64_t bytes);

}  // namespace msprof::bench
