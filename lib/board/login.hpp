// LoginResolver: a login as ssh(1) would make it of a name: what was given on the command line and
// in the ini, then ssh's configuration, then defaults; with the logins of the jump hosts on the
// way. For the verbs that go to a host.
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

#include "board/config.hpp"
#include "ssh/ssh_config.hpp"

namespace msprof {

// The files that ssh reads, or `option` alone (--ssh-config FILE); "none": no file.
SshConfigFiles ssh_config_files(const std::optional<std::string>& option);

class LoginResolver {
 public:
  explicit LoginResolver(SshConfigFiles files);
  LoginResolver(const LoginResolver&) = delete;
  LoginResolver& operator=(const LoginResolver&) = delete;

  // Completes the login of `config`, whose host may be a name that ssh's configuration has; its
  // password is left to the caller. Questions for secrets remember their answers, also over several
  // hosts. Throws Error(usage) as read_ssh_config(), where a ProxyCommand would be needed, and for
  // jump hosts that go in a circle.
  void resolve(BoardConfig& config);

 private:
  void resolve(BoardConfig& config, int depth);
  void take_keys(BoardConfig& config, const SshHostConfig& found, const SshTokens& tokens) const;
  std::optional<SshConfigValue> way_of(const BoardConfig& config, const SshHostConfig& found,
                                       const SshTokens& tokens) const;
  void add_jumps(BoardConfig& config, const SshConfigValue& way, int depth);
  SshLogin jump_login(const SshJump& jump, const BoardConfig& target, bool is_first, int depth);
  void explain(BoardConfig& config, const SshHostConfig& found, const std::string& given);

  SshConfigFiles files_;
  std::shared_ptr<RunHosts> run_hosts_;  // of all hosts: several may be reached over one
  std::set<std::string> noted_;
  std::map<std::string, SecretSource> passwords_;  // of jump hosts, by name
  std::function<SecretSource(const std::filesystem::path& key)> passphrases_;
};

}  // namespace msprof
