#include "collect/cann/runtime_choice.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "collect/elf_file.hpp"

namespace msprof {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "libascendcl.so";
constexpr std::uintmax_t kMaxLibraryBytes = 64 << 20;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  struct stat one = {};
  struct stat other = {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

bool answers_as_this_program(const fs::path& file, std::chrono::milliseconds limit) {
  // Not env, which takes a path with '=' for a variable.
  constexpr const char* kAsk = "MSPROF_INNER=1 exec \"$0\" --version";
  return is_version_of_ours(run_tool({"/bin/sh", "-c", kAsk, file.string()}, limit).out);
}

// Returns an empty path if PATH contains none.
fs::path find_vendor(const RuntimeSurroundings& surroundings) {
  for (const std::string_view folder : split(surroundings.path, ':')) {
    const fs::path file = fs::path(folder) / "msprof";
    if (folder.empty() || !is_program(file) || is_same_file(file, surroundings.executable))
      continue;
    if (!answers_as_this_program(fs::absolute(file), surroundings.version_limit))
      return fs::absolute(file);
  }
  return {};
}

fs::path find_cann(const RuntimeSurroundings& surroundings) {
  std::vector<fs::path> folders;
  for (const std::string_view folder : split(surroundings.library_path, ':')) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  if (!surroundings.home_path.empty())
    folders.push_back(fs::path(surroundings.home_path) / "lib64");
  for (const fs::path& folder : folders) {
    fs::path library = folder / kLibrary;
    std::error_code error;
    if (fs::is_regular_file(library, error) && !is_host_runtime_library(library)) return library;
  }
  return {};
}

class LocalSearch : public RuntimeSearch {
 public:
  explicit LocalSearch(const RuntimeSurroundings& surroundings) : surroundings_(surroundings) {}
  bool is_inner() const override { return surroundings_.is_inner; }
  fs::path vendor() override { return find_vendor(surroundings_); }
  fs::path library() override { return find_cann(surroundings_); }
  fs::path host_runtime() override { return find_host_runtime(surroundings_.executable); }
  std::string where() const override { return "here"; }

 private:
  const RuntimeSurroundings& surroundings_;
};

// Returns " on root@10.0.0.2"; empty for this machine.
std::string elsewhere(const RuntimeSearch& search) {
  const std::string where = search.where();
  return where == "here" ? "" : " " + where;
}

RuntimeChoice of_vendor(const fs::path& tool, const std::string& elsewhere) {
  return {CannRuntime::vendor, tool,
          fmt::format("collected by the vendor's {}{}", printable(tool.string()), elsewhere)};
}

RuntimeChoice of_cann(const fs::path& library, const std::string& elsewhere) {
  return {CannRuntime::cann, library,
          fmt::format("the vendor's msprof is not on PATH{}: the runtime of {} gets its parameters "
                      "through PROFILER_SAMPLECONFIG",
                      elsewhere, printable(library.string()))};
}

RuntimeChoice of_host(const fs::path& folder, const std::string& why) {
  return {CannRuntime::host, folder, fmt::format("{}the host runtime runs models on the CPU", why)};
}

[[noreturn]] void missing(const std::string& sentence) {
  throw Error(Exit::nothing_to_do, sentence);
}

}  // namespace

bool is_host_runtime_library(const fs::path& library) {
  std::error_code error;
  if (fs::file_size(library, error) > kMaxLibraryBytes || error) return false;
  return read_head(library, kMaxLibraryBytes).find(kHostRuntimeMark) != std::string::npos;
}

RuntimeSurroundings read_surroundings() {
  std::error_code error;
  return {variable("PATH"), variable("LD_LIBRARY_PATH"), variable("ASCEND_HOME_PATH"),
          !variable("MSPROF_INNER").empty(), fs::read_symlink("/proc/self/exe", error)};
}

fs::path find_host_runtime(const fs::path& executable) {
  const fs::path above = executable.parent_path().parent_path();
  const fs::path tools = above.parent_path();
  for (const fs::path& folder : {
           // <prefix>/tools/profiler/bin/msprof, and /usr/lib/msprof/tools/… in the .deb
           tools.parent_path() / MSPROF_LIBRARY_FOLDER / "msprof" / "host",
           tools.parent_path() / "host",
           // lib/msprof/loader/msprof in the archive
           above / "host",
           // <build>/apps/msprof/msprof
           above.parent_path() / "msprof-host",
       }) {
    std::error_code error;
    if (fs::is_regular_file(folder / "lib64" / kLibrary, error)) return folder;
  }
  return {};
}

bool is_version_of_ours(std::string_view answer) {
  // This project's answer is exactly "msprof 1.2.3". The vendor's versions are CANN's, which start
  // at 5.
  constexpr std::uint64_t kFirstOfCann = 5;
  constexpr std::string_view kName = "msprof ";
  std::string_view line = trim(answer);
  if (!line.starts_with(kName)) return false;
  line.remove_prefix(kName.size());
  std::uint64_t first = 0;
  return parse_u64(line.substr(0, line.find('.')), first) && first < kFirstOfCann &&
         line.find_first_not_of("0123456789.") == std::string_view::npos;
}

RuntimeChoice choose_runtime(const std::optional<std::string>& by_hand,
                             const RuntimeSurroundings& surroundings, bool with_vendor) {
  LocalSearch search(surroundings);
  return choose_runtime(by_hand, search, with_vendor);
}

RuntimeChoice choose_runtime(const std::optional<std::string>& by_hand, RuntimeSearch& search,
                             bool with_vendor) {
  const std::string wanted = by_hand.value_or("");
  const std::string there = elsewhere(search);
  if ((wanted.empty() && with_vendor) || wanted == "vendor") {
    const fs::path tool = search.is_inner() ? fs::path() : search.vendor();
    if (!tool.empty()) return of_vendor(tool, there);
    if (!wanted.empty())
      missing(
          search.is_inner()
              ? "--runtime vendor: MSPROF_INNER is set, so this msprof does not start another one"
              : "--runtime vendor: the vendor's msprof is not on PATH" + there);
  }
  if (wanted.empty() || wanted == "cann") {
    const fs::path library = search.library();
    if (!library.empty()) return of_cann(library, there);
    if (!wanted.empty())
      missing(fmt::format("--runtime cann: no {} in LD_LIBRARY_PATH or ASCEND_HOME_PATH{}",
                          kLibrary, there));
  }
  const fs::path folder = search.host_runtime();
  if (folder.empty())
    missing(
        fmt::format("the host runtime is not installed next to msprof (lib/msprof/host){}: install "
                    "the complete msprof, or set LD_LIBRARY_PATH to an installed CANN",
                    there));
  return of_host(folder, wanted.empty() ? fmt::format("no CANN {}: ", search.where()) : "");
}

}  // namespace msprof
