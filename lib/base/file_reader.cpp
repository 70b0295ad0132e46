#include "base/file_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.hpp"
#include "base/read_write.hpp"

namespace msprof {

void FileDescriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

FileReader::FileReader(const std::filesystem::path& path) : path_(path) {
  // O_NONBLOCK: opening a FIFO in a capture must not wait for its writer.
  fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd_) {
    throw Error(Exit::partial_data,
                fmt::format("cannot read {}: {}", path.string(), errno_text(errno)));
  }
  struct stat status = {};
  if (::fstat(fd_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(Exit::partial_data, fmt::format("{} is not a regular file", path.string()));
  }
  size_bytes_ = static_cast<std::uint64_t>(status.st_size);
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
}

std::size_t FileReader::read(std::span<std::byte> buffer) {
  const std::size_t done = read_all(fd_.get(), buffer);
  if (done < buffer.size() && errno != 0) {
    throw Error(Exit::partial_data,
                fmt::format("cannot read {}: {}", path_.string(), errno_text(errno)));
  }
  return done;
}

std::string read_text_file(const std::filesystem::path& path, std::uint64_t limit_bytes) {
  FileReader reader(path);
  if (reader.size_bytes() > limit_bytes) {
    throw Error(Exit::partial_data, fmt::format("{} is too large: {} bytes, expected at most {}",
                                                path.string(), reader.size_bytes(), limit_bytes));
  }
  std::string text(reader.size_bytes(), '\0');
  text.resize(reader.read(std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace msprof
