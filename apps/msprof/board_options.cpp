#include "msprof/board_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "board/session/login.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr double kMaxReconnectSeconds = 86400;

std::string board_only_options(const BoardArguments& arguments) {
  const std::pair<bool, const char*> options[] = {
      {arguments.keys.key.has_value(), "--key"},
      {arguments.keys.host_key.has_value(), "--host-key"},
      {arguments.keys.jump.has_value(), "--jump"},
      {arguments.keys.ssh_config.has_value(), "--ssh-config"},
      {arguments.password_stdin, "--password-stdin"},
      {arguments.board_dir.has_value(), "--board-dir"},
      {arguments.connect_timeout_seconds.has_value(), "--connect-timeout"},
      {arguments.reconnect_seconds.has_value(), "--reconnect"},
      {arguments.keep, "--keep"},
      {arguments.no_cache, "--no-cache"},
      {arguments.clean_board, "--clean-board"},
      {arguments.no_upload, "--no-upload"},
      {arguments.remote_dir.has_value(), "--remote-dir"},
      {arguments.force, "--force"},
      {arguments.tty, "--tty"},
      {arguments.no_tty, "--no-tty"},
      {arguments.upload, "--upload"},
      {arguments.leave, "--leave"},
      {arguments.drain, "--drain"},
      {arguments.nfs.has_value(), "--nfs"},
      {arguments.sink, "--sink"},
      {arguments.remote_output.has_value(), "--remote-output"},
  };
  std::string names;
  for (const auto& [given, name] : options) {
    if (given) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

const char* option_of_servers(const BoardArguments& arguments) {
  if (arguments.upload) return "--upload";
  if (arguments.leave) return "--leave";
  return arguments.remote_output ? "--remote-output" : nullptr;
}

void check_server_arguments(const BoardArguments& arguments) {
  const auto refuse = [](bool wrong, const char* sentence) {
    if (wrong) throw Error(Exit::usage, sentence);
  };
  refuse(arguments.upload && arguments.no_upload, "--upload and --no-upload contradict each other");
  refuse(arguments.upload && arguments.remote_dir,
         "--upload runs a copy of a project of this machine, --remote-dir what is on the server: "
         "give one of them");
  refuse(arguments.remote_output && !arguments.leave,
         "--remote-output says where --leave leaves the raw data: add --leave");
  refuse(arguments.remote_output && arguments.remote_output->empty(),
         "--remote-output takes a folder");
  refuse(arguments.leave && arguments.keep, "--leave and --keep contradict each other");
  refuse(arguments.leave && arguments.clean_board && !arguments.remote_output,
         "--clean-board removes what --leave leaves: give --remote-output DIR, or one of them");
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

void add_run_options(cli::Command& command, BoardArguments& arguments) {
  command.add_option({"--reconnect", &arguments.reconnect_seconds, "S",
                      "how long to try to reach the board again after the connection was lost "
                      "(default 30; 0: not at all)"});
  command.add_option(
      {"--keep", &arguments.keep, "", "leave the run's folder on the board, and say where it is"});
  command.add_option({"--no-cache", &arguments.no_cache, "",
                      "send the whole project and leave no copy of it on the board"});
  command.add_option(
      {"--clean-board", &arguments.clean_board, "",
       "remove everything that msprof keeps on the board; without -m only that, else after the "
       "run. Refused where it keeps results that were never fetched"});
  command.add_option({"--no-upload", &arguments.no_upload, "",
                      "run what is on the board already, in --remote-dir"});
  command.add_option({"--remote-dir", &arguments.remote_dir, "DIR",
                      "the project's folder on the board, for --no-upload; with --cann the folder "
                      "of the server to run in (default: the home)"});
  command.add_option({"--upload", &arguments.upload, "",
                      "with --cann: copy the project to the server and run the copy (default: run "
                      "what is there)"});
  command.add_option({"--leave", &arguments.leave, "",
                      "with --cann: leave the raw data on the server, where they are imported if "
                      "it has msprof; with --all their products are fetched"});
  command.add_option({"--remote-output", &arguments.remote_output, "DIR",
                      "with --leave: where they stay on the server, absolute or relative to the "
                      "home (default: msprof/kept)"});
  command.add_option({"--drain", &arguments.drain, "",
                      "for a small disk: bring the recording home while the application runs, over "
                      "a second connection, and free its space on the board"});
  command.add_option({"--sink", &arguments.sink, "",
                      "for applications on the host runtime for boards: it streams its records to "
                      "this machine, and they need no space on the board (MSPROF_SINK)"});
  command.add_option({"--nfs", &arguments.nfs, "SERVER:/PATH",
                      "for a small disk: mount this folder of an NFS server on the board for the "
                      "run and record into it; the account needs the right to mount"});
  command.add_option({"--tty", &arguments.tty, "",
                      "run the application on a terminal of the board, as ssh -t does: its output "
                      "appears at once, stdout and stderr as one stream (default where stdin, "
                      "stdout and stderr are terminals, without --json and --password-stdin)"});
  command.add_option(
      {"--no-tty", &arguments.no_tty, "",
       "no terminal: stdout and stderr separate, each when the application flushes it"});
  command.add_option({"--force", &arguments.force, "",
                      "use the board although another run seems to use it; with --clean-board "
                      "delete also results that were never fetched"});
}

constexpr const char* kConfigHelp =
    "a board: an ini file with a section [ssh_config] and its keys ip, username, pwd, port, key, "
    "board_dir, host_key, connect_timeout, jump";
constexpr const char* kHostHelp =
    "a board; without --config no file is needed. A name may be one of ssh's configuration, which "
    "then has address, port, account and keys";
constexpr const char* kPasswordHelp =
    "the password is the first line of stdin (else: MSPROF_SSH_PASSWORD, pwd of the ini file, a "
    "question on the terminal)";

void add_way_options(cli::Command& command, BoardArguments& arguments,
                     const std::string& password_help) {
  add_key_options(command, arguments.keys);
  command.add_option({"--password-stdin", &arguments.password_stdin, "", password_help});
  command.add_option({"--connect-timeout", &arguments.connect_timeout_seconds, "S",
                      "how long to wait for the board to answer, 0.1 to 3600 (default 10)"});
  command.add_option({"--board-dir", &arguments.board_dir, "DIR",
                      "the folder of the board that holds msprof/, absolute or relative to the "
                      "account's home (default: the home)"});
}

// Reads everything except the password.
NamedBoard read_board(const BoardArguments& arguments, LoginResolver& resolver) {
  NamedBoard board;
  BoardConfig& config = board.config;
  if (arguments.config) {
    config = read_board_config(*arguments.config);
    board.private_files.push_back(fs::absolute(*arguments.config));
  }
  if (arguments.host) set_host(config, *arguments.host);
  set_keys(config, arguments.keys);
  if (arguments.board_dir) set_board_dir(config, *arguments.board_dir, "--board-dir");
  if (arguments.connect_timeout_seconds) {
    set_connect_timeout(config, *arguments.connect_timeout_seconds, "--connect-timeout");
  }
  resolver.resolve(config);
  check_login(config, arguments.config.value_or("--host"));
  if (!config.login.key.empty()) board.private_files.push_back(config.login.key);
  board.private_files.insert(board.private_files.end(), config.login.more_keys.begin(),
                             config.login.more_keys.end());
  if (!config.origin.empty()) log::verbose("{}", config.origin);

  board.options.reconnect_seconds =
      arguments.reconnect_seconds.value_or(board.options.reconnect_seconds);
  board.options.keep = arguments.keep;
  board.options.no_cache = arguments.no_cache;
  board.options.clean_board = arguments.clean_board;
  board.options.force = arguments.force;
  board.options.drain.on = arguments.drain;
  board.options.sink = arguments.sink;
  board.options.nfs = arguments.nfs.value_or("");
  return board;
}

}  // namespace

void add_key_options(cli::Command& command, KeyArguments& arguments) {
  command.add_option({"--jump", &arguments.jump, "HOST,…",
                      "SSH servers to go over, as ssh -J has them: [USER@]HOST[:PORT], several "
                      "with commas; none: no ProxyJump of ssh's configuration"});
  command.add_option({"--ssh-config", &arguments.ssh_config, "FILE",
                      "ssh's configuration (default ~/.ssh/config and /etc/ssh/ssh_config; none: "
                      "no file)"});
  command.add_option({"--key", &arguments.key, "FILE",
                      "a private key for the login (others, and ssh-agent, are tried too); a "
                      "passphrase is asked for on the terminal"});
  command.add_option({"--host-key",
                      &arguments.host_key,
                      "POLICY",
                      "a host key that is not known yet: strict asks on a terminal and refuses "
                      "without one (default), accept-new remembers it, off checks none",
                      {"strict", "accept-new", "off"}});
}

void set_keys(BoardConfig& config, const KeyArguments& arguments) {
  if (arguments.key) set_key(config, *arguments.key, fs::current_path());
  if (arguments.host_key) set_host_key(config, *arguments.host_key, "--host-key");
  if (arguments.jump) set_jump(config, *arguments.jump, "--jump");
}

void add_login_options(cli::Command& command, BoardArguments& arguments) {
  command.add_option({"--config", &arguments.config, "FILE", kConfigHelp});
  command.add_option({"--host", &arguments.host, "USER@IP[:PORT]", kHostHelp});
  add_way_options(command, arguments, kPasswordHelp);
}

void add_board_options(cli::Command& command, BoardArguments& arguments) {
  const std::string several = ". Several times: several boards at the same time";
  cli::Option config = {"--config", &arguments.configs, "FILE", kConfigHelp + several};
  config.one_each = true;
  command.add_option(std::move(config));
  cli::Option host = {"--host", &arguments.hosts, "USER@IP[:PORT],…",
                      kHostHelp + several + ", also with commas between them"};
  host.one_each = true;
  host.takes_lists = true;
  command.add_option(std::move(host));
  add_way_options(command, arguments,
                  std::string(kPasswordHelp) + "; of several boards a line each, in their order");
  add_run_options(command, arguments);
}

void take_one_board(BoardArguments& arguments) {
  std::vector<std::string> hosts;
  for (const std::string& list : arguments.hosts) {
    for (const std::string_view host : split(list, ',')) {
      if (trim(host).empty())
        throw Error(Exit::usage, fmt::format("--host {}: a name is empty", list));
      hosts.emplace_back(trim(host));
    }
  }
  arguments.hosts = std::move(hosts);
  if (arguments.hosts.size() > 1 || arguments.configs.size() > 1) return;
  if (!arguments.hosts.empty()) arguments.host = std::move(arguments.hosts.front());
  if (!arguments.configs.empty()) arguments.config = std::move(arguments.configs.front());
  arguments.hosts.clear();
  arguments.configs.clear();
}

void check_board_arguments(const BoardArguments& arguments, MachineKind kind) {
  const std::string names = board_only_options(arguments);
  if (!arguments.names_board() && !names.empty()) {
    throw Error(Exit::usage,
                fmt::format("{}: this needs a board; give --config FILE or --host user@ip", names));
  }
  if (kind == MachineKind::server) {
    check_server_arguments(arguments);
  } else if (const char* const option = option_of_servers(arguments); option != nullptr) {
    throw Error(
        Exit::usage,
        fmt::format("{} is for servers, whose applications are on CANN: add --cann", option));
  } else if (arguments.no_upload != arguments.remote_dir.has_value()) {
    throw Error(
        Exit::usage,
        "--no-upload and --remote-dir DIR need each other: run what is in DIR on the board");
  }
  for (const auto& [folder, name] : {std::pair(arguments.remote_dir, "--remote-dir"),
                                     std::pair(arguments.remote_output, "--remote-output")}) {
    if (folder && has_control(*folder))
      throw Error(Exit::usage, fmt::format("{} holds control characters", name));
  }
  if (arguments.nfs) check_nfs_share(*arguments.nfs);
  if (arguments.drain + arguments.nfs.has_value() + arguments.sink + arguments.leave > 1) {
    throw Error(
        Exit::usage,
        "--drain, --nfs, --sink and --leave say where the recording goes: give one of them");
  }
  if (arguments.tty && arguments.no_tty) {
    throw Error(Exit::usage, "--tty and --no-tty contradict each other");
  }
  if (arguments.keep && arguments.clean_board) {
    throw Error(Exit::usage, "--keep and --clean-board contradict each other");
  }
  const double reconnect = arguments.reconnect_seconds.value_or(0);
  if (!(reconnect >= 0 && reconnect <= kMaxReconnectSeconds)) {
    throw Error(Exit::usage, fmt::format("--reconnect takes a number of seconds from 0 to {}",
                                         kMaxReconnectSeconds));
  }
}

NamedBoard find_board(const BoardArguments& arguments) {
  LoginResolver resolver(ssh_config_files(arguments.keys.ssh_config));
  NamedBoard board = read_board(arguments, resolver);
  // Report other errors before reading stdin.
  std::optional<Secret> given;
  if (arguments.password_stdin) given = read_password_line(STDIN_FILENO);
  board.config.login.password = password_source(std::move(given), board.config);
  return board;
}

NamedBoard find_board(const BoardArguments& arguments, std::optional<Secret> given,
                      LoginResolver& resolver) {
  NamedBoard board = read_board(arguments, resolver);
  board.config.login.password = password_source(std::move(given), board.config);
  return board;
}

}  // namespace msprof
