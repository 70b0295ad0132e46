#include "ssh/authentication.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

// A host with two factors is asked for both; more rounds would only repeat.
constexpr int kMostRounds = 3;
constexpr int kMostQuestions = 8;  // of keyboard-interactive, before it is given up

class LogIn {
 public:
  LogIn(SshSession& session, const SshLogin& login, const LoginKeys& keys, UseAgent use_agent)
      : session_(session), login_(login), keys_(keys), use_agent_(use_agent) {}

  std::string run() {
    // It also brings the list of what the host offers.
    if (attempt("no password", [&] { return ssh_userauth_none(handle(), nullptr); })) {
      return method_;
    }
    for (int round = 0; round < kMostRounds; ++round) {
      partial_ = false;
      if (try_keys() || try_passwords()) return method_;
      if (!partial_) break;
    }
    throw_refused();
  }

 private:
  ssh_session handle() const { return session_.get(); }
  bool offers(unsigned method) const {
    return (static_cast<unsigned>(ssh_userauth_list(handle(), nullptr)) & method) != 0;
  }

  bool attempt(const std::string& method, const std::function<int()>& call);
  bool take(const std::string& method, int code);
  bool try_keys();
  bool try_agent();
  bool try_passwords();
  bool try_password();
  bool try_interactive();
  void answer_questions(const std::string& password);
  const Secret* password();
  std::string offered() const;
  [[noreturn]] void throw_refused() const;
  [[noreturn]] void throw_ended() const;

  SshSession& session_;
  const SshLogin& login_;
  const LoginKeys& keys_;
  const UseAgent use_agent_;
  std::string method_;
  std::vector<std::string> tried_;
  std::vector<std::string> notes_;  // ways that were not open, and why
  bool partial_ = false;
  bool asked_password_ = false;
  std::optional<Secret> password_;
  bool gave_password_ = false;  // keyboard-interactive took it for what it is, a password
};

bool LogIn::attempt(const std::string& method, const std::function<int()>& call) {
  return take(method, session_.finish(call));
}

bool LogIn::take(const std::string& method, int code) {
  if (std::find(tried_.begin(), tried_.end(), method) == tried_.end()) tried_.push_back(method);
  if (code == SSH_AUTH_SUCCESS) method_ = method;
  if (code == SSH_AUTH_PARTIAL) partial_ = true;
  if (code == SSH_AUTH_ERROR && !session_.is_alive()) throw_ended();
  return code == SSH_AUTH_SUCCESS;
}

bool LogIn::try_agent() {
  const char* socket = std::getenv("SSH_AUTH_SOCK");
  if (use_agent_ == UseAgent::no || socket == nullptr || *socket == '\0') return false;
  return attempt("agent", [&] { return ssh_userauth_agent(handle(), nullptr); });
}

bool LogIn::try_keys() {
  if (!offers(SSH_AUTH_METHOD_PUBLICKEY)) return false;
  if (try_agent()) return true;
  for (const auto& entry : keys_.entries()) {
    if (!entry.key) {
      notes_.push_back(fmt::format("the key {} has a passphrase: ssh-add it to an agent first",
                                   entry.file.string()));
      continue;
    }
    if (attempt(fmt::format("key {}", entry.file.string()),
                [&] { return ssh_userauth_publickey(handle(), nullptr, entry.key.get()); })) {
      return true;
    }
  }
  return false;
}

const Secret* LogIn::password() {
  if (!asked_password_ && login_.password) password_ = login_.password();
  asked_password_ = true;
  return password_ ? &*password_ : nullptr;
}

bool LogIn::try_passwords() {
  if (offers(SSH_AUTH_METHOD_INTERACTIVE) && try_interactive()) return true;
  // A host that refused the password there refuses it here, and counts it once more.
  if (gave_password_ && !partial_) return false;
  return offers(SSH_AUTH_METHOD_PASSWORD) && try_password();
}

bool LogIn::try_password() {
  const Secret* secret = password();
  if (secret == nullptr) return false;
  return attempt("password", [&] {
    return ssh_userauth_password(handle(), nullptr, secret->reveal().c_str());
  });
}

bool LogIn::try_interactive() {
  const Secret* secret = password();
  if (secret == nullptr) return false;
  const auto step = [&] { return ssh_userauth_kbdint(handle(), nullptr, nullptr); };
  bool answered = false;
  int code = session_.finish(step);
  for (int count = 0; code == SSH_AUTH_INFO && count < kMostQuestions; ++count) {
    // The same question again, or one for a new password: not a second time.
    if (ssh_userauth_kbdint_getnprompts(handle()) > 0) {
      if (answered) break;
      answered = true;
      answer_questions(secret->reveal());
    }
    code = session_.finish(step);
  }
  return take("keyboard-interactive", code);
}

// The password goes to one prompt: the only hidden one, or that which asks for a password.
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
    if (asks_password && !gave_password_) chosen = i;
    gave_password_ = gave_password_ || asks_password;
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
  if (!chosen) notes_.push_back(fmt::format("the board asks \"{}\"", shorten(texts, 60)));
}

std::string LogIn::offered() const {
  std::vector<std::string_view> names;
  if (offers(SSH_AUTH_METHOD_PUBLICKEY)) names.push_back("publickey");
  if (offers(SSH_AUTH_METHOD_INTERACTIVE)) names.push_back("keyboard-interactive");
  if (offers(SSH_AUTH_METHOD_PASSWORD)) names.push_back("password");
  if (names.empty()) return "nothing that this program knows";
  return fmt::format("{}", fmt::join(names, ", "));
}

void LogIn::throw_refused() const {
  std::string text = fmt::format("{}: login refused; tried: {}; the board offers: {}",
                                 login_.name(), fmt::join(tried_, ", "), offered());
  for (const auto& note : notes_) text += "; " + note;
  text += password_ ? "; is the user name right, and the password? Other ways in: "
                    : "; is the user name right? Ways in: ";
  text +=
      "a key that the board knows (key in the ini, an agent), or a password (--password-stdin, "
      "MSPROF_SSH_PASSWORD, pwd in the ini)";
  throw Error(Exit::board_unreachable, text);
}

void LogIn::throw_ended() const {
  const std::string reason = session_.error();
  const std::string text = fmt::format("{}: the board ended the login after {}: {}", login_.name(),
                                       fmt::join(tried_, ", "), reason);
  if (tried_.back() == "agent" && reason.find("Too many") != std::string::npos) {
    throw TooManyKeys(text);
  }
  throw Error(Exit::board_unreachable, text);
}

}  // namespace

std::string log_in(SshSession& session, const SshLogin& login, const LoginKeys& keys,
                   UseAgent use_agent) {
  return LogIn(session, login, keys, use_agent).run();
}

}  // namespace msprof
