// Edits the pages of a SQLite file as a graph: children, cells, chains of overflow and free pages.
// For the fuzz targets of stores and rank summaries: random byte changes rarely produce valid page
// references.
#pragma once

#include <cstddef>
#include <cstdint>

namespace msprof::fuzz {

// Makes one edit selected by `seed` in the file of `size` bytes at `data`, which has room for
// `max_size`, and corrects the page count in its header. Returns the new size.
std::size_t edit_pages(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed);

}  // namespace msprof::fuzz

// Defines the mutator of a target: half of its inputs get a page edit, half a libFuzzer mutation.
#define MSPROF_MUTATE_PAGES                                                                       \
  extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max); \
  extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,            \
                                                 std::size_t max_size, unsigned seed) {           \
    return seed % 2 == 0 ? LLVMFuzzerMutate(data, size, max_size)                                 \
                         : msprof::fuzz::edit_pages(data, size, max_size, seed / 2);              \
  }
