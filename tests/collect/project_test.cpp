#include "collect/project.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/error.hpp"
#include "collect/collect_fixture.hpp"

using namespace msprof;
using msprof::test::contains;
using msprof::test::Sandbox;
namespace fs = std::filesystem;

namespace {

Project scan(const Sandbox& sandbox, ScanOptions options = {}) {
  return scan_project(find_target("main", {}, sandbox.project()), options);
}

std::set<std::string> paths(const Project& project) {
  std::set<std::string> result;
  for (const ProjectEntry& entry : project.entries) result.insert(entry.path);
  return result;
}

const ProjectEntry& find_entry(const Project& project, const std::string& path) {
  const auto found = std::find_if(project.entries.begin(), project.entries.end(),
                                  [&](const ProjectEntry& entry) { return entry.path == path; });
  REQUIRE(found != project.entries.end());
  return *found;
}

Exit thrown_exit(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
  return Exit::ok;
}

}  // namespace

TEST_CASE("The project is the executable's folder, or its parent where that has src/acl.json") {
  const Sandbox sandbox;
  sandbox.add_app("project/out/main");
  const ProjectTarget alone = find_target("out/main", {}, sandbox.project());
  CHECK(alone.root == sandbox.project() / "out");
  CHECK(alone.main == "main");
  CHECK(alone.working_folder == "");

  sandbox.write("project/src/acl.json", "{}");
  const ProjectTarget with_src = find_target("out/main", {}, sandbox.project());
  CHECK(with_src.root == sandbox.project());
  CHECK(with_src.main == "out/main");
  CHECK(with_src.working_folder == "");
  CHECK(find_target("main", {}, sandbox.project() / "out").working_folder == "out");
}

TEST_CASE("The working folder is the executable's if the current folder is outside the project") {
  const Sandbox sandbox;
  sandbox.add_app("project/out/main");
  const ProjectTarget target = find_target("out/main", "project", sandbox.root());
  CHECK(target.root == sandbox.project());
  CHECK(target.working_folder == "out");
}

TEST_CASE("The executable is searched in the current folder first, then in --project") {
  const Sandbox sandbox;
  sandbox.add_app("project/main");
  sandbox.add_app("here/main");
  CHECK(find_target("main", {}, sandbox.root() / "here").root == sandbox.root() / "here");
  // The executable in the current folder is not part of the given project.
  CHECK(find_target("main", "../project", sandbox.root() / "here").root == sandbox.project());
  CHECK(find_target("main", sandbox.project().string(), "/").root == sandbox.project());
}

TEST_CASE("A file that cannot be run is reported with the reason") {
  const Sandbox sandbox;
  std::string message;
  const auto find = [&](const std::string& main, std::optional<std::string> project = {}) {
    return thrown_exit([&] { find_target(main, project, sandbox.project()); }, &message);
  };
  CHECK(find("main") == Exit::nothing_to_do);
  CHECK(contains(message, "'main'"));
  CHECK(find("ls") == Exit::nothing_to_do);  // it is only in PATH
  sandbox.write("project/data", "");
  CHECK(find("data") == Exit::nothing_to_do);
  // root can execute a file unless all of its x bits are clear
  CHECK(contains(message, "not executable"));
  fs::create_directories(sandbox.project() / "folder");
  CHECK(find("folder") == Exit::nothing_to_do);
  CHECK(contains(message, "not a file"));
  CHECK(find("main", "nowhere") == Exit::nothing_to_do);
  CHECK(contains(message, "--project"));
}

TEST_CASE("Captures, version control, logins and ignored files are not copied") {
  const Sandbox sandbox;
  sandbox.add_app();
  for (const char* path :
       {"project/models/m.om", "project/deep/er/x", "project/keep.log", "project/.git/config",
        "project/JOBABC/info.json.0", "project/PROF_1/host/x", "project/deep/JOBXYZ/data/x",
        "project/build/main.o", "project/deep/build/y", "project/trace.log", "project/deep/z.log",
        "project/docs/big.pdf", "project/main.files/old", "project/main.files~2/old"}) {
    sandbox.write(path, "x");
  }
  sandbox.write("project/board.ini", "[ssh_config]\nip = 1\npwd = secret\n");
  sandbox.write("project/deep/BOARD.INI.bak", "# mine\r\n [ SSH_Config ] \r\npwd = secret");
  sandbox.write("project/notes", "a\n[ssh_config]\npwd = secret");
  sandbox.write("project/plain.ini", "[other]\nx = [ssh_config]\n");
  sandbox.write("project/.msprofignore", "# comment\nbuild/\n*.log\n!keep.log\ndocs/*.pdf\n");
  sandbox.write("project/results/old.txt", "x");
  ScanOptions options;
  options.never_copied = {sandbox.project() / "results"};
  options.earlier_results = {sandbox.project() / "main.files", sandbox.project() / "main.runs"};
  const Project project = scan(sandbox, options);
  CHECK(paths(project) == std::set<std::string>{".msprofignore", "deep", "deep/er", "deep/er/x",
                                                "docs", "keep.log", "main", "models", "models/m.om",
                                                "plain.ini"});
  CHECK(project.excluded.size() == 15);
  CHECK(project.file_count == 6);
}

TEST_CASE("Ignore patterns follow names, anchors, folders and negation") {
  const IgnorePatterns patterns("*.o\n/top\nsub/inner\nonly/\r\n!keep.o\n\n  # note\n");
  CHECK(patterns.match("a/b.o", false));
  CHECK_FALSE(patterns.match("a/keep.o", false));
  CHECK(patterns.match("top", false));
  CHECK_FALSE(patterns.match("a/top", false));
  CHECK(patterns.match("sub/inner", true));
  CHECK_FALSE(patterns.match("x/sub/inner", true));
  CHECK(patterns.match("a/only", true));
  CHECK_FALSE(patterns.match("a/only", false));
  CHECK_FALSE(patterns.match("# note", false));
}

TEST_CASE("Links inside the project stay inside the copy, others point to the original") {
  const Sandbox sandbox;
  sandbox.add_app();
  sandbox.write("project/lib/real.so.1", "x");
  sandbox.write("outside/model.om", "x");
  const fs::path project_folder = sandbox.project();
  fs::create_symlink("real.so.1", project_folder / "lib/real.so");
  fs::create_symlink(project_folder / "lib", project_folder / "absolute");
  fs::create_symlink("../outside/model.om", project_folder / "model.om");
  fs::create_symlink(sandbox.root() / "outside", project_folder / "folder");
  fs::create_symlink("loop", project_folder / "loop");
  fs::create_symlink("..", project_folder / "lib/up");
  fs::create_symlink("nowhere", project_folder / "dangling");
  const Project project = scan(sandbox);
  CHECK(find_entry(project, "lib/real.so").link == "real.so.1");
  CHECK(find_entry(project, "absolute").link == "lib");
  CHECK(find_entry(project, "model.om").link == sandbox.root() / "outside/model.om");
  CHECK(find_entry(project, "folder").link == sandbox.root() / "outside");
  CHECK(find_entry(project, "loop").link == "loop");
  CHECK(find_entry(project, "lib/up").link == "..");
  CHECK(find_entry(project, "dangling").link == "nowhere");
}

TEST_CASE("A linked acl.json becomes a file of the copy, also in a linked folder") {
  const Sandbox sandbox;
  sandbox.add_app();
  sandbox.write("outside/acl.json", "{}");
  sandbox.write("outside/other.txt", "x");
  fs::create_symlink("../outside/acl.json", sandbox.project() / "acl.json");
  fs::create_symlink("../outside", sandbox.project() / "src");
  const Project project = scan(sandbox);
  CHECK(find_entry(project, "acl.json").kind == EntryKind::file);
  CHECK(find_entry(project, "src").kind == EntryKind::folder);
  CHECK(find_entry(project, "src/acl.json").kind == EntryKind::file);
  CHECK(find_entry(project, "src/other.txt").link == sandbox.root() / "outside/other.txt");
  CHECK(project.acl_files == std::vector<fs::path>{"acl.json", "src/acl.json"});
}

TEST_CASE("A link to a login outside the project is not copied either") {
  const Sandbox sandbox;
  sandbox.add_app();
  sandbox.write("outside/board.ini", "[ssh_config]\n");
  fs::create_symlink("../outside/board.ini", sandbox.project() / "innocent");
  CHECK(paths(scan(sandbox)) == std::set<std::string>{"main"});
}

TEST_CASE("Pipes and sockets are not copied, but reported") {
  const Sandbox sandbox;
  sandbox.add_app();
  REQUIRE(::mkfifo((sandbox.project() / "pipe").c_str(), 0600) == 0);
  const Project project = scan(sandbox);
  REQUIRE(project.excluded.size() == 1);
  CHECK(project.excluded[0].path == "pipe");
  CHECK(project.excluded[0].is_unexpected);
}

TEST_CASE("A folder that is only named like a capture is not copied, but reported") {
  const Sandbox sandbox;
  sandbox.add_app();
  sandbox.write("project/PROFILES/settings", "x");
  sandbox.write("project/JOBABC/data/x", "x");
  const Project project = scan(sandbox);
  REQUIRE(project.excluded.size() == 2);
  CHECK_FALSE(project.excluded[0].is_unexpected);
  CHECK(project.excluded[1].is_unexpected);
}

TEST_CASE("An executable in an excluded folder is refused") {
  const Sandbox sandbox;
  sandbox.add_app("project/JOBS/main");
  const ProjectTarget target = find_target("JOBS/main", "project", sandbox.root() / "project/..");
  CHECK(thrown_exit([&] { scan_project(target, {}); }) == Exit::nothing_to_do);
}

TEST_CASE("Above 20,000 files --project must be given") {
  const Sandbox sandbox;
  sandbox.add_app();
  for (int i = 0; i < 20'000; ++i) sandbox.write("project/f" + std::to_string(i), "");
  std::string message;
  CHECK(thrown_exit([&] { scan(sandbox); }, &message) == Exit::usage);
  CHECK(contains(message, "--project"));
  CHECK(contains(message, "20,001"));
  ScanOptions unlimited;
  unlimited.is_limited = false;
  CHECK(scan(sandbox, unlimited).file_count == 20'001);
  fs::remove(sandbox.project() / "f0");
  CHECK(scan(sandbox).file_count == 20'000);
}

TEST_CASE("Above 2 GB --project must be given") {
  const Sandbox sandbox;
  sandbox.add_app();
  sandbox.write("project/model.om", "");
  fs::resize_file(sandbox.project() / "model.om", 2'000'000'001);
  std::string message;
  CHECK(thrown_exit([&] { scan(sandbox); }, &message) == Exit::usage);
  CHECK(contains(message, "--project"));
  CHECK(contains(message, "2.0 GB"));
}
