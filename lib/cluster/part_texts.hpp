// PartTexts stores texts in one memory block, at 8 bytes per text plus its characters. An untrusted
// part can contain millions of texts that no row uses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::cluster {

class PartTexts {
 public:
  PartTexts() = default;
  PartTexts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) add(text);
  }

  void add(std::string_view text) {
    bytes_ += text;
    ends_.push_back(bytes_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  bool operator==(const PartTexts&) const = default;

  // Binary search in sorted texts; `text` must be present.
  std::size_t find_index(std::string_view text) const {
    std::size_t first = 0;
    for (std::size_t count = size(); count > 1;) {
      const std::size_t half = count / 2;
      if ((*this)[first + half] <= text) first += half;
      count -= half;
    }
    return first;
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace msprof::cluster
