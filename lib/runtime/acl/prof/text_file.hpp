// A text file of a recording. It is open only during a write, since applications close descriptors
// they do not know. For Dictionary and HostUsage. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof::acl {

class TextFile {
 public:
  // The file is created by the first write.
  explicit TextFile(std::string path);

  // Appends whole lines with one write(). Returns false, without adding any of the
  // lines, if there is no space.
  bool append(std::string_view lines);
  // Writes `.done` for a file that is not empty.
  void finish() const;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  std::uint64_t begin_ns_;
  std::uint64_t bytes_ = 0;
};

}  // namespace msprof::acl
