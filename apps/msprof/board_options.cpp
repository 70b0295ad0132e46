#include "msprof/board_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

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
      {arguments.run.keep, "--keep"},
      {arguments.run.no_cache, "--no-cache"},
      {arguments.run.clean_board, "--clean-board"},
      {arguments.no_upload, "--no-upload"},
      {arguments.remote_dir.has_value(), "--remote-dir"},
      {arguments.run.force, "--force"},
      {arguments.tty, "--tty"},
      {arguments.no_tty, "--no-tty"},
      {arguments.upload, "--upload"},
      {arguments.run.leave.on, "--leave"},
      {arguments.run.drain.on, "--drain"},
      {!arguments.run.nfs.empty(), "--nfs"},
      {!arguments.run.leave.folder.empty(), "--remote-output"},
  };
  std::string names;
  for (const auto& [given, name] : options) {
    if (given) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

const char* find_server_option(const BoardArguments& arguments) {
  if (arguments.upload) return "--upload";
  if (arguments.run.leave.on) return "--leave";
  return arguments.run.leave.folder.empty() ? nullptr : "--remote-output";
}

void check_server_arguments(const BoardArguments& arguments) {
  const auto refuse = [](bool wrong, const char* sentence) {
    if (wrong) throw Error(Exit::usage, sentence);
  };
  refuse(arguments.upload && arguments.no_upload, "--upload and --no-upload cannot be combined");
  refuse(arguments.upload && arguments.remote_dir,
         "--upload runs a copy of a local project, --remote-dir runs files already on the server: "
         "give only one");
  refuse(!arguments.run.leave.folder.empty() && !arguments.run.leave.on,
         "--remote-output needs --leave: it sets where --leave puts the raw data");
  refuse(arguments.run.leave.on && arguments.run.keep, "--leave and --keep cannot be combined");
  refuse(arguments.run.leave.on && arguments.run.clean_board && arguments.run.leave.folder.empty(),
         "--clean-board would delete the data kept by --leave: add --remote-output DIR, or give "
         "only one of them");
}

void add_run_options(cli::Command& command, BoardArguments& arguments) {
  command.add_option({"--reconnect", &arguments.reconnect_seconds, "S",
                      "seconds to retry after the connection is lost (default 30; 0: never)"});
  command.add_option(
      {"--keep", &arguments.run.keep, "", "keep the run folder on the board and print its path"});
  command.add_option({"--no-cache", &arguments.run.no_cache, "",
                      "upload the whole project and keep no copy of it on the board"});
  command.add_option({"--clean-board", &arguments.run.clean_board, "",
                      "remove msprof's files from the board (after the run if -m is given); "
                      "refused if they include results that were never fetched"});
  command.add_option({"--no-upload", &arguments.no_upload, "",
                      "run the project that is already on the board, in --remote-dir"});
  command.add_option({"--remote-dir", &arguments.remote_dir, "DIR",
                      "project folder on the board, for --no-upload; with --cann: working folder "
                      "on the server (default: home folder)"});
  command.add_option({"--upload", &arguments.upload, "",
                      "with --cann: copy the project to the server and run the copy (default: run "
                      "the files on the server)"});
  command.add_option({"--leave", &arguments.run.leave.on, "",
                      "with --cann: keep the raw data on the server and import there if it has "
                      "msprof; --all fetches the products"});
  command.add_option({"--remote-output", &arguments.run.leave.folder, "DIR",
                      "with --leave: folder for the raw data on the server, absolute or relative "
                      "to the home folder (default: msprof/kept)"});
  command.add_option({"--drain", &arguments.run.drain.on, "",
                      "for small disks: download the recording during the run, over a second "
                      "connection, and free its space on the board"});
  command.add_option({"--nfs", &arguments.run.nfs, "SERVER:/PATH",
                      "for small disks: mount this NFS folder on the board during the run and "
                      "record into it; the account must be allowed to mount"});
  command.add_option({"--tty", &arguments.tty, "",
                      "run the application on a terminal, like ssh -t: output appears at once, "
                      "with stdout and stderr combined (default if stdin, stdout and stderr are "
                      "terminals, except with --json or --password-stdin)"});
  command.add_option({"--no-tty", &arguments.no_tty, "",
                      "no terminal: stdout and stderr stay separate and appear when flushed"});
  command.add_option({"--force", &arguments.run.force, "",
                      "use the board even if another run appears to use it; with --clean-board: "
                      "also delete results that were never fetched"});
}

constexpr const char* kConfigHelp =
    "board settings: ini file with section [ssh_config], keys ip, username, pwd, port, key, "
    "board_dir, host_key, connect_timeout, jump";
constexpr const char* kHostHelp =
    "board address; HOST may be an alias from ~/.ssh/config. --config is not required";
constexpr const char* kPasswordHelp =
    "read the password from the first line of stdin (otherwise: MSPROF_SSH_PASSWORD, pwd of the "
    "ini file, or a prompt)";

void add_way_options(cli::Command& command, BoardArguments& arguments,
                     const std::string& password_help) {
  add_key_options(command, arguments.keys);
  command.add_option({"--password-stdin", &arguments.password_stdin, "", password_help});
  command.add_option({"--connect-timeout", &arguments.connect_timeout_seconds, "S",
                      "connection timeout in seconds, 0.1 to 3600 (default 10)"});
  command.add_option({"--board-dir", &arguments.board_dir, "DIR",
                      "folder on the board that contains msprof/, absolute or relative to the home "
                      "folder (default: home folder)"});
}

}  // namespace

void add_key_options(cli::Command& command, KeyArguments& arguments) {
  command.add_option({"--jump", &arguments.jump, "HOST,…",
                      "jump hosts, as for ssh -J: [USER@]HOST[:PORT], comma-separated; none: "
                      "ignore ProxyJump in the SSH configuration"});
  command.add_option(
      {"--ssh-config", &arguments.ssh_config, "FILE",
       "SSH configuration file (default: ~/.ssh/config and /etc/ssh/ssh_config; none: no file)"});
  command.add_option({"--key", &arguments.key, "FILE",
                      "private key for the login, in addition to other keys and ssh-agent; prompts "
                      "for a passphrase if needed"});
  command.add_option({"--host-key",
                      &arguments.host_key,
                      "POLICY",
                      "unknown host keys: strict = ask, or fail without a terminal (default); "
                      "accept-new = accept and remember; off = check no key",
                      {"strict", "accept-new", "off"}});
}

void complete_login(BoardConfig& config, const KeyArguments& arguments, LoginResolver& resolver,
                    std::string_view source) {
  if (arguments.key) set_key(config, *arguments.key, fs::current_path());
  if (arguments.host_key) set_host_key(config, *arguments.host_key, "--host-key");
  if (arguments.jump) set_jump(config, *arguments.jump, "--jump");
  resolver.resolve(config);
  check_login(config, source);
}

void add_login_options(cli::Command& command, BoardArguments& arguments) {
  command.add_option({"--config", &arguments.config, "FILE", kConfigHelp});
  command.add_option({"--host", &arguments.host, "USER@IP[:PORT]", kHostHelp});
  add_way_options(command, arguments, kPasswordHelp);
}

void add_board_options(cli::Command& command, BoardArguments& arguments) {
  const std::string several = ". Can be repeated, to run on several boards at once";
  cli::Option config = {"--config", &arguments.configs, "FILE", kConfigHelp + several};
  config.takes_one_each = true;
  command.add_option(std::move(config));
  cli::Option host = {"--host", &arguments.hosts, "USER@IP[:PORT],…",
                      kHostHelp + several + ", or comma-separated"};
  host.takes_one_each = true;
  host.takes_lists = true;
  command.add_option(std::move(host));
  add_way_options(command, arguments,
                  std::string(kPasswordHelp) + "; for several boards, one line each, in order");
  add_run_options(command, arguments);
}

void take_one_board(BoardArguments& arguments) {
  std::vector<std::string> hosts;
  for (const std::string& list : arguments.hosts) {
    for (const std::string_view host : split(list, ',')) {
      if (trim(host).empty())
        throw Error(Exit::usage, fmt::format("--host {}: empty host name", list));
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
                fmt::format("{} needs a board: add --config FILE or --host user@ip", names));
  }
  if (kind == MachineKind::server) {
    check_server_arguments(arguments);
  } else if (const char* const option = find_server_option(arguments); option != nullptr) {
    throw Error(Exit::usage, fmt::format("{} is for CANN servers: add --cann", option));
  } else if (arguments.no_upload != arguments.remote_dir.has_value()) {
    throw Error(Exit::usage,
                "--no-upload and --remote-dir DIR must be given together: DIR is the folder on the "
                "board to run in");
  }
  for (const auto& [folder, name] : {std::pair(arguments.remote_dir.value_or(""), "--remote-dir"),
                                     std::pair(arguments.run.leave.folder, "--remote-output")}) {
    if (has_control(folder))
      throw Error(Exit::usage, fmt::format("{} contains control characters", name));
  }
  if (!arguments.run.nfs.empty()) check_nfs_share(arguments.run.nfs);
  if (arguments.run.drain.on + !arguments.run.nfs.empty() + arguments.run.leave.on > 1) {
    throw Error(Exit::usage,
                "--drain, --nfs and --leave cannot be combined: each sets where the recording is "
                "stored");
  }
  if (arguments.tty && arguments.no_tty) {
    throw Error(Exit::usage, "--tty and --no-tty cannot be combined");
  }
  if (arguments.run.keep && arguments.run.clean_board) {
    throw Error(Exit::usage, "--keep and --clean-board cannot be combined");
  }
  const double reconnect = arguments.reconnect_seconds.value_or(0);
  if (!(reconnect >= 0 && reconnect <= kMaxReconnectSeconds)) {
    throw Error(Exit::usage, fmt::format("--reconnect: expected 0 to {} seconds, got {}",
                                         kMaxReconnectSeconds, reconnect));
  }
}

NamedBoard read_board(const BoardArguments& arguments, LoginResolver& resolver) {
  NamedBoard board;
  BoardConfig& config = board.config;
  if (arguments.config) {
    config = read_board_config(*arguments.config);
    board.private_files.push_back(fs::absolute(*arguments.config));
  }
  if (arguments.host) set_host(config, *arguments.host);
  if (arguments.board_dir) set_board_dir(config, *arguments.board_dir, "--board-dir");
  if (arguments.connect_timeout_seconds) {
    set_connect_timeout(config, *arguments.connect_timeout_seconds, "--connect-timeout");
  }
  complete_login(config, arguments.keys, resolver, arguments.config.value_or("--host"));
  if (!config.login.key.empty()) board.private_files.push_back(config.login.key);
  board.private_files.insert(board.private_files.end(), config.login.more_keys.begin(),
                             config.login.more_keys.end());
  if (!config.origin.empty()) log::verbose("{}", config.origin);

  board.options = arguments.run;
  if (arguments.reconnect_seconds) board.options.reconnect_seconds = *arguments.reconnect_seconds;
  return board;
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

}  // namespace msprof
