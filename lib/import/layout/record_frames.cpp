#include "import/layout/record_frames.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace msprof::layout {

namespace {

constexpr std::size_t kLeastRecord = 12, kMostRecord = 512;
constexpr std::size_t kMostHeader = 256;

std::uint64_t length_of(const FileSample& sample) {
  return sample.whole_len.value_or(sample.size_bytes);
}

// Bytes that are the same in all records, by position modulo the record size. A header ends before
// the first record of all files, so the first bytes are left out.
class ConstantBytes {
 public:
  ConstantBytes(const std::vector<FileSample>& samples, std::size_t record_bytes)
      : samples_(samples), record_bytes_(record_bytes), constant_(record_bytes, kUnseen) {
    for (const FileSample& sample : samples) {
      const std::size_t skipped = std::min(kMostHeader, sample.bytes.size() / 3);
      for (std::size_t at = skipped; at < sample.bytes.size(); ++at) {
        int& value = constant_[at % record_bytes];
        const int byte = std::to_integer<int>(sample.bytes[at]);
        if (value == kUnseen) value = byte;
        if (value != byte) value = kVaries;
      }
    }
  }

  // The first byte from which on all bytes look like those of later records.
  std::size_t header_end() const {
    std::size_t end = 0;
    for (const FileSample& sample : samples_) {
      const std::size_t most = std::min(kMostHeader, sample.bytes.size() / 3);
      for (std::size_t at = 0; at < most; ++at) {
        const int value = constant_[at % record_bytes_];
        if (value >= 0 && value != std::to_integer<int>(sample.bytes[at]))
          end = std::max(end, at + 1);
      }
    }
    return end;
  }

  // Bits by which a header of this size is less likely, because its end looks like a record.
  double likeness(std::size_t header) const {
    double bits = 0;
    const std::vector<std::byte>& bytes = samples_.front().bytes;
    const std::size_t first = header > record_bytes_ ? header - record_bytes_ : 0;
    for (std::size_t at = header; at > first && at <= bytes.size(); --at) {
      const int value = constant_[(at - 1) % record_bytes_];
      if (value < 0) continue;
      if (value != std::to_integer<int>(bytes[at - 1])) break;
      bits += value == 0 ? 0.8 : 6;
    }
    return std::min(bits, 24.0);
  }

 private:
  static constexpr int kUnseen = -1, kVaries = -2;
  const std::vector<FileSample>& samples_;
  std::size_t record_bytes_;
  std::vector<int> constant_;
};

}  // namespace

double header_bits(std::size_t header) {
  if (header == 0) return 10;
  return header % 16 == 0 ? 7 : header % 8 == 0 ? 5 : header % 4 == 0 ? 4 : 0;
}

std::vector<std::size_t> record_sizes(const std::vector<FileSample>& samples, bool has_layers) {
  constexpr std::size_t kCompared = 48 << 10, kMostSizes = 40;
  std::vector<std::size_t> same(kMostRecord + 1, 0), all(kMostRecord + 1, 0);
  std::size_t left = kCompared;
  for (const FileSample& sample : samples) {
    const std::size_t length = std::min(sample.bytes.size(), left);
    const std::byte* const bytes = sample.bytes.data();
    for (std::size_t size = kLeastRecord; size <= kMostRecord && size * 3 <= length; ++size) {
      const std::size_t pairs = length - size;
      std::size_t equal = 0;
      for (std::size_t i = 0; i < pairs; ++i) equal += bytes[i] == bytes[i + size] ? 1u : 0u;
      same[size] += equal;
      all[size] += pairs;
    }
    left -= length;
    if (left == 0) break;
  }
  std::vector<std::pair<double, std::size_t>> ranked;
  double sum = 0;
  for (std::size_t size = kLeastRecord; size <= kMostRecord; ++size) {
    if (all[size] == 0) continue;
    const double share = static_cast<double>(same[size]) / static_cast<double>(all[size]);
    ranked.emplace_back(-share, size);
    sum += share;
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::size_t> sizes;
  if (ranked.empty()) return sizes;
  const double mean = sum / static_cast<double>(ranked.size());
  const double best = -ranked.front().first;
  for (const auto& [share, size] : ranked) {
    if (sizes.size() == kMostSizes || -share < mean + 0.4 * (best - mean)) break;
    sizes.push_back(size);
  }
  // Calls that alternate repeat less than pairs of them.
  const std::size_t repeating = has_layers ? 0 : sizes.size();
  for (std::size_t i = 0; i < repeating; ++i) {
    for (const std::size_t parts : {2u, 3u}) {
      const std::size_t part = sizes[i] / parts;
      if (sizes[i] % parts == 0 && part >= kLeastRecord &&
          std::find(sizes.begin(), sizes.end(), part) == sizes.end())
        sizes.push_back(part);
    }
  }
  return sizes;
}

std::vector<Frame> plain_frames(const std::vector<FileSample>& samples, std::size_t record_bytes,
                                bool has_typical_bytes) {
  const ConstantBytes constants(samples, record_bytes);
  const std::size_t end = has_typical_bytes ? constants.header_end() : 0;
  std::map<std::size_t, std::size_t> rests;
  for (const FileSample& sample : samples) ++rests[length_of(sample) % record_bytes];
  const auto usual = std::max_element(
      rests.begin(), rests.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool has_lengths = std::all_of(samples.begin(), samples.end(), [](const auto& sample) {
    return sample.whole_len.has_value();
  });
  std::vector<Frame> frames;
  const auto add = [&](std::size_t header) {
    if (header > kMostHeader + record_bytes) return;
    for (const Frame& frame : frames)
      if (frame.header_bytes == header) return;
    Frame frame;
    frame.record_bytes = record_bytes;
    frame.header_bytes = header;
    frame.fits_length = header % record_bytes == usual->first;
    frame.bits = header_bits(header) - constants.likeness(header);
    // A cut file ends anywhere in a record, and has no `.done` more often than one of full length.
    if (frame.fits_length)
      frame.bits += (has_lengths ? 3.5 : 1) + std::log2(static_cast<double>(record_bytes));
    frames.push_back(frame);
  };
  const auto up = [](std::size_t value, std::size_t step) {
    return (value + step - 1) / step * step;
  };
  std::size_t header = usual->first;
  while (header < end) {
    add(header);
    header += record_bytes;
  }
  add(header);
  // Without typical bytes, the header may be longer than a record.
  for (int i = 0; !has_typical_bytes && i < 2; ++i) add(header += record_bytes);
  for (const std::size_t step : {16u, 8u, 4u, 1u}) add(up(end, step));
  // The bytes before the first record may look like those of records.
  for (const std::size_t usual_header : {16u, 32u, 64u})
    if (has_typical_bytes && has_lengths && usual->first != 0 && usual_header >= end)
      add(usual_header);
  // The upper half of a time may change once, after the first records.
  if (end > record_bytes / 2)
    for (const std::size_t usual_header : {0u, 16u, 32u, 64u}) add(usual_header);
  return frames;
}

Places places_of(const Frame& frame, const std::vector<FileSample>& samples, std::size_t most) {
  Places places;
  // From every file an execution on several cores, if possible.
  std::size_t share = most;
  if (most != SIZE_MAX && !samples.empty())
    share = std::max({most / samples.size(), std::size_t{48}, 4 * samples.front().layers.size()});
  for (const FileSample& sample : samples) {
    if (places.size() >= most) break;
    const auto place_at = [&](std::uint64_t at, std::size_t bytes) -> std::optional<Place> {
      if (at + bytes > sample.bytes.size()) return std::nullopt;
      return Place{&sample, static_cast<std::size_t>(at)};
    };
    std::size_t count = 0;
    visit_records(frame, place_at, [&](const Place& record) {
      places.push_back(record);
      return ++count < share;
    });
  }
  return places;
}

std::size_t rest_of(const Frame& frame, const FileSample& sample) {
  if (frame.blocks || sample.size_bytes < frame.header_bytes) return 0;
  return (sample.size_bytes - frame.header_bytes) % frame.record_bytes;
}

}  // namespace msprof::layout
