#include "doctor/board_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/text.hpp"
#include "board/facts.hpp"
#include "board/keeper.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMostListed = 20;  // runs, mounts, writers
constexpr int kMostGreeting = 80;
constexpr std::chrono::seconds kGreetingLimit{20};
constexpr std::uint64_t kBlockBytes = 1024;

// $1 board_dir, $2 the output folder of acl.json, $3 more folders of libraries, a line each; names
// of libraries on stdin. One fact a line,
// "name value". Reads only. `ls -l` over /proc costs one process where readlink would cost one
// each, and its "l-wx" tells what is open for writing.
constexpr const char* kLook = R"sh(
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
if cd "$ours" 2>/dev/null; then
  if [ -d lock ]; then
    look
    if alive "$pid" "$start"; then echo "busy $holder (process $pid)"; else echo "stale ${holder:-?}"; fi
  fi
  for run in runs/*; do
    [ -d "$run" ] && [ -z "$(marked "${run#runs/}")" ] && echo "run ${run#runs/}"
  done
  for run in kept/*; do
    if [ -e "$run/brought-home" ]; then echo "requested ${run#kept/}"
    elif [ -d "$run" ]; then echo "kept ${run#kept/}"; fi
  done
  echo "own $(du -sk . 2>/dev/null | { read -r blocks rest; echo "$blocks"; })"
fi
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
)sh";

const BoardScript& look_script() {
  static const std::string text =
      std::string(kMarkedFunction) + kLockFunctions + std::string(kFactsScript) + kLook;
  static const BoardScript script = {"looking at the board", text};
  return script;
}

std::optional<unsigned> parse_octal(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 8);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void add_text(std::vector<std::string>& list, std::string_view value) {
  if (list.size() < kMostListed) list.push_back(printable(value));
}

void take(BoardLook& look, std::string_view name, std::string_view value) {
  std::uint64_t number = 0;
  if (name == "there") look.existing_folder = printable(value);
  if (name == "writable") look.writable = true;
  if (name == "readonly") look.read_only_mount = printable(value);
  if (name == "umask") look.umask = parse_octal(value);
  if (name == "clock" && parse_u64(value, number) && number < (std::uint64_t{1} << 40))
    look.clock_s = static_cast<std::int64_t>(number);
  if (name == "output") look.has_output = true;
  if (name == "output" && value == "writable") look.output_writable = true;
  if (name == "busy") look.busy = printable(value);
  if (name == "stale") look.stale_lock = printable(value);
  if (name == "run") add_text(look.runs, value);
  if (name == "kept") add_text(look.kept, value);
  if (name == "requested") add_text(look.kept_on_request, value);
  if (name == "own" && parse_u64(value, number) && number < ~std::uint64_t{0} / kBlockBytes)
    look.own_bytes = number * kBlockBytes;
  if (name == "writer") add_text(look.writers, value);
  if (name == "nfs") add_text(look.nfs_mounts, value);
  if (name == "libraries") look.looked_for_libraries = true;
  if (name == "library") look.found_libraries.emplace_back(value);
}

}  // namespace

BoardLook parse_board_look(std::string_view answer) {
  BoardLook look;
  look.facts = parse_board_facts(answer);
  for (const std::string_view line : split(answer, '\n')) {
    const auto at = line.find(' ');
    if (at != std::string_view::npos) take(look, line.substr(0, at), trim(line.substr(at + 1)));
  }
  return look;
}

BoardLook look_without_a_trace(BoardShell& shell, const BoardQuestion& question) {
  std::string names;
  for (const std::string& name : question.libraries) names += name + "\n";
  std::string folders;
  for (const std::string& folder : question.run_paths) folders += folder + "\n";
  const BoardAnswer answer =
      shell.ask(look_script(), {question.board_dir, question.output, folders}, names);
  if (!answer.ok() && answer.out.empty()) {
    throw Error(Exit::board_unreachable, fmt::format("{}: the board cannot be looked at: {}",
                                                     shell.login().name(), answer.reason()));
  }
  BoardLook look = parse_board_look(answer.out);
  look.facts.has_sftp = shell.connection().sftp() != nullptr;
  return look;
}

std::string board_greeting(BoardShell& shell) {
  constexpr BoardScript kNothing = {"greeting", ":"};
  std::string out;
  const auto command = shell.connection().start(
      command_line(kNothing, {}),
      [&](std::string_view bytes) {
        out.append(bytes.substr(0, 4096 - std::min<std::size_t>(4096, out.size())));
      },
      [](std::string_view) {});
  command->close_input();
  const auto end = std::chrono::steady_clock::now() + kGreetingLimit;
  while (!command->wait(std::chrono::milliseconds(100)) && std::chrono::steady_clock::now() < end) {
  }
  return shorten(printable(trim(std::string_view(out).substr(0, out.find("@msprof-begin@")))),
                 kMostGreeting);
}

}  // namespace msprof
