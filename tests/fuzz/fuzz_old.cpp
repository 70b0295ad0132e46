// Fuzz target: captures of CANN 5 and of 2019 to 2021. The input replaces files of a small valid
// one.
#include "fuzz_cann.hpp"
#include "old/old_records.hpp"
#include "old_seeds.hpp"
#include "support/files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace msprof;
  using namespace msprof::fuzz;
  Pieces input(data, size);
  const bool is_job = (input.number(1) & 1) != 0;
  const ScratchFolder scratch;
  const auto folder = scratch.path() / (is_job ? "JOBABC" : "PROF_1");
  test::write_old_info(is_job ? folder : folder / "device_0");
  const auto files = old_files(is_job);
  for (const auto& [name, bytes] : files) test::write_file(folder / name, bytes);
  while (!input.empty()) {
    const std::string& name = files[input.number(1) % files.size()].first;
    test::write_file(folder / name, input.take(input.number(2)));
  }
  import_and_export(folder, scratch.path() / "out", false);
  return 0;
}
