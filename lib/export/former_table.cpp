#include "export/former_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_reader.hpp"
#include "export/table_writers.hpp"

namespace msprof {

namespace {

// No row of ours is longer.
constexpr std::size_t kMostRowBytes = 1 << 20;

std::string bytes_at(int fd, off_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  const ssize_t got = ::pread(fd, bytes.data(), count, offset);
  bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return bytes;
}

// A row has every key, in the order of the columns.
bool is_row(std::string_view line, const std::vector<std::string>& keys) {
  if (!line.starts_with('{')) return false;
  std::size_t at = 0;
  for (const std::string& key : keys) {
    const std::size_t found = line.find(key, at);
    const bool is_first = at == 0;
    if (found == line.npos || (is_first ? found != 1 : line[found - 1] != ',')) return false;
    at = found + key.size();
  }
  return line.ends_with('}') || line.ends_with("},");
}

}  // namespace

bool is_json_table(const std::filesystem::path& path, std::span<const std::string> columns) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat file = {};
  if (!fd || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
  constexpr std::string_view kBegin = "[\n";
  constexpr std::string_view kEnd = "\n]\n";
  const std::string head = bytes_at(fd.get(), 0, kMostRowBytes);
  if (head == "[]\n") return true;  // a table without rows
  if (!head.starts_with(kBegin) || file.st_size < static_cast<off_t>(kEnd.size())) return false;
  if (bytes_at(fd.get(), file.st_size - static_cast<off_t>(kEnd.size()), kEnd.size()) != kEnd)
    return false;
  const std::size_t row_end = head.find('\n', kBegin.size());
  if (row_end == head.npos) return false;
  const auto row = std::string_view(head).substr(kBegin.size(), row_end - kBegin.size());
  return is_row(row, json_table_keys(columns));
}

}  // namespace msprof
