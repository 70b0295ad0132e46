// A file of text lines of a recording, open for no longer than one write: applications close
// descriptors that they do not know. For Dictionary and HostUsage; one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace msprof::acl {

class TextFile {
 public:
  // Nothing is made before the first write.
  explicit TextFile(std::string path);

  // Appends whole lines with one write(). False where they find no space: the file has no part of
  // them then.
  bool append(std::string_view lines);
  // Writes `.done` beside a file that has something in it.
  void finish() const;

  const std::string& path() const { return path_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  std::uint64_t begin_ns_;
  std::uint64_t bytes_ = 0;
};

}  // namespace msprof::acl
