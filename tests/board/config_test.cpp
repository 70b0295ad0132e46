// The ini file of a board, and command-line options that override it.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/error.hpp"
#include "board/session/config.hpp"
#include "support/files.hpp"
#include "support/lines.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

BoardConfig parse(const std::string& text) {
  return parse_board_config(text, "board.ini");
}

// Returns the error message for `text` and checks the exit code.
std::string refusal(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    CHECK(error.code() == Exit::usage);
    return error.what();
  }
  return "not refused";
}

std::string parse_password(const std::string& line) {
  return parse("[ssh_config]\nip = 10.0.0.1\nusername = root\n" + line + "\nport = 22\n")
      .password.reveal();
}

RunResult read_file_as_program(const fs::path& file, const RunOptions& options = {}) {
  return run_program(LOGIN_HELPER, {"read", file.string()}, options);
}

}  // namespace

TEST_CASE("the manual's four keys are read") {
  const BoardConfig config =
      parse("[ssh_config]\nip = 192.168.1.10\nusername = root\npwd = secret\nport = 2222\n");
  CHECK(config.login.host == "192.168.1.10");
  CHECK(config.login.user == "root");
  CHECK(config.login.port == 2222);
  CHECK(config.password.reveal() == "secret");
  CHECK(config.board_dir.empty());
  CHECK(config.login.host_key == HostKeyPolicy::strict);
  CHECK(config.login.key.empty());
  CHECK(config.login.connect_timeout_seconds == 10);
}

TEST_CASE(
    "the wrapper's spellings, any case and a colon mean the same; its mounts are not needed") {
  const BoardConfig config = parse(
      "[SSH_Config]\nBOARD_IP=10.1.2.3\nUSER: root\nPASSWORD=pw\nPORT=23\n"
      "BOARD_MOUNT_PATH=/mnt\nHOST_MOUNT_PATH=/home/me\n");
  CHECK(config.login.name() == "root@10.1.2.3:23");
  CHECK(config.password.reveal() == "pw");
}

TEST_CASE("our own keys are read") {
  const BoardConfig config = parse(
      "[ssh_config]\nkey = keys/board\nboard_dir = /userdata/\nhost_key = Accept-New\n"
      "connect_timeout = 2.5\n");
  CHECK(config.login.key == "keys/board");
  CHECK(config.board_dir == "/userdata");
  CHECK(config.login.host_key == HostKeyPolicy::accept_new);
  CHECK(config.login.connect_timeout_seconds == 2.5);
}

TEST_CASE("a password is read byte for byte, except for surrounding blanks") {
  const std::string password = GENERATE(
      as<std::string>(), "a;b", "a ;b", "a; b ;c", ";a", "#a", "a #b", "a#b", "100%", "%(ip)s",
      "%%", "a=b", "=a", "==", "a:b", "[a]", "\"quoted\"", "'quoted'", "a\\n", "a b  c", "a\tb",
      "\xE5\xAF\x86\xE7\xA0\x81", "\xE9\xE8 latin", "$HOME", "`id`", "\x01\x02");
  for (const char* before : {"pwd = ", "pwd=", "  pwd = ", "\t pwd\t=\t", "PWD= ", "password = "}) {
    INFO(before << password);
    CHECK(parse_password(before + password) == password);
    CHECK(parse_password(before + password + "  \t") == password);
  }
}

TEST_CASE("long passwords are read completely, too long lines are refused") {
  for (const std::size_t size : {199U, 200U, 300U, 5000U, 65'000U}) {
    const std::string password = "p" + std::string(size - 2, ';') + "q";
    CHECK(parse_password("pwd = " + password) == password);
  }
  const std::string line = "pwd=";
  const std::size_t most = 64 << 10;
  CHECK(parse_password(line + std::string(most - line.size(), 'x')).size() == most - line.size());
  const std::string sentence =
      refusal("[ssh_config]\n" + line + std::string(most - line.size() + 1, 'x') + "\n");
  CHECK(contains(sentence, "line 2"));
  CHECK(contains(sentence, "65,536 bytes"));
  CHECK_FALSE(contains(sentence, "xx"));
}

TEST_CASE("every kind of line end and a byte order mark are supported") {
  const std::string end = GENERATE(as<std::string>(), "\n", "\r\n", "\r");
  const std::string mark = GENERATE(as<std::string>(), "", "\xEF\xBB\xBF");
  const bool is_ended = GENERATE(false, true);
  const BoardConfig config =
      parse(mark + "[ssh_config]" + end + "ip = 10.0.0.1" + end + "pwd = a ;b" + end + end +
            "username = root" + (is_ended ? end : ""));
  CHECK(config.login.host == "10.0.0.1");
  CHECK(config.password.reveal() == "a ;b");
  CHECK(config.login.user == "root");
}

TEST_CASE("lines are counted the same with every kind of line end") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const std::string sentence =
        refusal("[ssh_config]" + end + end + "# c" + end + "port = x" + end);
    CHECK(contains(sentence, "board.ini, line 4: port"));
  }
}

TEST_CASE("comments and other sections are skipped, whatever they contain") {
  const BoardConfig config = parse(
      "; a\n # b\nstray before\n[other]\nip = 9.9.9.9\nstray\n[ssh_config] # note\n#pwd = x\n"
      "  ;pwd = y\nip = 10.0.0.1\n[more]\npwd = z\n");
  CHECK(config.login.host == "10.0.0.1");
  CHECK(config.password.empty());
}

TEST_CASE("a key without a value counts as missing") {
  const BoardConfig config = parse(
      "[ssh_config]\nip =\nusername =\npwd =\nport =\nkey =\nboard_dir =\nhost_key =\n"
      "connect_timeout =\nBOARD_IP = 10.0.0.1\n");
  CHECK(config.login.port == 22);
  CHECK(config.password.empty());
  CHECK(config.login.host == "10.0.0.1");
}

TEST_CASE("an invalid line is reported by its number, without its value") {
  const auto refused = [](const std::string& lines, const std::string& part) {
    const std::string sentence = refusal("[ssh_config]\n" + lines);
    INFO(lines << " => " << sentence);
    CHECK(contains(sentence, part));
    CHECK(contains(sentence, "board.ini, line "));
    CHECK_FALSE(contains(sentence, "hunter2"));
  };
  refused("ip = 1\nhunter2\n", "line 3");
  refused("hunter2 and more\n", "neither");
  refused("= hunter2\n", "neither");
  refused("[hunter2\n", "']'");
  refused("pwd = hunter2\npwd = hunter2\n", "is already set in line 2");
  refused("pwd = hunter2\nPWD =\n", "line 3: pwd is already set in line 2");
  refused("pwd = hunter2\nPASSWORD = hunter22\n", "password contradicts pwd");
  refused("ip = 10.0.0.1\nBOARD_IP = 10.0.0.2\n", "board_ip");
  refused("ip = root@10.0.0.1\n", "username");
  refused("ip = 10.0.0.1:22\n", "port");
  refused("ip = -oProxyCommand=hunter2\n", "ip");
  refused("ip = \"10.0.0.1\"\n", "ip");
  refused("ip = 10.0.0.1 ; hunter2\n", "ip");
  refused("username = a b\n", "username");
  refused("username = -l\n", "username");
  for (const char* port : {"0", "65536", "-1", "22a", "2 2", "22 ; ssh", "0x16", "1e3", "\x01"}) {
    refused(std::string("port = ") + port + "\n", "65535");
  }
  for (const char* seconds : {"0", "0.05", "3601", "nan", "inf", "-1", "5s", "1,5", "1 0"}) {
    refused(std::string("connect_timeout = ") + seconds + "\n", "3600");
  }
  refused("host_key = maybe\n", "accept-new");
  refused("board_dir = /a/../b\n", "'..'");
  refused("board_dir = ..\n", "'..'");
  refused("board_dir = /a\x01\x62\n", "control");
  refused("board_dir = ~other/x\n", "home");
  refused("pwd = a\xff\n[ssh_config] pwd = hunter2\n", "on a separate line");
  refused(std::string("pwd = hunter2\0x\n", 16), "NUL");
}

TEST_CASE("a file that is not meant for a board is refused as a whole") {
  CHECK(contains(refusal(""), "no section [ssh_config]"));
  CHECK(contains(refusal("ip = 10.0.0.1\n"), "no section [ssh_config]"));
  // Notepad's "Unicode" (UTF-16).
  CHECK(contains(refusal(std::string("\xFF\xFE[\0s\0s\0h\0_\0c\0", 14)), "UTF-8"));
}

TEST_CASE("equal values in two spellings are accepted, and a section can be split") {
  const BoardConfig config =
      parse("[ssh_config]\nip = 10.0.0.1\nBOARD_IP = 10.0.0.1\n[x]\n[ssh_config]\nuser = root\n");
  CHECK(config.login.name() == "root@10.0.0.1");
}

TEST_CASE("a folder of the board is normalized") {
  const auto folder = [](const std::string& text) {
    return parse("[ssh_config]\nboard_dir = " + text + "\n").board_dir;
  };
  CHECK(folder("/userdata/x/") == "/userdata/x");
  CHECK(folder("/") == "/");
  CHECK(folder("//a///b/.") == "/a/b");
  CHECK(folder("work") == "work");
  CHECK(folder("./runs/") == "runs");
  CHECK(folder("~/work") == "work");
  CHECK(folder("~") == "");
  CHECK(folder("~/") == "");
  CHECK(folder(".") == "");
  CHECK(folder("/with blank/..x") == "/with blank/..x");
}

TEST_CASE("--host is user@ip, with a port or not, of either kind of address") {
  const auto name = [](const std::string& host) {
    BoardConfig config;
    set_host(config, host);
    return config.login.name();
  };
  CHECK(name("root@10.0.0.1") == "root@10.0.0.1");
  CHECK(name("root@10.0.0.1:2222") == "root@10.0.0.1:2222");
  CHECK(name("root@board-7.lab_net") == "root@board-7.lab_net");
  CHECK(name("root@::1") == "root@::1");
  CHECK(name("root@[fe80::1%eth0]:23") == "root@[fe80::1%eth0]:23");
  CHECK(name("root@[::1]") == "root@::1");
  CHECK(name("me@corp@10.0.0.1") == "me@corp@10.0.0.1");
}

TEST_CASE("--host overrides the file and uses the file's other values") {
  BoardConfig config = parse("[ssh_config]\nip = 10.0.0.1\nusername = me\nport = 23\npwd = x\n");
  set_host(config, "10.0.0.2");
  CHECK(config.login.name() == "me@10.0.0.2:23");
  set_host(config, "root@10.0.0.3:24");
  CHECK(config.login.name() == "root@10.0.0.3:24");
  CHECK(config.password.reveal() == "x");
}

TEST_CASE("an invalid --host is refused without repeating a password in it") {
  for (const char* host : {"@10.0.0.1", "root@", "root@:22", "root@10.0.0.1:", "root@10.0.0.1:0",
                           "root@10.0.0.1:x", "root@a b", "root@[::1", "ro ot@a", "root@[::1]x",
                           "root@-v", "root:hunter2@10.0.0.1", "-l@a"}) {
    INFO(host);
    BoardConfig config;
    try {
      set_host(config, host);
      FAIL_CHECK("taken");
    } catch (const Error& error) {
      CHECK(error.code() == Exit::usage);
      CHECK(contains(error.what(), "--host"));
      CHECK(contains(error.what(), "--password-stdin") == contains(host, "hunter2"));
      CHECK_FALSE(contains(error.what(), "hunter2"));
    }
  }
}

TEST_CASE("missing values are reported after reading file and command line") {
  const auto missing = [](const BoardConfig& config) {
    try {
      check_login(config, "board.ini");
    } catch (const Error& error) {
      CHECK(error.code() == Exit::usage);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  CHECK(missing(parse("[ssh_config]\nip = 10.0.0.1\nuser = root\n")) == "nothing");
  CHECK(contains(missing(parse("[ssh_config]\nuser = root\n")), "board.ini: the board's address"));
  CHECK(contains(missing(parse("[ssh_config]\nip = 10.0.0.1\n")), "board.ini: the account"));
}

TEST_CASE("a missing or invalid key is reported before connecting") {
  const TempFolder folder;
  BoardConfig config = parse("[ssh_config]\nip = 10.0.0.1\nuser = root\n");
  for (const fs::path& key : {folder / "missing", folder.path()}) {
    config.login.key = key;
    try {
      check_login(config, "board.ini");
      FAIL_CHECK("taken");
    } catch (const Error& error) {
      CHECK(error.code() == Exit::nothing_to_do);
      CHECK(contains(error.what(), key.string()));
    }
  }
  write_file(folder / "id", "key");
  config.login.key = folder / "id";
  CHECK_NOTHROW(check_login(config, "board.ini"));
}

TEST_CASE("a relative key path starts at the ini file or the home folder") {
  const TempFolder folder;
  const std::string head = "[ssh_config]\nip=10.0.0.1\nuser=root\nkey = ";
  const auto key_line = [&](const std::string& key, const std::string& file) {
    write_file(folder / "sub/board.ini", head + key + "\n");
    const auto result =
        read_file_as_program(file, {.folder = folder.path(), .variables = {{"HOME", "/home/me"}}});
    const auto at = result.out.find("\nkey ") + 5;
    return result.out.substr(at, result.out.find('\n', at) - at);
  };
  const std::string sub = fs::canonical(folder.path()).string() + "/sub";
  CHECK(key_line("id", "sub/board.ini") == sub + "/id");
  CHECK(key_line("../id", sub + "/board.ini") == fs::canonical(folder.path()).string() + "/id");
  CHECK(key_line("~/.ssh/id", "sub/board.ini") == "/home/me/.ssh/id");
  CHECK(key_line("/etc/id", "sub/board.ini") == "/etc/id");
}

TEST_CASE("a file with a password that others may read gets a warning") {
  const TempFolder folder;
  const fs::path file = folder / "board.ini";
  const auto warned = [&](const std::string& text, mode_t mode) {
    fs::remove(file);  // The owner may be unable to write it.
    write_file(file, text);
    REQUIRE(::chmod(file.c_str(), mode) == 0);
    const auto result = read_file_as_program(file);
    CHECK(result.exit_code == 0);
    CHECK_FALSE(contains(result.err, "hunter2"));
    return contains(result.err, "chmod 600");
  };
  const std::string with = "[ssh_config]\nip = 10.0.0.1\npwd = hunter2\n";
  CHECK(warned(with, 0644));
  CHECK(warned(with, 0640));
  CHECK(warned(with, 0604));
  CHECK_FALSE(warned(with, 0600));
  CHECK_FALSE(warned(with, 0400));
  CHECK_FALSE(warned("[ssh_config]\nip = 10.0.0.1\n", 0644));
}

TEST_CASE("an unknown key gets a warning that names it, unless it may be part of a password") {
  const TempFolder folder;
  const fs::path file = folder / "board.ini";
  write_file(file, "[ssh_config]\nip = 10.0.0.1\nusernam = hunter2\npwd hunter2=x\n");
  const auto result = read_file_as_program(file);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "line 3: unknown key 'usernam'"));
  CHECK(contains(result.err, "line 4: unknown key in"));
  CHECK(contains(result.err, "known keys are ip, username"));
  CHECK_FALSE(contains(result.err, "hunter2"));
}

TEST_CASE("an unreadable file is reported, with the exit code for nothing to do") {
  const TempFolder folder;
  const auto fails = [&](const fs::path& file, int code, const std::string& part) {
    const auto result = read_file_as_program(file);
    INFO(result.err);
    CHECK(result.exit_code == code);
    CHECK(contains(result.err, file.string()));
    CHECK(contains(result.err, part));
  };
  fails(folder / "missing.ini", 4, "No such file");
  fails(folder.path(), 4, "not a file");
  fails("/dev/zero", 4, "not a file");
  write_file(folder / "big.ini", "[ssh_config]\n" + std::string(2 << 20, '\n'));
  fails(folder / "big.ini", 2, "not a board configuration file");
}

TEST_CASE("board.ini.example is valid, has every key and causes no warning") {
  const TempFolder folder;
  const std::string text = read_file(BOARD_INI_EXAMPLE);
  for (const char* key :
       {"ip", "username", "pwd", "port", "key", "board_dir", "host_key", "connect_timeout"}) {
    CHECK(contains(text, std::string("\n") + key + " ="));
  }
  write_file(folder / "board.ini", text);
  const auto result = read_file_as_program(folder / "board.ini");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(contains(result.out, "name root@192.168.1.10\n"));
}

TEST_CASE("a configuration can be read from a pipe, e.g. decrypted") {
  const auto result =
      run_program("/bin/bash", {"-c", std::string(LOGIN_HELPER) +
                                          " read <(printf '[ssh_config]\\nip=10.0.0.1\\nuser=root"
                                          "\\npwd=a;b\\n')"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "name root@10.0.0.1\n"));
  CHECK(contains(result.out, "password a;b\n"));
  CHECK(result.err.empty());
}
