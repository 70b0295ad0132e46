// Finds applications and CANN runtimes on a server, as seen by a login shell of the account. Used
// by SshHost and the verbs. A server's answers are untrusted: paths that are not absolute or
// contain control characters are ignored.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/shell.hpp"
#include "collect/cann/runtime_choice.hpp"

namespace msprof {

// A script that runs the script in its first parameter, with the other parameters, in the
// environment of a login shell, which sources CANN's set_env.sh. Discards the output of profiles.
extern const std::string_view kLoginShell;

// An application that is already on a server.
struct ServerApplication {
  std::string folder;                // working folder
  std::string program;               // links not resolved: Python finds its folder by this path
  std::string real_program;          // with links resolved
  std::vector<std::string> leading;  // its first arguments; for Python: the script
};

// Searches for `word` in `folder` (absolute, or below the home folder; empty: the home folder),
// then, if it has no '/', in PATH. A Python script that is not executable is run by python3. Throws
// Error(nothing_to_do) naming what is missing.
ServerApplication find_on_server(BoardShell& shell, const std::string& folder,
                                 const std::string& word);

class ServerRuntimes : public RuntimeSearch {
 public:
  // Queries the server, including the version of each msprof there, with a limit of 5 s each. `run`
  // marks the processes that this starts; `scratch` is a temporary folder on the server.
  ServerRuntimes(BoardShell& shell, const std::string& run, const std::string& scratch);
  // Parses a given answer of the script, for tests.
  ServerRuntimes(std::string_view answer, std::string server);

  bool is_inner() const override;
  std::filesystem::path vendor() override { return vendor_; }
  std::filesystem::path library() override { return library_; }
  std::filesystem::path host_runtime() override { return host_runtime_; }
  std::string where() const override { return "on " + server_; }
  // Path of this project's msprof on the server; empty if there is none.
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
