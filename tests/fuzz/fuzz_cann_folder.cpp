// Fuzz target: a whole PROF folder including names: u8, u8 name length, name, u16 length, content.
#include "fuzz_cann.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace msprof;
  const fuzz::ScratchFolder scratch;
  const auto folder = scratch.path() / "PROF_1";
  std::filesystem::create_directory(folder);
  fuzz::Pieces input(data, size);
  fuzz::unpack_files(input, folder);
  fuzz::import_and_export(folder, scratch.path() / "out", true);
  return 0;
}
