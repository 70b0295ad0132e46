#include "doctor/board_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "board/session/config.hpp"
#include "board/session/info.hpp"
#include "board/session/link.hpp"
#include "board/session/shell.hpp"
#include "collect/elf_file.hpp"
#include "doctor/acl_checks.hpp"
#include "doctor/machine_checks.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxListed = 20;  // limit for runs, mounts, writers
constexpr int kMaxGreeting = 80;
constexpr std::size_t kMaxGreetingBytes = 4096;
constexpr std::chrono::seconds kGreetingLimit{20};
constexpr std::uint64_t kBlockBytes = 1024;
constexpr std::uint64_t kMaxOwnBlocks = std::uint64_t{1} << 50;

// Arguments: $1 board_dir, $2 output folder in acl.json, $3 additional library folders, one per
// line; names of libraries on stdin. Prints one fact per line: "name value". Read-only. `ls -l`
// over /proc needs a single process, readlink would need one per entry; "l-wx" marks files open for
// writing.
const BoardScript kProbe = {"inspecting the board", std::string(kMarkedFunction) + kLockFunctions +
                                                        std::string(kFindFolder) +
                                                        std::string(kInfoScript) + R"sh(
echo "umask $(umask)"
echo "clock $(date +%s)"
there=$ours
until [ -d "$there" ]; do there=${there%/*}; there=${there:-/}; done
echo "there $there"
[ -w "$there" ] && [ -x "$there" ] && echo "writable 1"
df -Pk "$there" | {
  read -r header
  read -r name blocks used free rest mount
  echo "free $free"
  while read -r source point kind options more; do
    [ "$point" = "$mount" ] || continue
    case ,$options, in *,ro,*) echo "readonly $point" ;; esac
  done < /proc/mounts
}
while read -r source point kind more; do
  case $kind in nfs|nfs4) echo "nfs $source on $point" ;; esac
done < /proc/mounts
if [ -n "$2" ]; then
  [ -d "$2" ] && echo "output there"
  [ -d "$2" ] && [ -w "$2" ] && echo "output writable"
fi
for place in "$ours" "$old"; do
  cd "$place" 2>/dev/null || continue
  if [ -d lock ]; then
    look
    if alive "$pid" "$start"; then echo "busy $holder (process $pid)"; else echo "stale ${holder:-?}"; fi
  fi
  for run in runs/*; do
    [ -d "$run" ] && [ -z "$(marked "${run#runs/}")" ] && echo "run ${run#runs/}"
  done
  for run in kept/*; do
    if [ -e "$run/brought-home" ]; then echo "requested ${run#kept/}"
    elif [ -d "$run" ]; then echo "keeps $place"; echo "kept ${run#kept/}"; fi
  done
  echo "own $(du -sk . 2>/dev/null | { read -r blocks rest; echo "$blocks"; })"
done
ls -l /proc/[0-9]*/fd 2>/dev/null | while read -r line; do
  case $line in
    /proc/*/fd:) pid=${line#/proc/} pid=${pid%/fd:} ;;
    l?w*" -> "*/JOB[A-Z][A-Z]*/data/*|l?w*" -> "*/PROF_[0-9]*/data/*)
      [ "$pid" = "$said" ] && continue
      said=$pid name=
      read -r name 2>/dev/null < "/proc/$pid/comm"
      echo "writer $pid $name: ${line#* -> }" ;;
  esac
done
folders="/lib /usr/lib /lib64 /usr/lib64 /usr/local/lib /lib/*-linux-* /usr/lib/*-linux-*
$(cat /etc/ld.so.conf /etc/ld.so.conf.d/*.conf /etc/ld-musl-*.path 2>/dev/null | tr ":" "\012")
$(echo "$LD_LIBRARY_PATH" | tr ":" "\012")
$3"
echo "libraries 1"
while read -r name; do
  for folder in $folders; do
    [ -e "$folder/$name" ] && echo "library $name" && break
  done
done
)sh"};

std::optional<unsigned> parse_octal(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void add_text(std::vector<std::string>& list, std::string_view value) {
  if (list.size() < kMaxListed) list.push_back(printable(value));
}

void take(BoardProbe& probe, std::string_view name, std::string_view value) {
  std::uint64_t number = 0;
  if (name == "there") probe.existing_folder = printable(value);
  if (name == "writable") probe.is_writable = true;
  if (name == "readonly") probe.read_only_mount = printable(value);
  if (name == "umask") probe.umask = parse_octal(value);
  if (name == "clock" && parse_u64(value, number) && number < (std::uint64_t{1} << 40))
    probe.clock_s = static_cast<std::int64_t>(number);
  if (name == "output") probe.has_output = true;
  if (name == "output" && value == "writable") probe.is_output_writable = true;
  if (name == "busy") probe.busy = printable(value);
  if (name == "stale") probe.stale_lock = printable(value);
  if (name == "run") add_text(probe.runs, value);
  if (name == "keeps" && probe.kept_in.empty()) probe.kept_in = printable(value);
  if (name == "keeps" && probe.kept_in != printable(value)) probe.is_kept_apart = true;
  if (name == "kept") add_text(probe.kept, value);
  if (name == "requested") add_text(probe.kept_on_request, value);
  if (name == "own" && parse_u64(value, number) && number < kMaxOwnBlocks)
    probe.own_bytes += number * kBlockBytes;
  if (name == "writer") add_text(probe.writers, value);
  if (name == "nfs") add_text(probe.nfs_mounts, value);
  if (name == "libraries") probe.has_checked_libraries = true;
  if (name == "library") probe.found_libraries.emplace_back(value);
}

struct BoardQuestion {
  std::string board_dir;               // as for InfoQuestion
  std::string output;                  // absolute folder from acl.json; empty: none
  std::vector<std::string> libraries;  // to search for
  std::vector<std::string> run_paths;  // folders in addition to the default ones
};

// Throws like BoardShell::ask and parse_board_probe().
BoardProbe probe_read_only(BoardShell& shell, const BoardQuestion& question) {
  std::string names;
  for (const std::string& name : question.libraries) names += name + "\n";
  std::string folders;
  for (const std::string& folder : question.run_paths) folders += folder + "\n";
  const BoardAnswer answer =
      shell.ask(kProbe, {question.board_dir, question.output, folders}, names);
  if (!answer.has_succeeded() && answer.out.empty()) {
    throw Error(Exit::board_unreachable, fmt::format("{}: the board cannot be inspected: {}",
                                                     shell.login().name(), answer.reason()));
  }
  BoardProbe probe = parse_board_probe(answer.out);
  probe.info.has_sftp = shell.connection().sftp() != nullptr;
  return probe;
}

// Returns the login shell's output that precedes that of a command, shortened; empty if there is
// none. Throws Error(board_unreachable) if the command did not run.
std::string board_greeting(BoardShell& shell) {
  const BoardScript kNothing = {"greeting", ":"};
  std::string out;
  const auto command = shell.connection().start(
      command_line(kNothing, {}),
      [&](std::string_view bytes) {
        out.append(bytes.substr(0, kMaxGreetingBytes - std::min(kMaxGreetingBytes, out.size())));
      },
      [](std::string_view) {});
  command->close_input();
  const auto end = std::chrono::steady_clock::now() + kGreetingLimit;
  while (!command->wait(std::chrono::milliseconds(100)) && std::chrono::steady_clock::now() < end) {
  }
  const auto at = out.find("@msprof-begin@");
  std::string greeting =
      shorten(printable(trim(std::string_view(out).substr(0, at))), kMaxGreeting);
  if (at != std::string::npos || out.size() == kMaxGreetingBytes) return greeting;
  throw Error(Exit::board_unreachable,
              greeting.empty()
                  ? "the login shell does not run commands"
                  : fmt::format("the login shell does not run commands: {}", greeting));
}

constexpr std::size_t kMaxIniBytes = 1 << 20;
constexpr std::int64_t kMaxSkewSeconds = 60;

// The checks in order; the first four correspond to the steps of the login.
constexpr std::string_view kSteps[] = {"address", "SSH server", "host key", "login"};
constexpr std::string_view kAfterLogin[] = {
    "commands",   "tools",     "board folder", "output path",  "umask",    "clock",
    "other runs", "leftovers", "NFS",          "architecture", "libraries"};

class BoardChecks {
 public:
  BoardChecks(CheckList& list, const BoardConfig& config, const ProjectInfo& project)
      : list_(list), config_(config), project_(project), shell_(with_steps(config.login)) {}

  void check() {
    if (!config_.origin.empty()) list_.ok("ssh config", config_.origin);
    if (!connect()) return skip_after_login("the login failed");
    try {
      check_commands();
      probe();
    } catch (const Error& error) {
      list_.fail("commands", error);
      return skip_after_login("the board does not run commands");
    }
    check_tools();
    check_folder();
    check_output_path();
    check_umask();
    check_clock();
    check_other_runs();
    check_leftovers();
    check_nfs();
    check_outputs();
    check_architecture();
    check_libraries();
  }

 private:
  SshLogin with_steps(SshLogin login) {
    login.on_step = [this](LoginStep step) { passed_ = static_cast<std::size_t>(step) + 1; };
    return login;
  }

  bool connect() {
    const auto begin = std::chrono::steady_clock::now();
    std::optional<Error> error;
    try {
      shell_.connect();
    } catch (const Error& thrown) {
      error = thrown;
    }
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - begin;
    const std::string way = config_.login.way();
    const std::string evidence[] = {
        fmt::format("{} port {} answers{}", config_.login.host, config_.login.port,
                    way.empty() ? "" : ", over " + way),
        "the key exchange succeeded", "known",
        error ? ""
              : fmt::format("{} with {}, {:.0f} ms in all", config_.login.user,
                            shell_.connection().login_method(), spent.count())};
    // Error(usage) means that the key cannot be used, which is detected before anything is sent.
    const std::size_t broken =
        error && error->code() == Exit::usage ? std::size(kSteps) - 1 : passed_;
    for (std::size_t i = 0; i < std::size(kSteps); ++i) {
      if (error && i == broken) {
        list_.fail(kSteps[i], *error);
      } else if (i >= passed_) {
        list_.skip(kSteps[i], "not checked: an earlier step failed");
      } else if (i == 2 && config_.login.host_key == HostKeyPolicy::off) {
        list_.warn(kSteps[i], "not checked: another machine could answer in the board's place",
                   "remove --host-key off, or host_key from the ini");
      } else {
        list_.ok(kSteps[i], evidence[i]);
      }
    }
    return !error;
  }

  void skip_after_login(std::string_view reason) {
    for (const std::string_view name : kAfterLogin) {
      const auto& checks = list_.checks();
      const bool done = std::any_of(checks.begin(), checks.end(), [&](const Check& check) {
        return check.name == name && check.about == checks.back().about;
      });
      if (!done) list_.skip(name, fmt::format("not checked: {}", reason));
    }
  }

  void check_commands() {
    const std::string greeting = board_greeting(shell_);
    if (greeting.empty()) return list_.ok("commands", "commands run, without other output");
    list_.warn(
        "commands",
        fmt::format("the login shell prints before every command: \"{}\"; msprof ignores it, scp "
                    "and SFTP may fail",
                    greeting),
        "in the board's ~/.profile and ~/.bashrc, print only on a terminal: [ -t 1 ] && echo …");
  }

  void probe() {
    BoardQuestion question;
    question.board_dir = config_.board_dir;
    if (!project_.outputs.empty()) question.output = project_.outputs.front().second;
    question.libraries = project_.libraries;
    question.run_paths = project_.run_paths;
    const std::time_t before = std::time(nullptr);
    probe_ = probe_read_only(shell_, question);
    earliest_s_ = before;
    latest_s_ = std::time(nullptr);
  }

  void check_tools() {
    const BoardInfo& info = probe_.info;
    std::string missing;
    const auto add_missing = [&](bool has, const char* what) {
      if (!has) missing += fmt::format("{}{}", missing.empty() ? "" : "; ", what);
    };
    add_missing(info.has_tar || info.has_sftp,
                "neither tar nor SFTP: files are transferred one by one, slowly");
    add_missing(info.has_tar || !info.has_sftp,
                "no tar: many small files are transferred more slowly over SFTP");
    add_missing(info.has_stat, "no stat: changes within one second may be missed");
    add_missing(info.has_setsid,
                "no setsid: processes left by the application are found more slowly");
    if (missing.empty()) {
      return list_.ok("tools", fmt::format("{} {}, tar, {}stat, setsid", info.system, info.machine,
                                           info.has_sftp ? "SFTP, " : ""));
    }
    list_.warn("tools", missing, "busybox provides tar, stat and setsid");
  }

  void check_folder() {
    const BoardInfo& info = probe_.info;
    constexpr const char* kElsewhere =
        "choose another folder with --board-dir DIR, or board_dir in the ini";
    if (!probe_.is_writable || !probe_.read_only_mount.empty()) {
      return list_.fail(
          "board folder",
          fmt::format("{} cannot be written{}", probe_.existing_folder,
                      probe_.read_only_mount.empty()
                          ? ""
                          : fmt::format(": {} is mounted read-only", probe_.read_only_mount)),
          kElsewhere, Exit::cannot_write);
    }
    check_free_space(list_, "board folder", info.folder, info.free_bytes, project_.bytes,
                     kElsewhere);
  }

  // Checks the path that a run writes to "output" in acl.json. Subfolders of msprof's folder always
  // conform to the rules.
  void check_output_path() {
    const std::string& folder = probe_.info.folder;
    std::string others;
    for (const char c : folder) {
      const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '/';
      const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
      if (!is_allowed && (!is_ascii || others.find(c) == std::string::npos)) others += c;
    }
    if (others.empty()) return list_.ok("output path", folder + "/runs");
    list_.warn("output path",
               fmt::format("{}/runs has characters that the manual does not allow in \"output\" of "
                           "acl.json (letters, digits and '_'): {}",
                           folder, printable(others)),
               "if the board records nothing, choose another folder with --board-dir DIR, or "
               "board_dir in the ini");
  }

  // Accepts any umask: the folder of a run is accessible only to the account.
  void check_umask() {
    if (!probe_.umask) return list_.skip("umask", "the board does not report it");
    list_.ok("umask",
             fmt::format("{:04o}; only the account can access the run folder, whatever the umask",
                         *probe_.umask));
  }

  void check_clock() {
    if (!probe_.clock_s) return list_.skip("clock", "the board does not report its time");
    const std::int64_t skew = *probe_.clock_s < earliest_s_ ? *probe_.clock_s - earliest_s_
                              : *probe_.clock_s > latest_s_ ? *probe_.clock_s - latest_s_
                                                            : 0;
    if (skew <= kMaxSkewSeconds && skew >= -kMaxSkewSeconds) {
      return list_.ok("clock", skew == 0 ? "same as this machine"
                                         : fmt::format("{} s {} this machine's", std::abs(skew),
                                                       skew < 0 ? "behind" : "ahead of"));
    }
    list_.warn(
        "clock",
        fmt::format("{} s {} this machine's; times of a profile are not affected (they count from "
                    "the board's start), those of files and log lines are",
                    std::abs(skew), skew < 0 ? "behind" : "ahead of"),
        fmt::format("ssh {}{}@{} date -s @$(date +%s)",
                    config_.login.ssh_options + (config_.login.port == 22
                                                     ? std::string()
                                                     : fmt::format("-p {} ", config_.login.port)),
                    config_.login.user, config_.login.shown_host()));
  }

  void check_other_runs() {
    if (!probe_.busy.empty()) {
      list_.fail(
          "other runs",
          fmt::format(
              "the profiled run {} is in progress; concurrent runs distort each other's times",
              probe_.busy),
          "wait for it to end, or take over the board with msprof collect --force",
          Exit::board_unreachable);
    } else if (!probe_.writers.empty()) {
      list_.warn("other runs",
                 fmt::format("another program is being profiled: process {}; boards support only "
                             "one profiling task per device",
                             probe_.writers.front()),
                 "wait for it, or end it");
    } else {
      list_.ok("other runs", "no other profiled run is seen");
    }
  }

  void check_leftovers() {
    std::string place = probe_.info.folder;
    if (!probe_.kept.empty()) {
      if (!probe_.kept_in.empty()) place = probe_.kept_in;
      return list_.warn(
          "leftovers",
          fmt::format("{} with results that were never fetched, in {}/kept: {}",
                      counted(probe_.kept.size(), "run"), place, fmt::join(probe_.kept, ", ")),
          probe_.is_kept_apart
              ? fmt::format("msprof collect --host {} --fetch --all-runs",
                            shell_word(config_.login.name()))
              : fmt::format("{} ; then msprof collect --host {} --clean-board --force",
                            copy_command(config_.login, place + "/kept", probe_.info.has_sftp),
                            shell_word(config_.login.name())));
    }
    if (!probe_.stale_lock.empty() || !probe_.runs.empty()) {
      return list_.warn(
          "leftovers",
          fmt::format("an earlier run ended without cleaning up: {}",
                      probe_.runs.empty() ? probe_.stale_lock
                                          : fmt::format("{}", fmt::join(probe_.runs, ", "))),
          "no action needed: the next run of msprof collect removes it");
    }
    if (probe_.own_bytes == 0) return list_.ok("leftovers", "none");
    const std::string requested =
        probe_.kept_on_request.empty()
            ? ""
            : fmt::format(", with {} of --keep", counted(probe_.kept_on_request.size(), "run"));
    list_.ok("leftovers", fmt::format("{} holds {}{} (--clean-board removes it)", place,
                                      human_bytes(probe_.own_bytes), requested));
  }

  void check_nfs() {
    if (probe_.nfs_mounts.empty()) return list_.ok("NFS", "no mount, and msprof needs none");
    const auto& mounts = probe_.nfs_mounts;
    const auto wrong = std::find_if(mounts.begin(), mounts.end(), [](const std::string& mount) {
      return mount.starts_with("127.");
    });
    if (wrong != mounts.end()) {
      return list_.warn(
          "NFS",
          fmt::format("{}: that address is the board itself; the machine that mounted "
                      "it has '127.0.1.1 hostname' in /etc/hosts",
                      *wrong),
          "comment out that line of /etc/hosts on that machine; msprof collect needs no mount: "
          "umount it on the board");
    }
    list_.ok("NFS", fmt::format("{}; msprof needs no mount", fmt::join(mounts, ", ")));
  }

  void check_outputs() {
    if (project_.outputs.empty()) return;
    const auto& [name, output] = project_.outputs.front();
    report_acl_output(list_, name, output, probe_.has_output, probe_.is_output_writable,
                      "on the board");
  }

  void check_architecture() {
    if (project_.program_head.empty()) {
      return list_.skip("architecture", "no executable to inspect");
    }
    const std::string why =
        why_not_for_board(project_.program_head, probe_.info.program_head, probe_.info.machine);
    if (why.empty()) return list_.ok("architecture", fmt::format("fits {}", probe_.info.machine));
    list_.fail("architecture",
               fmt::format("the executable is built for {} ({})", why, probe_.info.machine),
               "build it with the board's cross compiler", Exit::application_failed);
  }

  void check_libraries() {
    if (!probe_.has_checked_libraries)
      return list_.skip("libraries", "the board could not be queried");
    std::vector<std::string> missing;
    for (const std::string& name : project_.libraries) {
      const auto& found = probe_.found_libraries;
      if (std::find(found.begin(), found.end(), name) == found.end()) missing.push_back(name);
    }
    report_libraries(list_, project_, missing, "the board");
  }

  CheckList& list_;
  const BoardConfig& config_;
  const ProjectInfo& project_;
  BoardShell shell_;
  std::size_t passed_ = 0;  // completed steps of the login
  BoardProbe probe_;
  std::int64_t earliest_s_ = 0;  // local time before and after the probe
  std::int64_t latest_s_ = 0;
};

bool names_a_mount(const fs::path& file) {
  try {
    const Secret text(read_text_file(file, kMaxIniBytes));
    const IniSection section(text.reveal(), "ssh_config", file.string());
    return std::any_of(section.entries().begin(), section.entries().end(),
                       [](const IniEntry& entry) {
                         return entry.key == "board_mount_path" || entry.key == "host_mount_path";
                       });
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

BoardProbe parse_board_probe(std::string_view answer) {
  BoardProbe probe;
  probe.info = parse_board_info(answer);
  for (const std::string_view line : split(answer, '\n')) {
    const auto at = line.find(' ');
    if (at != std::string_view::npos) take(probe, line.substr(0, at), trim(line.substr(at + 1)));
  }
  return probe;
}

void check_board_file(CheckList& list, const fs::path& file, const BoardConfig& config) {
  struct stat status = {};
  const bool is_file = ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  const bool others = is_file && (status.st_mode & (S_IRWXG | S_IRWXO)) != 0;
  if (others) {
    list.warn("ini file",
              fmt::format("{} can be read by others (mode {:04o}){}", file.string(),
                          status.st_mode & 07777U,
                          config.password.empty() ? "" : ", and it holds a password"),
              fmt::format("chmod 600 {}", shell_word(file.string())));
  } else {
    list.ok("ini file", fmt::format("only its owner can read {}", file.string()));
  }
  if (config.password.empty()) {
    list.ok("password", "not in the file");
  } else {
    list.warn("password", "it is in clear text in the ini file",
              fmt::format("ssh-copy-id -p {} {}@{}, and remove pwd; or use --password-stdin, or "
                          "enter it on the terminal",
                          config.login.port, config.login.user, config.login.shown_host()));
  }
  if (is_file && names_a_mount(file)) check_own_address(list);
}

void check_board(CheckList& list, const BoardConfig& config, const ProjectInfo& project) {
  BoardChecks(list, config, project).check();
}

void skip_board(CheckList& list, std::string_view reason) {
  for (const std::string_view name : kSteps)
    list.skip(name, fmt::format("not checked: {}", reason));
  for (const std::string_view name : kAfterLogin)
    list.skip(name, fmt::format("not checked: {}", reason));
}

}  // namespace msprof
