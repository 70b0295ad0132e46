#include "board/session/server.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.hpp"
#include "base/text.hpp"
#include "board/session/link.hpp"

namespace msprof {

// bash runs the script if the login shell is not a POSIX shell. Shells that support -l read their
// own profile; for others the profile is sourced explicitly.
const std::string_view kLoginShell = R"sh(
inner=$1
shift
run='inner=$1; shift; exec sh -c "$inner" msprof "$@" >&3 2>&4 <&5 3>&- 4>&- 5<&-'
case ${SHELL##*/} in
  bash|zsh|ksh) exec "$SHELL" -l -c "$run" msprof "$inner" "$@" ;;
  csh|tcsh|fish) command -v bash >/dev/null && exec bash -l -c "$run" msprof "$inner" "$@" ;;
esac 3>&1 4>&2 5<&0 >/dev/null 2>&1 </dev/null
exec sh -c '
for profile in /etc/profile "$HOME/.profile"; do
  [ ! -r "$profile" ] || . "$profile"
done
eval "$0"
' "$run" "$inner" "$@" 3>&1 4>&2 5<&0 >/dev/null 2>&1 </dev/null
)sh";

namespace {

// Arguments: $1 folder, $2 program name. Prints "folder PATH", "program PATH", "real PATH" and, for
// a script that python3 runs, "script"; or "missing WHY".
const BoardScript kFindServer = {"looking for the application", R"sh(
missing() { printf "missing %s\n" "$1"; exit 0; }
cd "$HOME" && cd "${1:-.}" 2>/dev/null || missing "there is no folder $1"
folder=$(pwd -P)
printf "folder %s\n" "$folder"
on_path() {
  found=
  name=$1
  set -f
  IFS=:
  set -- $PATH
  unset IFS
  set +f
  for place do
    case $place in /*) ;; *) continue ;; esac
    [ ! -f "$place/$name" ] || [ ! -x "$place/$name" ] || { found=$place/$name; return; }
  done
}
case $2 in /*) here=$2 ;; *) here=$folder/$2 ;; esac
if [ -f "$here" ] && [ -x "$here" ]; then
  found=$here
elif [ -f "$here" ] && [ "$here" != "${here%.py}" ]; then
  on_path python3
  [ -n "$found" ] || missing "there is no python3 on PATH to run it with"
  echo script
else
  [ ! -f "$here" ] || missing "$here is not executable; chmod +x makes it so"
  case $2 in */*) missing "no such file: $here" ;; esac
  on_path "$2"
  [ -n "$found" ] || missing "no such file in $folder, and no program of that name on PATH"
fi
printf "program %s\n" "$found"
printf "real %s\n" "$(readlink -f "$found" 2>/dev/null)"
)sh"};

// Arguments: $1 mark for the started processes, $2 temporary folder. Prints "candidate FILE" (on
// PATH) or "beside FILE" (next to a host runtime), each with "answer TEXT"; "host FOLDER", "library
// FILE".
const BoardScript kRuntimes = {"looking for runtimes of CANN", std::string(kMarkedFunction) + R"sh(
mark=$1
answer=$2/answer
export MSPROF_INNER=1
ask() {
  rm -f "$answer.late"
  MSPROF_RUN="$mark" "$1" --version </dev/null >"$answer" 2>/dev/null &
  child=$!
  (
    trap 'kill $!; exit' TERM
    MSPROF_RUN="$mark" sleep 5 &
    wait $!
    : > "$answer.late"
    kill -KILL $child
  ) </dev/null >/dev/null 2>&1 &
  watch=$!
  wait $child
  kill $watch
  for process in $(marked "$mark"); do kill -KILL "$process"; done
  [ ! -e "$answer.late" ] || : > "$answer"
  printf "answer %s\n" "$(head -c 200 "$answer" | tr "\n\r" "  ")"
  rm -f "$answer" "$answer.late"
}
host_in() {
  for folder do
    [ ! -f "$folder/lib64/libascendcl.so" ] || { printf "host %s\n" "$folder"; return; }
  done
}
folders_of() {
  set -f
  IFS=:
  set -- $1
  unset IFS
  set +f
  for folder do
    case $folder in /*) printf "%s\n" "$folder" ;; esac
  done
}
folders_of "$PATH" | while IFS= read -r folder; do
  file=$folder/msprof
  [ -f "$file" ] && [ -x "$file" ] || continue
  printf "candidate %s\n" "$file"
  ask "$file"
  real=$(readlink -f "$file" || printf "%s" "$file")
  prefix=${real%/tools/profiler/bin/msprof}
  host_in "$prefix/lib/msprof/host" "$prefix/lib64/msprof/host" \
    "$prefix"/lib/*-linux-gnu/msprof/host "$prefix/host" "${real%/*/*/*}/msprof-host"
done
folders_of "$LD_LIBRARY_PATH:${ASCEND_HOME_PATH:+$ASCEND_HOME_PATH/lib64}" |
while IFS= read -r folder; do
  library=$folder/libascendcl.so
  [ -f "$library" ] || continue
  if grep -q "$3" "$library"; then
    host=${folder%/}
    host=${host%/*}
    printf "host %s\n" "$host"
    for file in "$host/../../../bin/msprof" "$host/../apps/msprof/msprof"; do
      [ -x "$file" ] || continue
      printf "beside %s\n" "$(readlink -f "$file")"
      ask "$file"
    done
  else
    printf "library %s\n" "$library"
  fi
done
)sh"};

std::string parse_path(std::string_view value) {
  return value.starts_with('/') && printable(value) == value ? std::string(value) : "";
}

// Splits a line "name value".
std::pair<std::string_view, std::string_view> split_name_value(std::string_view line) {
  const auto at = line.find(' ');
  return {line.substr(0, at), at == std::string_view::npos ? "" : line.substr(at + 1)};
}

BoardAnswer ask_in_login_shell(BoardShell& shell, const BoardScript& script,
                               std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), script.text);
  BoardAnswer answer = shell.ask({script.name, std::string(kLoginShell)}, arguments);
  if (answer.has_succeeded()) return answer;
  throw Error(Exit::board_unreachable,
              fmt::format("{}: {} in a login shell failed: {} (the shell profile may exit)",
                          shell.login().name(), script.name, answer.reason()));
}

}  // namespace

ServerApplication find_on_server(BoardShell& shell, const std::string& folder,
                                 const std::string& word) {
  const BoardAnswer answer = ask_in_login_shell(shell, kFindServer, {folder, word});
  const std::string server = shell.login().name();
  ServerApplication found;
  for (const std::string_view line : split(answer.out, '\n')) {
    const auto [name, value] = split_name_value(line);
    if (name == "missing") {
      throw Error(Exit::nothing_to_do, fmt::format("cannot run '{}' on {}: {}", printable(word),
                                                   server, printable(value)));
    }
    if (name == "folder") found.folder = parse_path(value);
    if (name == "program") found.program = parse_path(value);
    if (name == "real") found.real_program = parse_path(value);
    if (name == "script") found.leading = {word};
  }
  if (found.folder.empty() || found.program.empty()) {
    throw Error(Exit::board_unreachable,
                fmt::format("{}: cannot parse the answer to where '{}' is: \"{}\"", server,
                            printable(word), shorten(printable(answer.out), 200)));
  }
  if (found.real_program.empty()) found.real_program = found.program;
  return found;
}

ServerRuntimes::ServerRuntimes(BoardShell& shell, const std::string& run,
                               const std::string& scratch)
    : server_(shell.login().name()) {
  take(
      ask_in_login_shell(shell, kRuntimes, {run + "-asked", scratch, std::string(kHostRuntimeMark)})
          .out);
}

ServerRuntimes::ServerRuntimes(std::string_view answer, std::string server)
    : server_(std::move(server)) {
  take(answer);
}

bool ServerRuntimes::is_inner() const {
  const char* const inner = std::getenv("MSPROF_INNER");
  return inner != nullptr && *inner != '\0';
}

void ServerRuntimes::take(std::string_view answer) {
  std::string asked;
  bool is_on_path = false;
  for (const std::string_view line : split(answer, '\n')) {
    const auto [name, value] = split_name_value(line);
    if (name == "candidate" || name == "beside") {
      asked = parse_path(value);
      is_on_path = name == "candidate";
    }
    if (name == "answer" && !asked.empty()) {
      take_msprof(asked, is_on_path, value);
      asked.clear();
    }
    if (name == "host" && host_runtime_.empty()) host_runtime_ = parse_path(value);
    if (name == "library" && library_.empty()) library_ = parse_path(value);
  }
}

// Only an msprof on PATH can be the vendor's.
void ServerRuntimes::take_msprof(const std::string& file, bool is_on_path,
                                 std::string_view answer) {
  if (is_version_of_ours(answer)) {
    if (tool_.empty()) tool_ = file;
  } else if (is_on_path && vendor_.empty()) {
    vendor_ = file;
  }
}

}  // namespace msprof
