#include "ssh/known_hosts.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>

#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "ssh/public_key.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kRevoked = "@revoked ";

// The key of a line when it is about `name`.
std::optional<HostKey> key_of_line(const std::string& name, const std::string& line) {
  ssh_knownhosts_entry* entry = nullptr;
  if (ssh_known_hosts_parse_line(name.c_str(), line.c_str(), &entry) != SSH_OK) return {};
  std::optional<HostKey> key;
  if (entry->publickey != nullptr) key = describe(entry->publickey);
  ssh_knownhosts_entry_free(entry);
  return key;
}

std::string tidy(std::string line) {
  std::replace(line.begin(), line.end(), '\t', ' ');
  return std::string(trim(line));
}

std::vector<KnownHostKey> read_known_hosts(const std::string& name, const fs::path& file) {
  std::vector<KnownHostKey> keys;
  std::ifstream stream(file);
  std::string text;
  for (std::size_t number = 1; std::getline(stream, text); ++number) {
    std::string line = tidy(text);
    const bool revoked = line.starts_with(kRevoked);
    if (revoked) line = trim(std::string_view(line).substr(kRevoked.size()));
    if (line.empty() || line.front() == '#' || line.front() == '@') continue;
    if (const auto key = key_of_line(name, line)) keys.push_back({*key, file, number, revoked});
  }
  return keys;
}

// Whether the file's last line lacks its end.
bool ends_open(int fd) {
  struct stat status = {};
  char last = '\n';
  if (::fstat(fd, &status) != 0 || status.st_size == 0) return false;
  return ::pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

}  // namespace

KnownHosts::KnownHosts(const std::string& host, std::uint16_t port, std::vector<fs::path> files)
    : name_(lower_ascii(host)), files_(std::move(files)) {
  if (port != 22) name_ = fmt::format("[{}]:{}", name_, port);
  for (const fs::path& file : files_) {
    for (auto& key : read_known_hosts(name_, file)) keys_.push_back(std::move(key));
  }
}

int KnownHosts::remember(const HostKey& key) const {
  const fs::path& file = files_.front();
  const fs::path folder = file.parent_path();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return errno;
  const FileDescriptor fd(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return errno;
  // Programs of ours wait for each other; one write at the end is whole for all others.
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return errno;
  }
  const auto now = read_known_hosts(name_, file);
  const bool is_there = std::any_of(now.begin(), now.end(), [&](const KnownHostKey& known) {
    return !known.revoked && known.key.base64 == key.base64;
  });
  if (is_there) return 0;
  const std::string line =
      fmt::format("{}{} {} {}\n", ends_open(fd.get()) ? "\n" : "", name_, key.type, key.base64);
  const ssize_t count = ::write(fd.get(), line.data(), line.size());
  if (count == static_cast<ssize_t>(line.size())) return 0;
  return count < 0 ? errno : ENOSPC;
}

}  // namespace msprof
