// Soak: one promise tried many times, each trial of its own random choices. For the programs
// beside. A trial is told by (seed, number) alone, so that a failure can be repeated by itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>

namespace msprof::test {

using SoakRandom = std::mt19937_64;

// Counts what happened in the trials and keeps the first failures.
class SoakReport {
 public:
  void count(const std::string& what) { ++counts_[what]; }
  void fail(std::uint64_t trial, const std::string& why);
  // Prints the counts, the seed and the failures; the exit code.
  int end(std::string_view name, std::uint64_t trials, std::uint64_t seed) const;

 private:
  std::map<std::string, std::uint64_t> counts_;
  std::map<std::uint64_t, std::string> failures_;
};

// main() of a soak: NAME [COUNT] [SEED] [TRIAL]; with TRIAL only that one. An exception that leaves
// a trial is a failure of it.
using SoakTrial = std::function<void(std::uint64_t number, SoakRandom& random, SoakReport& report)>;
int run_soak(int argc, char** argv, std::string_view name, std::uint64_t usual_count,
             const SoakTrial& trial);

// Every file of a folder: its name from there, and its bytes. What products say about themselves
// holds times: its bytes are left out.
using Files = std::map<std::string, std::string>;
Files files_below(const std::filesystem::path& folder);

// The first thing that differs; empty where nothing does.
std::string difference(const Files& expected, const Files& found);

}  // namespace msprof::test
