#include "board_runs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text.hpp"
#include "board/session/shell.hpp"
#include "board_contest.hpp"
#include "support/files.hpp"
#include "support/network_proxy.hpp"
#include "support/ssh_client.hpp"

namespace msprof::bench {

namespace {

using Json = nlohmann::json;

// The traffic of two runs differs by a few bytes, because of paths and random padding.
constexpr std::uint64_t kSlackBytes = 4096;
constexpr const char* kJob = "JOBBENCHBENCHBENCHBENCHBENCHBENC";

// A script in place of the application; its capture holds the board's file `source`.
std::string application(const fs::path& source) {
  const std::string words = shell_quoted(kJob) + " " + shell_quoted(source.string());
  return "#!/bin/sh\nset -e -- " + words + R"sh(
out=$(sed -n 's/.*"output": *"\([^"]*\)".*/\1/p' "${MSPROF_ACL_JSON:-acl.json}")
mkdir -p "$out/$1/data"
echo '{"DeviceInfo": [{"aic_frequency": "1000"}]}' >"$out/$1/info.json.0"
cp "$2" "$out/$1/data/bench.bin"
)sh";
}

class User {
 public:
  User(const test::BoardServer& board, std::uint16_t port, const fs::path& source) {
    test::write_file(folder_ / "project/run.sh", application(source));
    test::write_file(folder_ / "project/acl.json", R"({"profiler": {"output": "out"}})");
    fs::permissions(folder_ / "project/run.sh", fs::perms::owner_all);
    test::write_file(folder_ / "board.ini",
                     fmt::format("[ssh_config]\nip = {}\nusername = {}\nport = {}\nkey = {}\n"
                                 "host_key = off\n",
                                 test::BoardServer::host(), test::BoardServer::user(), port,
                                 board.client_key().string()));
    fs::create_directories(folder_ / "out");
    options_ = {.folder = project(), .variables = board.client_variables()};
    const test::SshClient client{board.client_home(), true};
    for (const std::string& word : client.words_with_key(port, board.client_key(), "")) {
      if (!word.empty()) ssh_ += shell_quoted(word) + " ";
    }
  }

  fs::path project() const { return folder_ / "project"; }

  Json collect() {
    fs::remove_all(folder_ / "out");
    const Words words = {
        "collect",       "-m",    "run.sh", "--config", folder_ / "board.ini", "--output",
        folder_ / "out", "--json"};
    return Json::parse(run_or_throw(test::msprof_path(), words, options_).out);
  }

  void collect_by_tools() {
    fs::remove_all(folder_ / "out");
    fs::create_directories(folder_ / "out");
    const std::string script = "to_board() { " + ssh_ + R"("$@"; }
tar cf - -C "$0" . | to_board "rm -rf by_hand && mkdir by_hand && cd by_hand && exec tar xf -"
to_board "cd by_hand && ./run.sh"
to_board "cd by_hand/out && exec tar cf - ." | tar xf - -C "$1"
to_board "rm -rf by_hand"
)";
    run_or_throw("/bin/sh", {"-ec", script, project(), folder_ / "out"}, options_);
  }

  void collect_by_one_login() {
    fs::remove_all(folder_ / "out");
    fs::create_directories(folder_ / "out");
    const std::string script = "to_board() { " + ssh_ + R"("$@"; }
tar cf - -C "$0" . | to_board "rm -rf by_hand && mkdir by_hand && cd by_hand && tar xf - && ./run.sh && \
  tar cf - -C out . && cd .. && rm -rf by_hand" | tar xf - -C "$1"
)";
    run_or_throw("/bin/sh", {"-ec", script, project(), folder_ / "out"}, options_);
  }

  std::uint64_t captured_bytes() const {
    return fs::file_size(folder_ / "out" / kJob / "data/bench.bin");
  }

 private:
  test::TempFolder folder_;
  std::string ssh_;  // quoted words up to the command
  test::RunOptions options_;
};

Json find_step(const Json& document, const std::string& name) {
  for (const Json& step : document.at("steps")) {
    if (step.at("name") == name) return step;
  }
  throw std::runtime_error("no step " + name + " in " + document.dump());
}

}  // namespace

void compare_collect(const test::BoardServer& board, int rounds, std::uint64_t bytes) {
  fmt::print("whole runs; x: times as fast as `ssh tar`, `ssh main`, `ssh tar`, `ssh rm`\n");
  const fs::path source = board.home() / "capture.bin";
  make_big_file(source, bytes);
  User user(board, board.port(), source);
  const auto checked = [&](const std::function<void()>& task) {
    const double seconds = measure_seconds(task);
    if (user.captured_bytes() != bytes) throw std::runtime_error("the capture is not whole");
    return seconds;
  };
  Json last;
  const Outcome outcome = contest(
      rounds, [&] { return checked([&] { last = user.collect(); }); },
      [&] { return checked([&] { user.collect_by_tools(); }); });
  print_row("collect, 256 MB", outcome, "");
  std::string steps;
  for (const Json& step : last.at("steps")) {
    steps += fmt::format("{}{} {:.2f}", steps.empty() ? "" : ", ",
                         step.at("name").get<std::string>(), step.at("seconds").get<double>());
  }
  fmt::print("  {:<34} {} s\n", "its last run", steps);
  fs::remove(source);
}

void compare_far_collect(const test::BoardServer& board, int rounds,
                         std::chrono::microseconds round_trip) {
  constexpr std::uint64_t kFewBytes = 4096;
  fmt::print("a whole run {} ms away; x: times as fast as `tar`, the run and `tar` by one `ssh`\n",
             round_trip.count() / 1000);
  const fs::path source = board.home() / "capture.bin";
  make_big_file(source, kFewBytes);
  const test::DelayProxy network(board.port(), round_trip);
  User user(board, network.port(), source);
  make_old(user.project());
  const auto checked = [&](const std::function<void()>& task) {
    const double seconds = measure_seconds(task);
    if (user.captured_bytes() != kFewBytes) throw std::runtime_error("the capture is not whole");
    return seconds;
  };
  const int turns_before = network.turns();
  const int before = network.round_trips();
  checked([&] { user.collect(); });
  const int round_trips = network.round_trips() - before;
  const int turns = network.turns() - turns_before;
  const Outcome outcome = contest(
      rounds, [&] { return checked([&] { user.collect(); }); },
      [&] { return checked([&] { user.collect_by_one_login(); }); });
  print_row("run and fetch of few files", outcome, "0.77");
  fmt::print("  {:<34} {}, turns {}\n", "round trips of its line", round_trips, turns);
  fs::remove(source);
}

void count_unchanged_upload(const test::BoardServer& board, int files, std::uint64_t bytes) {
  const fs::path source = board.home() / "capture.bin";
  make_big_file(source, 1);
  const test::CutProxy network(board.port());
  User user(board, network.port(), source);
  make_small_files(user.project() / "models", files, bytes);
  make_old(user.project());
  const auto sent_by_run = [&](Json& upload) {
    const std::uint64_t before = network.bytes_up();
    upload = find_step(user.collect(), "upload");
    return network.bytes_up() - before;
  };
  Json first;
  Json second;
  const std::uint64_t first_bytes = sent_by_run(first);
  const std::uint64_t second_bytes = sent_by_run(second);
  if (second.at("files") != 0 || second.at("bytes") != 0 ||
      second_bytes > first_bytes - first.at("bytes").get<std::uint64_t>() + kSlackBytes) {
    throw std::runtime_error("an unchanged project was sent again: " + second.dump());
  }
  fmt::print(
      "  {:<34} {} to the board, login and questions included, none of it from files; the first "
      "run "
      "{}, {} of it from files\n",
      fmt::format("unchanged project, {} files", files), human_bytes(second_bytes),
      human_bytes(first_bytes), human_bytes(first.at("bytes").get<std::uint64_t>()));
  fs::remove(source);
}

}  // namespace msprof::bench
