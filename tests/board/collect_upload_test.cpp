// The project's upload to a board: which files are sent, sent again or never sent, and where the
// board stores them.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "board/collect_board_fixture.hpp"
#include "board/collect_views.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"

namespace msprof::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr std::size_t kUploadedModelBytes = 2'000'000;

BoardOptions each_board() {
  const std::vector<BoardOptions> boards = {{},
                                            {.without = {"tar"}},
                                            {.kind = BoardKind::dropbear},
                                            {.kind = BoardKind::dropbear, .without = {"tar"}}};
  return GENERATE_COPY(from_range(sample_for_case(boards, 1)));
}

// A script that prints each entry of the application's folder with kind and permissions.
void add_lister(const fs::path& project) {
  write_file(project / "list.sh", "#!/bin/sh\n./main job " + std::string(kBoardJob) + R"sh(
find . | sort | while IFS= read -r path; do
  rights=
  [ -r "$path" ] && rights=r
  [ -w "$path" ] && rights=${rights}w
  [ -x "$path" ] && rights=${rights}x
  if [ -L "$path" ]; then echo "link $path $(readlink "$path")";
  elif [ -d "$path" ]; then echo "folder $path";
  else echo "file $rights $path $(wc -c <"$path" | tr -d ' ')"; fi
done
)sh");
  fs::permissions(project / "list.sh", fs::perms::owner_all);
}

// A user behind a proxy that counts the bytes sent to the board.
struct CountedScene {
  explicit CountedScene(const BoardOptions& options)
      : board(options), proxy(board.port()), user(board, proxy.port()) {
    write_file(user.project() / "models/big.om", std::string(kUploadedModelBytes, 'b'));
    write_file(user.project() / "models/small.om", "small");
    add_lister(user.project());
  }

  // Files changed in the last seconds would be sent twice, as they may change again within the same
  // second.
  void age_project() const {
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const auto& entry : fs::recursive_directory_iterator(user.project())) {
      const bool young = fs::last_write_time(entry) > old;
      if (entry.is_regular_file() && young) fs::last_write_time(entry, old);
    }
  }

  // Runs once and returns the document of --json, with the bytes sent to the board as "sent".
  Json collect(const std::string& main = "list.sh", const Words& more = {}) {
    age_project();
    user.remember_project();
    const std::uint64_t before = proxy.bytes_up();
    Words words = {"collect",  "-m",       main,       "--json",
                   "--config", user.ini(), "--output", user.output() / std::to_string(++runs)};
    words.insert(words.end(), more.begin(), more.end());
    const RunResult run = run_msprof(words, user.run_options());
    Json document = parse_document(run);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    document["sent"] = proxy.bytes_up() - before;
    document["err"] = run.err;
    CHECK(litter_on(board) + find_litter(user) == "");
    return document;
  }

  BoardServer board;
  CutProxy proxy;
  BoardUser user;
  int runs = 0;
};

std::uint64_t uploaded_files(const Json& document) {
  return find_step(document, "upload").at("files").get<std::uint64_t>();
}

std::uint64_t uploaded_bytes(const Json& document) {
  return find_step(document, "upload").at("bytes").get<std::uint64_t>();
}

std::string heard(const Json& document) {
  return document.at("err").get<std::string>();
}

}  // namespace

TEST_CASE("Only changed files are sent again, and deleted files are removed") {
  CountedScene scene(each_board());
  const fs::path project = scene.user.project();
  fs::create_directories(project / "empty folder");
  write_file(project / "turns", "a file, then a folder");
  const Json first = scene.collect();
  CHECK(uploaded_files(first) == 7);
  CHECK(first.at("sent") > kUploadedModelBytes);
  CHECK(contains(heard(first), "folder ./empty folder\n"));

  const Json second = scene.collect();
  CHECK(uploaded_files(second) == 0);
  CHECK(uploaded_bytes(second) == 0);
  CHECK(second.at("sent") < 60'000);
  CHECK(contains(heard(second),
                 "file rw ./models/big.om " + std::to_string(kUploadedModelBytes) + "\n"));

  // Same size: only the time differs.
  const auto time = fs::last_write_time(project / "models/small.om");
  write_file(project / "models/small.om", "SMALL");
  fs::last_write_time(project / "models/small.om", time - std::chrono::hours(2));
  const Json third = scene.collect();
  CHECK(uploaded_files(third) == 1);
  CHECK(uploaded_bytes(third) == 5);
  CHECK(third.at("sent") < 60'000);

  fs::remove(project / "models/big.om");
  fs::remove(project / "empty folder");
  fs::remove(project / "turns");
  write_file(project / "turns/inner", "inner");
  const Json fourth = scene.collect();
  CHECK(uploaded_files(fourth) == 1);
  CHECK(contains(heard(fourth), "folder ./turns\nfile rw ./turns/inner 5\n"));
  CHECK_FALSE(contains(heard(fourth), "big.om"));
  CHECK_FALSE(contains(heard(fourth), "empty folder"));

  fs::permissions(project / "turns/inner", fs::perms::owner_all);
  const Json fifth = scene.collect();
  CHECK(contains(heard(fifth), "file rwx ./turns/inner 5\n"));
}

TEST_CASE("Changes by a run are neither in the board's copy nor in the next run") {
  CountedScene scene({.kind = each_kind()});
  const fs::path project = scene.user.project();
  write_file(project / "spoil.sh", "#!/bin/sh\n./main job " + std::string(kBoardJob) +
                                       "\necho spoilt >>models/small.om\nrm models/m.om\n"
                                       "chmod 400 models/big.om\nmkdir made; echo x >made/file\n");
  fs::permissions(project / "spoil.sh", fs::perms::owner_all);
  const Json spoilt = scene.collect("spoil.sh");
  CHECK(spoilt.at("files").size() == 3);
  CHECK(spoilt.at("deleted") == Json::array({"models/m.om"}));
  const Json after = scene.collect();
  CHECK(uploaded_files(after) == 0);
  CHECK(contains(heard(after), "file rw ./models/small.om 5\n"));
  CHECK(contains(heard(after), "file rw ./models/m.om 5\n"));
  CHECK_FALSE(contains(heard(after), "./made"));
}

TEST_CASE("Names, permissions and links of the project are the same on the board") {
  BoardScene scene(each_board());
  const fs::path project = scene.user.project();
  const std::string long_name(200, 'n');
  const fs::path deep = fs::path(std::string(90, 'd')) / std::string(90, 'e') / long_name;
  add_lister(project);
  for (const std::string name :
       {"with space", "-dash", "quo'te\"s", "dollar $HOME `id`", "back\\slash", "\xc3\xa4rger", "*",
        "end ", ".hidden", "~tilde", "#hash"}) {
    write_file(project / "names" / name, name);
  }
  write_file(project / deep, "deep");
  write_file(project / "empty", "");
  write_file(project / "tool", "#!/bin/sh\n");
  fs::permissions(project / "tool", fs::perms::owner_all);
  write_file(project / "read only/file", "x");
  fs::permissions(project / "read only", fs::perms::owner_read | fs::perms::owner_exec);
  fs::create_symlink("models/m.om", project / "inside");
  fs::create_symlink("../models", project / "names/up");
  fs::create_symlink(project / "models/m.om", project / "absolute");
  fs::create_symlink("not there", project / "dangling");
  fs::create_symlink("../../out of here", project / "leaves one");
  fs::create_symlink("/etc/hostname", project / "leaves two");
  scene.user.remember_project();
  const RunResult run = run_msprof(
      {"collect", "-m", "list.sh", "--config", scene.user.ini(), "--output", scene.user.output()},
      scene.user.run_options());
  fs::permissions(project / "read only", fs::perms::owner_all);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(contains(run.out, "file rwx ./tool 10\n"));
  CHECK(contains(run.out, "file rw ./empty 0\n"));
  CHECK(contains(run.out, "file rw ./" + deep.string() + " 4\n"));
  CHECK(contains(run.out, "./read only/file 1\n"));
  for (const std::string& name : names_in(project / "names")) {
    if (name == "up") continue;
    CHECK(contains(run.out, "file rw ./names/" + name + " " + std::to_string(name.size()) + "\n"));
  }
  CHECK(contains(run.out, "link ./inside models/m.om\n"));
  CHECK(contains(run.out, "link ./names/up ../models\n"));
  CHECK(contains(run.out, "link ./absolute models/m.om\n"));
  CHECK(contains(run.out, "link ./dangling not there\n"));
  for (const std::string name : {"leaves one", "leaves two"}) {
    CHECK(contains(run.err, "not copied: " + name + " (a link to outside the project)"));
    CHECK_FALSE(contains(run.out, name));
  }
  CHECK(litter_on(scene.board) == "");
}

TEST_CASE("A name with a newline or control byte is uploaded, or reported if tar is missing") {
  const BoardOptions options = each_board();
  const bool has_tar = options.without.empty();
  const BoardScene scene(options);
  const fs::path project = scene.user.project();
  write_file(project / "names/two\nlines", "newline");
  write_file(project / "names/one\x01", "control");
  write_file(project / "look.sh", "#!/bin/sh\n./main job " + std::string(kBoardJob) +
                                      "\nfor f in names/*; do cat \"$f\"; echo \" ${#f}\"; done\n");
  fs::permissions(project / "look.sh", fs::perms::owner_all);
  for (int i = 0; i < 2; ++i) {
    const RunResult run = run_msprof(
        {"collect", "-m", "look.sh", "--config", scene.user.ini(), "--output", scene.user.output()},
        scene.user.run_options());
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.out == (has_tar ? "control 10\nnewline 15\n" : "control 10\n"));
    CHECK(contains(run.err, "not uploaded: names/two?lines") == !has_tar);
    CHECK_FALSE(contains(run.err, "\x01"));
  }
  CHECK(litter_on(scene.board) == "");
}

TEST_CASE("A board that cannot list its files gets everything each time") {
  CountedScene scene({.kind = BoardKind::dropbear, .without = {"tar", "stat"}});
  CHECK(uploaded_files(scene.collect()) == 6);
  const Json second = scene.collect();
  CHECK(uploaded_files(second) == 6);
  CHECK(contains(heard(second),
                 "file rw ./models/big.om " + std::to_string(kUploadedModelBytes) + "\n"));
}

TEST_CASE("Login data, older captures and files in .msprofignore are never uploaded") {
  const BoardScene scene({.kind = BoardKind::openssh_without_sftp});
  const fs::path project = scene.user.project();
  const std::string secret = scene.board.password();
  write_file(project / "board.ini", scene.board.ini());
  fs::permissions(project / "board.ini", fs::perms::owner_read | fs::perms::owner_write);
  write_file(project / "config/other board.txt", "; old\n [SSH_Config]\npwd = " + secret + "\n");
  fs::create_symlink("config/other board.txt", project / "linked");
  write_file(project / kOtherBoardJob / "data/aicore.0", "old " + secret);
  write_file(project / "PROF_000001_20260101000000000_ABC/host/x", secret);
  write_file(project / ".git/config", secret);
  write_file(project / ".msprofignore", "notes/\n*.tmp\n");
  write_file(project / "notes/n", secret);
  write_file(project / "x.tmp", secret);
  add_lister(project);
  const Contents before = read_contents(project);
  // As in the manual: the ini file in the project, and results in the current folder.
  const RunResult run =
      run_msprof({"collect", "-m", "list.sh", "--config", "board.ini"}, scene.user.run_options());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  for (const std::string name :
       {"board.ini", "other board", "linked", "JOB", "PROF", ".git", "notes", "x.tmp"}) {
    CHECK_FALSE(contains(run.out, name));
  }
  CHECK(files_with(scene.board.home(), secret).empty());
  Contents after = read_contents(project);
  CHECK(after.erase(kBoardJob) == 1);
  std::erase_if(after, [](const auto& entry) {
    return entry.first.starts_with(std::string(kBoardJob) + "/");
  });
  CHECK(differences(before, after) == "");
  CHECK(litter_on(scene.board) == "");
}

TEST_CASE("--no-cache uploads everything and keeps no copy on the board") {
  CountedScene scene({});
  const Json first = scene.collect("list.sh", {"--no-cache"});
  CHECK(first.at("sent") > kUploadedModelBytes);
  CHECK_FALSE(first.contains("remains"));
  CHECK(names_in(scene.board.home() / "msprof/cache").empty());
  const Json second = scene.collect("list.sh", {"--no-cache"});
  CHECK(second.at("sent") > kUploadedModelBytes);
  CHECK(uploaded_files(second) == 6);
  CHECK(contains(heard(second), "file rw ./models/big.om"));
}

TEST_CASE("Two projects with the same name on one board stay separate") {
  const BoardServer board;
  const BoardUser one(board);
  const BoardUser two(board);
  write_file(one.project() / "models/m.om", "of the first");
  write_file(two.project() / "models/m.om", "of another");
  for (int i = 0; i < 2; ++i) {
    for (const BoardUser* user : {&one, &two}) {
      const RunResult run = user->collect({}, {"job", kBoardJob, "append", "models/m.om", "!"});
      INFO(run.err);
      CHECK(run.exit_code == 0);
    }
  }
  const auto file = [](const BoardUser& user, const std::string& folder) {
    return read_file(user.output() / (folder + ".files") / "models/m.om");
  };
  CHECK(file(one, kBoardJob) == "of the first!");
  CHECK(file(two, kBoardJob) == "of another!");
  CHECK(file(one, std::string(kBoardJob) + "~2") == "of the first!");
  CHECK(names_in(board.home() / "msprof/cache").size() == 2);
  CHECK(litter_on(board) == "");
}

}  // namespace msprof::test
