// TextOutput: where formatted text goes, in large pieces: a file, stdout, memory. For writers that
// format in place.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

namespace msprof {

class TextOutput {
 public:
  virtual ~TextOutput() = default;
  TextOutput(const TextOutput&) = delete;
  TextOutput& operator=(const TextOutput&) = delete;

  void write(std::string_view bytes) {
    buffer_.append(bytes);
    drain();
  }
  // The buffer itself; call drain() after each item.
  std::string& buffer() { return buffer_; }
  // Hands on what is buffered where that is a whole piece, or `least` bytes.
  void drain() { drain(piece_bytes_); }
  void drain(std::size_t least) {
    if (buffer_.size() >= least) flush();
  }

 protected:
  explicit TextOutput(std::size_t piece_bytes) : piece_bytes_(piece_bytes) {}
  // Empties the buffer.
  virtual void flush() = 0;
  std::string buffer_;

 private:
  std::size_t piece_bytes_;
};

// Throws std::system_error where stdout takes no more.
class StdoutOutput : public TextOutput {
 public:
  StdoutOutput() : TextOutput(1 << 16) {}

 private:
  void flush() override {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), stdout) != buffer_.size())
      throw std::system_error(errno, std::generic_category(), "writing");
    buffer_.clear();
  }
};

// Keeps all of it in the buffer.
class MemoryOutput : public TextOutput {
 public:
  MemoryOutput() : TextOutput(std::string().max_size()) {}

 private:
  void flush() override {}
};

}  // namespace msprof
