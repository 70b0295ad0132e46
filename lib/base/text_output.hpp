// TextOutput: receives formatted text in large chunks: a file, stdout (stdout_output.hpp) or
// memory. For writers that format in place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

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
  // Direct access to the buffer; call drain() after each item.
  std::string& buffer() { return buffer_; }
  // Flushes the buffer once it holds a full chunk, or at least `least` bytes.
  void drain() { drain(piece_bytes_); }
  void drain(std::size_t least) {
    if (buffer_.size() >= least) flush();
  }

 protected:
  explicit TextOutput(std::size_t piece_bytes) : piece_bytes_(piece_bytes) {}
  // Writes out and empties the buffer.
  virtual void flush() = 0;
  std::string buffer_;

 private:
  std::size_t piece_bytes_;
};

// Keeps everything in the buffer.
class MemoryOutput : public TextOutput {
 public:
  MemoryOutput() : TextOutput(std::string().max_size()) {}

 private:
  void flush() override {}
};

}  // namespace msprof
