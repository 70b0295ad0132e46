// fuzz_seeds TARGET FOLDER CORPUS: writes the seeds and the kept inputs of a target as files.
#include <cstdio>
#include <fstream>

#include "hex_corpus.hpp"
#include "seeds.hpp"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: fuzz_seeds TARGET FOLDER CORPUS\n", stderr);
    return 2;
  }
  auto inputs = msprof::fuzz::seeds(argv[1]);
  const auto kept = msprof::fuzz::hex_corpus(argv[3], argv[1]);
  inputs.insert(inputs.end(), kept.begin(), kept.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::ofstream file(std::string(argv[2]) + "/seed-" + std::to_string(i), std::ios::binary);
    file << inputs[i];
    if (!file) return 1;
  }
  return 0;
}
