#include "runtime/acl/prof/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "runtime/engine/clock.hpp"
#include "runtime/engine/files.hpp"

namespace msprof::acl {

TextFile::TextFile(std::string path) : path_(std::move(path)), begin_ns_(runtime::monotonic_ns()) {}

bool TextFile::append(std::string_view lines) {
  if (bytes_ + lines.size() > runtime::size_limit()) return false;
  const int fd = runtime::open_above_stdio(path_, O_WRONLY | O_CREAT | O_APPEND);
  if (fd < 0) return false;
  const ssize_t written = runtime::write_retrying(fd, lines.data(), lines.size());
  const bool is_whole = written == static_cast<ssize_t>(lines.size());
  if (is_whole) bytes_ += lines.size();
  // Remove a partial line, which would corrupt the next one.
  if (!is_whole && written > 0 && ftruncate(fd, static_cast<off_t>(bytes_)) != 0)
    bytes_ += static_cast<std::uint64_t>(written);
  ::close(fd);
  return is_whole;
}

void TextFile::finish() const {
  if (bytes_ == 0) return;
  runtime::write_whole_file(path_ + ".done",
                            "filesize:" + std::to_string(bytes_) +
                                "\nstarttime:" + std::to_string(begin_ns_) +
                                "\nendtime:" + std::to_string(runtime::monotonic_ns()) + "\n");
}

}  // namespace msprof::acl
