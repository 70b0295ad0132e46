#include "board/cat_reader.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "board/transfer_ways.hpp"

namespace msprof {

BoardShell::Source CatReader::names() {
  held_.clear();
  std::string text;
  for (std::size_t i = next_; i < files_.size(); ++i) text += "./" + files_[i].path + "\n";
  return [text = std::move(text), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = text.copy(buffer, size, at);
    at += count;
    return count;
  };
}

void CatReader::take(std::string_view bytes) {
  if (is_done()) return;  // nothing was asked for that could come now
  held_.append(bytes);
  while (!is_done() && take_end()) {
  }
  if (is_done()) held_.clear();
}

void CatReader::begin() {
  if (begun_) return;
  begun_ = true;
  admitted_ = incoming_.open_file(files_[next_]);
}

// The first `size` held bytes are content.
void CatReader::give(std::size_t size) {
  begin();
  if (admitted_) incoming_.write(std::string_view(held_).substr(0, size));
  file_bytes_ += size;
  held_.erase(0, size);
}

// Returns whether a file's end was among the held bytes, so that there may be another.
bool CatReader::take_end() {
  const std::string mark = "\n" + word_ + " ";
  const auto at = held_.find(mark);
  if (at == std::string::npos) {
    // A part of the mark may be at the end.
    if (held_.size() >= mark.size()) give(held_.size() - mark.size() + 1);
  } else {
    give(at);
    const auto end = held_.find('\n', mark.size());
    if (end == std::string::npos && held_.size() < mark.size() + 8) return false;
    const bool good = std::string_view(held_).substr(mark.size(), end - mark.size()) == "0";
    held_.erase(0, end == std::string::npos ? held_.size() : end + 1);
    if (!good) {
      failed_ = true;
      incoming_.drop_file();
    } else if (admitted_) {
      incoming_.close_file();
    }
    advance();
    return true;
  }
  if (file_bytes_ > files_[next_].size_bytes + kMostGrowth) {
    if (admitted_) incoming_.close_file();
    const std::string name = printable(files_[next_].path);
    advance();
    throw EndlessFile(fmt::format("{} grows without end while it is read", name));
  }
  return false;
}

void CatReader::advance() {
  ++next_;
  begun_ = false;
  file_bytes_ = 0;
}

void CatReader::finish() {
  if (is_done()) return;
  failed_ = true;
  incoming_.drop_file();
  next_ = files_.size();
}

}  // namespace msprof
