#include "board/collect_views.hpp"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Contents read_contents(const fs::path& folder) {
  Contents contents;
  if (!fs::exists(folder)) return contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string& value = contents[entry.path().lexically_relative(folder).string()];
    if (entry.is_symlink()) {
      value = "link " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_directory()) {
      value = "folder";
    } else {
      value = "file " + read_file(entry.path());
    }
  }
  return contents;
}

std::string differences(const Contents& left, const Contents& right) {
  std::string lines;
  for (const auto& [path, value] : left) {
    const auto found = right.find(path);
    if (found == right.end()) lines += "only in the first: " + path + "\n";
    if (found != right.end() && found->second != value) lines += "differs: " + path + "\n";
  }
  for (const auto& [path, value] : right) {
    if (!left.contains(path)) lines += "only in the second: " + path + "\n";
  }
  return lines;
}

Contents capture_without_msprof(const BoardUser& user, const Words& application) {
  const TempFolder folder;
  write_file(folder / "acl.json",
             Json{{"profiler", {{"switch", "on"}, {"output", (folder / "out").string()}}}}.dump());
  run_program(user.project() / "main", application, {.folder = folder.path()});
  return read_contents(folder / "out" / kBoardJob);
}

Json parse_document(const RunResult& run) {
  const Json document = Json::parse(run.out, nullptr, false);
  return document.is_object() ? document : Json();
}

Json find_step(const Json& document, const std::string& name) {
  for (const Json& step : document.value("steps", Json::array())) {
    if (step.at("name") == name) return step;
  }
  return nullptr;
}

void configure(const BoardUser& user, const std::string& text) {
  write_file(user.ini(), text);
  fs::permissions(user.ini(), fs::perms::owner_read | fs::perms::owner_write);
}

std::vector<std::string> files_with(const fs::path& folder, std::string_view secret) {
  std::vector<std::string> found;
  for (const auto& [path, value] : read_contents(folder)) {
    if (contains(path, secret) || contains(value, secret)) found.push_back(path);
  }
  return found;
}

std::vector<std::string> processes_with(std::string_view secret) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (pid == std::to_string(::getpid())) continue;
    for (const char* name : {"cmdline", "environ"}) {
      // If a process ends while it is being read, the error ends the stream, not the test.
      std::ifstream file(entry.path() / name, std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      if (contains(text.str(), secret)) found.push_back(pid + " " + name);
    }
  }
  return found;
}

}  // namespace msprof::test
