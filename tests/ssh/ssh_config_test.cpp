// Settings for a host in ~/.ssh/config: tests msprof's parser, which never runs commands.
#include "ssh/ssh_config.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "ssh_fixture.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"
#include "support/variable.hpp"

using namespace msprof;
using namespace msprof::test;

namespace fs = std::filesystem;

namespace {

SshHostConfig parsed(const std::string& text, const std::string& host = "lab7") {
  SshHostConfig found;
  parse_ssh_config(text, "config", host, found,
                   [](const std::string&, bool, const std::string&) {});
  return found;
}

std::string value_text(const std::optional<SshConfigValue>& value) {
  return value ? value->text : "-";
}

std::string value_texts(const std::vector<SshConfigValue>& values) {
  std::string text;
  for (const auto& value : values) text += value.text + "|";
  return text;
}

std::string refusal(const std::string& text) {
  return thrown_message(Exit::usage, [&] { parsed(text); });
}

struct SshHome {
  SshHome() { fs::create_directories(folder / ".ssh"); }
  fs::path at(const std::string& name) const { return folder / ".ssh" / name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(at(name).parent_path());
    write_file(at(name), text);
    fs::permissions(at(name), fs::perms::owner_read | fs::perms::owner_write);
  }
  SshConfigFiles files() const {
    return {.user = at("config"), .system = folder / "etc/ssh_config", .home = folder.path()};
  }
  SshHostConfig read(const std::string& host = "lab7") const {
    return read_ssh_config(host, files());
  }
  TempFolder folder;
};

}  // namespace

TEST_CASE("The first value found counts, and key files add up") {
  const auto found = parsed(
      "User first\n"
      "Host lab*\n\tHostName 10.0.0.7\n  Port 2222\n  IdentityFile ~/.ssh/a\n  User second\n"
      "Host other\n  HostName 10.0.0.8\n"
      "Host *\n  Port 22\n  IdentityFile ~/.ssh/b\n  CertificateFile c\n  IdentitiesOnly yes\n");
  CHECK(value_text(found.host_name) == "10.0.0.7");
  CHECK(found.host_name->where == "config, line 3");
  CHECK(value_text(found.user) == "first");
  CHECK(found.port == 2222);
  CHECK(value_texts(found.identity_files) == "~/.ssh/a|~/.ssh/b|");
  CHECK(value_texts(found.certificate_files) == "c|");
  CHECK(found.uses_identities_only == true);
  CHECK(found.is_named);
  CHECK(found.taken.size() == 7);
  CHECK(found.taken.front() == "User (config, line 1)");
}

TEST_CASE("Host lines have patterns, and a negated match excludes the host") {
  const auto is_about = [](const std::string& patterns, const std::string& host) {
    return parsed("Host " + patterns + "\nPort 99\n", host).port.has_value();
  };
  CHECK(is_about("lab7", "lab7"));
  CHECK(is_about("a b lab7", "lab7"));
  CHECK(is_about("lab?", "lab7"));
  CHECK(is_about("*.example.org", "a.b.example.org"));
  CHECK(is_about("192.168.*.1", "192.168.0.1"));
  CHECK(is_about("* !lab8", "lab7"));
  CHECK(is_about("\"lab7\"", "lab7"));
  CHECK_FALSE(is_about("lab", "lab7"));
  CHECK_FALSE(is_about("lab?", "lab"));
  CHECK_FALSE(is_about("* !lab7", "lab7"));
  CHECK_FALSE(is_about("!lab7 *", "lab7"));
  CHECK_FALSE(is_about("!lab8", "lab7"));
  CHECK_FALSE(is_about("LAB7", "lab7"));
  // Patterns with many possible matches take no longer.
  std::string stars;
  for (int i = 0; i < 200; ++i) stars += "*a";
  CHECK_FALSE(is_about(stars + "b", std::string(4000, 'a')));
  CHECK_FALSE(parsed("Host *\nPort 99\n").is_named);
}

TEST_CASE(
    "Keys are written in any case, with '=', in quotes, with comments and odd ends of lines") {
  CHECK(parsed("hostname=10.0.0.1\r\n").host_name->text == "10.0.0.1");
  CHECK(parsed("  HOSTNAME = \"10.0.0.1\"  # a comment\n").host_name->text == "10.0.0.1");
  CHECK(parsed("HostName\t10.0.0.1").host_name->text == "10.0.0.1");
  CHECK(parsed("IdentityFile \"~/my keys/id\"\n").identity_files[0].text == "~/my keys/id");
  CHECK(parsed("IdentityFile ~/my\\ keys/id\n").identity_files[0].text == "~/my keys/id");
  CHECK(parsed("IdentityFile 'a \"b\"'\n").identity_files[0].text == "a \"b\"");
  CHECK(parsed("\n# HostName x\n   \n").taken.empty());
  CHECK(value_texts(parsed("UserKnownHostsFile a b\nUserKnownHostsFile c\n").known_hosts) ==
        "a|b|");
}

TEST_CASE("Of ProxyJump and ProxyCommand the first one counts") {
  CHECK(value_text(parsed("ProxyJump a\nProxyCommand x %h\n").proxy_jump) == "a");
  CHECK(value_text(parsed("ProxyJump a\nProxyCommand x\n").proxy_command) == "-");
  CHECK(value_text(parsed("ProxyCommand nc \"%h\" 'x\nProxyJump a\n").proxy_command) ==
        "nc \"%h\" 'x");
  CHECK(value_text(parsed("ProxyCommand nc\nProxyJump a\n").proxy_jump) == "-");
  CHECK(value_text(parsed("ProxyJump none\nHost *\nProxyJump a\n").proxy_jump) == "none");
}

TEST_CASE("Host key policies are parsed, and a changed key is never accepted") {
  const auto policy = [](const std::string& word) {
    return *parsed("StrictHostKeyChecking " + word + "\n").host_key;
  };
  CHECK(policy("ask") == HostKeyPolicy::strict);
  CHECK(policy("yes") == HostKeyPolicy::known_only);
  CHECK(policy("accept-new") == HostKeyPolicy::accept_new);
  CHECK(policy("NO") == HostKeyPolicy::accept_new);
  CHECK(policy("off") == HostKeyPolicy::accept_new);
}

TEST_CASE("Only 'Match all' is supported; other blocks are ignored with a note") {
  const auto found = parsed(
      "Match exec \"touch /tmp/never\"\n  Port 1\nMatch host lab7\n  ForwardX11 yes\n"
      "Match all\n  Port 2\nHost nobody\n Port 3\nMatch ALL\nUser me\n");
  CHECK(found.port == 2);
  CHECK(value_text(found.user) == "me");
  // The second one has no settings that would have been used.
  REQUIRE(found.notes.size() == 1);
  CHECK(contains(found.notes[0], "config, line 1: "));
  CHECK(contains(found.notes[0], "Match all"));
}

TEST_CASE("Unknown keys are ignored, whatever they contain") {
  const auto found = parsed(
      "SendEnv LANG LC_*\nLocalCommand echo \"\nFooBar\nPort 7\nKnownHostsCommand rm -rf /\n");
  CHECK(found.port == 7);
  CHECK(found.taken.size() == 1);
}

TEST_CASE("Invalid lines are reported, even in a block for another host") {
  CHECK(contains(refusal("\nPort 0\n"), "config, line 2: the port"));
  CHECK(contains(refusal("Port x\n"), "config, line 1: "));
  CHECK(contains(refusal("Port 22 23\n"), "Port: expected one value"));
  CHECK(contains(refusal("HostName\n"), "HostName has no value"));
  CHECK(contains(refusal("HostName \"\"\n"), "HostName has no value"));
  CHECK(
      contains(refusal("Host nobody\nIdentityFile \"a\n"), "line 2: the closing quote is missing"));
  CHECK(contains(refusal("Host\n"), "Host has no value"));
  CHECK(contains(refusal("StrictHostKeyChecking maybe\n"), "StrictHostKeyChecking: expected"));
  CHECK(contains(refusal("IdentitiesOnly 7\n"), "yes or no"));
  CHECK(contains(refusal("Host nobody\nProxyJump a@\n"), "line 2: ProxyJump: a jump host must be"));
  CHECK(contains(refusal("User \"a b\"\n"), "a blank or a control character"));
  CHECK(contains(refusal(std::string("User a\0b\n", 9)), "NUL"));
  std::string many;
  for (int i = 0; i < 200; ++i) many += "IdentityFile x\n";
  CHECK(contains(refusal(many), "more than 100 values"));
}

TEST_CASE("Jump hosts are a list of [user@]host[:port]") {
  const auto jumps = parse_ssh_jumps("a,me@b:2222, ssh://c:23/ ,me@[fe80::1]:24,::1", "--jump");
  REQUIRE(jumps.size() == 5);
  CHECK(jumps[0].host == "a");
  CHECK(jumps[0].port == 0);
  CHECK(jumps[0].user.empty());
  CHECK((jumps[1].user == "me" && jumps[1].host == "b" && jumps[1].port == 2222));
  CHECK((jumps[2].host == "c" && jumps[2].port == 23));
  CHECK((jumps[3].host == "fe80::1" && jumps[3].port == 24));
  CHECK((jumps[4].host == "::1" && jumps[4].port == 0));
  CHECK(parse_ssh_jumps("none", "--jump").empty());
  for (const char* bad : {"", "a,", "a,,b", "me@", "@a", "-a", "-l@a", "a:0", "a:x", "a b", "[::1",
                          "[::1]x", "a;b", "$(x)", "a/b", "a\nb"}) {
    INFO(bad);
    CHECK(
        contains(thrown_message(Exit::usage, [&] { parse_ssh_jumps(bad, "--jump"); }), "--jump: "));
  }
  const std::string text =
      thrown_message(Exit::usage, [] { parse_ssh_jumps("me:hunter2@a", "--jump"); });
  CHECK(contains(text, "without a password"));
  CHECK_FALSE(contains(text, "hunter2"));
  CHECK_THROWS_AS(parse_ssh_jumps("a,a,a,a,a,a,a,a,a", "--jump"), Error);
}

TEST_CASE("Tokens and variables in a value are replaced, unknown ones reported") {
  const SshTokens tokens = {.host = "10.0.0.7",
                            .original = "lab7",
                            .key_name = {},
                            .port = 2222,
                            .user = "board",
                            .home = "/home/me"};
  const auto expanded = [&](const std::string& text) {
    return expand_ssh_tokens({text, "config, line 1"}, tokens);
  };
  CHECK(expanded("%h:%p %r %n %k %d 100%%") == "10.0.0.7:2222 board lab7 lab7 /home/me 100%");
  CHECK(expanded("%i") == std::to_string(::getuid()));
  const Variable word("MSPROF_TEST_WORD", "x%h");
  CHECK(expanded("a${MSPROF_TEST_WORD}b") == "ax%hb");
  CHECK(expand_ssh_path({"~/.ssh/id_%r", ""}, tokens) == "/home/me/.ssh/id_board");
  CHECK(expand_ssh_path({"/keys/../%n", ""}, tokens) == "/lab7");
  for (const char* bad : {"%x", "%", "a%", "${", "${MSPROF_NOT_SET}", "%C"}) {
    INFO(bad);
    CHECK(contains(thrown_message(Exit::usage, [&] { expanded(bad); }), "config, line 1: "));
  }
}

TEST_CASE("The user's file precedes the system's, and missing ones are silent") {
  const SshHome home;
  CHECK(home.read().taken.empty());
  home.write("config", "Host lab7\n  Port 1\n");
  fs::create_directories(home.folder / "etc");
  write_file(home.folder / "etc/ssh_config", "Port 2\nUser sys\nInclude extra\n");
  write_file(home.folder / "etc/extra", "HostName of-the-system\n");
  const auto found = home.read();
  CHECK(found.port == 1);
  CHECK(value_text(found.user) == "sys");
  CHECK(value_text(found.host_name) == "of-the-system");
}

TEST_CASE("Include reads files in order, by pattern, within its block") {
  const SshHome home;
  home.write("config",
             "Host lab7\n  Include conf.d/*.conf absent\nHost other\n  Include conf.d/b.conf\n"
             "Host *\n  Include ~/.ssh/last\n");
  home.write("conf.d/a.conf", "Port 1\nHost lab8\n  User wrong\n");
  home.write("conf.d/b.conf", "Port 2\nHostName from-b\nHost lab7\n  User right\n");
  home.write("last", "HostName from-last\nIdentityFile k\n");
  const auto found = home.read();
  CHECK(found.port == 1);
  CHECK(value_text(found.host_name) == "from-b");
  CHECK(found.host_name->where == home.at("conf.d/b.conf").string() + ", line 2");
  CHECK(value_text(found.user) == "right");
  CHECK(value_texts(found.identity_files) == "k|");
  // An Include inside a block for another host is ignored, including Host lines in it.
  CHECK(value_text(home.read("lab9").user) == "-");
  CHECK(value_text(home.read("lab9").host_name) == "from-last");
}

TEST_CASE("Recursive includes, many files and large files are errors") {
  const SshHome home;
  const auto said = [&] { return thrown_message(Exit::usage, [&] { home.read(); }); };
  home.write("config", "Include config\n");
  CHECK(contains(said(), "more than 16 levels deep"));
  home.write("config", "Include a a a a a a a a a a\n");
  home.write("a", "Include b b b b b b b b b b\n");
  home.write("b", "Include c c c c c c c c c c\n");
  CHECK(contains(said(), "more than 256 SSH configuration files"));
  home.write("config", std::string(2 << 20, '#'));
  CHECK(contains(said(), "not an SSH configuration file"));
  home.write("config", "# nothing\nInclude /dev .\n");
  CHECK(home.read().taken.empty());
  CHECK(home.read().notes.size() == 2);
}

TEST_CASE("A file that others can write is refused, as ssh refuses it") {
  const SshHome home;
  home.write("config", "Port 1\nInclude more\n");
  home.write("more", "User me\n");
  CHECK(home.read().port == 1);
  for (const char* name : {"config", "more"}) {
    fs::permissions(home.at(name), fs::perms::others_write, fs::perm_options::add);
    const std::string text = thrown_message(Exit::usage, [&] { home.read(); });
    CHECK(contains(text, home.at(name).string()));
    CHECK(contains(text, "chmod go-w"));
    fs::permissions(home.at(name), fs::perms::others_write, fs::perm_options::remove);
  }
  SshConfigFiles named = home.files();
  named.is_explicit = true;
  fs::permissions(home.at("config"), fs::perms::others_write, fs::perm_options::add);
  CHECK(read_ssh_config("lab7", named).port == 1);
  named.user = home.at("nowhere");
  CHECK(contains(thrown_message(Exit::nothing_to_do, [&] { read_ssh_config("lab7", named); }),
                 "--ssh-config: cannot read"));
}
