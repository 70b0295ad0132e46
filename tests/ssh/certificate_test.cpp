// Keys with certificates of a CA that the server trusts, and other named keys.
#include <catch2/catch.hpp>
#include <string>

#include "ssh_fixture.hpp"
#include "support/files.hpp"

using namespace msprof;
using namespace msprof::test;

namespace fs = std::filesystem;

namespace {

// A board that accepts keys signed by its CA, and a user whose plain key it does not know.
struct Certified {
  explicit Certified(const std::string& key_options = "-t ed25519 -N ''")
      : key(board.client_home() / "certified") {
    make("ca", "-t ed25519 -N ''");
    make("certified", key_options);
    write_file(board.tools().parent_path() / "etc/authorized_keys", "");
    reconfigure(board, "TrustedUserCAKeys \"" + at("ca.pub") + "\"");
    login = login_to(board);
    login.password.first = nullptr;
    login.key = key;
  }
  std::string at(const std::string& name) const { return (board.client_home() / name).string(); }
  void make(const std::string& name, const std::string& options) const {
    tool("ssh-keygen -q " + options + " -f '" + at(name) + "'");
  }
  // Creates certified-cert.pub.
  void sign(const std::string& options = "") const {
    tool("ssh-keygen -q -s '" + at("ca") + "' -I test -n board " + options + " '" +
         at("certified.pub") + "'");
  }
  BoardServer board;
  fs::path key;
  SshLogin login;
};

SecretSource always(const std::string& text, int& asked) {
  SecretSource source;
  source.first = [text, &asked]() -> std::optional<Secret> {
    ++asked;
    return Secret(std::string(text));
  };
  return source;
}

}  // namespace

TEST_CASE("A certificate next to its key works for login, with every type of key") {
  for (const char* options :
       {"-t ed25519 -N ''", "-t ecdsa -b 256 -N ''", "-t rsa -b 2048 -N ''"}) {
    INFO(options);
    const Certified user(options);
    CHECK(contains(login_refusal(user.login), "tried: key " + user.key.string() + ";"));
    user.sign();
    CHECK(SshConnection::open(user.login)->login_method() ==
          "key " + user.key.string() + " with the certificate " + user.at("certified-cert.pub"));
  }
}

TEST_CASE("A certificate in another folder is matched with its key") {
  Certified user;
  user.sign();
  fs::create_directories(user.board.client_home() / "certs");
  const fs::path certificate = user.board.client_home() / "certs/mine";
  fs::rename(user.at("certified-cert.pub"), certificate);
  user.make("other", "-t ed25519 -N ''");
  SshLogin& login = user.login;
  login.key.clear();
  login.more_keys = {user.at("other"), user.key, user.at("absent")};
  login.certificates = {user.at("nowhere"), user.at("ca.pub"), certificate};
  CHECK(SshConnection::open(login)->login_method() ==
        "key " + user.key.string() + " with the certificate " + certificate.string());
}

TEST_CASE("With an expired or invalid certificate the key is used alone") {
  const bool is_over = GENERATE(true, false);
  Certified user;
  user.sign("-V 20200101:20200102");
  if (!is_over)
    write_file(user.at("certified-cert.pub"), "ssh-ed25519-cert-v01@openssh.com AAAA\n");
  const std::string text = login_refusal(user.login);
  INFO(text);
  CHECK(contains(text, "with the certificate") == is_over);
  write_file(user.board.tools().parent_path() / "etc/authorized_keys",
             read_file(user.at("certified.pub")));
  CHECK(SshConnection::open(user.login)->login_method() == "key " + user.key.string());
}

TEST_CASE("The passphrase of a key with a certificate is requested if the host accepts it") {
  const char* options = GENERATE("-t ed25519 -N phrase", "-t rsa -b 2048 -m PEM -N phrase");
  Certified user(options);
  int asked = 0;
  user.login.passphrase = [&](const fs::path&) { return always("phrase", asked); };
  (void)login_refusal(user.login);
  CHECK(asked == 0);
  user.sign();
  CHECK(contains(SshConnection::open(user.login)->login_method(), "with the certificate"));
  CHECK(asked == 1);
}

TEST_CASE("Passphrases of default and given keys are requested by key name") {
  const BoardServer board;
  SshLogin login = login_to(board);
  login.password.first = nullptr;
  const bool is_default = GENERATE(true, false);
  const fs::path key = is_default ? login.ssh_folder / "id_ecdsa" : board.client_home() / "named";
  tool("ssh-keygen -q -t ecdsa -N phrase -f '" + key.string() + "'");
  tool("ssh-keygen -q -t ed25519 -N other -f '" + (login.ssh_folder / "id_ed25519").string() + "'");
  if (!is_default) login.more_keys = {key};
  write_file(board.tools().parent_path() / "etc/authorized_keys", read_file(key.string() + ".pub"));
  std::string asked_for;
  int asked = 0;
  login.passphrase = [&](const fs::path& file) {
    asked_for += file.string() + "|";
    return always("phrase", asked);
  };
  CHECK(SshConnection::open(login)->login_method() == "key " + key.string());
  // The passphrase of a key that the board rejects is not requested.
  CHECK(asked == 1);
  CHECK(contains(asked_for, key.string() + "|"));
}

TEST_CASE("Unusable given keys are reported if the login fails") {
  const BoardServer board;
  SshLogin login = login_to(board);
  login.password.first = nullptr;
  write_file(board.client_home() / "garbage", "no key\n");
  login.more_keys = {board.client_home() / "absent", board.client_home() / "garbage"};
  login.uses_default_keys = false;
  fs::copy_file(board.client_key(), login.ssh_folder / "id_ed25519");
  const std::string text = login_refusal(login);
  INFO(text);
  CHECK(contains(text, "absent was not tried: No such file"));
  CHECK(contains(text, "garbage was not tried: it is not a private key"));
  login.uses_default_keys = true;
  CHECK(contains(SshConnection::open(login)->login_method(), "id_ed25519"));
}
