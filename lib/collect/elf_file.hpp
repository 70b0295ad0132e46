// ElfFile: what a program or library says about itself without being run: what it is built for,
// which libraries it needs, which functions it takes from them. For the host of a board, which says
// so before anything is uploaded, and the checks of a project. The file may be anything; every
// offset of it is checked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// They tell what machine a program is built for.
inline constexpr std::size_t kElfHeadBytes = 20;

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
// The first bytes of a file alone.
std::string read_elf_head(const std::filesystem::path& file);

// Empty where a board on which `board_head` runs may run `program_head` too (also where either is
// no ELF file); else what the two are: "AArch64, and the board runs ARM". A board that did not show
// a program of its own is judged by `machine`, its `uname -m`: a shell there would read a program
// that it cannot run as a script.
std::string why_not_for_board(std::string_view program_head, std::string_view board_head,
                              std::string_view machine = "");

}  // namespace msprof
