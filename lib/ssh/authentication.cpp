#include "ssh/authentication.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMaxKeyBytes = 64 << 10;  // an RSA key of 16,384 bits has 13 KB

struct KeyText {
  Secret text;
  int error = 0;  // errno
};

KeyText read_key_file(const std::filesystem::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return {{}, errno};
  // Allocated at full size: a growing string would leave copies of the key in freed memory.
  std::string text(kMaxKeyBytes, '\0');
  const std::size_t size = read_all(fd.get(), std::as_writable_bytes(std::span(text)));
  const int error = size < text.size() ? errno : 0;
  text.resize(size);
  return {Secret(std::move(text)), error};
}

// libssh's passphrase callback: records that one is needed, never prompts.
int note_passphrase(const char*, char*, std::size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

struct Import {
  LoginKeys::SshKeyPointer key;
  bool has_passphrase = false;
};

Import import_key(const Secret& text) {
  Import result;
  ssh_key key = nullptr;
  const int code = ssh_pki_import_privkey_base64(text.reveal().c_str(), nullptr, note_passphrase,
                                                 &result.has_passphrase, &key);
  if (code == SSH_OK) result.key.reset(key);
  return result;
}

// Returns a public key or certificate in wire format (RFC 4253, 6.6).
std::string wire_bytes(ssh_key key) {
  char* base64 = nullptr;
  if (ssh_pki_export_pubkey_base64(key, &base64) != SSH_OK) return {};
  std::string bytes;
  unsigned held = 0;
  int bits = 0;
  for (const char* at = base64; *at != '\0' && *at != '='; ++at) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto digit = kDigits.find(*at);
    if (digit == std::string_view::npos) continue;
    held = (held << 6 | static_cast<unsigned>(digit)) & 0xffffU;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(held >> bits & 0xffU);
  }
  ssh_string_free_char(base64);
  return bytes;
}

// Skips the first string, which is prefixed with its length.
std::string_view behind_string(std::string_view bytes) {
  if (bytes.size() < 4) return {};
  std::size_t length = 0;
  for (const char c : bytes.substr(0, 4)) length = length << 8 | static_cast<unsigned char>(c);
  if (length > bytes.size() - 4) return {};
  return bytes.substr(4 + length);
}

// A certificate consists of its type, a nonce, and the fields of the key after its type. libssh's
// comparison treats the two as different key types.
bool is_certificate_of(ssh_key certificate, ssh_key key) {
  const std::string whole = wire_bytes(certificate);
  const std::string plain = wire_bytes(key);
  const std::string_view fields = behind_string(plain);
  return !fields.empty() && behind_string(behind_string(whole)).starts_with(fields);
}

// Returns null if the passphrase is wrong.
LoginKeys::SshKeyPointer open_key(const Secret& text, const Secret& passphrase) {
  ssh_key opened = nullptr;
  const int code = ssh_pki_import_privkey_base64(text.reveal().c_str(), passphrase.reveal().c_str(),
                                                 nullptr, nullptr, &opened);
  return LoginKeys::SshKeyPointer(code == SSH_OK ? opened : nullptr);
}

// A host with two factors requires two rounds; more would only repeat them.
constexpr int kMaxRounds = 3;
constexpr int kMaxQuestions = 8;  // limit for keyboard-interactive
constexpr int kMaxAnswers = 3;    // attempts per prompt, as in ssh(1)

class LogIn {
 public:
  LogIn(SshSession& session, const SshLogin& login, LoginKeys& keys, UseAgent use_agent)
      : session_(session), login_(login), keys_(keys), use_agent_(use_agent) {}

  std::string run() {
    // Also requests the list of methods that the host offers, so a refusal is expected and not
    // reported.
    if (attempt("no password", [&] { return ssh_userauth_none(handle(), nullptr); })) {
      return method_;
    }
    tried_.clear();
    counts_as_try_ = false;
    for (int round = 0; round < kMaxRounds; ++round) {
      is_partial_ = false;
      if (try_keys() || try_passwords()) return method_;
      if (!is_partial_) break;
    }
    throw_refused();
  }

 private:
  ssh_session handle() const { return session_.get(); }
  bool offers(unsigned method) const {
    return (static_cast<unsigned>(ssh_userauth_list(handle(), nullptr)) & method) != 0;
  }

  int finish(const std::function<int()>& step);
  bool attempt(const std::string& method, const std::function<int()>& call);
  bool take(const std::string& method, int code);
  bool try_keys();
  bool try_agent();
  bool try_key(const std::string& method, const LoginKeys::SshKeyPointer& key);
  bool is_wanted(const std::string& method, const LoginKeys::SshKeyPointer& public_part);
  bool unlock(LoginKeys::KeyEntry& entry, const std::string& method, const std::string& certified);
  bool try_passwords();
  bool try_this_password();
  bool ask_password_again();
  bool try_password();
  bool try_interactive();
  void answer_questions(const std::string& password);
  const Secret* password();
  std::string tried() const;
  std::string offered() const;
  [[noreturn]] void throw_refused() const;
  [[noreturn]] void throw_ended() const;

  SshSession& session_;
  const SshLogin& login_;
  LoginKeys& keys_;
  const UseAgent use_agent_;
  std::string method_;
  std::vector<std::pair<std::string, int>> tried_;  // number of attempts by method, in the order of
                                                    // the first attempt
  std::vector<std::string> notes_;                  // methods that could not be used, and why
  bool is_partial_ = false;
  // Set after a password was sent or a method was refused: if the connection then ends without an
  // answer, that may be a refusal.
  bool counts_as_try_ = false;
  bool has_asked_password_ = false;
  std::optional<Secret> password_;
  int refused_passwords_ = 0;
  bool has_used_password_ = false;   // the password was sent
  bool has_given_password_ = false;  // sent through keyboard-interactive
};

int LogIn::finish(const std::function<int()>& step) {
  try {
    return session_.finish(step);
  } catch (const ConnectFailure& silent) {
    if (!counts_as_try_) throw;
    throw ConnectFailure(ConnectFailure::Why::unanswered, silent.what());
  }
}

bool LogIn::attempt(const std::string& method, const std::function<int()>& call) {
  return take(method, finish(call));
}

bool LogIn::take(const std::string& method, int code) {
  const auto known = std::find_if(tried_.begin(), tried_.end(),
                                  [&](const auto& one) { return one.first == method; });
  if (known == tried_.end()) {
    tried_.emplace_back(method, 1);
  } else {
    ++known->second;
  }
  if (code == SSH_AUTH_SUCCESS) method_ = method;
  if (code == SSH_AUTH_PARTIAL) is_partial_ = true;
  if (code == SSH_AUTH_ERROR && !session_.is_alive()) throw_ended();
  if (code != SSH_AUTH_SUCCESS) counts_as_try_ = true;
  return code == SSH_AUTH_SUCCESS;
}

bool LogIn::try_agent() {
  const char* socket = std::getenv("SSH_AUTH_SOCK");
  if (use_agent_ == UseAgent::no || !login_.uses_agent || socket == nullptr || *socket == '\0') {
    return false;
  }
  counts_as_try_ = true;  // the host may refuse agent keys
  return attempt("agent", [&] { return ssh_userauth_agent(handle(), nullptr); });
}

bool LogIn::try_keys() {
  if (!offers(SSH_AUTH_METHOD_PUBLICKEY)) return false;
  if (try_agent()) return true;
  for (auto& entry : keys_.entries()) {
    const std::string method = fmt::format("key {}", entry.file.string());
    const std::string certified =
        fmt::format("{} with the certificate {}", method, entry.certificate_file.string());
    if (!entry.key && !unlock(entry, method, certified)) continue;
    if (entry.certified && try_key(certified, entry.certified)) return true;
    if (try_key(method, entry.key)) return true;
  }
  return false;
}

bool LogIn::try_key(const std::string& method, const LoginKeys::SshKeyPointer& key) {
  return attempt(method, [&] { return ssh_userauth_publickey(handle(), nullptr, key.get()); });
}

// Returns true if the host accepts the key, or if that is unknown so far.
bool LogIn::is_wanted(const std::string& method, const LoginKeys::SshKeyPointer& public_part) {
  if (!public_part) return true;
  const int code =
      finish([&] { return ssh_userauth_try_publickey(handle(), nullptr, public_part.get()); });
  if (code == SSH_AUTH_SUCCESS) return true;
  (void)take(method, code);
  return false;
}

// Does not request the passphrase of a key that the host does not accept.
bool LogIn::unlock(LoginKeys::KeyEntry& entry, const std::string& method,
                   const std::string& certified) {
  if (login_.passphrase) {
    const SecretSource source = login_.passphrase(entry.file);
    const bool wanted = (entry.certificate && is_wanted(certified, entry.certificate)) ||
                        is_wanted(method, entry.public_part());
    if (!wanted) return false;
    auto answer = source.first ? source.first() : std::nullopt;
    for (int i = 1; answer && !answer->empty(); ++i) {
      if (entry.unlock(*answer)) return true;
      answer = i < kMaxAnswers && source.again ? source.again() : std::nullopt;
      if (answer) continue;
      notes_.push_back(
          fmt::format("none of the passphrases unlocks the key {}", entry.file.string()));
      return false;
    }
  }
  notes_.push_back(fmt::format("the key {} has a passphrase: add it to an agent first (ssh-add)",
                               entry.file.string()));
  return false;
}

const Secret* LogIn::password() {
  if (!has_asked_password_ && login_.password.first) password_ = login_.password.first();
  has_asked_password_ = true;
  return password_ ? &*password_ : nullptr;
}

bool LogIn::try_passwords() {
  do {
    has_used_password_ = has_given_password_ = false;
    if (try_this_password()) return true;
  } while (has_used_password_ && !is_partial_ && ask_password_again());
  return false;
}

bool LogIn::ask_password_again() {
  if (++refused_passwords_ >= kMaxAnswers || !login_.password.again) return false;
  auto next = login_.password.again();
  if (!next) return false;
  password_ = std::move(next);
  return true;
}

bool LogIn::try_this_password() {
  if (offers(SSH_AUTH_METHOD_INTERACTIVE) && try_interactive()) return true;
  // The host has already refused the password, and would count another failed attempt.
  if (has_given_password_ && !is_partial_) return false;
  return offers(SSH_AUTH_METHOD_PASSWORD) && try_password();
}

bool LogIn::try_password() {
  const Secret* secret = password();
  if (secret == nullptr) return false;
  has_used_password_ = counts_as_try_ = true;
  return attempt("password", [&] {
    return ssh_userauth_password(handle(), nullptr, secret->reveal().c_str());
  });
}

bool LogIn::try_interactive() {
  const Secret* secret = password();
  if (secret == nullptr) return false;
  const auto step = [&] { return ssh_userauth_kbdint(handle(), nullptr, nullptr); };
  bool answered = false;
  int code = finish(step);
  for (int count = 0; code == SSH_AUTH_INFO && count < kMaxQuestions; ++count) {
    // Answers only once: a second prompt repeats the question or requests a new password.
    if (ssh_userauth_kbdint_getnprompts(handle()) > 0) {
      if (answered) break;
      answered = true;
      answer_questions(secret->reveal());
    }
    code = finish(step);
  }
  return take("keyboard-interactive", code);
}

// Sends the password to one prompt only: the only hidden one, or the one that mentions a password.
void LogIn::answer_questions(const std::string& password) {
  const auto count = static_cast<unsigned>(ssh_userauth_kbdint_getnprompts(handle()));
  std::optional<unsigned> chosen;
  unsigned hidden = 0;
  std::string texts;
  for (unsigned i = 0; i < count; ++i) {
    char echo = 0;
    const char* prompt = ssh_userauth_kbdint_getprompt(handle(), i, &echo);
    const std::string text = prompt != nullptr ? prompt : "";
    texts += (texts.empty() ? "" : " ") + printable(trim(text));
    if (echo == 0) ++hidden;
    const bool asks_password = lower_ascii(text).find("password") != std::string::npos;
    if (asks_password && !has_given_password_) chosen = i;
    has_given_password_ = has_given_password_ || asks_password;
  }
  for (unsigned i = 0; i < count && !chosen && hidden == 1; ++i) {
    char echo = 0;
    (void)ssh_userauth_kbdint_getprompt(handle(), i, &echo);
    if (echo == 0) chosen = i;
  }
  for (unsigned i = 0; i < count; ++i) {
    const char* answer = chosen == i ? password.c_str() : "";
    (void)ssh_userauth_kbdint_setanswer(handle(), i, answer);
  }
  has_used_password_ = has_used_password_ || chosen;
  counts_as_try_ = counts_as_try_ || chosen;
  if (!chosen) notes_.push_back(fmt::format("the {} asks \"{}\"", login_.role, shorten(texts, 60)));
}

// "key /x/y, password (twice)"
std::string LogIn::tried() const {
  if (tried_.empty()) return "a login without a password";
  std::string text;
  for (const auto& [method, times] : tried_) {
    text += (text.empty() ? "" : ", ") + method;
    if (times == 2) text += " (twice)";
    if (times > 2) text += fmt::format(" ({} times)", times);
  }
  return text;
}

std::string LogIn::offered() const {
  std::vector<std::string_view> names;
  if (offers(SSH_AUTH_METHOD_PUBLICKEY)) names.push_back("publickey");
  if (offers(SSH_AUTH_METHOD_INTERACTIVE)) names.push_back("keyboard-interactive");
  if (offers(SSH_AUTH_METHOD_PASSWORD)) names.push_back("password");
  if (names.empty()) return "no method that msprof supports";
  return fmt::format("{}", fmt::join(names, ", "));
}

void LogIn::throw_refused() const {
  std::string text = fmt::format("{}: login refused; tried: {}; the {} offers: {}", login_.name(),
                                 tried(), login_.role, offered());
  for (const auto& note : keys_.notes()) text += "; " + note;
  for (const auto& note : notes_) text += "; " + note;
  text += password_ ? "; check the user name and the password. Other login methods: "
                    : "; check the user name. Login methods: ";
  text += login_.own_ways;
  throw ConnectFailure(ConnectFailure::Why::refused, text);
}

void LogIn::throw_ended() const {
  const std::string reason = session_.error();
  const std::string text = fmt::format("{}: the {} ended the login after {}: {}", login_.name(),
                                       login_.role, tried(), reason);
  if (!tried_.empty() && tried_.back().first == "agent" &&
      reason.find("Too many") != std::string::npos) {
    throw TooManyKeys(text);
  }
  using Why = ConnectFailure::Why;
  const bool said_so = reason.find("SSH_MSG_DISCONNECT") != std::string::npos;
  throw ConnectFailure(!counts_as_try_ ? Why::unreachable
                       : said_so       ? Why::refused
                                       : Why::unanswered,
                       text);
}

}  // namespace

bool LoginKeys::KeyEntry::unlock(const Secret& passphrase) {
  key = open_key(locked, passphrase);
  if (!key) return false;
  if (certificate) {
    certified = open_key(locked, passphrase);
    if (ssh_pki_copy_cert_to_privkey(certificate.get(), certified.get()) != SSH_OK) certified = {};
  }
  locked = Secret();
  return true;
}

// OpenSSH's own format contains the public part in clear text; for other formats there may be a
// separate .pub file.
LoginKeys::SshKeyPointer LoginKeys::KeyEntry::public_part() const {
  for (const std::string& name : {file.string(), file.string() + ".pub"}) {
    ssh_key found = nullptr;
    if (ssh_pki_import_pubkey_file(name.c_str(), &found) == SSH_OK) return SshKeyPointer(found);
  }
  return nullptr;
}

LoginKeys::LoginKeys(const SshLogin& login) {
  if (!login.key.empty()) add_given(login.key);
  for (const auto& file : login.more_keys) add(file, true);
  if (login.uses_default_keys) {
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
      add(login.ssh_folder / name, false);
    }
  }
  if (!entries_.empty()) guard_.emplace();
  find_certificates(login.certificates);
}

void LoginKeys::add_given(const std::filesystem::path& file) {
  KeyText content = read_key_file(file);
  if (content.error != 0) {
    throw Error(
        Exit::usage,
        fmt::format("cannot read the key {}: {}; give a private key that this account can read",
                    file.string(), errno_text(content.error)));
  }
  Import import = import_key(content.text);
  if (!import.key && !import.has_passphrase) {
    throw Error(Exit::usage, fmt::format("{} is not a usable private key; give the file from "
                                         "ssh-keygen without .pub (ed25519, ecdsa or rsa)",
                                         file.string()));
  }
  KeyEntry entry;
  entry.file = file;
  entry.key = std::move(import.key);
  entry.locked = std::move(content.text);
  entries_.push_back(std::move(entry));
}

void LoginKeys::add(const std::filesystem::path& file, bool is_named) {
  const bool is_there = std::any_of(entries_.begin(), entries_.end(),
                                    [&](const KeyEntry& entry) { return entry.file == file; });
  if (is_there) return;
  KeyText content = read_key_file(file);
  Import import = content.error == 0 ? import_key(content.text) : Import();
  if (!import.key && !import.has_passphrase) {
    if (is_named) {
      notes_.push_back(
          fmt::format("the key {} was not tried: {}", file.string(),
                      content.error != 0 ? errno_text(content.error) : "it is not a private key"));
    }
    return;
  }
  KeyEntry entry;
  entry.file = file;
  entry.key = std::move(import.key);
  entry.locked = std::move(content.text);
  entries_.push_back(std::move(entry));
}

// A certificate belongs to the key with the same public part.
void LoginKeys::find_certificates(const std::vector<std::filesystem::path>& named) {
  for (KeyEntry& entry : entries_) {
    std::vector<std::filesystem::path> files = named;
    files.push_back(entry.file.string() + "-cert.pub");
    const SshKeyPointer locked_part = entry.key ? nullptr : entry.public_part();
    const ssh_key part = entry.key ? entry.key.get() : locked_part.get();
    for (const auto& file : files) {
      ssh_key certificate = nullptr;
      if (entry.certificate || ssh_pki_import_cert_file(file.c_str(), &certificate) != SSH_OK) {
        continue;
      }
      SshKeyPointer owned(certificate);
      if (part != nullptr && !is_certificate_of(certificate, part)) continue;
      if (part == nullptr && file != files.back()) continue;
      entry.certificate = std::move(owned);
      entry.certificate_file = file;
    }
    if (!entry.key) continue;
    if (entry.certificate) {
      entry.certified = import_key(entry.locked).key;
      const bool took = entry.certified && ssh_pki_copy_cert_to_privkey(entry.certificate.get(),
                                                                        entry.certified.get()) == 0;
      if (!took) entry.certified = {};
    }
    entry.locked = Secret();
  }
}

std::string log_in(SshSession& session, const SshLogin& login, LoginKeys& keys,
                   UseAgent use_agent) {
  return LogIn(session, login, keys, use_agent).run();
}

}  // namespace msprof
