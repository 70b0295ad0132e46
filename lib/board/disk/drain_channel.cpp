#include "board/disk/drain_channel.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/log.hpp"
#include "base/text.hpp"
#include "board/session/info.hpp"
#include "board/transfer/listing.hpp"

namespace msprof {

namespace {

using DrainClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAnswerSilence{60};
constexpr std::chrono::milliseconds kAnswerPoll{100};
constexpr std::size_t kMaxShortAnswer = 4 << 10;  // for answers of one or two words
constexpr std::size_t kMaxEndLine = 80;
constexpr double kLsRestSeconds = 61;  // times of `ls` have a resolution of one minute

// Arguments: $1 output folder, $2 word before the end of an answer, $3 "stat" or "ls", $4 checksum
// tool (empty: detect tools), $5 "1" if blocks can be freed, $6 text for .drained. Writes drain.pid
// so that the board can end the script if the connection is lost silently (link.cpp). A request has
// two lines: a verb with numbers (first block, number of blocks; for a punch also checksum, offset
// and length in bytes), and a path. To test whether blocks can be freed, checks that a scratch file
// shrinks: busybox has a fallocate without -p, and some file systems cannot punch holes.
const BoardScript kDrainScript = {"draining the board's disk", std::string(kFreeFunction) + R"sh(
umask 077
LC_ALL=C
export LC_ALL
cd "$1" || exit 1
word=$2 way=$3 tool=$4 frees=$5 block=65536
# On a full disk it would only become empty.
[ -s .drained ] || printf '%s\n' "$6" >.drained
sign() {
  read -r stat </proc/$$/stat && set -- ${stat##*") "} && echo "$$ ${20}" >../drain.pid
}
sign
used() {
  set -- $(du -k "$1" 2>/dev/null)
  echo "${1:-0}"
}
if [ -z "$tool" ]; then
  tool=none frees=0
  for one in cksum sha256sum; do
    [ $tool != none ] || ! command -v $one >/dev/null 2>&1 || tool=$one
  done
  scratch=../drain.$$
  if [ $tool != none ] && dd if=/dev/zero of=$scratch bs=$block count=4 2>/dev/null; then
    before=$(used $scratch)
    if fallocate -p -o $block -l $block $scratch >/dev/null 2>&1; then
      [ "$(used $scratch)" -ge "$before" ] || frees=1
    fi
  fi
  rm -f $scratch
fi
end=';'
find . -prune -exec ls -d {} + >/dev/null 2>&1 && end=+
list() { find . -name '*[[:cntrl:]]*' -prune -o -type f -exec "$@" {} "$end" 2>/dev/null </dev/null; }
range() { dd "if=$name" bs=$block skip="$first" count="$count" 2>/dev/null </dev/null; }
sum_of() {
  set -- $(range | $tool 2>/dev/null)
  echo "$1"
}
answer() { printf '\n%s %s\n' "$word" "$1"; }
echo "tools $tool $frees"
answer 0
while IFS=' ' read -r verb first count sum offset length && IFS= read -r name; do
  case $verb in
    look)
      if [ "$way" = stat ]; then list stat -c 's %s %i %Y %n'; else list ls -lin; fi
      free_of . ;;
    get) range ;;
    sum) sum_of ;;
    punch)
      if [ "$(sum_of)" != "$sum" ]; then
        echo differs
      elif fallocate -p -o "$offset" -l "$length" "$name" >/dev/null 2>&1 </dev/null; then
        echo freed
      else
        echo cannot
      fi ;;
  esac
  answer 0
done
)sh"};

// `ls` aligns its fields with several blanks.
std::string_view take_field(std::string_view& line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  return take_word(line);
}

// Fields: inode, mode, links, user, group, size, time (three words), name.
bool parse_ls(std::string_view line, RawEntry& entry, std::string_view& name) {
  if (!parse_u64(take_field(line), entry.inode)) return false;
  for (int i = 0; i < 4; ++i) take_field(line);
  if (!parse_u64(take_field(line), entry.size)) return false;
  for (int i = 0; i < 3; ++i) entry.mtime += std::string(take_field(line)) + " ";
  name = line;
  return true;
}

}  // namespace

RawLook parse_raw_look(std::string_view answer) {
  RawLook look;
  while (!answer.empty()) {
    std::string_view line = take_line(answer);
    RawEntry entry;
    std::string_view name;
    if (line.starts_with("s ")) {
      line.remove_prefix(2);
      if (!parse_u64(take_field(line), entry.size) || !parse_u64(take_field(line), entry.inode))
        continue;
      entry.mtime = take_field(line);
      name = line;
    } else if (line.starts_with("free ")) {
      if (const auto free = parse_free_line(line)) look.free_bytes = *free;
      continue;
    } else if (parse_ls(line, entry, name)) {
      look.rest_seconds = kLsRestSeconds;
    } else {
      continue;
    }
    entry.path = plain_board_path(name);
    if (!is_acceptable_board_path(entry.path) || entry.path == kDrainNote) continue;
    if (look.files.size() >= kMaxListedEntries) {
      throw TooMuchSent(
          fmt::format("the board lists more than {} raw files", with_thousands(kMaxListedEntries)));
    }
    look.files.push_back(std::move(entry));
  }
  return look;
}

DrainChannel::DrainChannel(BoardShell& shell, const std::string& output, bool has_stat,
                           const std::optional<DrainTools>& tools, const std::string& note)
    : name_(shell.login().name()), most_bytes_(kMaxShortAnswer) {
  const std::string word = random_end_word();
  end_ = "\n" + word + " ";
  std::string known;
  if (tools) {
    known = tools->sum == SumTool::cksum       ? "cksum"
            : tools->sum == SumTool::sha256sum ? "sha256sum"
                                               : "none";
  }
  const std::string frees = tools && tools->frees ? "1" : "0";
  command_ = shell.start(
      kDrainScript, {output, word, has_stat ? "stat" : "ls", known, frees, note},
      [this](std::string_view bytes) {
        is_too_long_ = is_too_long_ || held_.size() + bytes.size() > most_bytes_ + kMaxEndLine;
        if (!is_too_long_) held_.append(bytes);
      },
      [this](std::string_view bytes) { errors_ = bytes.substr(0, 1 << 12); });
  const std::string answer = request("", "", kMaxShortAnswer);
  const auto words = split(trim(answer), ' ');
  if (words.size() != 3 || words[0] != "tools") {
    throw Error(Exit::partial_data, fmt::format("{}: the drain did not start: {}", name_,
                                                printable(trim(answer + errors_))));
  }
  tools_.sum = sum_tool(words[1]);
  tools_.frees = words[2] == "1" && tools_.sum != SumTool::none;
}

// The script sends nothing after an answer until the next request, so the end mark is at the end of
// the buffer.
std::optional<std::string> DrainChannel::take_answer() {
  if (held_.empty() || held_.back() != '\n') return std::nullopt;
  const std::size_t from = held_.size() - std::min(held_.size(), kMaxEndLine);
  const auto at = std::string_view(held_).substr(from).rfind(end_);
  if (at == std::string_view::npos) return std::nullopt;
  held_.resize(from + at);
  std::string answer = std::move(held_);
  held_.clear();
  return answer;
}

void DrainChannel::send(std::string_view text) {
  while (!text.empty()) {
    const std::size_t taken = command_->write(text);
    text.remove_prefix(taken);
    if (taken == 0 && command_->wait(kAnswerPoll)) return;
  }
}

std::string DrainChannel::request(const std::string& line, const std::string& name,
                                  std::size_t most_bytes) {
  most_bytes_ = most_bytes;
  if (!line.empty()) send(fmt::format("{}\n./{}\n", line, name));
  std::size_t had = held_.size();
  auto moved = DrainClock::now();
  for (;;) {
    if (auto answer = take_answer()) return std::move(*answer);
    const auto end = command_->wait(kAnswerPoll);
    if (auto answer = take_answer()) return std::move(*answer);
    if (held_.size() != had) moved = DrainClock::now();
    had = held_.size();
    if (is_too_long_) {
      throw TooMuchSent(fmt::format("{}: the drain sends more data than requested ({})", name_,
                                    line.empty() ? "its start" : line));
    }
    if (end || DrainClock::now() - moved > kAnswerSilence) {
      throw ConnectionLost(
          fmt::format("{}: the drain {}: {}", name_, end ? "has ended" : "does not respond",
                      errors_.empty() ? "without a message" : printable(trim(errors_))));
    }
  }
}

RawLook DrainChannel::look() {
  return parse_raw_look(request("look", ".", kMaxListingBytes));
}

std::string DrainChannel::get(const std::string& path, std::uint64_t first, std::uint64_t blocks) {
  return request(fmt::format("get {} {}", first, blocks), path, blocks * kDrainBlock);
}

std::string DrainChannel::sum(const std::string& path, std::uint64_t first, std::uint64_t blocks) {
  return std::string(trim(request(fmt::format("sum {} {}", first, blocks), path, kMaxShortAnswer)));
}

Punched DrainChannel::punch(const std::string& path, std::uint64_t first, std::uint64_t blocks,
                            const std::string& sum) {
  const std::string answer = request(fmt::format("punch {} {} {} {} {}", first, blocks, sum,
                                                 first * kDrainBlock, blocks * kDrainBlock),
                                     path, kMaxShortAnswer);
  const std::string_view word = trim(answer);
  return word == "freed" ? Punched::freed : word == "differs" ? Punched::differs : Punched::cannot;
}

}  // namespace msprof
