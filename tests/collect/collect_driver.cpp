// The verb collect alone, as a program: the real command line and signals without the other verbs.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "msprof/verbs.hpp"

namespace {

using namespace msprof;

// Says that it was called; the import itself has its own tests.
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
    add_collect_command(root, note_capture);
    return static_cast<int>(
        cli::run(root, "driver", std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const Error& error) {
    log::error("{}", error.what());
    return static_cast<int>(error.code());
  }
}
