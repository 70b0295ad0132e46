// Which runtime of CANN an application gets, and so what carries the settings into it: the vendor's
// collector, the environment of an installed CANN, or this project's host runtime.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace msprof {

enum class CannRuntime {
  vendor,  // a vendor's msprof runs the application
  cann,    // an installed CANN reads its environment
  host,    // the host runtime does, on the CPU
};

struct RuntimeChoice {
  CannRuntime runtime = CannRuntime::host;
  std::filesystem::path place;  // the vendor's msprof, CANN's library, or the host runtime's folder
  std::string sentence;         // which it is, and why
};

// What a search looks at; of this process where nothing else is said.
struct RuntimeSurroundings {
  std::string path;                  // PATH
  std::string library_path;          // LD_LIBRARY_PATH
  std::string home_path;             // ASCEND_HOME_PATH
  bool is_inner = false;             // MSPROF_INNER is set: no msprof is started from here
  std::filesystem::path executable;  // this program
  std::chrono::milliseconds version_limit{5000};  // for the answer to --version
};
RuntimeSurroundings surroundings_of_process();

// Whether a libascendcl.so is that of a host runtime.
bool is_host_runtime_library(const std::filesystem::path& library);

// The host runtime that belongs to the executable: of a build, or installed. Empty: it is not
// there.
std::filesystem::path host_runtime_of(const std::filesystem::path& executable);

// Whether a program that answers --version with this is this project's msprof, and so not the
// vendor's.
bool is_version_of_ours(std::string_view answer);
// In the library of the host runtime, and in no other: a key of the info.json that it writes.
inline constexpr std::string_view kHostRuntimeMark = "msprof_host_runtime";

// What there is to choose from, on this machine or on another. Paths are empty for what is not
// there.
class RuntimeSearch {
 public:
  virtual ~RuntimeSearch() = default;
  virtual bool is_inner() const = 0;
  virtual std::filesystem::path vendor() = 0;
  virtual std::filesystem::path library() = 0;
  virtual std::filesystem::path host_runtime() = 0;
  // "here", "on root@10.0.0.2"
  virtual std::string where() const = 0;
};
// `with_vendor`: the vendor's is one of them also where it is not named by hand.
RuntimeChoice choose_runtime(const std::optional<std::string>& by_hand, RuntimeSearch& search,
                             bool with_vendor = true);

// The same for this machine: the first of the three that is there; `by_hand` is "vendor", "cann" or
// "host". A candidate for the vendor's msprof is a file on PATH that is not this one and does not
// answer --version as this program does. Throws Error(nothing_to_do) for one that is not there.
RuntimeChoice choose_runtime(const std::optional<std::string>& by_hand,
                             const RuntimeSurroundings& surroundings, bool with_vendor = true);

}  // namespace msprof
