// ElfFile: inspects a program or library without running it: its machine, the libraries it needs,
// the functions it imports. Used by the host of a board, which reports problems before an upload,
// and by the checks of a project. The file is untrusted; every offset is checked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Number of bytes at the start that identify the machine of a program.
inline constexpr std::size_t kElfHeadBytes = 20;

struct ElfFile {
  bool is_elf = false;
  std::string head;  // the first bytes, for why_not_for_board()
  // Reason why the members below are unknown: "statically linked"; empty if they are known.
  std::string unseen;
  std::vector<std::string> needed;     // "libsvp_acl.so"
  std::vector<std::string> run_paths;  // DT_RPATH and DT_RUNPATH, "$ORIGIN/lib"
  std::vector<std::string> imports;    // undefined functions and variables, sorted

  bool takes(std::string_view name) const;  // Returns true if `imports` contains `name`.
};

// Returns the function of the boards' runtime by which a program profiles itself, which conflicts
// with acl.json: "svp_acl_prof_init"; empty: none.
std::string find_own_profiling(const ElfFile& program);

// Reads a file. A file that is missing or unreadable for the user counts as not ELF. Throws
// Error(partial_data) on errors of the disk or this process.
ElfFile read_elf(const std::filesystem::path& file);
ElfFile parse_elf(std::string_view bytes);
// Returns the first `bytes` bytes of a file; empty if it is missing or unreadable for the user.
// Throws like read_elf().
std::string read_head(const std::filesystem::path& file, std::size_t bytes = kElfHeadBytes);

// Returns an empty string if a board that runs `board_head` can run `program_head` (or if either is
// not an ELF file); otherwise a description: "AArch64, and the board runs ARM". Without a program
// head from the board, uses its `uname -m` in `machine`: a board's shell would interpret a program
// that it cannot run as a script.
std::string why_not_for_board(std::string_view program_head, std::string_view board_head,
                              std::string_view machine = "");

}  // namespace msprof
