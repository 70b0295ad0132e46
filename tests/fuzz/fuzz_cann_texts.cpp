// Fuzz target: info files, dictionaries and text counters of a PROF folder with small valid
// records.
#include "cann_seeds.hpp"
#include "fuzz_cann.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace msprof::fuzz;
  static CannCapture capture(CannChip::stars);
  static const auto names = cann_file_names("cann_texts");
  Pieces input(data, size);
  while (!input.empty()) {
    const std::string& name = names[input.number(1) % names.size()];
    capture.put(name, input.take(input.number(2)));
  }
  capture.run(false);
  return 0;
}
