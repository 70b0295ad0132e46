// ElfFile: facts about a program or library without running it: the machine it is built for,
// the libraries it needs, the functions it takes from them. For the host of a board, which reports
// them before anything is uploaded, and the checks of a project. The file may be anything; every
// offset of it is checked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Number of first bytes that show what machine a program is built for.
inline constexpr std::size_t kElfHeadBytes = 20;

struct ElfFile {
  bool is_elf = false;
  std::string head;  // the first bytes, for why_not_for_board()
  // Reason why nothing below is known: "statically linked"; empty if it is known.
  std::string unseen;
  std::vector<std::string> needed;     // "libsvp_acl.so"
  std::vector<std::string> run_paths;  // DT_RPATH and DT_RUNPATH, "$ORIGIN/lib"
  std::vector<std::string> imports;    // undefined functions and variables, sorted

  bool takes(std::string_view name) const;  // among `imports`
};

// The function of the boards' runtime by which a program profiles itself, which excludes acl.json:
// "svp_acl_prof_init"; empty: it calls none.
std::string own_profiling_of(const ElfFile& program);

// Reads a file. One that is not there, or that the user may not read, is no ELF file. Throws
// Error(partial_data) where the disk or this process fails.
ElfFile read_elf(const std::filesystem::path& file);
ElfFile parse_elf(std::string_view bytes);
// The first bytes of a file, at most `bytes`; empty for one that is not there, or that the user may
// not read. Throws as read_elf().
std::string read_head(const std::filesystem::path& file, std::size_t bytes = kElfHeadBytes);

// Empty if a board on which `board_head` runs may run `program_head` too (also if either is
// no ELF file); else what the two are: "AArch64, and the board runs ARM". A board that did not show
// a program of its own is judged by `machine`, its `uname -m`: a shell there would read a program
// that it cannot run as a script.
std::string why_not_for_board(std::string_view program_head, std::string_view board_head,
                              std::string_view machine = "");

}  // namespace msprof
