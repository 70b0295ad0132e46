// ElfFile: what a program or library says about itself without being run: what it is built for,
// which libraries it needs, which functions it takes from them. For the checks of a project. The
// file may be anything; every offset of it is checked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

struct ElfFile {
  bool is_elf = false;
  std::string head;  // the first bytes, for why_not_for_board()
  // Why nothing below is known: "statically linked"; empty where it is.
  std::string unseen;
  std::vector<std::string> needed;     // "libsvp_acl.so"
  std::vector<std::string> run_paths;  // DT_RPATH and DT_RUNPATH, "$ORIGIN/lib"
  std::vector<std::string> imports;    // undefined functions and variables, sorted

  bool takes(std::string_view name) const;  // among `imports`
};

// Never throws: a file that cannot be read is no ELF file.
ElfFile read_elf(const std::filesystem::path& file);
ElfFile parse_elf(std::string_view bytes);

}  // namespace msprof
