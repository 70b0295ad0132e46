#include "board/elf_machine.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <optional>

namespace msprof {

namespace {

constexpr std::size_t kMachineOffset = 18;  // e_machine, after e_ident and e_type

struct Machine {
  unsigned number = 0;
  bool big_endian = false;
  bool operator==(const Machine&) const = default;
};

std::optional<Machine> machine_of(std::string_view head) {
  if (head.size() < kElfHeadBytes || !head.starts_with(ELFMAG)) return std::nullopt;
  Machine machine;
  machine.big_endian = head[EI_DATA] == ELFDATA2MSB;
  const auto first = static_cast<unsigned char>(head[kMachineOffset]);
  const auto second = static_cast<unsigned char>(head[kMachineOffset + 1]);
  machine.number = machine.big_endian ? first * 256U + second : second * 256U + first;
  return machine;
}

// Of `uname -m`; those that say nothing of the byte order are left out.
std::optional<Machine> machine_named(std::string_view name) {
  if (name == "aarch64") return Machine{EM_AARCH64};
  if (name == "x86_64") return Machine{EM_X86_64};
  if (name.size() == 4 && name[0] == 'i' && name.ends_with("86")) return Machine{EM_386};
  if (name.starts_with("armv") && name.ends_with('l')) return Machine{EM_ARM};
  if (name.starts_with("riscv")) return Machine{EM_RISCV};
  return std::nullopt;
}

std::string name_of(const Machine& machine) {
  const char* order = machine.big_endian ? " (big endian)" : "";
  switch (machine.number) {
    case EM_AARCH64:
      return fmt::format("AArch64{}", order);
    case EM_ARM:
      return fmt::format("ARM{}", order);
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86";
    case EM_RISCV:
      return "RISC-V";
    case EM_MIPS:
      return fmt::format("MIPS{}", order);
    default:
      return fmt::format("machine {}{}", machine.number, order);
  }
}

// 64-bit kernels run the 32-bit programs of their family.
bool runs(const Machine& board, const Machine& program) {
  if (board == program) return true;
  if (board.big_endian != program.big_endian) return false;
  const auto pair = [&](unsigned a, unsigned b) {
    return (board.number == a && program.number == b) || (board.number == b && program.number == a);
  };
  return pair(EM_AARCH64, EM_ARM) || pair(EM_X86_64, EM_386);
}

}  // namespace

std::string why_not_for_board(std::string_view program_head, std::string_view board_head,
                              std::string_view machine) {
  const auto program = machine_of(program_head);
  const auto shown = machine_of(board_head);
  const auto board = shown ? shown : machine_named(machine);
  if (!program || !board || runs(*board, *program)) return "";
  return fmt::format("{}, and the board runs {}", name_of(*program), name_of(*board));
}

}  // namespace msprof
