// doctor's parsing of programs: real ones, and files that only look like programs.
#include "collect/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "support/files.hpp"
#include "support/run_program.hpp"

namespace msprof::test {

namespace {

const std::string& msprof_bytes() {
  static const std::string bytes = read_file(msprof_path());
  return bytes;
}

}  // namespace

TEST_CASE("The libraries and imported functions of a real program are read") {
  const ElfFile file = read_elf(msprof_path());
  REQUIRE(file.is_elf);
  CHECK(file.unseen == "");
  const auto needs = [&](const std::string& begin) {
    return std::any_of(file.needed.begin(), file.needed.end(),
                       [&](const std::string& name) { return name.starts_with(begin); });
  };
  CHECK(needs("libc.so"));
  CHECK(needs("libsqlite3.so"));
  CHECK(file.takes("sqlite3_step"));
  CHECK_FALSE(file.takes("svp_acl_init"));
  CHECK_FALSE(file.takes("sqlite3_ste"));
}

TEST_CASE("A file that is not ELF or has no section table is reported") {
  CHECK_FALSE(read_elf("/no/such/file").is_elf);
  CHECK_FALSE(parse_elf("#!/bin/sh\nexit 0\n").is_elf);
  CHECK_FALSE(parse_elf("\177ELF").is_elf);
  std::string bytes = msprof_bytes().substr(0, 4096);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_shoff = 0;
  std::memcpy(bytes.data(), &header, sizeof header);
  CHECK(parse_elf(bytes).unseen == "its section table is missing");
  bytes[EI_DATA] = ELFDATA2MSB;
  CHECK(parse_elf(bytes).unseen == "it is big endian");
}

TEST_CASE("Offsets outside a program file are ignored") {
  const std::string& good = msprof_bytes();
  Elf64_Ehdr header;
  std::memcpy(&header, good.data(), sizeof header);
  const std::uint64_t values[] = {
      0, 1, good.size() - 1, good.size(), ~std::uint64_t{0}, ~std::uint64_t{0} - 63};
  // Each section in turn gets a wrong offset, size and link.
  std::string bytes = good;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const std::size_t place = header.e_shoff + i * sizeof(Elf64_Shdr);
    Elf64_Shdr section;
    std::memcpy(&section, good.data() + place, sizeof section);
    if (section.sh_type != SHT_DYNAMIC && section.sh_type != SHT_DYNSYM &&
        section.sh_type != SHT_STRTAB) {
      continue;
    }
    for (const std::uint64_t value : values) {
      Elf64_Shdr wrong = section;
      wrong.sh_offset = value;
      wrong.sh_size = value;
      wrong.sh_link = static_cast<Elf64_Word>(value);
      std::memcpy(bytes.data() + place, &wrong, sizeof wrong);
      CHECK(parse_elf(bytes).is_elf);
    }
    std::memcpy(bytes.data() + place, &section, sizeof section);
  }
  CHECK(parse_elf(std::string_view(good).substr(0, good.size() / 2)).is_elf);
}

}  // namespace msprof::test
