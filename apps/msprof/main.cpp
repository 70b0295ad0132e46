// Builds the command tree, runs it, and is the only place that catches errors.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/foreign_error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/log_stream.hpp"
#include "base/version.hpp"
#include "msprof/application_line.hpp"
#include "msprof/script_names.hpp"
#include "msprof/verbs.hpp"

namespace {

// If the caller closed a standard stream, its number could be reused for one of our files, and
// messages would be written to that file. Writing to a closed stdout still fails.
void occupy_closed_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] const int same =
          ::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
    }
  }
}

msprof::Exit run_words(const std::vector<std::string>& words) {
  using namespace msprof;
  const auto root = build_command_tree();
  const auto line = parse_application_line(*root, words);
  return line ? run_application_line(*line)
              : cli::run(*root, "msprof " + std::string(version()), words);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace msprof;
  Exit code = Exit::internal_error;
  try {
    occupy_closed_streams();
    interrupt::install();
    const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    code = is_script_name(name) ? run_script(name, words) : run_words(words);
    errno = 0;
    const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (failed && errno != EPIPE) {  // not an error if a reader like `head` stops early
      log::error("cannot write to standard output");
      code = gravest(code, Exit::cannot_write);
    }
  } catch (const std::exception& exception) {
    const auto* const system = dynamic_cast<const std::system_error*>(&exception);
    // Thrown by printing if stdout accepts no more data.
    if (system != nullptr && std::ferror(stdout) != 0) {
      code = system->code().value() == EPIPE ? Exit::ok : Exit::cannot_write;
      if (code != Exit::ok)
        log::error("cannot write to standard output: {}", system->code().message());
    } else {
      const Error error = to_error(exception);
      log::failure(error);
      code = error.code();
    }
  }
  log::release_errors(code == Exit::ok);
  return static_cast<int>(code);
}
