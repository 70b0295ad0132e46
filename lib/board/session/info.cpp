#include "board/session/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

const std::string_view kFindFolder = R"sh(
home=${HOME:-/}
dir=${1:-$home}
case $dir in /*) ;; *) dir=$home/$dir ;; esac
old=$dir/.msprof
ours=$dir/msprof
[ "${dir##*/}" != .msprof ] || ours=$dir
)sh";

const std::string_view kInfoScript = R"sh(
echo "system $(uname -s)"
echo "release $(uname -r)"
echo "machine $(uname -m)"
if [ -r /proc/device-tree/model ]; then
  product=
  IFS= read -r product </proc/device-tree/model
  echo "product $product"
fi
echo "cores $(grep -c ^processor /proc/cpuinfo 2>/dev/null)"
echo "home $home"
echo "folder $ours"
for tool in tar setsid; do
  command -v $tool >/dev/null 2>&1 && echo "tool $tool"
done
for tool in sha256sum cksum; do
  command -v $tool >/dev/null 2>&1 && { echo "checksum $tool"; break; }
done
case $(stat -c "%f %s %Y %Z %i" / 2>/dev/null) in
  [0-9a-f]*" "[0-9]*" "[0-9]*" "[0-9]*" "[0-9]*) echo "tool stat" ;;
esac
head=$(od -An -tx1 -N20 /proc/self/exe 2>/dev/null) && echo "program" $head
)sh";

std::vector<std::string> find_own_folders(const std::string& folder) {
  const std::string old = (std::filesystem::path(folder).parent_path() / ".msprof").string();
  if (folder == old) return {folder};
  return {folder, old};
}

namespace {

constexpr std::uint64_t kFreeBlockBytes = 1024;  // df -k

// Arguments: $1 board_dir. Also creates the folder; exit code 71 if that fails.
const BoardScript kInspect = {
    "inspecting the board",
    std::string(kFindFolder) + std::string(kInfoScript) + std::string(kFreeFunction) + R"sh(
umask 077
mkdir -p "$ours" && cd "$ours" || exit 71
free_of .
)sh"};

const BoardScript kFree = {"asking for free space",
                           std::string(kFreeFunction) + "free_of \"$1\"\n"};

constexpr int kNoFolder = 71;
constexpr std::size_t kMaxFacts = 64 << 10;
constexpr std::size_t kMaxReason = 4 << 10;
constexpr int kMaxProductWidth = 200;

void take_tool(BoardInfo& info, std::string_view tool) {
  if (tool == "tar") info.has_tar = true;
  if (tool == "stat") info.has_stat = true;
  if (tool == "setsid") info.has_setsid = true;
}

}  // namespace

const std::string_view kFreeFunction = R"sh(
free_of() {
  df -Pk "$1" | { read -r header; read -r name blocks used free rest; echo "free $free"; }
}
)sh";

std::optional<std::uint64_t> parse_free_line(std::string_view line) {
  constexpr std::string_view kWord = "free ";
  std::uint64_t blocks = 0;
  line = trim(line);
  if (!line.starts_with(kWord) || !parse_u64(trim(line.substr(kWord.size())), blocks) ||
      blocks > ~std::uint64_t{0} / kFreeBlockBytes) {
    return std::nullopt;
  }
  return blocks * kFreeBlockBytes;
}

std::string BoardInfo::in_one_line() const {
  std::string line =
      fmt::format("{} {}, {} free in {}", system, machine, human_bytes(free_bytes), folder);
  line += has_tar ? ", tar" : ", no tar";
  line += has_sftp ? ", SFTP" : ", no SFTP";
  return line;
}

std::string parse_hex(std::string_view text) {
  std::string bytes;
  for (const std::string_view part : split(text, ' ')) {
    if (part.empty()) continue;
    int value = 0;
    for (const char c : part) {
      const auto digit = std::string_view("0123456789abcdef").find(c);
      if (digit == std::string_view::npos || part.size() != 2) return "";
      value = value * 16 + static_cast<int>(digit);
    }
    bytes += static_cast<char>(value);
  }
  return bytes;
}

BoardInfo parse_board_info(std::string_view answer) {
  BoardInfo info;
  bool has_free = false;
  for (const std::string_view line : split(answer, '\n')) {
    const auto at = line.find(' ');
    if (at == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, at);
    const std::string_view value = trim(line.substr(at + 1));
    if (name == "system") info.system = printable(value);
    if (name == "release") info.release = shorten(printable(value), kMaxProductWidth);
    if (name == "cores" && !parse_u64(value, info.cores)) info.cores = 0;
    if (name == "machine") info.machine = printable(value);
    if (name == "product") info.product = shorten(printable(value), kMaxProductWidth);
    if (name == "home") info.home = value;
    if (name == "folder") info.folder = value;
    if (name == "tool") take_tool(info, value);
    if (name == "checksum" && (value == "sha256sum" || value == "cksum")) info.checksum = value;
    if (name == "program") info.program_head = parse_hex(value);
    if (name != "free") continue;
    const auto free = parse_free_line(line);
    has_free = free.has_value();
    info.free_bytes = free.value_or(info.free_bytes);
  }
  // Rejects unprintable bytes: the folder is used in scripts and messages, and msprof's own names
  // have none.
  const bool odd = printable(info.folder) != info.folder;
  if (!info.folder.starts_with('/') || odd || info.system.empty() || !has_free) {
    throw Error(Exit::board_unreachable,
                fmt::format("cannot parse the board's answer to uname, df and pwd: \"{}\"",
                            shorten(printable(answer), 200)));
  }
  return info;
}

InfoQuestion::InfoQuestion(BoardShell& shell, const std::string& board_dir) : shell_(shell) {
  pump_ = std::make_unique<CommandPump>(
      shell_, kInspect, std::vector<std::string>{board_dir}, BoardShell::Source(),
      [this](std::string_view bytes) {
        out_.append(bytes);
        if (out_.size() > kMaxFacts)
          throw TooMuchSent(shell_.login().name() + ": the board's answer is too long");
      },
      [this](std::string_view bytes) {
        err_.append(bytes.substr(0, kMaxReason - std::min(kMaxReason, err_.size())));
      });
  if (shell_.connection().runs_side_by_side()) sftp_ = shell_.connection().begin_sftp();
}

InfoQuestion::~InfoQuestion() = default;

BoardInfo InfoQuestion::facts() {
  BoardAnswer answer;
  for (;;) {
    const auto end = pump_->turn();
    if (sftp_) sftp_->send_waiting();
    if (!end) continue;
    answer = {.out = out_, .err = err_, .end = *end};
    break;
  }
  pump_.reset();
  if (answer.end.exit_code == kNoFolder) {
    throw Error(Exit::cannot_write,
                fmt::format("{}: cannot create a folder for the runs: {} (choose another folder "
                            "with --board-dir, or board_dir in the ini)",
                            shell_.login().name(), answer.reason()));
  }
  if (!answer.has_succeeded()) {
    throw Error(Exit::board_unreachable, fmt::format("{}: cannot inspect the board: {}",
                                                     shell_.login().name(), answer.reason()));
  }
  BoardInfo info = parse_board_info(answer.out);
  info.may_have_sftp = true;
  if (!info.has_tar || !info.has_stat) find_sftp(info);
  return info;
}

void InfoQuestion::find_sftp(BoardInfo& info) {
  if (!info.may_have_sftp) return;
  info.has_sftp = sftp_ && sftp_->agree();
  // A board that limits parallel commands may have refused the SFTP query.
  const bool asks_again = !info.has_sftp && (!sftp_ || !info.has_tar || !info.has_stat);
  sftp_.reset();
  if (asks_again) info.has_sftp = shell_.connection().sftp() != nullptr;
  info.may_have_sftp = false;
}

void InfoQuestion::reconnected() {
  sftp_.reset();
}

BoardStep free_step(const std::string& folder) {
  return {.script = kFree, .arguments = {folder}, .may_fail = true};
}

std::uint64_t board_free_bytes(BoardShell& shell, const std::string& folder) {
  return free_bytes_in(shell, folder, shell.ask(kFree, {folder}));
}

std::uint64_t free_bytes_in(const BoardShell& shell, const std::string& folder,
                            const BoardAnswer& answer) {
  const auto bytes = parse_free_line(answer.out);
  if (!bytes) {
    throw Error(Exit::partial_data,
                fmt::format("{}: the board did not report the free space of {}: {}",
                            shell.login().name(), folder, answer.reason()));
  }
  return *bytes;
}

}  // namespace msprof
