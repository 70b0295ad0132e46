// Fuzz target: a whole PROF folder, names and all: u8, u8 name length, name, u16 length, content.
#include <string>

#include "fuzz_cann.hpp"
#include "support/files.hpp"

namespace {

namespace fs = std::filesystem;

// A path that stays in the folder, of parts that a file system takes.
bool is_plain(const std::string& name) {
  if (name.empty() || name.back() == '/' || name.find('\0') != std::string::npos) return false;
  for (const fs::path& part : fs::path(name)) {
    if (part == "." || part == ".." || part == "/" || part.empty()) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace msprof;
  const fuzz::ScratchFolder scratch;
  const fs::path folder = scratch.path() / "PROF_1";
  fs::create_directory(folder);
  fuzz::Pieces input(data, size);
  while (!input.empty()) {
    input.number(1);
    const std::string name(input.take(input.number(1)));
    const std::string_view content = input.take(input.number(2));
    std::error_code error;
    if (!is_plain(name) || fs::is_directory(folder / name, error)) continue;
    fs::create_directories((folder / name).parent_path(), error);
    if (!error) test::write_file(folder / name, content);
  }
  fuzz::import_and_export(folder, scratch.path() / "out", true);
  return 0;
}
