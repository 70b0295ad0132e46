#include "support/kbdint_server.hpp"

#include <libssh/libssh.h>
#include <libssh/server.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "support/bell.hpp"
#include "support/files.hpp"
#include "support/loopback.hpp"
#include "support/ssh_commands.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

template <auto kFree>
struct Free {
  template <typename Handle>
  void operator()(Handle* handle) const {
    kFree(handle);
  }
};

using Session = std::unique_ptr<ssh_session_struct, Free<ssh_free>>;
using OwnedMessage = std::unique_ptr<ssh_message_struct, Free<ssh_message_free>>;
using Bind = std::unique_ptr<ssh_bind_struct, Free<ssh_bind_free>>;

struct Counts {
  std::atomic<int> dialogues = 0;
  std::atomic<int> refusals = 0;
};

// The login of one client, message by message.
class Dialogue {
 public:
  Dialogue(const KbdintOptions& options, Counts& counts) : options_(options), counts_(counts) {}

  // Returns true once the client is logged in.
  bool answer(ssh_session session, ssh_message message) {
    if (ssh_message_type(message) != SSH_REQUEST_AUTH ||
        ssh_message_subtype(message) != static_cast<int>(SSH_AUTH_METHOD_INTERACTIVE)) {
      refuse(message);
    } else if (ssh_message_auth_kbdint_is_response(message) == 0) {
      ask(message);
    } else if (in_empty_round_) {  // NOLINT(bugprone-branch-clone): the order of the steps counts
      ssh_message_auth_reply_success(message, 0);
      return true;
    } else if (!are_right(session)) {
      ++counts_.refusals;
      if (options_.hangs_up) {
        ::shutdown(ssh_get_fd(session), SHUT_RDWR);
      } else {
        refuse(message);
      }
    } else if (options_.empty_round_at_end) {
      in_empty_round_ = true;
      ssh_message_auth_interactive_request(message, "", "", 0, nullptr, nullptr);
    } else {
      ssh_message_auth_reply_success(message, 0);
      return true;
    }
    return false;
  }

 private:
  static void refuse(ssh_message message) {
    ssh_message_auth_set_methods(message, SSH_AUTH_METHOD_INTERACTIVE);
    ssh_message_reply_default(message);
  }

  void ask(ssh_message message) {
    ++counts_.dialogues;
    in_empty_round_ = false;
    std::vector<const char*> texts;
    std::string echo;
    for (const auto& prompt : options_.prompts) {
      texts.push_back(prompt.text.c_str());
      echo.push_back(prompt.echo ? '\1' : '\0');
    }
    ssh_message_auth_interactive_request(
        message, options_.name.c_str(), options_.instruction.c_str(),
        static_cast<unsigned>(texts.size()), texts.data(), echo.data());
  }

  bool are_right(ssh_session session) const {
    const auto& prompts = options_.prompts;
    if (ssh_userauth_kbdint_getnanswers(session) != static_cast<int>(prompts.size())) return false;
    for (unsigned i = 0; i < prompts.size(); ++i) {
      const char* answer = ssh_userauth_kbdint_getanswer(session, i);
      if (answer == nullptr || prompts[i].answer != answer) return false;
    }
    return true;
  }

  const KbdintOptions& options_;
  Counts& counts_;
  bool in_empty_round_ = false;
};

}  // namespace

class KbdintServer::State {
 public:
  explicit State(const KbdintOptions& options)
      : options_(options), bind_(ssh_bind_new()), listener_(listen_on_loopback(port)) {
    fs::create_directories(folder / "home");
    make_host_key();
    thread_ = std::thread([this] { run(); });
  }

  ~State() {
    bell_.ring();
    thread_.join();
    {
      const std::scoped_lock lock(mutex_);
      for (const ssh_session session : sessions_) ::shutdown(ssh_get_fd(session), SHUT_RDWR);
    }
    for (auto& client : clients_) client.join();
  }

  std::uint16_t port = 0;
  TempFolder folder;
  Counts counts;

 private:
  void make_host_key() {
    ssh_key key = nullptr;
    char* text = nullptr;
    if (ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key) != SSH_OK ||
        ssh_pki_export_pubkey_base64(key, &text) != SSH_OK) {
      throw std::runtime_error("libssh makes no host key");
    }
    write_file(folder / "client" / ".ssh" / "known_hosts",
               "[127.0.0.1]:" + std::to_string(port) + " ssh-ed25519 " + text + "\n");
    ssh_string_free_char(text);
    const bool no_config = false;
    ssh_bind_options_set(bind_.get(), SSH_BIND_OPTIONS_PROCESS_CONFIG, &no_config);
    // The bind owns the key from here on.
    ssh_bind_options_set(bind_.get(), SSH_BIND_OPTIONS_IMPORT_KEY, key);
  }

  void run() {
    for (;;) {
      pollfd fds[] = {{bell_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      ::poll(fds, 2, -1);
      if (fds[0].revents != 0) return;
      const int socket = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      Session session(ssh_new());
      // The session owns the socket, even if this fails.
      if (ssh_bind_accept_fd(bind_.get(), session.get(), socket) != SSH_OK) continue;
      clients_.emplace_back(
          [this, owned = std::move(session)]() mutable { serve(std::move(owned)); });
    }
  }

  void serve(Session session) {
    remember(session.get());
    if (ssh_handle_key_exchange(session.get()) == SSH_OK && log_in(session.get())) {
      serve_commands(session.get(), folder / "home");
    }
    forget(session.get());
  }

  bool log_in(ssh_session session) {
    ssh_set_auth_methods(session, SSH_AUTH_METHOD_INTERACTIVE);
    Dialogue dialogue(options_, counts);
    while (const OwnedMessage message{ssh_message_get(session)}) {
      if (dialogue.answer(session, message.get())) return true;
    }
    return false;
  }

  void remember(ssh_session session) {
    const std::scoped_lock lock(mutex_);
    sessions_.push_back(session);
  }

  void forget(ssh_session session) {
    const std::scoped_lock lock(mutex_);
    sessions_.remove(session);
    ssh_disconnect(session);
  }

  const KbdintOptions options_;
  Bind bind_;
  Descriptor listener_;
  Bell bell_;
  std::mutex mutex_;
  std::list<ssh_session> sessions_;  // the destructor shuts down their sockets
  std::list<std::thread> clients_;
  std::thread thread_;
};

KbdintServer::KbdintServer(const KbdintOptions& options)
    : state_(std::make_unique<State>(options)) {}

KbdintServer::~KbdintServer() = default;

std::uint16_t KbdintServer::port() const {
  return state_->port;
}

fs::path KbdintServer::home() const {
  return state_->folder / "home";
}

fs::path KbdintServer::client_home() const {
  return state_->folder / "client";
}

std::vector<std::pair<std::string, std::string>> KbdintServer::client_variables() const {
  return {{"HOME", client_home().string()}, {"SSH_AUTH_SOCK", ""}};
}

int KbdintServer::dialogues() const {
  return state_->counts.dialogues;
}

int KbdintServer::refusals() const {
  return state_->counts.refusals;
}

}  // namespace msprof::test
