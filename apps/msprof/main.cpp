// Builds the command tree, runs it, and is the one place that catches errors.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "msprof/verbs.hpp"

int main(int argc, char** argv) {
  using namespace msprof;
  Exit code = Exit::internal_error;
  try {
    interrupt::install();
    const auto root = build_command_tree();
    code =
        cli::run(*root, "msprof " MSPROF_VERSION, std::vector<std::string>(argv + 1, argv + argc));
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      log::error("cannot write to standard output");
      code = gravest(code, Exit::cannot_write);
    }
  } catch (const Error& error) {
    log::error("{}", error.what());
    code = error.code();
  } catch (const std::bad_alloc&) {
    log::error("out of memory");
  } catch (const std::exception& error) {
    log::error("internal error: {}", error.what());
  }
  return static_cast<int>(code);
}
