// Detection of a server's software from script output, and the environment of a login shell.
#include "board/session/server.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
using namespace msprof::test;

TEST_CASE("Of the programs called msprof the first that is not ours is the vendor's") {
  ServerRuntimes runtimes(
      "candidate /a/msprof\nanswer msprof 1.2.3\nhost /a/host\ncandidate /b/msprof\n"
      "answer  \ncandidate /c/msprof\nanswer something\nlibrary /cann/lib64/libascendcl.so\n",
      "me@server");
  CHECK(runtimes.tool() == "/a/msprof");
  CHECK(runtimes.vendor() == "/b/msprof");
  CHECK(runtimes.library() == "/cann/lib64/libascendcl.so");
  CHECK(runtimes.host_runtime() == "/a/host");
  CHECK(runtimes.where() == "on me@server");
}

TEST_CASE("An msprof beside a host runtime is ours or none") {
  CHECK(ServerRuntimes("beside /a/msprof\nanswer msprof 1.2\n", "s").tool() == "/a/msprof");
  ServerRuntimes other("beside /a/msprof\nanswer vendor\n", "s");
  CHECK(other.tool().empty());
  CHECK(other.vendor().empty());
}

TEST_CASE("Answers of a server that are no absolute paths are none") {
  ServerRuntimes runtimes(
      "candidate msprof\nanswer vendor\nhost ../x\nlibrary /a\x01/b\nanswer msprof 1.2\nnonsense\n",
      "s");
  CHECK(runtimes.vendor().empty());
  CHECK(runtimes.tool().empty());
  CHECK(runtimes.host_runtime().empty());
  CHECK(runtimes.library().empty());
}

TEST_CASE("A script in a login shell has its profile's variables, its own streams and words") {
  const std::string shell = GENERATE("/bin/bash", "/bin/sh", "/nowhere/fish", "");
  INFO(shell);
  const TempFolder home;
  write_file(home / ".profile", "echo noise\necho noise >&2\nread -r eaten\nexport CANN='a b'\n");
  RunOptions options;
  options.variables = {{"HOME", home.path().string()}, {"SHELL", shell}};
  const std::string inner =
      "read -r line; printf '<%s>' \"$CANN\" \"$line\" \"$@\"; echo bad >&2; exit 7";
  const RunResult result =
      run_program("/bin/sh",
                  {"-c", "echo input | { sh -c \"$@\"; }", "x", std::string(kLoginShell), "msprof",
                   inner, "one", "", "two 'words' $HOME"},
                  options);
  CHECK(result.out == "<a b><input><one><><two 'words' $HOME>");
  CHECK(result.err == "bad\n");
  CHECK(result.exit_code == 7);
}
