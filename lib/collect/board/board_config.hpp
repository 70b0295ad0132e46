// BoardConfig: how to reach a board, from an ini file, from --host, or both. For the verb.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ssh/ssh_login.hpp"

namespace msprof {

struct BoardConfig {
  SshLogin login;         // without a password source
  Secret password;        // of the ini; empty: none there
  std::string board_dir;  // where the board keeps our folder; empty: the account's home
};

// The text of an ini file: section [ssh_config], keys ip username pwd port (the vendor's manual),
// BOARD_IP USER PASSWORD PORT (its wrapper), key board_dir host_key connect_timeout. Section and
// keys in any case. `name` is for messages, which never show a value of pwd. Throws Error(usage)
// with the line for what is missing or makes no sense.
BoardConfig parse_board_config(std::string_view text, const std::string& name);

// Reads `file`; warns when others may read it and it holds a password. A relative `key` is looked
// up beside the file, "~/" is the home folder. Throws Error(nothing_to_do) where it cannot be read.
BoardConfig read_board_config(const std::filesystem::path& file);

// "user@ip", "user@ip:port", "user@[::1]:port" over what `config` has. Throws Error(usage).
void set_host(BoardConfig& config, std::string_view host);

HostKeyPolicy parse_host_key_policy(std::string_view text, std::string_view where);

// Where the password comes from, in this order: `given` (--password-stdin), MSPROF_SSH_PASSWORD,
// the ini, a prompt without echo where stdin and stderr are a terminal. The variable is taken out
// of this process's environment as soon as this is called.
std::function<std::optional<Secret>()> password_source(std::optional<Secret> given,
                                                       const BoardConfig& config);

// The first line of stdin without its end, for --password-stdin; what follows is left unread.
// Throws Error(usage) when there is none.
Secret read_password_line(int fd);

}  // namespace msprof
