// LineReader: a text file line by line in bounded memory. For the dictionaries and text records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_reader.hpp"

namespace msprof::cann {

class LineReader {
 public:
  struct Line {
    std::string_view text;     // without `separator`; valid until the next call
    std::uint64_t offset = 0;  // of its first byte
    bool is_too_long = false;  // more than kMostLineBytes: `text` is empty
  };
  static constexpr std::size_t kMostLineBytes = std::size_t{16} << 20;

  // Throws Error(partial_data) when the file cannot be read.
  explicit LineReader(const std::filesystem::path& path, char separator = '\n');

  // The next line; the last one needs no separator. Empty at the end.
  std::optional<Line> next();

 private:
  bool fill();

  FileReader reader_;
  char separator_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of the unread bytes in the buffer
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // of begin_ in the file
  bool at_end_ = false;
};

}  // namespace msprof::cann
