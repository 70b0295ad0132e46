// Selects the CANN runtime of an application, which determines how the settings are passed: the
// vendor's collector, the environment of an installed CANN, or this project's host runtime.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace msprof {

enum class CannRuntime {
  vendor,  // a vendor's msprof runs the application
  cann,    // an installed CANN reads the environment
  host,    // the host runtime runs it on the CPU
};

struct RuntimeChoice {
  CannRuntime runtime = CannRuntime::host;
  std::filesystem::path place;  // the vendor's msprof, CANN's library, or the host runtime's folder
  std::string sentence;         // describes the choice and the reason
};

// Inputs of a search; by default those of this process.
struct RuntimeSurroundings {
  std::string path;                  // PATH
  std::string library_path;          // LD_LIBRARY_PATH
  std::string home_path;             // ASCEND_HOME_PATH
  bool is_inner = false;             // MSPROF_INNER is set: do not start another msprof
  std::filesystem::path executable;  // this program
  std::chrono::milliseconds version_limit{5000};  // for --version
};
RuntimeSurroundings read_surroundings();

// Returns true if a libascendcl.so belongs to a host runtime.
bool is_host_runtime_library(const std::filesystem::path& library);

// Returns the folder of the host runtime that belongs to the executable, in a build or an
// installation; empty if it does not exist.
std::filesystem::path find_host_runtime(const std::filesystem::path& executable);

// Returns true if this answer to --version is from this project's msprof, not from the vendor's.
bool is_version_of_ours(std::string_view answer);
// A string that occurs only in the host runtime's library: a key of the info.json that it writes.
inline constexpr std::string_view kHostRuntimeMark = "msprof_host_runtime";

// The runtimes that are available on this or another machine. Paths are empty if not found.
class RuntimeSearch {
 public:
  virtual ~RuntimeSearch() = default;
  virtual bool is_inner() const = 0;
  virtual std::filesystem::path vendor() = 0;
  virtual std::filesystem::path library() = 0;
  virtual std::filesystem::path host_runtime() = 0;
  // Returns "here" or "on root@10.0.0.2".
  virtual std::string where() const = 0;
};
// `with_vendor`: also considers the vendor's tool if the user did not request it.
RuntimeChoice choose_runtime(const std::optional<std::string>& by_hand, RuntimeSearch& search,
                             bool with_vendor = true);

// The same for this machine: selects the first available of the three; `by_hand`, the user's
// request, is "vendor", "cann" or "host". A candidate for the vendor's msprof is a file on PATH
// that is not this program and does not answer --version like it. Throws Error(nothing_to_do) if
// the requested runtime is not available.
RuntimeChoice choose_runtime(const std::optional<std::string>& by_hand,
                             const RuntimeSurroundings& surroundings, bool with_vendor = true);

}  // namespace msprof
