#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "base/file_reader.hpp"
#include "base/interrupt.hpp"

namespace msprof {

namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::byte* bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return value;
}

using State = std::array<std::uint32_t, 8>;

void take_block(State& state, const std::byte* block) {
  std::array<std::uint32_t, 64> words;
  for (std::size_t i = 0; i < 16; ++i) words[i] = big_endian(block + 4 * i);
  for (std::size_t i = 16; i < words.size(); ++i) {
    const std::uint32_t a = words[i - 15];
    const std::uint32_t b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + kRoundConstants[i] + words[i];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const State added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < added.size(); ++i) state[i] += added[i];
}

#if defined(__x86_64__)
using FourWords [[gnu::vector_size(16)]] = int;

// The last three words of `before` and the first of `after`.
inline __m128i middle_of(__m128i before, __m128i after) {
  return std::bit_cast<__m128i>(__builtin_shufflevector(
      std::bit_cast<FourWords>(before), std::bit_cast<FourWords>(after), 1, 2, 3, 4));
}

inline __m128i upper_half(__m128i words) {
  const auto four = std::bit_cast<FourWords>(words);
  return std::bit_cast<__m128i>(__builtin_shufflevector(four, four, 2, 3, 2, 3));
}

// The processor's own instructions: several times as fast. Four rounds a turn; a word of four is
// made of the four words of four before it.
__attribute__((target("sha,sse4.1"))) void take_blocks_fast(State& state, const std::byte* blocks,
                                                            std::size_t count) {
  const auto word = [&](std::size_t i) { return static_cast<int>(state[i]); };
  __m128i abef = _mm_set_epi32(word(0), word(1), word(4), word(5));
  __m128i cdgh = _mm_set_epi32(word(2), word(3), word(6), word(7));
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4];
    for (std::size_t turn = 0; turn < 16; ++turn) {
      __m128i& now = words[turn % 4];  // of four turns before until it is made new
      if (turn < 4) {
        now = _mm_shuffle_epi8(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 16 * turn)), swap);
      } else {
        const __m128i last = words[(turn + 3) % 4];
        const __m128i seven_before = middle_of(words[(turn + 2) % 4], last);
        now = _mm_sha256msg2_epu32(
            _mm_add_epi32(_mm_sha256msg1_epu32(now, words[(turn + 1) % 4]), seven_before), last);
      }
      const __m128i sum = _mm_add_epi32(
          now,
          _mm_loadu_si128(reinterpret_cast<const __m128i*>(kRoundConstants.data() + 4 * turn)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, upper_half(sum));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  std::array<std::uint32_t, 4> first;
  std::array<std::uint32_t, 4> second;
  std::memcpy(first.data(), &abef, sizeof abef);
  std::memcpy(second.data(), &cdgh, sizeof cdgh);
  state = {first[3], first[2], second[3], second[2], first[1], first[0], second[1], second[0]};
}

bool has_fast_blocks() {
  constexpr unsigned kShaBit = 1U << 29;  // of EBX of leaf 7
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx & kShaBit) != 0 &&
         __builtin_cpu_supports("sse4.1");
}
#endif

}  // namespace

Sha256::Sha256(bool with_instructions) {
#if defined(__x86_64__)
  is_fast_ = with_instructions && has_fast_blocks();
#else
  static_cast<void>(with_instructions);
#endif
}

void Sha256::take_blocks(const std::byte* blocks, std::size_t count) {
#if defined(__x86_64__)
  if (is_fast_) return take_blocks_fast(state_, blocks, count);
#endif
  for (std::size_t i = 0; i < count; ++i) take_block(state_, blocks + i * kBlockBytes);
}

void Sha256::add(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    std::size_t count = 0;
    if (filled_ == 0 && bytes.size() >= kBlockBytes) {
      count = bytes.size() / kBlockBytes * kBlockBytes;
      take_blocks(bytes.data(), count / kBlockBytes);
    } else {
      count = std::min(bytes.size(), kBlockBytes - filled_);
      std::memcpy(block_.data() + filled_, bytes.data(), count);
      filled_ = (filled_ + count) % kBlockBytes;
      if (filled_ == 0) take_blocks(block_.data(), 1);
    }
    bytes = bytes.subspan(count);
  }
}

std::string Sha256::hex() {
  constexpr std::size_t kLengthBytes = 8;
  constexpr std::byte kEndMark{0x80};
  const std::uint64_t bits = bytes_ * 8;
  add(std::span(&kEndMark, 1));
  constexpr std::byte kZero{0};
  while (filled_ != kBlockBytes - kLengthBytes) add(std::span(&kZero, 1));
  std::array<std::byte, kLengthBytes> length;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length[i] = static_cast<std::byte>(bits >> (8 * (kLengthBytes - 1 - i)));
  add(length);
  std::string text;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  }
  return text;
}

std::string sha256_of(std::string_view text) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(text)));
  return sum.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  constexpr std::size_t kReadBytes = 1 << 18;
  FileReader reader(path);
  std::vector<std::byte> buffer(kReadBytes);
  Sha256 sum;
  while (const std::size_t count = reader.read(buffer)) {
    interrupt::check();
    sum.add(std::span(buffer).first(count));
  }
  return sum.hex();
}

}  // namespace msprof
