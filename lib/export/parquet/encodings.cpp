#include "export/parquet/encodings.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace msprof::parquet {

namespace {

constexpr std::size_t kGroup = 8;  // number of values packed together, and the shortest run

// Delta encoding: a block stores its smallest difference and the bit width of each of its parts.
constexpr std::size_t kBlock = 128;
constexpr std::size_t kPartsOfBlock = 4;
constexpr std::size_t kPart = kBlock / kPartsOfBlock;

// Packs `values`, whose number is a multiple of 8, into `width` (0 to 64) bits each, the first into
// the lowest bits.
template <typename T>
void pack(std::string& out, std::span<const T> values, int width) {
  if (width == 0) return;
  const std::size_t at = out.size();
  out.resize(at + values.size() / kGroup * static_cast<std::size_t>(width));
  char* to = out.data() + at;
  std::uint64_t gathered = 0;
  int used = 0;
  for (const T value : values) {
    const std::uint64_t bits = value;
    gathered |= bits << used;
    used += width;
    if (used < 64) continue;
    std::memcpy(to, &gathered, sizeof gathered);
    to += sizeof gathered;
    used -= 64;
    gathered = used == 0 ? 0 : bits >> (width - used);
  }
  std::memcpy(to, &gathered, static_cast<std::size_t>(used) / 8);
}

void append_groups(std::string& out, std::span<const std::uint32_t> values, int width) {
  if (values.empty()) return;
  const std::size_t whole = values.size() / kGroup * kGroup;
  append_varint(out, ((values.size() + kGroup - 1) / kGroup) << 1 | 1);
  pack(out, values.first(whole), width);
  if (whole == values.size()) return;
  std::array<std::uint32_t, kGroup> last{};
  std::copy(values.begin() + static_cast<std::ptrdiff_t>(whole), values.end(), last.begin());
  pack(out, std::span<const std::uint32_t>(last), width);
}

std::size_t run_at(std::span<const std::uint32_t> values, std::size_t at) {
  std::size_t end = at + 1;
  while (end < values.size() && values[end] == values[at]) ++end;
  return end - at;
}

}  // namespace

int bits_for(std::uint64_t largest) {
  return static_cast<int>(std::bit_width(largest));
}

void append_run(std::string& out, std::uint64_t count, std::uint32_t value, int width) {
  append_varint(out, count << 1);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, static_cast<std::size_t>(width + 7) / 8);
}

void append_hybrid(std::string& out, std::span<const std::uint32_t> values, int width) {
  std::size_t packed_from = 0;
  std::size_t at = 0;
  while (at < values.size()) {
    const std::size_t run = run_at(values, at);
    if (run < kGroup) {
      at = std::min(at + kGroup, values.size());
      continue;
    }
    append_groups(out, values.subspan(packed_from, at - packed_from), width);
    append_run(out, run, values[at], width);
    at += run;
    packed_from = at;
  }
  append_groups(out, values.subspan(packed_from), width);
}

void append_delta(std::string& out, std::span<const std::int64_t> values) {
  append_varint(out, kBlock);
  append_varint(out, kPartsOfBlock);
  append_varint(out, values.size());
  append_varint(out, zigzag(values.empty() ? 0 : values.front()));
  std::array<std::uint64_t, kBlock> steps;
  for (std::size_t at = 1; at < values.size(); at += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - at);
    std::int64_t least = INT64_MAX;
    for (std::size_t i = 0; i < count; ++i) {
      steps[i] = static_cast<std::uint64_t>(values[at + i]) -
                 static_cast<std::uint64_t>(values[at + i - 1]);
      least = std::min(least, static_cast<std::int64_t>(steps[i]));
    }
    append_varint(out, zigzag(least));
    std::array<std::uint64_t, kPartsOfBlock> used{};
    for (std::size_t i = 0; i < kBlock; ++i) {
      steps[i] = i < count ? steps[i] - static_cast<std::uint64_t>(least) : 0;
      used[i / kPart] |= steps[i];
    }
    for (const std::uint64_t bits : used) out.push_back(static_cast<char>(bits_for(bits)));
    for (std::size_t part = 0; part * kPart < count; ++part) {
      pack(out, std::span<const std::uint64_t>(steps).subspan(part * kPart, kPart),
           bits_for(used[part]));
    }
  }
}

}  // namespace msprof::parquet
