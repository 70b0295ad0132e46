// Encodings of values in pages of Parquet files: bit packing, the hybrid of runs and bit packing,
// deltas. Source: the page about encodings of the format of Apache Parquet.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "base/varint.hpp"

namespace msprof::parquet {

// Encoding in parquet.thrift.
enum class Encoding : std::int32_t { plain = 0, rle = 3, delta = 5, dictionary = 8 };

constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

// Appends the little-endian bytes of a number.
template <typename T>
void append_raw(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

// Returns the number of bits needed for `largest`; 0 for 0.
int bits_for(std::uint64_t largest);

// RLE: runs of at least 8 equal values are stored as count and value; other values are packed into
// `width` (1 to 32) bits each.
void append_hybrid(std::string& out, std::span<const std::uint32_t> values, int width);

// Appends one run: `count` times `value`.
void append_run(std::string& out, std::uint64_t count, std::uint32_t value, int width);

// DELTA_BINARY_PACKED of 64-bit values; differences wrap.
void append_delta(std::string& out, std::span<const std::int64_t> values);

}  // namespace msprof::parquet
