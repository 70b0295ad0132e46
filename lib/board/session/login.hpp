// LoginResolver: resolves the login for a host name like ssh(1), including the logins of jump
// hosts: first from the command line and the ini file, then ssh's configuration, then defaults.
// Used by the verbs that connect to a host.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/config.hpp"
#include "ssh/ssh_config.hpp"

namespace msprof {

// Returns the files that ssh reads, or only `option` (--ssh-config FILE); "none": no file.
SshConfigFiles ssh_config_files(const std::optional<std::string>& option);

class LoginResolver {
 public:
  explicit LoginResolver(SshConfigFiles files);
  LoginResolver(const LoginResolver&) = delete;
  LoginResolver& operator=(const LoginResolver&) = delete;

  // Completes the login of `config`, whose host may be an alias in ssh's configuration; the caller
  // adds the password. Answers to prompts are remembered, also across hosts. Throws Error(usage)
  // like read_ssh_config(), for a required ProxyCommand, and for circular jump hosts.
  void resolve(BoardConfig& config);

 private:
  void resolve(BoardConfig& config, int depth);
  void take_keys(BoardConfig& config, const SshHostConfig& found, const SshTokens& tokens) const;
  std::optional<SshConfigValue> find_jump_hosts(const BoardConfig& config,
                                                const SshHostConfig& found,
                                                const SshTokens& tokens) const;
  void add_jumps(BoardConfig& config, const SshConfigValue& way, int depth);
  SshLogin jump_login(const SshJump& jump, const BoardConfig& target, bool is_first, int depth);
  void explain(BoardConfig& config, const SshHostConfig& found, const std::string& given);

  SshConfigFiles files_;
  std::shared_ptr<RunHosts> run_hosts_;  // shared by all hosts, which may have a common jump host
  std::set<std::string> noted_;
  std::map<std::string, SecretSource> passwords_;  // of jump hosts, by name
  std::function<SecretSource(const std::filesystem::path& key)> passphrases_;
};

}  // namespace msprof
