// Servers: what is there already, as a login shell of the account sees it: applications, and
// runtimes of CANN. For SshHost and the verbs. A server's answers are not trusted: paths that are
// not absolute, or hold control characters, are none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/shell.hpp"
#include "collect/cann/runtime_choice.hpp"

namespace msprof {

// A script whose first parameter is another, which it becomes, with the other parameters, in the
// environment of a login shell, where CANN's set_env.sh is sourced. What profiles print is dropped.
extern const std::string_view kLoginShell;

// An application where it is on a server.
struct ServerApplication {
  std::string folder;                // where it runs
  std::string program;               // links are not followed, for a Python's own folder
  std::string real_program;          // without links
  std::vector<std::string> leading;  // its first arguments: the script of a Python
};

// Looks `word` up in `folder` (absolute, or below the home; empty: the home), then, without a '/',
// in PATH. A Python script that is not executable is run by python3. Throws Error(nothing_to_do)
// with what is missing.
ServerApplication find_on_server(BoardShell& shell, const std::string& folder,
                                 const std::string& word);

// The runtimes of a server.
class ServerRuntimes : public RuntimeSearch {
 public:
  // Asks; every msprof there for its version, with a limit of 5 s each. `run` marks what that
  // starts, `scratch` is a folder of the server for a moment.
  ServerRuntimes(BoardShell& shell, const std::string& run, const std::string& scratch);
  // Of the answer of the script, for tests.
  ServerRuntimes(std::string_view answer, std::string server);

  bool is_inner() const override;
  std::filesystem::path vendor() override { return vendor_; }
  std::filesystem::path library() override { return library_; }
  std::filesystem::path host_runtime() override { return host_runtime_; }
  std::string where() const override { return "on " + server_; }
  // This project's msprof there; empty: there is none.
  const std::string& tool() const { return tool_; }

 private:
  void take(std::string_view answer);
  void take_msprof(const std::string& file, bool is_on_path, std::string_view answer);

  std::string server_;
  std::string vendor_;
  std::string library_;
  std::string host_runtime_;
  std::string tool_;
};

}  // namespace msprof
