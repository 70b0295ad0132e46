#include "msprof/board_group.hpp"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/findings.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/side_by_side.hpp"
#include "base/text.hpp"
#include "board/session/login.hpp"
#include "msprof/pipeline.hpp"
#include "msprof/run_table.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

// Returns the host without its account: "[fe80::1]:22", "lab7".
std::string host_part(const std::string& host) {
  const auto at = host.rfind('@');
  return at == std::string::npos ? host : host.substr(at + 1);
}

// Returns names of a board, from the user's short name to longer, more specific ones.
std::vector<std::string> board_names(const GroupBoard& one) {
  const std::string short_name = one.arguments.host
                                     ? host_part(*one.arguments.host)
                                     : fs::path(*one.arguments.config).stem().string();
  const SshLogin& login = one.board.config.login;
  return {short_name, fmt::format("{}:{}", login.shown_host(), login.port), login.name()};
}

std::string folder_name(const std::string& label) {
  std::string name = label;
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '.' && c != '-' && c != '_' && byte < 0x80) c = '_';
  }
  if (name.empty() || name[0] == '.' || name[0] == '-') name.insert(0, "_");
  return name;
}

// Gives each board the shortest label that makes all labels, and their folder names, distinct.
void set_labels(std::vector<GroupBoard>& boards) {
  for (std::size_t way = 0;; ++way) {
    std::set<std::string> folders;
    for (GroupBoard& one : boards) {
      const auto names = board_names(one);
      one.label = printable(names[std::min(way, names.size() - 1)]);
      if (way >= names.size()) one.label = take_free_name(folders, one.label);
      one.folder = folder_name(one.label);
      folders.insert(one.folder);
    }
    if (folders.size() == boards.size() || way > 3) return;
  }
}

void refuse_same_board(const std::vector<GroupBoard>& boards) {
  std::set<std::string> seen;
  for (const GroupBoard& one : boards) {
    const SshLogin& login = one.board.config.login;
    if (seen.insert(fmt::format("{}:{} {}", login.host, login.port, login.way())).second) continue;
    throw Error(Exit::usage,
                fmt::format("the board {} is given twice: concurrent runs would distort each "
                            "other's times (--repeat N runs one after the other)",
                            login.name()));
  }
}

std::vector<BoardArguments> single_arguments(const BoardArguments& arguments) {
  BoardArguments one = arguments;
  one.configs.clear();
  one.hosts.clear();
  std::vector<BoardArguments> all;
  const bool has_one_config = arguments.configs.size() == 1;
  if (has_one_config) one.config = arguments.configs.front();
  for (const std::string& host : arguments.hosts) {
    one.host = host;
    all.push_back(one);
  }
  if (!all.empty()) return all;
  for (const std::string& config : arguments.configs) {
    one.config = config;
    all.push_back(one);
  }
  return all;
}

std::optional<Secret> password_line(const BoardArguments& one, std::size_t number) {
  try {
    return read_password_line(STDIN_FILENO);
  } catch (const Error& error) {
    if (error.code() != Exit::usage || number == 0) throw;
    throw Error(Exit::usage, fmt::format("--password-stdin: line {} of standard input, the "
                                         "password of {}, is missing or invalid",
                                         number + 1, one.host ? *one.host : *one.config));
  }
}

void note_error(const Error& error, ordered_json& document) {
  document["error"] = valid_utf8(error.what());
  if (error.id()) document["error_id"] = finding_info(*error.id()).id;
  document["exit_code"] = static_cast<int>(error.code());
}

// Answers the questions of every login here, where a terminal is available; password sources cache
// the answers.
std::vector<ordered_json> log_in_ahead(const std::vector<GroupBoard>& boards) {
  std::vector<ordered_json> failures(boards.size());
  if (::isatty(STDERR_FILENO) == 0) return failures;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    try {
      SshConnection::open(boards[i].board.config.login);
    } catch (const Error& error) {
      interrupt::check();
      log::failure(error.with_context(boards[i].label));
      note_error(error, failures[i]);
    }
  }
  return failures;
}

ordered_json end_document(const SideEnd& end) {
  if (end.is_whole) {
    ordered_json document = ordered_json::parse(end.result, nullptr, false);
    if (document.is_object()) return document;
  }
  ordered_json document;
  document["error"] =
      end.signal != 0 ? fmt::format("its process was killed by signal {} ({})", end.signal,
                                    ::strsignal(end.signal))
                      : fmt::format("its process returned no result (exit code {})", end.exit_code);
  document["exit_code"] =
      static_cast<int>(end.exit_code > 0 ? to_exit(end.exit_code) : Exit::internal_error);
  return document;
}

void print_marked(const std::string& label, SideStream stream, std::string_view line) {
  std::string text = label + ": ";
  text += line;
  text += '\n';
  FILE* const file = stream == SideStream::out ? stdout : stderr;
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

// Suggests comparing the first two boards that have captures.
void suggest_next_command(const std::vector<ordered_json>& documents) {
  std::vector<std::string> sides;
  for (const ordered_json& document : documents) {
    bool has_data = !captures_with_data(document).empty();
    if (const auto runs = document.find("runs"); runs != document.end()) {
      for (const ordered_json& run : *runs)
        has_data = has_data || (run.value("exit_code", 1) == 0 && !captures_with_data(run).empty());
    }
    if (!has_data) continue;
    const auto captures = captures_with_data(document);
    sides.push_back(shell_word(captures.empty() ? document.value("folder", "") : captures[0]));
  }
  if (sides.size() > 1) log::info("next: msprof compare {} {}", sides[0], sides[1]);
  if (sides.size() == 1) log::info("next: msprof show -dir {}", sides[0]);
}

}  // namespace

std::vector<GroupBoard> find_boards(const BoardArguments& arguments) {
  if (arguments.configs.size() > 1 && !arguments.hosts.empty())
    throw Error(Exit::usage,
                "several --config cannot be combined with --host: give one --config per board, or "
                "every board with --host and at most one --config for shared settings");
  if (arguments.tty) throw Error(Exit::usage, "--tty works with a single board only");
  const std::optional<Secret> variable = take_password_variable();
  LoginResolver resolver(ssh_config_files(arguments.keys.ssh_config));
  std::vector<GroupBoard> boards;
  for (BoardArguments& own : single_arguments(arguments)) {
    std::optional<Secret> given = variable;
    if (arguments.password_stdin) given = password_line(own, boards.size());
    NamedBoard board = read_board(own, resolver);
    board.config.login.password = password_source(std::move(given), board.config);
    boards.push_back({std::move(own), std::move(board), "", ""});
  }
  refuse_same_board(boards);
  set_labels(boards);
  // One board's key must not be uploaded to another.
  std::vector<fs::path> files;
  for (const GroupBoard& one : boards)
    files.insert(files.end(), one.board.private_files.begin(), one.board.private_files.end());
  for (GroupBoard& one : boards) one.board.private_files = files;
  return boards;
}

Exit collect_from_boards(const std::vector<GroupBoard>& boards, const CollectFromBoard& collect,
                         ordered_json& document) {
  std::vector<ordered_json> documents = log_in_ahead(boards);
  std::vector<std::size_t> numbers;
  std::vector<SideWork> works;
  for (std::size_t i = 0; i < boards.size(); ++i) {
    if (!documents[i].empty()) continue;
    numbers.push_back(i);
    works.emplace_back([&collect, i](std::string& result) {
      ordered_json own;
      const Exit exit = fill_document(own, [&] { return collect(i, own); });
      result = own.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
      return static_cast<int>(exit);
    });
  }
  const auto ends =
      run_side_by_side(works, [&](std::size_t work, SideStream stream, std::string_view line) {
        print_marked(boards[numbers[work]].label, stream, line);
      });
  Exit code = Exit::ok;
  for (std::size_t work = 0; work < ends.size(); ++work)
    documents[numbers[work]] = end_document(ends[work]);
  std::vector<RunRow> rows;
  document["boards"] = ordered_json::array();
  for (std::size_t i = 0; i < boards.size(); ++i) {
    rows.push_back(make_run_row(boards[i].label, documents[i]));
    code = gravest(code, to_exit(rows.back().exit_code));
    ordered_json one = {{"name", valid_utf8(boards[i].label)}};
    one.update(documents[i]);
    document["boards"].push_back(std::move(one));
  }
  print_runs("Board", rows);
  suggest_next_command(documents);
  return code;
}

}  // namespace msprof
