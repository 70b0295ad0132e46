// Options that name a board and its use. For the verbs collect and doctor; those of keys for
// cluster, too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "board/login.hpp"
#include "board/ssh_host.hpp"
#include "msprof/command_line.hpp"

namespace msprof {

// --key, --host-key, --jump and --ssh-config: who asks for a login, whom it believes, and the way.
struct KeyArguments {
  std::optional<std::string> key;
  std::optional<std::string> host_key;
  std::optional<std::string> jump;
  std::optional<std::string> ssh_config;
};
void add_key_options(cli::Command& command, KeyArguments& arguments);
// What is given wins. Throws Error(usage).
void set_keys(BoardConfig& config, const KeyArguments& arguments);

struct BoardArguments {
  std::optional<std::string> config;
  std::optional<std::string> host;
  // For verbs that take several boards, which then are neither of the above; see take_one_board().
  std::vector<std::string> configs;
  std::vector<std::string> hosts;
  KeyArguments keys;
  std::optional<std::string> board_dir;
  std::optional<std::string> remote_dir;
  std::optional<double> connect_timeout_seconds;
  std::optional<double> reconnect_seconds;
  bool password_stdin = false;
  bool keep = false;
  bool no_cache = false;
  bool clean_board = false;
  bool no_upload = false;
  bool upload = false;  // servers: copy the project, as to a board
  bool leave = false;   // servers: the recording stays there
  std::optional<std::string> remote_output;
  bool force = false;
  std::optional<std::string> nfs;  // SERVER:/path, to record into
  bool sink = false;               // the runtime streams its records
  bool drain = false;              // the recording comes home while the application runs
  bool tty = false;
  bool no_tty = false;

  bool names_board() const { return config || host || names_several(); }
  bool names_several() const { return !configs.empty() || !hosts.empty(); }
};

// Options of a board, the way there, and its folder; for every verb that goes to a board.
void add_login_options(cli::Command& command, BoardArguments& arguments);
// Those, for several boards, and the options of a run on them.
void add_board_options(cli::Command& command, BoardArguments& arguments);

// Takes the lists of --host apart; where there is one board in all, that is config and host.
// Throws Error(usage) for an empty name.
void take_one_board(BoardArguments& arguments);

// Throws Error(usage) for what does not go together, and for options of a board where none is
// named. On a server, whose applications are on CANN, what is there is run where it is.
enum class MachineKind { board, server };
void check_board_arguments(const BoardArguments& arguments, MachineKind kind = MachineKind::board);

// A board as the command line, the ini file and ssh's configuration name it, ready for SshHost.
struct NamedBoard {
  BoardConfig config;
  BoardRunOptions options;
  // Files that are never copied: the ini file and the keys.
  std::vector<std::filesystem::path> private_files;
};

// Reads the ini file and, with --password-stdin, the first line of stdin; the command line
// wins. Takes the password out of the environment. Throws Error(usage) and
// Error(nothing_to_do) with the file and the line.
NamedBoard find_board(const BoardArguments& arguments);
// One of several: `given`, if any, is its password, and stdin is not read. `resolver` asks for what
// they share once.
NamedBoard find_board(const BoardArguments& arguments, std::optional<Secret> given,
                      LoginResolver& resolver);

}  // namespace msprof
