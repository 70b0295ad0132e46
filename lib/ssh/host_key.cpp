#include "ssh/host_key.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <new>
#include <optional>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "ssh/deadline.hpp"
#include "ssh/ssh_session.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

// Copies a string that libssh allocated, and frees the original.
std::string taken(char* text) {
  if (text == nullptr) throw std::bad_alloc();
  std::string result = text;
  ssh_string_free_char(text);
  return result;
}

HostKey describe(ssh_key key) {
  HostKey result;
  result.type = ssh_key_type_to_char(ssh_key_type(key));
  char* base64 = nullptr;
  if (ssh_pki_export_pubkey_base64(key, &base64) != SSH_OK) throw std::bad_alloc();
  result.base64 = taken(base64);
  unsigned char* hash = nullptr;
  std::size_t length = 0;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) != 0) {
    throw std::bad_alloc();
  }
  char* fingerprint = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length);
  ssh_clean_pubkey_hash(&hash);
  result.fingerprint = taken(fingerprint);
  return result;
}

constexpr std::string_view kRevoked = "@revoked ";

// Returns the key of a line if the line matches `name`.
std::optional<HostKey> parse_key_line(const std::string& name, const std::string& line) {
  ssh_knownhosts_entry* entry = nullptr;
  if (ssh_known_hosts_parse_line(name.c_str(), line.c_str(), &entry) != SSH_OK) return {};
  std::optional<HostKey> key;
  if (entry->publickey != nullptr) key = describe(entry->publickey);
  ssh_knownhosts_entry_free(entry);
  return key;
}

std::string tidy(std::string line) {
  std::replace(line.begin(), line.end(), '\t', ' ');
  return std::string(trim(line));
}

std::vector<KnownHostKey> read_known_hosts(const std::string& name, const fs::path& file) {
  std::vector<KnownHostKey> keys;
  errno = 0;
  std::ifstream stream(file);
  // Not treated as an unknown host: that would accept a changed key.
  if (!stream && errno != ENOENT && errno != ENOTDIR)
    throw Error(Exit::partial_data,
                fmt::format("cannot read {}: {}", file.string(), errno_text(errno)));
  std::string text;
  for (std::size_t number = 1; std::getline(stream, text); ++number) {
    std::string line = tidy(text);
    const bool is_revoked = line.starts_with(kRevoked);
    if (is_revoked) line = trim(std::string_view(line).substr(kRevoked.size()));
    if (line.empty() || line.front() == '#' || line.front() == '@') continue;
    if (const auto key = parse_key_line(name, line))
      keys.push_back({*key, file, number, is_revoked});
  }
  return keys;
}

// Returns true if the file does not end with a line end.
bool ends_open(int fd) {
  struct stat status = {};
  char last = '\n';
  if (::fstat(fd, &status) != 0 || status.st_size == 0) return false;
  return ::pread(fd, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

// Maps rsa-sha2-* to ssh-rsa: a key of type ssh-rsa also signs with these algorithms.
std::string_view key_type(std::string_view algorithm) {
  return algorithm.starts_with("rsa-sha2-") ? "ssh-rsa" : algorithm;
}

std::vector<std::filesystem::path> known_hosts_files(const SshLogin& login, bool with_system) {
  if (login.host_key == HostKeyPolicy::off) return {};
  if (!login.known_hosts.empty()) return login.known_hosts;
  std::vector<std::filesystem::path> files = {login.ssh_folder / "known_hosts"};
  if (with_system) {
    files.push_back(login.ssh_folder / "known_hosts2");
    files.push_back("/etc/ssh/ssh_known_hosts");
  }
  return files;
}

HostKey presented_key(const SshSession& session) {
  ssh_key key = nullptr;
  if (ssh_get_server_publickey(session.get(), &key) != SSH_OK) {
    throw ConnectFailure(ConnectFailure::Why::host_key,
                         fmt::format("the host did not present a host key: {}", session.error()));
  }
  HostKey result = describe(key);
  ssh_key_free(key);
  return result;
}

// Reads a typed line, without the line end; empty at the end of the input. Polls for a Ctrl-C that
// arrived just before the wait.
std::string read_answer(int fd) {
  std::string line;
  while (line.size() < 256) {
    interrupt::check();
    pollfd entry = {fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, kInterruptPollMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    char byte = 0;
    const ssize_t count = ::read(fd, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || byte == '\n') break;
    line += byte;
  }
  interrupt::check();
  return std::string(trim(line));
}

void say(const std::string& text) {
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

// Same lookup as ssh(1): an alias has no port.
std::string known_host_name(const SshLogin& login) {
  if (!login.host_key_alias.empty()) return lower_ascii(login.host_key_alias);
  const std::string name = lower_ascii(login.host);
  return login.port == 22 ? name : fmt::format("[{}]:{}", name, login.port);
}

KnownHosts::KnownHosts(const std::string& name, std::vector<fs::path> files)
    : name_(lower_ascii(name)), files_(std::move(files)) {
  for (const fs::path& file : files_) {
    for (auto& key : read_known_hosts(name_, file)) keys_.push_back(std::move(key));
  }
}

int KnownHosts::remember(const HostKey& key) const {
  const fs::path& file = files_.front();
  const fs::path folder = file.parent_path();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return errno;
  const FileDescriptor fd(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) return errno;
  // The lock serializes msprof processes; a single appending write is atomic for all others.
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return errno;
  }
  const auto now = read_known_hosts(name_, file);
  const bool is_there = std::any_of(now.begin(), now.end(), [&](const KnownHostKey& known) {
    return !known.is_revoked && known.key.base64 == key.base64;
  });
  if (is_there) return 0;
  const std::string line =
      fmt::format("{}{} {} {}\n", ends_open(fd.get()) ? "\n" : "", name_, key.type, key.base64);
  const ssize_t count = ::write(fd.get(), line.data(), line.size());
  if (count == static_cast<ssize_t>(line.size())) return 0;
  return count < 0 ? errno : ENOSPC;
}

HostKeyCheck::HostKeyCheck(const SshLogin& login, bool with_system, std::optional<HostKey> accepted)
    : login_(login),
      known_(known_host_name(login), known_hosts_files(login, with_system)),
      file_(login.known_hosts.empty() ? login.ssh_folder / "known_hosts"
                                      : login.known_hosts.front()),
      accepted_(std::move(accepted)) {}

bool HostKeyCheck::is_expected(std::string_view type) const {
  if (accepted_) return accepted_->type == type;
  return std::any_of(known_.keys().begin(), known_.keys().end(), [&](const KnownHostKey& known) {
    return !known.is_revoked && known.key.type == type;
  });
}

std::string HostKeyCheck::preferred_types() const {
  std::string first;
  std::string rest;
  for (const std::string_view algorithm : kKeyTypes) {
    std::string& list = is_expected(key_type(algorithm)) ? first : rest;
    list += (list.empty() ? "" : ",") + std::string(algorithm);
  }
  return first.empty() || rest.empty() ? first + rest : first + "," + rest;
}

HostKey HostKeyCheck::check(const SshSession& session) const {
  HostKey presented = presented_key(session);
  if (accepted_) {
    if (accepted_->base64 != presented.base64) throw_changed_in_run(presented);
    return presented;
  }
  if (login_.host_key == HostKeyPolicy::off) return presented;
  bool is_known = false;
  for (const KnownHostKey& known : known_.keys()) {
    if (known.key.base64 != presented.base64) continue;
    if (known.is_revoked) {
      throw ConnectFailure(ConnectFailure::Why::host_key,
                           fmt::format("{}: its host key {} ({}) is marked as revoked in {}, line "
                                       "{}; no data was sent to it",
                                       login_.name(), presented.fingerprint, presented.type,
                                       known.file.string(), known.line));
    }
    is_known = true;
  }
  if (is_known) return presented;
  const bool has_other = std::any_of(known_.keys().begin(), known_.keys().end(),
                                     [](const auto& known) { return !known.is_revoked; });
  if (has_other) throw_changed(presented);
  take_unknown(presented);
  return presented;
}

void HostKeyCheck::take_unknown(const HostKey& presented) const {
  if (login_.host_key != HostKeyPolicy::accept_new) {
    const bool can_ask = login_.host_key == HostKeyPolicy::strict && ::isatty(STDIN_FILENO) != 0 &&
                         ::isatty(STDERR_FILENO) != 0;
    if (!can_ask || !ask(presented)) throw_unknown(presented);
  }
  remember(presented);
}

void HostKeyCheck::remember(const HostKey& presented) const {
  if (file_ == "/dev/null") return;
  if (const int error = known_.remember(presented); error != 0) {
    log::warn(
        "the host key of {} could not be added to {}: {}; it will be unknown at the next "
        "connection",
        known_.name(), file_.string(), errno_text(error));
    return;
  }
  log::info("the host key of {} was added to {}: {} ({})", known_.name(), file_.string(),
            presented.fingerprint, presented.type);
}

bool HostKeyCheck::ask(const HostKey& presented) const {
  FileDescriptor terminal(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  const int fd = terminal ? terminal.get() : STDIN_FILENO;
  Progress::clear_line();
  say(printable(fmt::format("{}: unknown host key: {} ({})", login_.name(), presented.fingerprint,
                            presented.type)) +
      "\n");
  for (int i = 0; i < 3; ++i) {
    say(fmt::format("Is this the {}'s key? Accept and remember it? (yes/no) ", login_.role));
    const std::string answer = read_answer(fd);
    if (lower_ascii(answer) == "yes" || answer == presented.fingerprint) return true;
    if (answer.empty() || lower_ascii(answer) == "no") return false;
  }
  return false;
}

void HostKeyCheck::throw_unknown(const HostKey& presented) const {
  throw ConnectFailure(
      ConnectFailure::Why::host_key,
      fmt::format("{}: unknown host key: {} ({}); if it is the {}'s key, add --host-key accept-new "
                  "once, or connect with ssh and answer yes",
                  login_.name(), presented.fingerprint, presented.type, login_.role));
}

void HostKeyCheck::throw_changed(const HostKey& presented) const {
  std::string list;
  std::filesystem::path file;
  for (const KnownHostKey& known : known_.keys()) {
    if (known.is_revoked) continue;
    if (file.empty()) file = known.file;
    list += fmt::format("{}{} ({}) in {}, line {}", list.empty() ? "" : ", ", known.key.fingerprint,
                        known.key.type, known.file.string(), known.line);
  }
  throw ConnectFailure(
      ConnectFailure::Why::host_key,
      fmt::format("{}: the host key has changed: known is {}, presented was {} ({}). Either the {} "
                  "was reinstalled, or another machine answers in its place. No data was sent to "
                  "it. If it was reinstalled: ssh-keygen -f '{}' -R '{}', then try again",
                  login_.name(), list, presented.fingerprint, presented.type, login_.role,
                  file.string(), known_.name()));
}

void HostKeyCheck::throw_changed_in_run(const HostKey& presented) const {
  throw ConnectFailure(ConnectFailure::Why::host_key,
                       fmt::format("{}: the host key changed during the run: accepted was {} ({}), "
                                   "presented was {} ({}). Either another machine answers in the "
                                   "{}'s place, or it was reinstalled. No data was sent to it",
                                   login_.name(), accepted_->fingerprint, accepted_->type,
                                   presented.fingerprint, presented.type, login_.role));
}

}  // namespace msprof
