// FileReader: reads a regular file sequentially in bounded memory. Used by importers.
// It uses read(2), not mmap: a capture on NFS, or one truncated while it is read, must cause an
// error message, not SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace msprof {

// Owns an open file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

class FileReader {
 public:
  // Opens a regular file; throws Error(partial_data) for anything else.
  explicit FileReader(const std::filesystem::path& path);

  // Size when the file was opened.
  std::uint64_t size_bytes() const { return size_bytes_; }

  // Fills `buffer` unless the file ends first. Returns the bytes read, 0 at the end.
  std::size_t read(std::span<std::byte> buffer);

 private:
  std::filesystem::path path_;
  FileDescriptor fd_;
  std::uint64_t size_bytes_ = 0;
};

// Reads a small text file; throws Error(partial_data) if it is unreadable or larger than
// `limit_bytes`.
std::string read_text_file(const std::filesystem::path& path, std::uint64_t limit_bytes);

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little-endian");

// Bounds-checked little-endian reader over borrowed bytes, for decoders. Reading past the end
// returns 0 and sets overrun(), without accessing bytes beyond it.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Returns the value at the current position and advances past it.
  template <typename T>
  T read() {
    const T value = at<T>(position_);
    position_ += sizeof(T);
    return value;
  }

  // Returns the value at `offset` from the start without moving.
  template <typename T>
  T at(std::size_t offset) {
    T value{};
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      has_overrun_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  bool has_overrun() const { return has_overrun_; }
  std::size_t position() const { return position_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool has_overrun_ = false;
};

}  // namespace msprof
