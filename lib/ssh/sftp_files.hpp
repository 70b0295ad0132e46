// SftpFiles: reading, writing and listing files of a host over SFTP. For the transfers of a board.
// Names come from the host as they are: whoever makes local paths of them checks them first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

enum class RemoteKind { file, folder, link, other };

struct RemoteEntry {
  std::string name;  // as the host gives it, not checked; never "." or ".."
  RemoteKind kind = RemoteKind::other;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_seconds = 0;
  std::uint32_t mode = 0;  // permission bits
};

// How many requests are in flight, and how long each is. OpenSSH answers a read above 261,120 bytes
// short without a word, and some small servers answer few at a time.
struct SftpWindow {
  int requests = 16;
  std::uint32_t bytes = 32 << 10;
};

// Every function throws Error(partial_data) naming the file and the host's reason, ConnectionLost
// when the connection is gone.
class SftpFiles {
 public:
  virtual ~SftpFiles() = default;
  virtual std::vector<RemoteEntry> list(const std::string& folder) = 0;
  // Reads a regular file from front to end, as long as it gives bytes (it may grow meanwhile), at
  // most `most_bytes`. Returns how many came.
  virtual std::uint64_t read(const std::string& path, std::uint64_t most_bytes,
                             const std::function<void(std::string_view)>& sink) = 0;
  // Makes or replaces a file; `source` fills its buffer and returns 0 at the end.
  virtual void write(const std::string& path, std::uint32_t mode,
                     const std::function<std::size_t(char* buffer, std::size_t size)>& source) = 0;
  virtual void set_times(const std::string& path, std::int64_t mtime_seconds) = 0;
  // No error when it is there.
  virtual void make_folder(const std::string& path, std::uint32_t mode) = 0;
  virtual void make_link(const std::string& path, const std::string& target) = 0;
  virtual void set_window(SftpWindow window) = 0;
};

}  // namespace msprof
