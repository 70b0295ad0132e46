// BoardConfig: address and login of a board, from an ini file, the command line, or both, and the
// source of its password. Used by the verb.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ssh/secret.hpp"
#include "ssh/ssh_connection.hpp"
#include "ssh/ssh_values.hpp"

namespace msprof {

struct BoardConfig {
  SshLogin login;         // without a password source
  Secret password;        // from the ini file; empty: none
  std::string board_dir;  // parent of msprof's folder on the board; empty: the account's home
                          // folder
  std::optional<SshConfigValue> jump;  // jump hosts in the form of --jump, and where they were
                                       // given
  // True if the user gave the value, which then overrides ssh's configuration.
  bool has_user = false;
  bool has_port = false;
  bool has_host_key = false;
  bool has_connect_timeout = false;
  // Describes the settings from ssh's configuration, in a sentence; empty: none.
  std::string origin;
};

// Parses the text of an ini file: section [ssh_config], keys ip username pwd port (the vendor's
// manual), BOARD_IP USER PASSWORD PORT (the vendor's wrapper), key board_dir host_key
// connect_timeout jump. Section and keys are case-insensitive; a key without a value counts as
// absent. `name` is for messages, which never contain a value. Throws Error(usage) with the line
// number for invalid input. Every key is optional: see check_login().
BoardConfig parse_board_config(std::string_view text, const std::string& name);

// Reads `file`; warns if it holds a password and others may read it. A relative `key` is resolved
// against the folder of the file; "~/" is the home folder. Throws Error(nothing_to_do) if the file
// cannot be read.
BoardConfig read_board_config(const std::filesystem::path& file);

// Each sets one value, replacing the one in `config`. Throw Error(usage) for an invalid value; the
// message starts with `where`: "--board-dir", "board.ini, line 3".
void set_ip(BoardConfig& config, std::string_view ip, std::string_view where);
void set_user(BoardConfig& config, std::string_view user, std::string_view where);
void set_port(BoardConfig& config, std::string_view port, std::string_view where);
void set_board_dir(BoardConfig& config, std::string_view folder, std::string_view where);
void set_connect_timeout(BoardConfig& config, double seconds, std::string_view where);
void set_host_key(BoardConfig& config, std::string_view policy, std::string_view where);
// "[user@]host[:port],…" or "none".
void set_jump(BoardConfig& config, std::string_view jumps, std::string_view where);
// A relative path is resolved against `base`; "~/" is the home folder.
void set_key(BoardConfig& config, std::string_view key, const std::filesystem::path& base);
// Parses --host: "user@ip", "user@ip:port", "user@[::1]:port"; also "ip" if `config` or ssh's
// configuration has an account.
void set_host(BoardConfig& config, std::string_view host);

// Returns true if `text` contains control characters of ASCII.
bool has_control(std::string_view text);

// Returns true if `text` can be an address or a host name.
bool is_host_word(std::string_view text);

// Checks the complete login: throws Error(usage) if the address or account is missing, naming
// `source` (the ini file, or --host), and Error(nothing_to_do) if the key cannot be read.
void check_login(const BoardConfig& config, std::string_view source);

// Removes MSPROF_SSH_PASSWORD from this process's environment and overwrites its bytes, so that no
// child process sees it. Must be called before any process is started, including local runs.
std::optional<Secret> take_password_variable();

// Returns the source of the password. It tries, in this order: `given` (--password-stdin),
// MSPROF_SSH_PASSWORD, the ini file, a prompt without echo if stderr is a terminal. The password is
// remembered; only a typed one is requested again if it was wrong. Calling this function removes
// the variable from the environment. The sources throw Error(interrupted) on Ctrl-C.
SecretSource password_source(std::optional<Secret> given, const BoardConfig& config);

// Returns a source that only prompts, for a host without any configured password.
SecretSource typed_password_source(const SshLogin& login);

// Returns the source of the passphrase of a login key: a prompt without echo.
SecretSource passphrase_source(const std::filesystem::path& key);

// Reads the first line of `fd`, without the line end, for --password-stdin; leaves the rest unread.
// Throws Error(usage) if there is no line, or if `fd` is a terminal that would echo it.
Secret read_password_line(int fd);

// The keys of one section of an ini file, parsed by inih. Values may be passwords: they are kept
// unchanged except for surrounding blanks, never appear in a message, and are wiped when the
// section is destroyed.
struct IniEntry {
  IniEntry() = default;
  ~IniEntry() { wipe(value); }
  IniEntry(const IniEntry&) = delete;
  IniEntry& operator=(const IniEntry&) = delete;

  std::string key;  // lower case
  std::string value;
  int line = 0;  // from 1
};

class IniSection {
 public:
  // Reads section `section` (lower case; case-insensitive in the text) of `text`. Lines that start
  // with '#' or ';' are comments; there are no comments after a value. `name` is for messages.
  // Throws Error(usage) if the section is missing, and with the line number for a line that is not
  // a key and a value, for invalid text and for lines longer than kMaxLineBytes.
  IniSection(std::string_view text, std::string_view section, const std::string& name);

  const std::deque<IniEntry>& entries() const { return entries_; }

  static constexpr std::size_t kMaxLineBytes = 64 << 10;

 private:
  std::deque<IniEntry> entries_;  // deque: growth must not leave copies of secrets in freed memory
};

}  // namespace msprof
