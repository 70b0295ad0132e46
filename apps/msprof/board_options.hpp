// Options that select a board and configure its use. For the verbs collect and doctor; the key
// options also for cluster.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/login.hpp"
#include "board/ssh_host.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

// --key, --host-key, --jump and --ssh-config: keys for the login, host key checking, and the route.
struct KeyArguments {
  std::optional<std::string> key;
  std::optional<std::string> host_key;
  std::optional<std::string> jump;
  std::optional<std::string> ssh_config;
};
void add_key_options(cli::Command& command, KeyArguments& arguments);
// Options override `config`, which overrides ssh's configuration. `source` is named in errors.
// Throws Error(usage).
void complete_login(BoardConfig& config, const KeyArguments& arguments, LoginResolver& resolver,
                    std::string_view source);

struct BoardArguments {
  std::optional<std::string> config;
  std::optional<std::string> host;
  // For verbs that accept several boards; with several, `config` and `host` are empty. See
  // take_one_board().
  std::vector<std::string> configs;
  std::vector<std::string> hosts;
  KeyArguments keys;
  std::optional<std::string> board_dir;
  std::optional<std::string> remote_dir;
  std::optional<double> connect_timeout_seconds;
  std::optional<double> reconnect_seconds;
  bool password_stdin = false;
  BoardRunOptions run;  // reconnect_seconds is set by find_board()
  bool no_upload = false;
  bool upload = false;  // servers: upload the project, as for a board
  bool tty = false;
  bool no_tty = false;

  bool names_board() const { return config || host || names_several(); }
  bool names_several() const { return !configs.empty() || !hosts.empty(); }
};

// Options of a board, its login and its folder; for every verb that connects to a board.
void add_login_options(cli::Command& command, BoardArguments& arguments);
// The options of add_login_options() for several boards, and options of a run on them.
void add_board_options(cli::Command& command, BoardArguments& arguments);

// Splits the lists of --host. If there is only one board, moves it to `config` or `host`. Throws
// Error(usage) for an empty name.
void take_one_board(BoardArguments& arguments);

// Throws Error(usage) for options that conflict, and for board options without a board. On a server
// (applications on CANN), existing files are run in place by default.
enum class MachineKind { board, server };
void check_board_arguments(const BoardArguments& arguments, MachineKind kind = MachineKind::board);

// Configuration of a board from the command line, the ini file and ssh's configuration, ready for
// SshHost.
struct NamedBoard {
  BoardConfig config;
  BoardRunOptions options;
  // Files that are never uploaded: the ini file and the keys.
  std::vector<std::filesystem::path> private_files;
};

// Reads the ini file and, with --password-stdin, the first line of stdin; the command line takes
// precedence. Removes the password from the environment. Throws Error(usage) and
// Error(nothing_to_do) with file and line.
NamedBoard find_board(const BoardArguments& arguments);
// find_board() without the password, for one of several boards: `resolver` asks only once for
// anything that they share.
NamedBoard read_board(const BoardArguments& arguments, LoginResolver& resolver);

}  // namespace msprof
