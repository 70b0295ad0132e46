// Fuzz target: a whole folder of CANN 5 or of 2019 to 2021 including names: a u8 that is odd for a
// JOB folder; then the files as in fuzz_cann_folder.
#include "fuzz_cann.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace msprof;
  const fuzz::ScratchFolder scratch;
  fuzz::Pieces input(data, size);
  const auto folder = scratch.path() / (input.number(1) % 2 == 1 ? "JOB_1" : "PROF_1");
  std::filesystem::create_directory(folder);
  fuzz::unpack_files(input, folder);
  fuzz::import_and_export(folder, scratch.path() / "out", true);
  return 0;
}
