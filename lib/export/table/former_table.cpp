#include "export/table/former_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <span>

#include "base/file_reader.hpp"
#include "base/log.hpp"
#include "export/table/summary_file.hpp"
#include "export/table/table_writers.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Longer than any row that msprof writes.
constexpr std::size_t kMaxRowBytes = 1 << 20;

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

// Returns true if the file looks like a table with these columns written by JsonTableWriter. Reads
// only its first row and its end.
bool is_json_table(const std::filesystem::path& path, std::span<const std::string> columns) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat file = {};
  if (!fd || ::fstat(fd.get(), &file) != 0 || !S_ISREG(file.st_mode)) return false;
  constexpr std::string_view kBegin = "[\n";
  constexpr std::string_view kEnd = "\n]\n";
  const std::string head = bytes_at(fd.get(), 0, kMaxRowBytes);
  if (head == "[]\n") return true;
  if (!head.starts_with(kBegin) || file.st_size < static_cast<off_t>(kEnd.size())) return false;
  if (bytes_at(fd.get(), file.st_size - static_cast<off_t>(kEnd.size()), kEnd.size()) != kEnd)
    return false;
  const std::size_t row_end = head.find('\n', kBegin.size());
  if (row_end == head.npos) return false;
  const auto row = std::string_view(head).substr(kBegin.size(), row_end - kBegin.size());
  return is_row(row, json_table_keys(columns));
}

}  // namespace

void remove_former_table(ProductFolder& folder, const std::string& name,
                         const std::vector<std::string>& columns) {
  const fs::path path = folder.make() / name;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error)) || folder.knows("timeline", name)) return;
  if (!is_json_table(path, columns)) {
    log::info("{} is kept: it was not written by an earlier export", path.string());
    return;
  }
  if (fs::remove(path, error))
    log::info("removed {}: tables are now written to {}", path.string(), kJsonTableExtension);
}

}  // namespace msprof
