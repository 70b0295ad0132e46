#include "store/new_database.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/findings.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Bytes that SQLite locks in the database ("pending", "reserved" and "shared" bytes), and in the
// index of a write-ahead log. Source: sqlite.org/fileformat2.html and walformat.html.
struct LockRange {
  const char* suffix;
  off_t begin;
  off_t bytes;
};
constexpr LockRange kLocks[] = {{"", 0x40000000, 512}, {"-shm", 120, 9}};

fs::path with_suffix(const fs::path& path, const char* suffix) {
  return path.string() + suffix;
}

std::vector<fs::path> files_beside(const fs::path& database) {
  std::vector<fs::path> found;
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    struct stat file = {};
    const fs::path path = with_suffix(database, suffix);
    if (::lstat(path.c_str(), &file) == 0) found.push_back(path);
  }
  return found;
}

// Returns the process that holds a lock (-1 if unknown); empty if the file is not locked.
std::optional<pid_t> find_holder(const fs::path& database) {
  for (const LockRange& range : kLocks) {
    const fs::path path = with_suffix(database, range.suffix);
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    // After these errors, another program may have the database open.
    if (!fd && (errno == EMFILE || errno == ENFILE || errno == EIO))
      throw_cannot_write(database, errno);
    if (!fd) continue;
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = range.begin;
    lock.l_len = range.bytes;
    if (::fcntl(fd.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK) return lock.l_pid;
  }
  return std::nullopt;
}

std::string describe_process(pid_t process) {
  if (process <= 0) return "another program";
  try {
    const std::string name = read_text_file(fmt::format("/proc/{}/comm", process), 4096);
    return fmt::format("{} (process {})", printable(trim(name)), process);
  } catch (const Error&) {
    return fmt::format("process {}", process);
  }
}

}  // namespace

void check_replaceable(const fs::path& target) {
  if (files_beside(target).empty()) return;
  const auto holder = find_holder(target);
  if (!holder) return;
  throw Error(FindingId::database_in_use,
              fmt::format("{} is open in {}, whose changes could damage the new file: close that "
                          "program, or choose another folder with --output",
                          target.string(), describe_process(*holder)));
}

TemporaryFile new_database_file(const fs::path& target) {
  return TemporaryFile(target, kOtherOutput, [](const fs::path& place) {
    check_replaceable(place);
    const auto beside = files_beside(place);
    // Deletes the database before its journal files: without them it may be incomplete.
    if (!beside.empty() && ::unlink(place.c_str()) != 0 && errno != ENOENT)
      throw_cannot_write(place, errno);
    for (const fs::path& path : beside) {
      if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_cannot_write(path, errno);
    }
  });
}

}  // namespace msprof
