// A program with only the verb collect: the real command line and signal handling.
// COLLECT_DRIVER_GRACE: seconds from a request to exit until SIGKILL.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "msprof/verbs.hpp"

namespace {

using namespace msprof;

// Only logs the call: import is tested separately.
Exit note_capture(const std::filesystem::path& capture, nlohmann::json* report) {
  log::info("driver imports {}", capture.filename().string());
  if (report != nullptr) (*report)["import"] = {{"files", 1}};
  return capture.filename().string().find("DAMAGED") == std::string::npos ? Exit::ok
                                                                          : Exit::partial_data;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    interrupt::install();
    cli::Command root("msprof", "test driver");
    std::optional<double> grace_seconds;
    if (const char* text = std::getenv("COLLECT_DRIVER_GRACE"))
      grace_seconds = std::strtod(text, nullptr);
    add_collect_command(root, note_capture, grace_seconds);
    return static_cast<int>(
        cli::run(root, "driver", std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const Error& error) {
    log::error("{}", error.what());
    return static_cast<int>(error.code());
  }
}
