#include "board/session/login.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/host_name.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ssh/run_hosts.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxJumps = 8;

bool is_none(const std::string& text) {
  return lower_ascii(text) == "none";
}

std::function<SecretSource(const fs::path&)> remembered_passphrases() {
  auto sources = std::make_shared<std::map<fs::path, SecretSource>>();
  return [sources](const fs::path& key) {
    const auto known = sources->find(key);
    if (known != sources->end()) return known->second;
    return sources->emplace(key, passphrase_source(key)).first->second;
  };
}

// A `Host *` block with a jump host also matches that jump host, which must not use itself.
bool leads_to_itself(const std::vector<SshJump>& jumps, const std::string& given,
                     std::uint16_t port) {
  return std::any_of(jumps.begin(), jumps.end(), [&](const SshJump& jump) {
    return lower_ascii(jump.host) == lower_ascii(given) && (jump.port == 0 || jump.port == port);
  });
}

}  // namespace

SshConfigFiles ssh_config_files(const std::optional<std::string>& option) {
  SshConfigFiles files;
  files.home = own_home_folder();
  files.is_explicit = option.has_value();
  if (!option) {
    files.user = files.home / ".ssh/config";
    files.system = "/etc/ssh/ssh_config";
  } else if (!is_none(*option)) {
    files.user = fs::absolute(*option);
  }
  return files;
}

LoginResolver::LoginResolver(SshConfigFiles files)
    : files_(std::move(files)),
      run_hosts_(std::make_shared<RunHosts>()),
      passphrases_(remembered_passphrases()) {}

void LoginResolver::resolve(BoardConfig& config) {
  resolve(config, 0);
}

void LoginResolver::resolve(BoardConfig& config, int depth) {
  SshLogin& login = config.login;
  login.passphrase = passphrases_;
  login.run_hosts = run_hosts_;
  const std::string given = login.host;
  if (given.empty()) return;
  const SshHostConfig found = read_ssh_config(given, files_);
  for (const std::string& note : found.notes) {
    if (noted_.insert(note).second) log::info("{}", note);
  }
  if (found.port && !config.has_port) login.port = *found.port;
  if (found.user && !config.has_user) {
    set_user(config, found.user->text, found.user->where + ": User");
  }
  if (login.user.empty() && found.is_named) login.user = own_account_name();
  SshTokens tokens = {.host = given,
                      .original = given,
                      .key_name = {},
                      .port = login.port,
                      .user = login.user,
                      .home = files_.home};
  if (found.host_name) {
    login.host = expand_ssh_tokens(*found.host_name, tokens);
    if (!is_host_word(login.host)) {
      refuse_ssh_value(found.host_name->where, "HostName is neither an address nor a host name");
    }
    tokens.host = login.host;
  }
  if (found.host_key && !config.has_host_key) login.host_key = *found.host_key;
  if (found.connect_timeout_seconds && !config.has_connect_timeout) {
    login.connect_timeout_seconds = *found.connect_timeout_seconds;
  }
  if (found.host_key_alias) {
    login.host_key_alias = expand_ssh_tokens(*found.host_key_alias, tokens);
    tokens.key_name = login.host_key_alias;
  }
  for (const SshConfigValue& file : found.known_hosts) {
    login.known_hosts.push_back(is_none(file.text) ? fs::path("/dev/null")
                                                   : expand_ssh_path(file, tokens));
  }
  take_keys(config, found, tokens);
  if (found.is_named) login.alias = given;
  if (const auto way = find_jump_hosts(config, found, tokens)) add_jumps(config, *way, depth);
  if (files_.is_explicit) {
    login.ssh_options =
        fmt::format("-F {} ", files_.user.empty() ? "none" : shell_word(files_.user.string()));
  }
  if (config.jump && !is_none(config.jump->text)) {
    login.ssh_options += fmt::format("-J {} ", shell_word(config.jump->text));
  }
  explain(config, found, given);
}

void LoginResolver::take_keys(BoardConfig& config, const SshHostConfig& found,
                              const SshTokens& tokens) const {
  SshLogin& login = config.login;
  for (const SshConfigValue& file : found.identity_files) {
    if (!is_none(file.text)) login.more_keys.push_back(expand_ssh_path(file, tokens));
  }
  for (const SshConfigValue& file : found.certificate_files) {
    if (!is_none(file.text)) login.certificates.push_back(expand_ssh_path(file, tokens));
  }
  const bool only = found.uses_identities_only.value_or(false);
  login.uses_agent = !only;
  // Like ssh: the default keys are tried only if no key is configured.
  login.uses_default_keys = found.identity_files.empty() && !(only && !login.key.empty());
}

// Returns the jump hosts for `config` with their tokens expanded; empty if there are none.
std::optional<SshConfigValue> LoginResolver::find_jump_hosts(const BoardConfig& config,
                                                             const SshHostConfig& found,
                                                             const SshTokens& tokens) const {
  if (config.jump) return config.jump;
  if (found.proxy_jump) {
    SshConfigValue way = *found.proxy_jump;
    way.text = expand_ssh_tokens(way, tokens);
    way.where += ": ProxyJump";
    return way;
  }
  if (!found.proxy_command || is_none(found.proxy_command->text)) return std::nullopt;
  refuse_ssh_value(found.proxy_command->where,
                   fmt::format("{} has a ProxyCommand, which msprof does not run because its "
                               "arguments can come from outside. Use ProxyJump instead, or add "
                               "--jump HOST (--jump none: connect without a jump host)",
                               tokens.original));
}

void LoginResolver::add_jumps(BoardConfig& config, const SshConfigValue& way, int depth) {
  const std::vector<SshJump> jumps = parse_ssh_jumps(way.text, way.where);
  const std::string& given = config.login.shown_host();
  if (!config.jump && leads_to_itself(jumps, given, config.login.port)) return;
  std::vector<SshLogin>& logins = config.login.jumps;
  for (const SshJump& jump : jumps) {
    SshLogin login =
        depth < kMaxJumps ? jump_login(jump, config, logins.empty(), depth + 1) : SshLogin();
    std::vector<SshLogin> before = std::move(login.jumps);
    login.jumps.clear();
    for (SshLogin& one : before) logins.push_back(std::move(one));
    logins.push_back(std::move(login));
    if (depth >= kMaxJumps || logins.size() > kMaxJumps) {
      refuse_ssh_value(way.where,
                       fmt::format("more than {1} jump hosts on the way to {0}; is there a loop?",
                                   given, kMaxJumps));
    }
  }
}

// A jump host has a separate login: it never gets the password or key of the board, and its host
// key is checked even if the board's is not.
SshLogin LoginResolver::jump_login(const SshJump& jump, const BoardConfig& target, bool is_first,
                                   int depth) {
  BoardConfig config;
  config.login.role = "jump host";
  config.login.own_ways =
      "a key that it accepts (IdentityFile in the SSH configuration, an agent), or its password, "
      "entered on the terminal";
  config.login.host = jump.host;
  config.login.ssh_folder = target.login.ssh_folder;
  if (!jump.user.empty()) set_user(config, jump.user, "jump host");
  config.has_port = jump.port != 0;
  if (config.has_port) config.login.port = jump.port;
  if (target.has_host_key && target.login.host_key == HostKeyPolicy::accept_new) {
    config.login.host_key = HostKeyPolicy::accept_new;
    config.has_host_key = true;
  }
  config.has_connect_timeout = target.has_connect_timeout;
  if (config.has_connect_timeout) {
    config.login.connect_timeout_seconds = target.login.connect_timeout_seconds;
  }
  // Later jump hosts are reached over the first; their own ProxyJump settings are ignored.
  if (!is_first) config.jump = SshConfigValue{"none", {}};
  resolve(config, depth);
  SshLogin& login = config.login;
  if (login.user.empty()) login.user = own_account_name();
  const auto known = passwords_.find(login.name());
  login.password =
      known != passwords_.end()
          ? known->second
          : passwords_.emplace(login.name(), typed_password_source(login)).first->second;
  return std::move(login);
}

void LoginResolver::explain(BoardConfig& config, const SshHostConfig& found,
                            const std::string& given) {
  const SshLogin& login = config.login;
  if (found.taken.empty() && login.jumps.empty()) return;
  config.origin = fmt::format("{} is {} port {}, account {}", given, login.host, login.port,
                              login.user.empty() ? "not set" : login.user);
  if (!login.jumps.empty()) config.origin += ", over " + login.way();
  if (!found.taken.empty()) {
    config.origin += fmt::format("; from the SSH configuration: {}", fmt::join(found.taken, ", "));
  }
}

}  // namespace msprof
