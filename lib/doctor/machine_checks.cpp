#include "doctor/machine_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <set>
#include <string_view>

#include "base/folder_listing.hpp"
#include "base/text.hpp"
#include "collect/arrival.hpp"
#include "collect/elf_file.hpp"
#include "collect/run_folder.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxWriters = 20;

bool is_number(std::string_view text) {
  std::uint64_t value = 0;
  return parse_u64(text, value);
}

// Matches …/JOBXX…/data/file or …/PROF_0…/…/data/file.
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
  // Folders of other users' processes cannot be read.
  for (const FolderEntry& entry : list_folder(process / "fd").entries) {
    const fs::path open_file = process / "fd" / entry.name;
    // The link's permissions show the access mode; only files open for writing matter.
    const bool writes = (fs::symlink_status(open_file, error).permissions() &
                         fs::perms::owner_write) != fs::perms::none;
    if (!writes) continue;
    std::string target = fs::read_symlink(open_file, error).string();
    if (is_in_capture(target)) return target;
  }
  return "";
}

// Device and inode of every locked file, in the format of /proc/locks: "08:01:1234".
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

constexpr unsigned kMinMask = 0027;  // from the vendor's manual
constexpr unsigned kWritersMask = 0022;
constexpr std::time_t kNotYetSet = 1'704'067'200;  // 2024-01-01; an earlier clock is not set

fs::path existing_part(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

void check_writable(CheckList& list, std::string_view name, const fs::path& folder,
                    std::uint64_t wanted_bytes, const std::string& remedy) {
  const fs::path there = existing_part(folder);
  std::error_code error;
  if (!fs::is_directory(there, error) || ::access(there.c_str(), W_OK | X_OK) != 0) {
    return list.fail(
        name,
        fmt::format("{} cannot be written{}", folder.string(),
                    there == folder ? "" : fmt::format(": {} is not writable", there.string())),
        remedy, Exit::cannot_write);
  }
  const auto free = read_free_bytes(there);
  if (!free) return list.skip(name, fmt::format("the free space of {} is unknown", there.string()));
  check_free_space(list, name, folder.string(), *free, wanted_bytes, remedy);
}

void check_clock_here(CheckList& list) {
  const std::time_t now = std::time(nullptr);
  if (now >= kNotYetSet) return list.ok("clock", "it is set");
  list.warn("clock", "it is before 2024: names and times of files will be wrong",
            "date -s 'YYYY-MM-DD hh:mm:ss'");
}

unsigned own_umask() {
  const mode_t mask = ::umask(kMinMask);
  ::umask(mask);
  return mask;
}

void check_umask(CheckList& list, unsigned mask) {
  if ((mask & kMinMask) == kMinMask) {
    return list.ok("umask", fmt::format("{:04o}: other accounts cannot read captures", mask));
  }
  if ((mask & kWritersMask) == kWritersMask) {
    return list.ok("umask", fmt::format("{:04o}: other accounts of this machine can read captures "
                                        "(umask {:04o}, as in the vendor's manual, prevents that)",
                                        mask, kMinMask));
  }
  list.warn("umask",
            fmt::format("{:04o}: other accounts of this machine can change captures", mask),
            fmt::format("umask {:04o}", kMinMask));
}

void check_other_programs(CheckList& list) {
  const auto writers = processes_that_record();
  if (writers.empty()) return list.ok("other runs", "no other profiled run is seen");
  list.warn("other runs",
            fmt::format("another program is being profiled: process {}; concurrent runs distort "
                        "each other's times",
                        writers.front()),
            "wait for it to end, or stop it");
}

void check_old_runs(CheckList& list, const fs::path& runs) {
  const auto stale = stale_runs(runs);
  if (stale.empty()) return list.ok("leftovers", "no files from earlier runs");
  list.warn("leftovers",
            fmt::format("{} in {}", counted(stale.size(), "earlier run"), runs.string()),
            "no action needed: the next run of msprof collect removes them");
}

void add_folders(const std::string& text, char separator, std::vector<std::string>& folders) {
  for (const std::string_view part : split(text, separator)) {
    const std::string_view folder = trim(part);
    if (folder.starts_with('/')) folders.emplace_back(folder);
  }
}

void read_folders(const fs::path& file, std::vector<std::string>& folders) {
  std::ifstream stream(file);
  std::string line;
  while (std::getline(stream, line)) add_folders(line, '\n', folders);
}

// Folders that the local dynamic loader searches, in addition to those of the project.
std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) add_folders(path, ':', folders);
  for (const char* folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"})
    folders.emplace_back(folder);
  read_folders("/etc/ld.so.conf", folders);
  const fs::path more = "/etc/ld.so.conf.d";
  for (const FolderEntry& entry : list_folder(more).entries) {
    if (entry.name.ends_with(".conf")) read_folders(more / entry.name, folders);
  }
  return folders;
}

// Returns the libraries that are neither in library_folders() nor in `run_paths`.
std::vector<std::string> libraries_missing_here(const std::vector<std::string>& names,
                                                const std::vector<std::string>& run_paths) {
  auto folders = library_folders();
  folders.insert(folders.end(), run_paths.begin(), run_paths.end());
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const bool found = std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
      std::error_code error;
      return fs::exists(fs::path(folder) / name, error);
    });
    if (!found) missing.push_back(name);
  }
  return missing;
}

void check_cache(CheckList& list) {
  try {
    const fs::path runs = runs_folder(user_cache_folder());
    check_writable(list, "cache folder", runs, 0, "set XDG_CACHE_HOME to use another folder");
    check_old_runs(list, runs);
  } catch (const Error& error) {
    list.fail("cache folder", error);
  }
}

}  // namespace

std::vector<std::string> processes_that_record() {
  std::vector<std::string> writers;
  const fs::path proc = "/proc";
  for (const std::string& pid : list_names(proc)) {
    if (!is_number(pid) || writers.size() >= kMaxWriters) continue;
    const std::string file = recorded_by(proc / pid);
    if (file.empty()) continue;
    std::string name;
    std::getline(std::ifstream(proc / pid / "comm"), name);
    writers.push_back(printable(fmt::format("{} {}: {}", pid, name, file)));
  }
  std::sort(writers.begin(), writers.end());
  return writers;
}

std::vector<std::string> stale_runs(const fs::path& runs) {
  const auto locked = locked_files();
  std::vector<std::string> stale;
  for (const std::string& name : list_names(runs)) {
    if (!name.starts_with("run_") || name.ends_with(".lock")) continue;
    struct stat status = {};
    const std::string lock = (runs / name).string() + ".lock";
    const bool is_held = ::stat(lock.c_str(), &status) == 0 &&
                         locked.contains(fmt::format("{:02x}:{:02x}:{}", major(status.st_dev),
                                                     minor(status.st_dev), status.st_ino));
    if (!is_held) stale.push_back(name);
  }
  return stale;
}

void check_free_space(CheckList& list, std::string_view name, const std::string& folder,
                      std::uint64_t free_bytes, std::uint64_t wanted_bytes,
                      const std::string& remedy) {
  const std::string text = fmt::format("{} free in {}", human_bytes(free_bytes), folder);
  if (free_bytes < std::max(kNoSpaceBytes, wanted_bytes)) {
    list.fail(name,
              wanted_bytes > kNoSpaceBytes ? fmt::format("{}, but the project alone needs {}", text,
                                                         human_bytes(wanted_bytes))
                                           : fmt::format("{}: too little to record", text),
              remedy, Exit::cannot_write);
  } else if (free_bytes < 2 * wanted_bytes + kLittleSpaceBytes) {
    list.warn(name, fmt::format("{}: a run records up to 2 MB a second", text), remedy);
  } else {
    list.ok(name, text);
  }
}

void report_libraries(CheckList& list, const ProjectInfo& project,
                      const std::vector<std::string>& missing, std::string_view where) {
  if (project.program_head.empty()) return list.skip("libraries", "no executable to inspect");
  if (missing.empty()) {
    return list.ok("libraries", fmt::format("all libraries outside the project are on {} ({})",
                                            where, project.libraries.size()));
  }
  std::vector<std::string> nowhere;
  std::string misplaced;
  for (const std::string& name : missing) {
    const auto place = project.misplaced.find(name);
    if (place == project.misplaced.end()) {
      nowhere.push_back(name);
    } else {
      misplaced += (misplaced.empty() ? "" : ", ") + place->second.string();
    }
  }
  if (!nowhere.empty()) {
    list.fail("libraries",
              fmt::format("not on {} and not in the project: {}; the executable cannot be loaded",
                          where, fmt::join(nowhere, ", ")),
              "put the missing libraries into lib/ of the project, or add --env "
              "LD_LIBRARY_PATH=DIR to msprof collect",
              Exit::application_failed);
  }
  if (!misplaced.empty()) {
    list.warn(
        "libraries",
        fmt::format("in folders of the project that the loader does not search: {}", misplaced),
        "move them to lib/ of the project or of the executable's folder, or add --env "
        "LD_LIBRARY_PATH=DIR to msprof collect");
  }
}

void check_own_address(CheckList& list) {
  std::ifstream hosts("/etc/hosts");
  std::string line;
  while (std::getline(hosts, line)) {
    const std::string_view text = trim(line);
    if (!text.starts_with("127.0.1.1")) continue;
    return list.warn("/etc/hosts",
                     "it maps this machine's name to 127.0.1.1, and the ini has an NFS mount: the "
                     "vendor's tool would make the board mount itself",
                     "put a # before that line, or use msprof collect, which needs no mount");
  }
}

void check_machine(CheckList& list, const fs::path& output, bool runs_here) {
  list.begin("this machine");
  check_writable(list, "output folder", fs::weakly_canonical(fs::absolute(output)), 0,
                 "choose another folder with --output DIR");
  if (runs_here) check_cache(list);
  check_umask(list, own_umask());
  check_clock_here(list);
  if (runs_here) check_other_programs(list);
}

void check_project_here(CheckList& list, const ProjectInfo& project) {
  if (project.program_head.empty()) return;
  list.begin("project, on this machine");
  try {
    const fs::path runs = runs_folder(user_cache_folder());
    check_writable(list, "space for the copy", runs, project.bytes,
                   "set XDG_CACHE_HOME to use another folder");
  } catch (const Error& error) {
    list.fail("space for the copy", error);
  }
  const std::string why = why_not_for_board(project.program_head, read_head("/proc/self/exe"));
  if (why.empty()) {
    list.ok("architecture", "fits this machine");
  } else {
    list.fail("architecture",
              fmt::format("the executable is built for {}", why.substr(0, why.find(','))),
              "give the board: --config board.ini or --host user@ip", Exit::application_failed);
  }
  report_libraries(list, project, libraries_missing_here(project.libraries, project.run_paths),
                   "this machine");
}

}  // namespace msprof
