#include "board_contest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "board/board_run_fixture.hpp"
#include "collect/file_tree.hpp"
#include "support/ssh_client.hpp"

namespace msprof::bench {

namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

SshLogin login_to(const test::BoardServer& board, std::uint16_t port) {
  SshLogin login = test::make_config(board).login;
  login.port = port;
  login.host_key = HostKeyPolicy::off;
  return login;
}

Words ssh_to(const test::BoardServer& board, std::uint16_t port) {
  const test::SshClient client{board.client_home(), true};
  Words words = client.words_with_key(port, board.client_key(), "");
  words.pop_back();
  return words;
}

// Shares one connection for all commands, as msprof does.
Words with_socket(Words words, const fs::path& socket) {
  words.insert(words.begin() + 1, {"-S", socket});
  return words;
}

constexpr const char* kFetch = R"sh(to_board "cd '$0' && exec tar cf - ." | tar xf - -C "$1")sh";
constexpr const char* kSend =
    R"sh(tar cf - -C "$0" . | to_board "mkdir -p '$1' && cd '$1' && exec tar xf -")sh";

// Lists everything below `root` like a project scan.
std::vector<ProjectEntry> list_entries(const fs::path& root) {
  std::vector<ProjectEntry> entries;
  const auto add = [&](const fs::path& path, const struct stat& status) {
    ProjectEntry entry;
    entry.path = path;
    entry.kind = S_ISDIR(status.st_mode) ? EntryKind::folder : EntryKind::file;
    entry.source = root / path;
    entry.mode = status.st_mode & 0777;
    entry.mtime_ns = mtime_ns(status);
    if (S_ISREG(status.st_mode)) entry.size_bytes = static_cast<std::uint64_t>(status.st_size);
    entries.push_back(std::move(entry));
    return true;
  };
  walk_tree(root, add, [](const fs::path&, int) {});
  return entries;
}

void empty_folder(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
}

}  // namespace

double measure_seconds(const std::function<void()>& task) {
  const auto start = std::chrono::steady_clock::now();
  task();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Outcome contest(int rounds, const Timed& ours, const Timed& theirs) {
  std::vector<double> our_seconds;
  std::vector<double> their_seconds;
  std::vector<double> ratios;
  theirs();
  ours();
  for (int round = 0; round < rounds; ++round) {
    double one = 0;
    double other = 0;
    if (round % 2 == 0) {
      other = theirs();
      one = ours();
    } else {
      one = ours();
      other = theirs();
    }
    our_seconds.push_back(one);
    their_seconds.push_back(other);
    ratios.push_back(other / one);
  }
  const auto [lowest, highest] = std::minmax_element(ratios.begin(), ratios.end());
  return {median(our_seconds), median(their_seconds), median(ratios), *lowest, *highest};
}

void print_row(const std::string& name, const Outcome& outcome, const std::string& goal) {
  fmt::print("  {:<34} {:6.2f} x{}, from {:.2f} to {:.2f}: {:.3f} s against {:.3f} s\n", name,
             outcome.ratio, goal.empty() ? "" : fmt::format(" (goal {})", goal),
             outcome.lowest_ratio, outcome.highest_ratio, outcome.ours_seconds,
             outcome.theirs_seconds);
  std::fflush(stdout);
}

test::RunResult run_or_throw(const std::string& program, const Words& words,
                             const test::RunOptions& options) {
  test::RunResult result = test::run_program(program, words, options);
  if (result.exit_code == 0) return result;
  throw std::runtime_error(
      fmt::format("{} {} failed: {}", program, fmt::join(words, " "), result.err));
}

void make_big_file(const fs::path& path, std::uint64_t bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  std::string block(1 << 20, '\0');
  std::uint64_t value = 1;
  for (std::uint64_t done = 0; done < bytes; done += block.size()) {
    for (std::size_t i = 0; i < block.size(); i += 8) {
      value = value * 6364136223846793005U + 1442695040888963407U;
      std::memcpy(block.data() + i, &value, 8);
    }
    file.write(block.data(),
               static_cast<std::streamsize>(std::min<std::uint64_t>(block.size(), bytes - done)));
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void make_small_files(const fs::path& folder, int count, std::uint64_t bytes) {
  for (int i = 0; i < count; ++i) make_big_file(folder / fmt::format("slice.{}", i), bytes);
}

void make_old(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    fs::last_write_time(entry, fs::last_write_time(entry) - std::chrono::hours(1));
  }
}

void require_tree(const fs::path& folder, std::uint64_t files, std::uint64_t bytes) {
  std::uint64_t found_files = 0;
  std::uint64_t found_bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ++found_files;
    found_bytes += entry.file_size();
  }
  if (found_files == files && found_bytes == bytes) return;
  throw std::runtime_error(fmt::format("{}: {} files of {} bytes arrived, not {} of {}",
                                       folder.string(), found_files, found_bytes, files, bytes));
}

BoardPeers::BoardPeers(const test::BoardServer& board, std::uint16_t port)
    : ssh_(ssh_to(board, port)),
      shared_ssh_(with_socket(ssh_, folder_ / "s")),
      options_{.variables = board.client_variables()},
      shell_(login_to(board, port)) {
  Words words = shared_ssh_;
  words.insert(words.begin() + 1, {"-M", "-N"});
  master_ = std::make_unique<test::RunningProgram>("/usr/bin/env", words, options_);
  const auto is_there = [&] { return fs::exists(folder_ / "s") || master_->has_ended(); };
  if (!test::eventually(is_there) || master_->has_ended()) {
    throw std::runtime_error("ssh did not connect: " + master_->wait().err);
  }
  shell_.connect();
  InfoQuestion question(shell_, "");
  facts_ = question.facts();
  question.find_sftp(facts_);
}

double BoardPeers::fetch(TransferWay way, const fs::path& folder, const fs::path& into) {
  empty_folder(into);
  BoardTransfer transfer(shell_, facts_, way);
  return measure_seconds([&] {
    const FetchReport report = transfer.fetch(folder.string(), {"."}, into, {});
    if (!report.reason.empty()) throw std::runtime_error(report.reason);
  });
}

double BoardPeers::send(const fs::path& folder, const fs::path& into) {
  fs::remove_all(into);
  BoardTransfer transfer(shell_, facts_);
  return measure_seconds([&] { transfer.send(into.string(), list_entries(folder), {}); });
}

double BoardPeers::log_in_and_fetch(const fs::path& folder, const fs::path& into) {
  empty_folder(into);
  return measure_seconds([&] {
    BoardShell shell(shell_.login());
    shell.connect();
    BoardTransfer(shell, facts_).fetch(folder.string(), {"."}, into, {});
  });
}

// The arguments are "$0", "$1", …; `to_board` runs a command on the board.
double BoardPeers::timed_script(const Words& ssh, const std::string& script,
                                const Words& arguments) const {
  std::string words;
  for (const std::string& word : ssh) words += shell_quoted(word) + " ";
  Words all = {"-ec", "to_board() { " + words + "\"$@\"; }\n" + script};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return measure_seconds([&] { run_or_throw("/bin/sh", all, options_); });
}

double BoardPeers::fetch_by_tools(const fs::path& folder, const fs::path& into) {
  empty_folder(into);
  return timed_script(shared_ssh_, kFetch, {folder, into});
}

double BoardPeers::log_in_and_fetch_by_tools(const fs::path& folder, const fs::path& into) {
  empty_folder(into);
  return timed_script(ssh_, kFetch, {folder, into});
}

double BoardPeers::send_by_tools(const fs::path& folder, const fs::path& into) {
  fs::remove_all(into);
  return timed_script(shared_ssh_, kSend, {folder, into});
}

}  // namespace msprof::bench
