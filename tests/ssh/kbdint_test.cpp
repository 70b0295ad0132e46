#include "support/kbdint_server.hpp"

#include <catch2/catch.hpp>

#include "ssh/run_hosts.hpp"
#include "ssh_fixture.hpp"

using namespace msprof;
using namespace msprof::test;

namespace {

const std::string kPassword = "blue;kite#7";

SshLogin login_to(const KbdintServer& server, const std::string& password = kPassword) {
  SshLogin login;
  login.host = KbdintServer::host();
  login.port = server.port();
  login.user = KbdintServer::user();
  login.ssh_folder = server.client_home() / ".ssh";
  login.password.first = [password]() -> std::optional<Secret> {
    return Secret(std::string(password));
  };
  return login;
}

}  // namespace

TEST_CASE("The password answers the question of keyboard-interactive") {
  for (const bool empty_round : {false, true}) {
    const KbdintServer server({.empty_round_at_end = empty_round});
    const auto connection = SshConnection::open(login_to(server));
    CHECK(connection->login_method() == "keyboard-interactive");
    CHECK(run(*connection, "echo here; echo there >&2; exit 3").out == "here\n");
  }
}

TEST_CASE("A wrong password is not tried again with keyboard-interactive") {
  const KbdintServer server;
  SshLogin login = login_to(server);
  int asked = 0;
  login.password.first = [&]() -> std::optional<Secret> {
    ++asked;
    return Secret("wrong;horse#1");
  };
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text,
                 "tried: keyboard-interactive; the board offers: "
                 "keyboard-interactive;"));
  CHECK_FALSE(contains(text, "horse"));
  CHECK(asked == 1);
  CHECK(server.dialogues() == 1);
  CHECK(server.refusals() == 1);
}

TEST_CASE("Keyboard-interactive is tried again with a newly entered password") {
  const KbdintServer server;
  SshLogin login = login_to(server, "wrong;horse#1");
  login.password.again = [] { return Secret(std::string(kPassword)); };
  CHECK(SshConnection::open(login)->login_method() == "keyboard-interactive");
  CHECK(server.dialogues() == 2);
  CHECK(server.refusals() == 1);
  login.password.again = [] { return Secret("wrong;horse#2"); };
  CHECK(contains(login_refusal(login), "tried: keyboard-interactive (3 times);"));
}

TEST_CASE("Without a password no prompt is triggered") {
  const KbdintServer server;
  SshLogin login = login_to(server);
  login.password.first = nullptr;
  CHECK(contains(login_refusal(login), "tried: a login without a password;"));
  CHECK(server.dialogues() == 0);
}

TEST_CASE("The only hidden prompt gets the password, whatever its text") {
  const KbdintServer server({.prompts = {{.text = "PIN: ", .answer = kPassword}}});
  CHECK(SshConnection::open(login_to(server)) != nullptr);
  const KbdintServer two({.prompts = {{.text = "Who are you? ", .answer = "", .echo = true},
                                      {.text = "Code: ", .answer = kPassword}}});
  CHECK(SshConnection::open(login_to(two)) != nullptr);
}

TEST_CASE("Of several prompts only the password prompt gets it") {
  const KbdintServer server({.prompts = {{.text = "Token: ", .answer = ""},
                                         {.text = "board's PASSWORD: ", .answer = kPassword},
                                         {.text = "Shoe size: ", .answer = ""}}});
  CHECK(SshConnection::open(login_to(server)) != nullptr);
  // If two questions ask for a password, only the first gets it: the second may be for a new one.
  const KbdintServer twice({.prompts = {{.text = "Password: ", .answer = kPassword},
                                        {.text = "New password: ", .answer = ""}}});
  CHECK(SshConnection::open(login_to(twice)) != nullptr);
}

TEST_CASE("A visible password prompt gets the password, other visible prompts do not") {
  const KbdintServer server(
      {.prompts = {{.text = "Password: ", .answer = kPassword, .echo = true}}});
  CHECK(SshConnection::open(login_to(server)) != nullptr);
  const KbdintServer other({.prompts = {{.text = "Name: ", .answer = "", .echo = true}}});
  CHECK(SshConnection::open(login_to(other)) != nullptr);
}

TEST_CASE("Unknown prompts are shown in printable form and get no answer") {
  const KbdintServer server({.prompts = {{.text = "\x1b[31mToken: ", .answer = ""},
                                         {.text = "Code:\a ", .answer = "1234"}}});
  const std::string text = login_refusal(login_to(server));
  INFO(text);
  CHECK(contains(text, "the board asks \"?[31mToken: Code:?\""));
  CHECK_FALSE(contains(text, kPassword));
  CHECK(server.refusals() == 1);
}

TEST_CASE("A refused login is not repeated within a run") {
  const KbdintServer server;
  SshLogin login = login_to(server, "wrong;horse#1");
  login.run_hosts = std::make_shared<RunHosts>();
  const std::string text = login_refusal(login);
  CHECK(login_refusal(login) == text);
  CHECK(server.refusals() == 1);
  // Another account is a separate login.
  login.user = "another";
  CHECK(login_refusal(login) != text);
  CHECK(server.refusals() == 2);
}

TEST_CASE("A host that disconnects after the password does not get it repeatedly") {
  const KbdintServer server({.hangs_up = true});
  SshLogin login = login_to(server, "wrong;horse#1");
  login.run_hosts = std::make_shared<RunHosts>();
  const auto try_again = [&] {
    try {
      SshConnection::open(login);
    } catch (const ConnectFailure& failure) {
      return failure.may_be_repeated();
    }
    return true;
  };
  CHECK(try_again());
  CHECK_FALSE(try_again());
  CHECK_FALSE(try_again());
  CHECK(server.refusals() == 2);
}
