// Fuzz target: the records of device_0/data of a PROF folder for four families of chips, in an
// otherwise valid small capture.
#include <iterator>

#include "cann_seeds.hpp"
#include "fuzz_cann.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace msprof::fuzz;
  static CannCapture captures[] = {CannCapture(CannChip::stars), CannCapture(CannChip::hwts),
                                   CannCapture(CannChip::mini), CannCapture(CannChip::v6)};
  static const auto names = cann_file_names("cann_device");
  Pieces input(data, size);
  CannCapture& capture = captures[input.number(1) % std::size(captures)];
  while (!input.empty()) {
    const std::string& name = names[input.number(1) % names.size()];
    capture.put(name, input.take(input.number(2)));
  }
  capture.run(false);
  return 0;
}
