// What a shared library says about itself: the names it exports, the libraries it needs, where it
// looks for them.
#pragma once

#include <filesystem>
#include <set>
#include <string>

struct ElfFile {
  std::set<std::string> exported;
  std::set<std::string> needed;
  std::string soname;
  std::string runpath;
};

// Of a 64-bit little-endian ELF file; throws where it is none.
ElfFile read_elf(const std::filesystem::path& path);
