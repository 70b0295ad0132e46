// Properties of a shared library: exported names, needed libraries, and their search path.
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

// Reads a 64-bit little-endian ELF file; throws for any other file.
ElfFile read_elf(const std::filesystem::path& path);
