// Fuzz target: the ini file of a board, and the address of --host. Rejected input must cause a
// usage error whose message does not quote the file, as that could be a password.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/log.hpp"
#include "board/session/config.hpp"

namespace {

using namespace msprof;

// Not a key or a name: if it occurs in a message, the message quotes the file.
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

// Accepted values must be valid for later code.
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
  // Parses the same text as lines of one section, so that inputs need not contain its name.
  refuse_as_usage([&] {
    BoardConfig config = parse_board_config("[ssh_config]\n" + std::string(text), "input");
    check(config);
    set_host(config, text.substr(0, text.find('\n')));
    check(config);
  });
  return 0;
}
