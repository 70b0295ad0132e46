#include "support/files.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace msprof::test {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  // Read in chunks: files in /proc report no size, and single characters are slow for big files.
  std::string bytes;
  char buffer[65536];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    bytes.append(buffer, static_cast<std::size_t>(file.gcount()));
  }
  return bytes;
}

void write_file(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name != ".msprof_products") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string fingerprint(const fs::path& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat status = {};
    ::lstat(entry.path().c_str(), &status);
    std::string line =
        entry.path().lexically_relative(folder).string() + " " + std::to_string(status.st_size) +
        " " + std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
    if (entry.is_regular_file()) line += " " + read_file(entry.path());
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> query(const fs::path& path, const std::string& sql) {
  sqlite3* db = nullptr;
  std::vector<std::string> rows;
  const auto add_row = [](void* target, int count, char** cells, char**) {
    std::string row;
    for (int i = 0; i < count; ++i) {
      if (i > 0) row += '|';
      row += cells[i] == nullptr ? "NULL" : cells[i];
    }
    static_cast<std::vector<std::string>*>(target)->push_back(std::move(row));
    return 0;
  };
  const bool done =
      sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK &&
      sqlite3_exec(db, sql.c_str(), add_row, &rows, nullptr) == SQLITE_OK;
  const std::string message = done ? "" : sqlite3_errmsg(db);
  sqlite3_close(db);
  if (!done) throw std::runtime_error(path.string() + ": " + message);
  return rows;
}

}  // namespace msprof::test
