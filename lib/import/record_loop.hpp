// for_each_record: a file of fixed-size records, read in bounded memory. For the kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/file_reader.hpp"
#include "base/interrupt.hpp"

namespace msprof {

// Calls visit(record, byte offset in the file) for every whole record from where `reader` stands
// (byte `first_offset`). Returns the bytes of the incomplete record at the end.
template <typename Visit>
std::uint64_t for_each_record(FileReader& reader, std::uint64_t first_offset,
                              std::size_t record_bytes, Visit&& visit) {
  constexpr std::size_t kChunkBytes = std::size_t{1} << 18;
  std::vector<std::byte> buffer(record_bytes * (kChunkBytes / record_bytes + 1));
  std::uint64_t offset = first_offset;
  while (true) {
    interrupt::check();
    const std::size_t count = reader.read(buffer);
    const std::size_t whole = count / record_bytes * record_bytes;
    for (std::size_t at = 0; at < whole; at += record_bytes) {
      visit(std::span<const std::byte>(buffer.data() + at, record_bytes), offset + at);
    }
    offset += whole;
    if (count < buffer.size()) return count - whole;
  }
}

}  // namespace msprof
