// BoardConfig: address and login of a board, from an ini file, from the command line, or both, and
// the source of its password. For the verb.
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
  Secret password;        // of the ini; empty: none there
  std::string board_dir;  // folder of the board for ours; empty: the account's home folder
  std::optional<SshConfigValue> jump;  // jump hosts, as --jump takes them, and where they are said
  // Given by the user, so that ssh's configuration has no say in it.
  bool has_user = false;
  bool has_port = false;
  bool has_host_key = false;
  bool has_connect_timeout = false;
  // What ssh's configuration made of the name that was given, in a sentence; empty: nothing.
  std::string origin;
};

// The text of an ini file: section [ssh_config], keys ip username pwd port (the vendor's manual),
// BOARD_IP USER PASSWORD PORT (its wrapper), key board_dir host_key connect_timeout jump. Section
// and keys in any case; a key without a value is not given. `name` is for messages, which never
// show a value. Throws Error(usage) with the line for what makes no sense. Nothing has to be there:
// see check_login().
BoardConfig parse_board_config(std::string_view text, const std::string& name);

// Reads `file`; warns when others may read it and it holds a password. A relative `key` is looked
// up beside the file, "~/" is the home folder. Throws Error(nothing_to_do) where it cannot be read.
BoardConfig read_board_config(const std::filesystem::path& file);

// One value each, over what `config` has. Throw Error(usage) where it makes no sense; the sentence
// begins with `where`: "--board-dir", "board.ini, line 3".
void set_ip(BoardConfig& config, std::string_view ip, std::string_view where);
void set_user(BoardConfig& config, std::string_view user, std::string_view where);
void set_port(BoardConfig& config, std::string_view port, std::string_view where);
void set_board_dir(BoardConfig& config, std::string_view folder, std::string_view where);
void set_connect_timeout(BoardConfig& config, double seconds, std::string_view where);
void set_host_key(BoardConfig& config, std::string_view policy, std::string_view where);
// "[user@]host[:port],…" or "none".
void set_jump(BoardConfig& config, std::string_view jumps, std::string_view where);
// A relative path begins at `base`, "~/" is the home folder.
void set_key(BoardConfig& config, std::string_view key, const std::filesystem::path& base);
// --host: "user@ip", "user@ip:port", "user@[::1]:port"; "ip" alone where `config`, or ssh's
// configuration, has an account.
void set_host(BoardConfig& config, std::string_view host);

// True for what may be an address or the name of a host.
bool is_host_word(std::string_view text);

// Checks the whole: throws Error(usage) where address or account is missing, naming `source` (the
// ini file, or --host), Error(nothing_to_do) where the key cannot be read.
void check_login(const BoardConfig& config, std::string_view source);

// Takes MSPROF_SSH_PASSWORD out of this process's environment and overwrites its bytes there, so
// that no child sees it. Called before anything is started, also for a run on this machine.
std::optional<Secret> take_password_variable();

// Makes the source of the password, in this order: `given` (--password-stdin), MSPROF_SSH_PASSWORD,
// the ini, a prompt without echo where stderr is a terminal. It asks once and remembers; only what
// was typed is asked for again when it was wrong. The variable is taken as soon as this is called.
// The sources throw Error(interrupted) on Ctrl-C.
SecretSource password_source(std::optional<Secret> given, const BoardConfig& config);

// A prompt alone, for a host that no other password is for.
SecretSource typed_password_source(const SshLogin& login);

// Makes the source of the passphrase of a login's key: a prompt as above.
SecretSource passphrase_source(const std::filesystem::path& key);

// Reads the first line of `fd` without its end, for --password-stdin; what follows is left unread.
// Throws Error(usage) when there is none, or when `fd` is a terminal that would show it.
Secret read_password_line(int fd);

// The keys of one section of an ini file, as inih reads them. Values may be passwords: they are
// kept to the byte (the blanks around them excepted), no message shows one, and they are wiped when
// the section goes.
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
  // Reads section `section` (lower case; any case in the text) of `text`. A line that begins with
  // '#' or ';' is a comment; nothing behind a value is. `name` is for messages. Throws Error(usage)
  // where there is no such section, and with the line for what is no key and value, for bytes that
  // are not text and for lines longer than kMaxLineBytes.
  IniSection(std::string_view text, std::string_view section, const std::string& name);

  const std::deque<IniEntry>& entries() const { return entries_; }

  static constexpr std::size_t kMaxLineBytes = 64 << 10;

 private:
  std::deque<IniEntry> entries_;  // a deque never moves a value and leaves its bytes behind
};

}  // namespace msprof
