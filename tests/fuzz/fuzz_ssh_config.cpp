// Fuzz target: ssh's configuration, the tokens of its values, and lists of jump hosts. Rejected
// input must cause a usage error; accepted values must be valid.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/log.hpp"
#include "ssh/ssh_config.hpp"

namespace {

using namespace msprof;

template <typename Work>
void refuse_config_as_usage(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != Exit::usage) std::abort();
  }
}

// Names sent to a server or used in a list must be single words.
void check_word(const std::string& text) {
  if (text.empty() || text.starts_with('-') || has_unfit_byte(text)) std::abort();
}

void check_found(const SshHostConfig& found) {
  if (found.port && *found.port == 0) std::abort();
  if (found.proxy_jump && found.proxy_command) std::abort();
  if (found.identity_files.size() > 100 || found.notes.size() > 20) std::abort();
  const SshTokens tokens = {
      .host = "h", .original = "n", .key_name = {}, .port = 22, .user = "u", .home = "/home/u"};
  for (const auto& file : found.identity_files) {
    refuse_config_as_usage([&] {
      if (!expand_ssh_path(file, tokens).is_absolute()) std::abort();
    });
  }
  if (found.host_name) {
    refuse_config_as_usage([&] { (void)expand_ssh_tokens(*found.host_name, tokens); });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  log::set_level(log::Level::silent);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* host : {"lab7", "10.0.0.1"}) {
    refuse_config_as_usage([&] {
      SshHostConfig found;
      int includes = 0;
      // Includes one level: the text includes itself.
      const SshConfigInclude include = [&](const std::string&, bool is_active,
                                           const std::string& where) {
        if (++includes > 2) return;
        parse_ssh_config(
            text, where, host, found, [](const auto&, bool, const auto&) {}, is_active);
      };
      parse_ssh_config(text, "input", host, found, include);
      check_found(found);
    });
  }
  refuse_config_as_usage([&] {
    for (const SshJump& jump : parse_ssh_jumps(text.substr(0, text.find('\n')), "--jump")) {
      check_word(jump.host);
      if (!jump.user.empty()) check_word(jump.user);
    }
  });
  return 0;
}
