#include "support/board_processes.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

struct Process {
  pid_t parent = 0;
  char state = '?';
  std::string name;
  bool is_running() const { return state != 'Z' && state != 'X'; }
};

// Returns "" if the process has ended or may not be read. Uses operator<<, which catches
// exceptions: reading the file of an ending process fails.
std::string read_content(const fs::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

// Parses "12 (na me) S 1 …". The name can contain any characters, so it ends at the last
// parenthesis.
std::optional<Process> read_process(const fs::path& folder) {
  const std::string text = read_content(folder / "stat");
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  Process process;
  process.name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  rest >> process.state >> process.parent;
  return process;
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> processes;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    if (auto process = read_process(entry.path())) processes[pid] = *process;
  }
  return processes;
}

bool descends_from(const std::map<pid_t, Process>& processes, pid_t pid, pid_t ancestor) {
  // The table is not a snapshot: a reused pid could create a cycle.
  for (std::size_t steps = 0; ancestor > 0 && steps < processes.size(); ++steps) {
    const auto found = processes.find(pid);
    if (found == processes.end()) return false;
    pid = found->second.parent;
    if (pid == ancestor) return true;
  }
  return false;
}

bool has_mark(const fs::path& folder, const std::string& mark) {
  const std::string environment = read_content(folder / "environ");
  for (std::size_t at = 0; at < environment.size();) {
    const auto end = std::min(environment.find('\0', at), environment.size());
    if (std::string_view(environment).substr(at, end - at) == mark) return true;
    at = end + 1;
  }
  return false;
}

std::string read_command(const fs::path& folder, const std::string& name) {
  std::string command = read_content(folder / "cmdline");
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command.empty() ? "[" + name + "]" : command;
}

std::vector<BoardProcess> look_once(pid_t server, const std::string& server_name,
                                    const std::string& mark) {
  const auto processes = all_processes();
  std::vector<BoardProcess> found;
  for (const auto& [pid, process] : processes) {
    if (pid == server || !process.is_running()) continue;
    const fs::path folder = fs::path("/proc") / std::to_string(pid);
    if (!descends_from(processes, pid, server) && !has_mark(folder, mark)) continue;
    found.push_back({pid, process.name == server_name, read_command(folder, process.name)});
  }
  return found;
}

}  // namespace

std::vector<BoardProcess> find_board_processes(pid_t server, const std::string& server_name,
                                               const std::string& mark) {
  // A scan is not a snapshot: if a process starts another one and ends, a scan can miss both. A
  // second scan finds the new one.
  auto found = look_once(server, server_name, mark);
  return found.empty() ? look_once(server, server_name, mark) : found;
}

bool is_running(pid_t pid) {
  const auto process = read_process(fs::path("/proc") / std::to_string(pid));
  return process && process->is_running();
}

}  // namespace msprof::test
