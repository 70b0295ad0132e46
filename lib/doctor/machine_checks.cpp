#include "doctor/machine_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "base/text.hpp"
#include "collect/arrival.hpp"
#include "collect/elf_file.hpp"
#include "collect/run_folder.hpp"
#include "doctor/process_look.hpp"
#include "doctor/program_checks.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr unsigned kLeastMask = 0027;  // of the vendor's manual
constexpr unsigned kWritersMask = 0022;
constexpr std::time_t kNotYetSet = 1'704'067'200;  // 2024-01-01; before it no clock is right

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
                    there == folder ? "" : fmt::format(": {} is not yours", there.string())),
        remedy, Exit::cannot_write);
  }
  const auto free = free_bytes_of(there);
  if (!free)
    return list.skip(name, fmt::format("the free space of {} is not told", there.string()));
  check_free_space(list, name, folder.string(), *free, wanted_bytes, remedy);
}

void check_clock_here(CheckList& list) {
  const std::time_t now = std::time(nullptr);
  if (now >= kNotYetSet) return list.ok("clock", "it is set");
  list.warn("clock", "it is before 2024: names and times of files will be wrong",
            "date -s 'YYYY-MM-DD hh:mm:ss'");
}

unsigned own_umask() {
  const mode_t mask = ::umask(kLeastMask);
  ::umask(mask);
  return mask;
}

void check_umask(CheckList& list, unsigned mask) {
  if ((mask & kLeastMask) == kLeastMask) {
    return list.ok("umask", fmt::format("{:04o}: captures are not for others", mask));
  }
  if ((mask & kWritersMask) == kWritersMask) {
    return list.ok("umask", fmt::format("{:04o}: other accounts of this machine can read captures "
                                        "(umask {:04o}, as the vendor's manual has it, prevents "
                                        "that)",
                                        mask, kLeastMask));
  }
  list.warn("umask",
            fmt::format("{:04o}: other accounts of this machine can change captures", mask),
            fmt::format("umask {:04o}", kLeastMask));
}

void check_other_programs(CheckList& list) {
  const auto writers = processes_that_record();
  if (writers.empty()) return list.ok("other runs", "no other profiled run is seen");
  list.warn("other runs",
            fmt::format("another program is being profiled: process {}; two at once disturb each "
                        "other's times",
                        writers.front()),
            "wait for it, or end it");
}

void check_old_runs(CheckList& list, const fs::path& runs) {
  const auto stale = stale_runs(runs);
  if (stale.empty()) return list.ok("leftovers", "none of earlier runs");
  list.warn("leftovers",
            fmt::format("{} in {}", counted(stale.size(), "earlier run"), runs.string()),
            "nothing to do: the next run of msprof collect removes them");
}

void check_cache(CheckList& list) {
  try {
    const fs::path runs = runs_folder(user_cache_folder());
    check_writable(list, "cache folder", runs, 0, "XDG_CACHE_HOME names another place");
    check_old_runs(list, runs);
  } catch (const Error& error) {
    list.fail("cache folder", error);
  }
}

}  // namespace

void check_free_space(CheckList& list, std::string_view name, const std::string& folder,
                      std::uint64_t free_bytes, std::uint64_t wanted_bytes,
                      const std::string& remedy) {
  const std::string text = fmt::format("{} free in {}", human_bytes(free_bytes), folder);
  if (free_bytes < std::max(kNoSpaceBytes, wanted_bytes)) {
    list.fail(name,
              wanted_bytes > kNoSpaceBytes
                  ? fmt::format("{}, and the project alone has {}", text, human_bytes(wanted_bytes))
                  : fmt::format("{}: nothing can be recorded", text),
              remedy, Exit::cannot_write);
  } else if (free_bytes < 2 * wanted_bytes + kLittleSpaceBytes) {
    list.warn(name, fmt::format("{}: a run records up to 2 MB a second", text), remedy);
  } else {
    list.ok(name, text);
  }
}

void report_libraries(CheckList& list, const ProjectFacts& project,
                      const std::vector<std::string>& missing, std::string_view where) {
  if (project.program_head.empty()) return list.skip("libraries", "no executable to look at");
  if (missing.empty()) {
    return list.ok("libraries", fmt::format("all that the project does not hold are on {} ({})",
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
              "put what is missing into lib/ of the project, or give --env LD_LIBRARY_PATH=DIR to "
              "msprof collect",
              Exit::application_failed);
  }
  if (!misplaced.empty()) {
    list.warn("libraries",
              fmt::format("in the project where no loader looks for them: {}", misplaced),
              "move them to lib/ of the project, or beside it to the executable's lib/; or give "
              "--env LD_LIBRARY_PATH=DIR to msprof collect");
  }
}

void check_own_address(CheckList& list) {
  std::ifstream hosts("/etc/hosts");
  std::string line;
  while (std::getline(hosts, line)) {
    const std::string_view text = trim(line);
    if (!text.starts_with("127.0.1.1")) continue;
    return list.warn(
        "/etc/hosts",
        "it has 127.0.1.1 for this machine's name, and the ini names an NFS mount: the "
        "vendor's tool would have the board mount itself",
        "put a # before that line, or use msprof collect, which needs no mount");
  }
}

void check_machine(CheckList& list, const fs::path& output, bool runs_here) {
  list.begin("this machine");
  check_writable(list, "output folder", fs::weakly_canonical(fs::absolute(output)), 0,
                 "--output DIR names another folder");
  if (runs_here) check_cache(list);
  check_umask(list, own_umask());
  check_clock_here(list);
  if (runs_here) check_other_programs(list);
}

void check_project_here(CheckList& list, const ProjectFacts& project) {
  if (project.program_head.empty()) return;
  list.begin("project, on this machine");
  try {
    const fs::path runs = runs_folder(user_cache_folder());
    check_writable(list, "room for the copy", runs, project.bytes,
                   "XDG_CACHE_HOME names another place");
  } catch (const Error& error) {
    list.fail("room for the copy", error);
  }
  const std::string why = why_not_for_board(project.program_head, read_elf_head("/proc/self/exe"));
  if (why.empty()) {
    list.ok("architecture", "fits this machine");
  } else {
    list.fail("architecture",
              fmt::format("the executable is built for {}", why.substr(0, why.find(','))),
              "name the board it is for: --config board.ini, or --host user@ip",
              Exit::application_failed);
  }
  report_libraries(list, project, libraries_missing_here(project.libraries, project.run_paths),
                   "this machine");
}

}  // namespace msprof
