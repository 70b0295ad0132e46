#include "board/collect_board_fixture.hpp"

#include <algorithm>
#include <cstring>

#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

BoardUser::BoardUser(const BoardServer& board, std::uint16_t port) {
  fs::create_directories(project());
  fs::create_directories(output());
  fs::copy_file(COLLECT_APP, project() / "main");
  write_file(project() / "acl.json", R"({"profiler":{"switch":"off"},"mine":1})");
  write_file(project() / "models" / "m.om", "model");
  const bool by_proxy = port != 0;
  std::string text =
      "[ssh_config]\nip = " + BoardServer::host() + "\nusername = " + BoardServer::user() +
      "\nport = " + std::to_string(by_proxy ? port : board.port()) +
      "\nkey = " + board.client_key().string() + "\nconnect_timeout = " + kAmple + "\n";
  if (by_proxy) text += "host_key = accept-new\n";
  write_file(ini(), text);
  fs::permissions(ini(), fs::perms::owner_read | fs::perms::owner_write);
  run_options_ = {.folder = project(), .variables = board.client_variables()};
  remember_project();
}

void BoardUser::remember_project() {
  project_before_ = fingerprint(project());
}

bool BoardUser::project_is_untouched() const {
  return fingerprint(project()) == project_before_;
}

Words BoardUser::words(const Words& options, const Words& application) const {
  Words words = {"collect",      "-m",       "main",           "--config",
                 ini().string(), "--output", output().string()};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back("--");
  words.insert(words.end(), application.begin(), application.end());
  return words;
}

RunResult BoardUser::collect(const Words& options, const Words& application) const {
  return run_msprof(words(options, application), run_options_);
}

BoardCollecting::BoardCollecting(const BoardUser& user, const Words& options,
                                 const Words& application, std::string_view input) {
  write_file(folder_ / "in", input);
  Words words = {"-c", R"(exec "$@" <"$0/in" 2>"$0/err")", folder_.path().string(), msprof_path()};
  for (std::string& word : user.words(options, application)) words.push_back(std::move(word));
  program_ = std::make_unique<RunningProgram>("/bin/sh", words, user.run_options());
}

std::string BoardCollecting::err() const {
  return fs::exists(folder_ / "err") ? read_file(folder_ / "err") : "";
}

RunResult BoardCollecting::wait() const {
  RunResult result = program_->wait();
  result.err += err();
  return result;
}

std::uint64_t application_bytes() {
  return fs::file_size(COLLECT_APP);
}

std::string big_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t value = i * 0x9E3779B97F4A7C15U;
    std::memcpy(bytes.data() + i, &value, std::min<std::size_t>(8, size - i));
  }
  return bytes;
}

namespace {

std::string tar_command(const BoardServer& board) {
  const fs::path real = fs::canonical(board.tools() / "tar");
  // busybox selects its applet by the name under which it is called.
  return real.string() + (real.filename() == "busybox" ? " tar" : "") + " \"$@\"";
}

std::string litter_now(const BoardServer& board, std::size_t kept) {
  std::string litter = describe(board.processes());
  const fs::path ours = board.home() / "msprof";
  for (const std::string& name : names_in(ours)) {
    if (name != "cache" && name != "kept" && name != "runs") litter += name + "\n";
  }
  for (const std::string& name : names_in(ours / "runs")) litter += "runs/" + name + "\n";
  const auto kept_runs = names_in(ours / "kept");
  if (kept_runs.size() != kept) {
    litter += "kept: " + std::to_string(kept_runs.size()) + " runs\n";
    for (const std::string& name : kept_runs) litter += "kept/" + name + "\n";
  }
  return litter;
}

}  // namespace

void before_packing(BoardServer& board, const std::string& script) {
  board.replace_tool("tar", "case $1 in c*)\n" + script + "\n;; esac\nexec " + tar_command(board));
}

void after_packing(BoardServer& board, const std::string& script) {
  board.replace_tool(
      "tar", tar_command(board) + "\ncode=$?\ncase $1 in c*)\n" + script + "\n;; esac\nexit $code");
}

void shorten_wait_for_lost_run(BoardServer& board, int count) {
  const std::string left = (board.tools() / "short_sleeps_left").string();
  write_file(left, std::to_string(count) + "\n");
  board.replace_tool("sleep", "[ \"$1\" != 1 ] || ! read -r left <'" + left +
                                  "' || [ \"$left\" -eq 0 ] || {\n  echo $((left - 1)) >'" + left +
                                  "'\n  set -- 0.02\n}\nexec /usr/bin/sleep \"$@\"");
}

std::string litter_on(const BoardServer& board, std::size_t kept) {
  std::string litter;
  eventually([&] { return (litter = litter_now(board, kept)).empty(); });
  return litter;
}

std::string find_litter(const BoardUser& user) {
  std::string litter;
  if (!user.project_is_untouched()) litter += "the project was changed\n";
  for (const std::string& name : names_in(user.output())) {
    if (name.starts_with(".")) litter += "out/" + name + "\n";
  }
  return litter;
}

std::string BoardScene::litter(std::size_t kept) const {
  return litter_on(board, kept) + find_litter(user);
}

std::vector<std::string> BoardScene::arrived() const {
  return names_in(user.output());
}

}  // namespace msprof::test
