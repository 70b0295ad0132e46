#include "collect/elf_file.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::uint64_t kMaxElfBytes = 256 << 20;
constexpr std::size_t kMaxSections = 4096;
constexpr std::size_t kMaxSymbols = 200'000;
constexpr std::size_t kMaxName = 1024;

// The ELF structures for one word size.
struct Elf32 {
  using Header = Elf32_Ehdr;
  using Section = Elf32_Shdr;
  using Symbol = Elf32_Sym;
  using Dynamic = Elf32_Dyn;
};
struct Elf64 {
  using Header = Elf64_Ehdr;
  using Section = Elf64_Shdr;
  using Symbol = Elf64_Sym;
  using Dynamic = Elf64_Dyn;
};

template <typename Words>
class ElfReader {
 public:
  ElfReader(std::string_view bytes, ElfFile& file) : bytes_(bytes), file_(file) {}

  void read() {
    if (!read_sections()) {
      file_.unseen = "its section table is missing";
      return;
    }
    const auto* dynamic = find(SHT_DYNAMIC);
    const auto* symbols = find(SHT_DYNSYM);
    if (dynamic == nullptr) {
      file_.unseen = "it is statically linked";
      return;
    }
    read_dynamic(*dynamic);
    if (symbols != nullptr) read_symbols(*symbols);
    std::sort(file_.imports.begin(), file_.imports.end());
  }

 private:
  using Section = typename Words::Section;

  template <typename T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  bool read_sections() {
    const auto header = at<typename Words::Header>(0);
    if (!header || header->e_shoff == 0 || header->e_shentsize != sizeof(Section)) return false;
    for (std::size_t i = 0; i < header->e_shnum && i < kMaxSections; ++i) {
      std::uint64_t offset = 0;
      if (__builtin_add_overflow(std::uint64_t{header->e_shoff}, i * sizeof(Section), &offset))
        break;
      const auto section = at<Section>(offset);
      if (!section) break;
      sections_.push_back(*section);
    }
    return !sections_.empty();
  }

  const Section* find(std::uint32_t type) const {
    const auto found =
        std::find_if(sections_.begin(), sections_.end(),
                     [&](const Section& section) { return section.sh_type == type; });
    return found == sections_.end() ? nullptr : &*found;
  }

  // Returns the text at `index` in the string table of `section`.
  std::string text(const Section& section, std::uint64_t index) const {
    if (section.sh_link >= sections_.size()) return "";
    const Section& strings = sections_[section.sh_link];
    std::uint64_t begin = 0;
    if (index >= strings.sh_size ||
        __builtin_add_overflow(std::uint64_t{strings.sh_offset}, index, &begin) ||
        begin >= bytes_.size()) {
      return "";
    }
    const std::string_view rest = bytes_.substr(begin, kMaxName);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  template <typename Entry, typename Take>
  void each(const Section& section, Take&& take) const {
    const std::uint64_t count =
        std::min<std::uint64_t>(section.sh_size / sizeof(Entry), kMaxSymbols);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t offset = 0;
      if (__builtin_add_overflow(std::uint64_t{section.sh_offset}, i * sizeof(Entry), &offset))
        return;
      const auto entry = at<Entry>(offset);
      if (!entry || !take(*entry)) return;
    }
  }

  void read_dynamic(const Section& section) {
    each<typename Words::Dynamic>(section, [&](const typename Words::Dynamic& entry) {
      if (entry.d_tag == DT_NULL) return false;
      if (entry.d_tag == DT_NEEDED) file_.needed.push_back(text(section, entry.d_un.d_val));
      if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
        const std::string paths = text(section, entry.d_un.d_val);
        for (const std::string_view path : split(paths, ':')) {
          if (!path.empty()) file_.run_paths.emplace_back(path);
        }
      }
      return true;
    });
  }

  void read_symbols(const Section& section) {
    each<typename Words::Symbol>(section, [&](const typename Words::Symbol& symbol) {
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0)
        file_.imports.push_back(text(section, symbol.st_name));
      return true;
    });
  }

  std::string_view bytes_;
  ElfFile& file_;
  std::vector<Section> sections_;
};

constexpr std::size_t kMachineOffset = 18;  // e_machine, after e_ident and e_type

struct Machine {
  unsigned number = 0;
  bool is_big_endian = false;
  bool operator==(const Machine&) const = default;
};

std::optional<Machine> parse_machine(std::string_view head) {
  if (head.size() < kElfHeadBytes || !head.starts_with(ELFMAG)) return std::nullopt;
  Machine machine;
  machine.is_big_endian = head[EI_DATA] == ELFDATA2MSB;
  const auto first = static_cast<unsigned char>(head[kMachineOffset]);
  const auto second = static_cast<unsigned char>(head[kMachineOffset + 1]);
  machine.number = machine.is_big_endian ? first * 256U + second : second * 256U + first;
  return machine;
}

// Returns the machine for `uname -m`; nullopt for names with an ambiguous byte order.
std::optional<Machine> find_machine(std::string_view name) {
  if (name == "aarch64") return Machine{EM_AARCH64};
  if (name == "x86_64") return Machine{EM_X86_64};
  if (name.size() == 4 && name[0] == 'i' && name.ends_with("86")) return Machine{EM_386};
  if (name.starts_with("armv") && name.ends_with('l')) return Machine{EM_ARM};
  if (name.starts_with("riscv")) return Machine{EM_RISCV};
  return std::nullopt;
}

std::string machine_name(const Machine& machine) {
  const char* order = machine.is_big_endian ? " (big endian)" : "";
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

// 64-bit kernels run 32-bit programs of the same family.
bool runs(const Machine& board, const Machine& program) {
  if (board == program) return true;
  if (board.is_big_endian != program.is_big_endian) return false;
  const auto pair = [&](unsigned a, unsigned b) {
    return (board.number == a && program.number == b) || (board.number == b && program.number == a);
  };
  return pair(EM_AARCH64, EM_ARM) || pair(EM_X86_64, EM_386);
}

}  // namespace

std::string find_own_profiling(const ElfFile& program) {
  for (const char* const name : {"svp_acl_prof_init", "svp_acl_prof_start"}) {
    if (program.takes(name)) return name;
  }
  return "";
}

bool ElfFile::takes(std::string_view name) const {
  return std::binary_search(imports.begin(), imports.end(), name);
}

ElfFile parse_elf(std::string_view bytes) {
  ElfFile file;
  file.head = bytes.substr(0, kElfHeadBytes);
  file.is_elf = bytes.size() > EI_NIDENT && bytes.starts_with(ELFMAG);
  if (!file.is_elf) return file;
  if (bytes[EI_DATA] != ELFDATA2LSB) {
    file.unseen = "it is big endian";
  } else if (bytes[EI_CLASS] == ELFCLASS64) {
    ElfReader<Elf64>(bytes, file).read();
  } else {
    ElfReader<Elf32>(bytes, file).read();
  }
  return file;
}

std::string read_head(const std::filesystem::path& file, std::size_t bytes) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) || ::access(file.c_str(), R_OK) != 0)
    return "";
  FileReader reader(file);
  std::string head(std::min<std::uint64_t>(bytes, reader.size_bytes()), '\0');
  head.resize(reader.read(std::as_writable_bytes(std::span(head))));
  return head;
}

ElfFile read_elf(const std::filesystem::path& file) {
  std::error_code error;
  const bool is_for_us = ::access(file.c_str(), R_OK) == 0 &&
                         std::filesystem::file_size(file, error) <= kMaxElfBytes && !error;
  return is_for_us ? parse_elf(read_text_file(file, kMaxElfBytes)) : ElfFile{};
}

std::string why_not_for_board(std::string_view program_head, std::string_view board_head,
                              std::string_view machine) {
  const auto program = parse_machine(program_head);
  const auto shown = parse_machine(board_head);
  const auto board = shown ? shown : find_machine(machine);
  if (!program || !board || runs(*board, *program)) return "";
  return fmt::format("{}, but the board runs {}", machine_name(*program), machine_name(*board));
}

}  // namespace msprof
