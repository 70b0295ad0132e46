#include "soak/soak.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kLedger = ".msprof_products";

SoakRandom make_random(std::uint64_t seed, std::uint64_t number) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
  return SoakRandom(words);
}

}  // namespace

void SoakReport::fail(std::uint64_t trial, const std::string& why) {
  failures_.emplace(trial, why);
}

int SoakReport::end(std::string_view name, std::uint64_t trials, std::uint64_t seed) const {
  std::printf("%.*s: %llu trials, seed %llu, %zu failed\n", static_cast<int>(name.size()),
              name.data(), static_cast<unsigned long long>(trials),
              static_cast<unsigned long long>(seed), failures_.size());
  for (const auto& [what, times] : counts_)
    std::printf("  %6llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
  constexpr int kMaxShown = 20;
  int shown = 0;
  for (const auto& [trial, why] : failures_) {
    if (++shown > kMaxShown) break;
    std::printf("FAILED trial %llu: %s\n", static_cast<unsigned long long>(trial), why.c_str());
  }
  return failures_.empty() ? 0 : 1;
}

int run_soak(int argc, char** argv, std::string_view name, std::uint64_t usual_count,
             const SoakTrial& trial) {
  const auto number = [&](int at, std::uint64_t usual) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : usual;
  };
  const std::uint64_t count = number(1, usual_count);
  const std::uint64_t seed = number(2, 1);
  const bool only_one = argc > 3;
  const std::uint64_t first = number(3, 0);
  const std::uint64_t last = only_one ? first + 1 : count;
  SoakReport report;
  for (std::uint64_t i = first; i < last; ++i) {
    SoakRandom random = make_random(seed, i);
    try {
      trial(i, random, report);
    } catch (const std::exception& error) {
      report.fail(i, error.what());
    }
  }
  return report.end(name, last - first, seed);
}

Files files_below(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const bool is_ledger = entry.path().filename() == kLedger;
    files[entry.path().lexically_relative(folder).string()] =
        is_ledger ? std::string() : read_file(entry.path());
  }
  return files;
}

std::string difference(const Files& expected, const Files& found) {
  for (const auto& [name, bytes] : expected) {
    const auto other = found.find(name);
    if (other == found.end()) return name + " is missing";
    if (other->second != bytes) return name + " has other bytes";
  }
  for (const auto& [name, bytes] : found) {
    if (expected.count(name) == 0) return name + " stayed";
  }
  return {};
}

}  // namespace msprof::test
