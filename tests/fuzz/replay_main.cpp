// Runs a fuzz target over its seeds, VARIANTS of them (truncated, or with a flipped byte) and the
// kept inputs. A finding ends the program through a sanitizer or abort().
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "hex_corpus.hpp"
#include "seeds.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Defined by targets that edit their inputs; otherwise null.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                     std::size_t size,
                                                                     std::size_t max_size,
                                                                     unsigned seed);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t) {
  return size;
}

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t variants = argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 0;
  if (variants == 0) {
    std::fputs("usage: fuzz_TARGET TARGET CORPUS VARIANTS\n", stderr);
    return 2;
  }
  const auto seeds = msprof::fuzz::seeds(argv[1]);
  // Truncates and flips seeds; the fuzzer does the rest. With many seeds, each gets few positions,
  // different in every seed.
  const std::size_t steps = std::max<std::size_t>(1, variants / (2 * (seeds.size() + 1)));
  std::size_t count = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const std::string& seed = seeds[i];
    run(seed);
    const std::size_t step = seed.size() / steps + 1;
    for (std::size_t at = i * 7919 % step; at < seed.size(); at += step, count += 2) {
      run(seed.substr(0, at));
      std::string flipped = seed;
      flipped[at] = static_cast<char>(flipped[at] ^ 0xff);
      run(flipped);
    }
    if (LLVMFuzzerCustomMutator == nullptr) continue;
    for (std::size_t edits = 0; edits < 2 * steps; ++edits, ++count) {
      constexpr std::size_t kRoom = 1 << 14;
      std::string edited = seed;
      edited.resize(seed.size() + kRoom);
      edited.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(edited.data()),
                                            seed.size(), edited.size(),
                                            static_cast<unsigned>(2 * (i + edits * 977) + 1)));
      run(edited);
    }
  }
  const auto kept = msprof::fuzz::hex_corpus(argv[2], argv[1]);
  for (const std::string& input : kept) run(input);
  std::printf("%zu variants of seeds, %zu kept inputs\n", count, kept.size());
  return count == 0 ? 1 : 0;
}
