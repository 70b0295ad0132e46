#include "acl/headers/elf_file.hpp"

#include <elf.h>

#include <cstring>
#include <stdexcept>

#include "support/files.hpp"

namespace {

template <typename T>
T at(const std::string& bytes, std::size_t place) {
  if (place > bytes.size() || bytes.size() - place < sizeof(T))
    throw std::runtime_error("an ELF file ends too early");
  T value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}

}  // namespace

ElfFile read_elf(const std::filesystem::path& path) {
  const std::string bytes = msprof::test::read_file(path);
  const auto head = at<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64) {
    throw std::runtime_error(path.string() + " is no 64-bit ELF file");
  }
  const auto section = [&](std::size_t index) {
    return at<Elf64_Shdr>(bytes, head.e_shoff + index * head.e_shentsize);
  };
  const auto text = [&](const Elf64_Shdr& strings, std::size_t place) {
    return std::string(bytes.c_str() + strings.sh_offset + place);
  };

  ElfFile file;
  for (std::size_t index = 0; index < head.e_shnum; ++index) {
    const Elf64_Shdr here = section(index);
    if (here.sh_type != SHT_DYNSYM && here.sh_type != SHT_DYNAMIC) continue;
    const Elf64_Shdr strings = section(here.sh_link);
    for (std::size_t place = 0; place < here.sh_size; place += here.sh_entsize) {
      if (here.sh_type == SHT_DYNSYM) {
        const auto symbol = at<Elf64_Sym>(bytes, here.sh_offset + place);
        const std::string name = text(strings, symbol.st_name);
        if (symbol.st_shndx != SHN_UNDEF && !name.empty()) file.exported.insert(name);
        continue;
      }
      const auto entry = at<Elf64_Dyn>(bytes, here.sh_offset + place);
      if (entry.d_tag == DT_NEEDED) file.needed.insert(text(strings, entry.d_un.d_val));
      if (entry.d_tag == DT_SONAME) file.soname = text(strings, entry.d_un.d_val);
      if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
        file.runpath = text(strings, entry.d_un.d_val);
    }
  }
  return file;
}
