// Fuzz target: the ini file of a board, and the address of --host. What is refused must be refused
// as a usage error, and the sentence must not hold what the file says: it may be a password.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/log.hpp"
#include "board/config.hpp"

namespace {

using namespace msprof;

// No key, no name of anything: where it stands in a sentence it came out of the file.
constexpr std::string_view kSecret = "S3cret ;phrase";

template <typename Work>
void refuse_as_usage(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != Exit::usage) std::abort();
    if (std::string_view(error.what()).find(kSecret) != std::string_view::npos) std::abort();
  }
}

// What was taken must make sense to whoever uses it.
void check(const BoardConfig& config) {
  const bool is_word = config.login.host.find_first_of(" @\t") == std::string::npos;
  const double seconds = config.login.connect_timeout_seconds;
  if (!is_word || config.login.port == 0 || !(seconds > 0 && seconds <= 3600)) std::abort();
  const std::string folder = "/" + config.board_dir + "/";
  if (folder.find("/../") != std::string::npos || folder.find('\n') != std::string::npos) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  refuse_as_usage([&] { check(parse_board_config(text, "input")); });
  // The same as lines of one section, so that half of the inputs need not find its name.
  refuse_as_usage([&] {
    BoardConfig config = parse_board_config("[ssh_config]\n" + std::string(text), "input");
    check(config);
    set_host(config, text.substr(0, text.find('\n')));
    check(config);
  });
  return 0;
}
