#include "doctor/process_look.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string_view>

#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostWriters = 20;

bool is_number(std::string_view text) {
  std::uint64_t value = 0;
  return parse_u64(text, value);
}

// …/JOBXX…/data/file or …/PROF_0…/…/data/file
bool is_in_capture(const std::string& path) {
  if (path.find("/data/") == std::string::npos) return false;
  for (const std::string_view part : split(path, '/')) {
    if (part.starts_with("PROF_0")) return true;
    if (part.size() == 32 && part.starts_with("JOB") &&
        std::all_of(part.begin(), part.end(), [](char c) { return c >= 'A' && c <= 'Z'; }))
      return true;
  }
  return false;
}

std::string recorded_by(const fs::path& process) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(process / "fd", error)) {
    // Its rights are those of the open file: readers disturb nobody.
    const bool writes =
        (entry.symlink_status(error).permissions() & fs::perms::owner_write) != fs::perms::none;
    if (!writes) continue;
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (is_in_capture(target)) return target;
  }
  return "";
}

// Device and inode of every file that is locked, as /proc/locks has them: "08:01:1234".
std::set<std::string, std::less<>> locked_files() {
  std::set<std::string, std::less<>> files;
  std::ifstream stream("/proc/locks");
  std::string line;
  while (std::getline(stream, line)) {
    for (const std::string_view part : split(line, ' ')) {
      if (std::count(part.begin(), part.end(), ':') == 2) files.emplace(part);
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> processes_that_record() {
  std::vector<std::string> writers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string pid = entry.path().filename().string();
    if (!is_number(pid) || writers.size() >= kMostWriters) continue;
    const std::string file = recorded_by(entry.path());
    if (file.empty()) continue;
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    writers.push_back(printable(fmt::format("{} {}: {}", pid, name, file)));
  }
  std::sort(writers.begin(), writers.end());
  return writers;
}

std::vector<std::string> stale_runs(const fs::path& runs) {
  const auto locked = locked_files();
  std::vector<std::string> stale;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("run_") || name.ends_with(".lock")) continue;
    struct stat status = {};
    const std::string lock = entry.path().string() + ".lock";
    const bool is_held = ::stat(lock.c_str(), &status) == 0 &&
                         locked.contains(fmt::format("{:02x}:{:02x}:{}", major(status.st_dev),
                                                     minor(status.st_dev), status.st_ino));
    if (!is_held) stale.push_back(name);
  }
  return stale;
}

}  // namespace msprof
