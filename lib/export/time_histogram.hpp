// TimeHistogram: how many bytes of a timeline begin when, in bounded memory. For --split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace msprof {

class TimeHistogram {
 public:
  void add(std::int64_t time_ns, std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

  // Where to cut so that no stretch has more than `most` bytes, but where a single stretch that can
  // be told apart has: part i begins at cuts[i - 1].
  std::vector<std::int64_t> cuts(std::uint64_t most) const;

 private:
  void widen();

  static constexpr std::size_t kMostStretches = 1 << 16;
  int shift_ = 10;  // a stretch is 2^shift_ ns
  std::uint64_t bytes_ = 0;
  std::unordered_map<std::int64_t, std::uint64_t> stretches_;
};

}  // namespace msprof
