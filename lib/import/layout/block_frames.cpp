#include "import/layout/block_frames.hpp"

#include <algorithm>

namespace msprof::layout {

namespace {

constexpr std::size_t kMostBlockHeader = 512;
constexpr std::size_t kWindow = 5;  // records

// A number at a position of a file that names a layer, and one that is a time.
struct LayerAt {
  std::size_t at = 0, width = 4;
  LayerForm form = LayerForm::id;
  int changes = 0;  // within the first records
};
struct TimeAt {
  std::size_t at = 0, width = 8;
};

struct Block {
  std::size_t at = 0;  // of its first layer number
  std::size_t records = 0;
};

class BlockSearch {
 public:
  BlockSearch(const FileSample& sample, std::size_t record_bytes, const LayerCodes& codes)
      : sample_(sample), record_(record_bytes), codes_(codes) {}

  std::vector<Frame> run() {
    std::size_t best = 0;
    std::vector<Block> blocks;
    std::size_t header = 0, width = 4;
    int changes = 0;
    for (const std::size_t from : {std::size_t{0}, std::size_t{96}, std::size_t{192}}) {
      if (from + (kWindow + 2) * record_ > sample_.bytes.size()) break;
      auto layers = layers_in(from);
      const auto times = times_in(from);
      // Several cores have the same layer, but a number that changes more often is more likely.
      std::stable_sort(layers.begin(), layers.end(),
                       [](const LayerAt& a, const LayerAt& b) { return a.changes > b.changes; });
      for (const LayerAt& layer : layers) {
        if (best > 0 && layer.changes < changes) break;
        for (const TimeAt& time : times) {
          if (!walk(layer, time) || explained_ <= best) continue;
          best = explained_;
          blocks = blocks_;
          header = header_;
          width = layer.width;
          changes = layer.changes;
        }
      }
      if (best > 0) break;
    }
    return blocks.size() < 3 ? std::vector<Frame>() : frames_of(blocks, header, width);
  }

 private:
  std::uint64_t number(std::size_t at, std::size_t width) const {
    return number_in(sample_.bytes, at, width);
  }

  std::vector<LayerAt> layers_in(std::size_t from) const {
    std::vector<LayerAt> found;
    for (std::size_t at = from; at < from + record_; ++at) {
      for (const LayerForm form :
           {LayerForm::id, LayerForm::from_one, LayerForm::info_offset, LayerForm::crc32}) {
        for (const std::size_t width : {4u, 2u, 1u}) {
          int before = -1, changes = 0;
          bool fits = true;
          for (std::size_t i = 0; fits && i < kWindow; ++i) {
            const int layer = codes_.index(&sample_, form, number(at + i * record_, width));
            fits = layer >= 0 && layer >= before;
            changes += layer != before ? 1 : 0;
            before = layer;
          }
          constexpr int kLeastChanges = 2;
          if (!fits || changes < kLeastChanges) continue;
          found.push_back({at, width, form, changes});
          break;
        }
      }
    }
    return found;
  }

  static bool follows(std::uint64_t was, std::uint64_t is, std::size_t width) {
    if (width == 4) return ((is - was) & 0xffffffff) < (std::uint64_t{1} << 31);
    return is >= was && is - was < std::uint64_t{1} << 44 && is < std::uint64_t{1} << 61;
  }

  std::vector<TimeAt> times_in(std::size_t from) const {
    constexpr std::size_t kMostTimes = 48;
    std::vector<TimeAt> found;
    // In the record, the time may come before or after the layer.
    for (std::size_t at = from - std::min(from, record_);
         at < from + record_ && found.size() < kMostTimes; ++at) {
      for (const std::size_t width : {8u, 4u}) {
        bool fits = true;
        for (std::size_t i = 1; fits && i < kWindow; ++i) {
          const std::uint64_t was = number(at + (i - 1) * record_, width);
          const std::uint64_t is = number(at + i * record_, width);
          fits = follows(was, is, width) && is > was + 1;
        }
        if (fits) found.push_back({at, width});
      }
    }
    return found;
  }

  // Follows the records through the whole file.
  bool walk(const LayerAt& layer, const TimeAt& time) {
    const auto shift = static_cast<std::ptrdiff_t>(time.at) - static_cast<std::ptrdiff_t>(layer.at);
    const std::size_t length = sample_.bytes.size();
    const auto time_at = [&](std::size_t at) {
      return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(at) + shift);
    };
    const auto is_inside = [&](std::size_t at) {
      const auto place = static_cast<std::ptrdiff_t>(at) + shift;
      return at + layer.width <= length && place >= 0 &&
             static_cast<std::size_t>(place) + time.width <= length;
    };
    const auto layer_of = [&](std::size_t at) {
      return is_inside(at) ? codes_.index(&sample_, layer.form, number(at, layer.width)) : -1;
    };
    std::size_t at = layer.at;
    std::uint64_t last = number(time_at(at), time.width);
    while (at >= record_ && is_inside(at - record_) && layer_of(at - record_) >= 0 &&
           follows(number(time_at(at - record_), time.width), last, time.width) &&
           layer_of(at - record_) <= layer_of(at)) {
      at -= record_;
      last = number(time_at(at), time.width);
    }
    const int first_layer = layer_of(at);
    blocks_.assign(1, {at, 1});
    header_ = 0;
    explained_ = record_;
    const auto is_next = [&](std::size_t place) {
      return layer_of(place) >= 0 && follows(last, number(time_at(place), time.width), time.width);
    };
    // Another core may have started earlier.
    const auto starts_block = [&](std::size_t place) {
      return layer_of(place) == first_layer && layer_of(place + record_) >= 0 &&
             follows(number(time_at(place), time.width),
                     number(time_at(place + record_), time.width), time.width);
    };
    while (true) {
      if (is_next(at + record_)) {
        at += record_;
        ++blocks_.back().records;
      } else {
        const std::size_t behind = at + record_;
        std::size_t header = header_;
        if (header == 0) {
          for (std::size_t h = 1; h <= kMostBlockHeader && header == 0; ++h) {
            if (h % record_ != 0 && starts_block(behind + h)) header = h;
          }
        }
        if (header == 0 || !starts_block(behind + header)) break;
        header_ = header;
        at = behind + header;
        blocks_.push_back({at, 1});
      }
      explained_ += record_;
      last = number(time_at(at), time.width);
    }
    // The header may end with what looked like a record of another core.
    while (header_ > record_ &&
           std::all_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
             return block.at >= record_ && layer_of(block.at - record_) >= 0;
           })) {
      header_ -= record_;
      for (Block& block : blocks_) block = {block.at - record_, block.records + 1};
      explained_ += blocks_.size() * record_;
    }
    // All of the file but a part of a record or a header.
    return header_ > 0 && at + 2 * record_ + header_ > length;
  }

  std::vector<Frame> frames_of(const std::vector<Block>& blocks, std::size_t header,
                               std::size_t width) const {
    const Block& last = blocks.back();
    const std::size_t end = last.at + last.records * record_;
    std::vector<Frame> frames;
    const auto add = [&](std::size_t offset, bool fits) {
      if (offset + width > record_ || offset + header > blocks.front().at) return;
      Frame frame;
      frame.record_bytes = record_;
      frame.header_bytes = blocks.front().at - offset - header;
      frame.fits_length = fits;
      frame.bits = header_bits(frame.header_bytes) + header_bits(header) + (fits ? 8 : 0);
      frame.blocks = blocks_of(blocks, header, offset);
      if (frame.blocks) frames.push_back(frame);
    };
    const std::uint64_t length = sample_.size_bytes;
    if (sample_.is_read_whole() && end >= length) add(end - length, true);
    for (const std::size_t file_header :
         {0u, 16u, 32u, 64u, 8u, 24u, 4u, 20u, 12u, 48u, 100u, 128u}) {
      if (blocks.front().at < header + file_header) continue;
      add(blocks.front().at - header - file_header, false);
    }
    return frames;
  }

  std::optional<Blocks> blocks_of(const std::vector<Block>& blocks, std::size_t header,
                                  std::size_t offset) const {
    Blocks found;
    found.header_bytes = header;
    found.records = blocks.front().records;
    // The last one may be cut.
    const bool same = std::all_of(blocks.begin(), blocks.end() - 1, [&](const Block& block) {
      return block.records == found.records;
    });
    if (same && blocks.back().records <= found.records) return found;
    for (std::size_t at = 0; at < header; ++at) {
      for (const std::size_t width : {4u, 2u, 1u}) {
        if (at + width > header) continue;
        const bool counts = std::all_of(blocks.begin(), blocks.end(), [&](const Block& block) {
          const std::uint64_t count = number(block.at - offset - header + at, width);
          return &block == &blocks.back() ? count >= block.records : count == block.records;
        });
        if (!counts) continue;
        found.count_offset = at;
        found.count_width = width;
        return found;
      }
    }
    return std::nullopt;
  }

  const FileSample& sample_;
  std::size_t record_;
  const LayerCodes& codes_;
  std::vector<Block> blocks_;
  std::size_t header_ = 0, explained_ = 0;
};

}  // namespace

std::vector<Frame> block_frames(const std::vector<FileSample>& samples, std::size_t record_bytes,
                                const LayerCodes& codes) {
  if (samples.empty()) return {};
  const auto longest = std::max_element(
      samples.begin(), samples.end(),
      [](const FileSample& a, const FileSample& b) { return a.bytes.size() < b.bytes.size(); });
  return BlockSearch(*longest, record_bytes, codes).run();
}

}  // namespace msprof::layout
