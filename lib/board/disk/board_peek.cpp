#include "board/disk/board_peek.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "board/session/info.hpp"
#include "board/transfer/listing.hpp"

namespace msprof {

namespace {

constexpr std::uint64_t kPeekBlockBytes = 4096;
constexpr std::size_t kMaxPeekAnswerBytes = 16 << 20;
constexpr std::chrono::seconds kPeekAnswerLimit{60};

// Arguments: $1 folder, $2 random word after each answer. Requests on stdin, one per line: "list",
// "free", "part FIRST_BLOCK BLOCKS ./PATH", "round". Uses dd because tail cannot seek everywhere.
const BoardScript kPeek = {"following the run's files", std::string(kFreeFunction) + R"sh(
LC_ALL=C
export LC_ALL
set -f
cd "$1" || exit 1
end=';'
find . -prune -exec stat -c %n {} + >/dev/null 2>&1 && end=+
stat -c %s . >/dev/null 2>&1 && has_stat=1 || has_stat=0
list() {
  if [ $has_stat = 1 ]
  then
    find . -name '*[[:cntrl:]]*' -prune -o -type f -exec stat -c 'f %s %n' {} "$end"
  else
    find . -name '*[[:cntrl:]]*' -prune -o -type f -print | while IFS= read -r name
    do
      set -- $(ls -dln "$name")
      [ $# -lt 6 ] || echo "f $5 $name"
    done
  fi </dev/null 2>/dev/null | head -n 20000
}
while read -r verb skip blocks path
do
  case $verb in
    (list) list; echo "end $2" ;;
    (free) free_of . 2>/dev/null ;;
    (part) echo part
      dd if="$path" bs=4096 skip="$skip" count="$blocks" 2>/dev/null </dev/null
      echo; echo "over $2" ;;
    (round) echo "round $2" ;;
  esac
done
)sh"};

void take_file(std::string_view line, Peeked& peeked) {
  if (!line.starts_with("f ") || peeked.files.size() >= kMaxPeekedFiles) return;
  line.remove_prefix(2);
  const auto at = line.find(' ');
  std::uint64_t bytes = 0;
  if (at == std::string_view::npos || !parse_u64(line.substr(0, at), bytes)) return;
  std::string_view path = line.substr(at + 1);
  if (path.starts_with("./")) path.remove_prefix(2);
  if (is_acceptable_board_path(path)) peeked.files.push_back({std::string(path), bytes});
}

}  // namespace

std::optional<Peeked> parse_peek_answer(std::string_view answer, std::string_view word,
                                        const std::vector<PeekWish>& wishes) {
  Peeked peeked;
  const std::string end = fmt::format("end {}", word);
  for (;;) {
    if (answer.empty()) return std::nullopt;
    const std::string_view line = take_line(answer);
    if (line == end) break;
    take_file(line, peeked);
  }
  if (answer.starts_with("free ")) {
    if (const auto free = parse_free_line(take_line(answer))) peeked.free_bytes = *free;
  }
  const std::string over = fmt::format("\nover {}\n", word);
  for (const PeekWish& wish : wishes) {
    if (take_line(answer) != "part") return std::nullopt;
    const auto at = answer.find(over);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view bytes = answer.substr(0, at);
    // The script reads whole blocks, starting at the block that contains `wish.from`.
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), wish.from % kPeekBlockBytes));
    peeked.parts.push_back({wish.path, wish.from, std::string(bytes.substr(0, wish.bytes))});
    answer.remove_prefix(at + over.size());
  }
  return peeked;
}

BoardPeek::BoardPeek(BoardShell& shell, std::string folder, FileHere file_here)
    : shell_(shell),
      folder_(std::move(folder)),
      word_(random_end_word()),
      file_here_(std::move(file_here)) {}

void BoardPeek::begin() {
  command_ = shell_.start(
      kPeek, {folder_, word_},
      [this](std::string_view bytes) {
        if (answer_.size() <= kMaxPeekAnswerBytes) answer_.append(bytes);
      },
      [](std::string_view) {});
}

void BoardPeek::drop() {
  command_.reset();
  request_.clear();
  answer_.clear();
  is_asked_ = false;
}

bool BoardPeek::is_ready() {
  if (!trouble_.empty() || is_asked_ || !shell_.is_connected()) return false;
  if (command_) return true;
  try {
    begin();
  } catch (const ConnectionLost& error) {
    log::verbose("{}", error.what());
  } catch (const Error& error) {
    trouble_ = error.what();
  }
  return command_ != nullptr;
}

void BoardPeek::ask(const std::vector<PeekWish>& wishes, bool with_free_bytes) {
  wishes_.clear();
  here_.clear();
  answer_.clear();
  request_ = "list\n";
  if (with_free_bytes) request_ += "free\n";
  for (const PeekWish& wish : wishes) {
    std::string bytes;
    if (file_here_) bytes = read_peeked_part(file_here_(wish.path), wish.from, wish.bytes);
    if (!bytes.empty()) {
      here_.push_back({wish.path, wish.from, std::move(bytes)});
      continue;
    }
    wishes_.push_back(wish);
    const std::uint64_t skip = wish.from / kPeekBlockBytes;
    const std::uint64_t blocks =
        (wish.from % kPeekBlockBytes + wish.bytes + kPeekBlockBytes - 1) / kPeekBlockBytes;
    request_ += fmt::format("part {} {} ./{}\n", skip, blocks, wish.path);
  }
  request_ += "round\n";
  is_asked_ = true;
  asked_at_ = Clock::now();
  move();
}

bool BoardPeek::move() {
  try {
    while (!request_.empty()) {
      const std::size_t taken = command_->write(request_);
      request_.erase(0, taken);
      if (taken == 0) break;
    }
    if (!command_->wait(std::chrono::milliseconds(0))) return true;
    trouble_ = "the board's script that monitors the files has ended";
  } catch (const ConnectionLost& error) {
    // Not reported here: the code that waits for the application detects the loss and reconnects.
    log::verbose("{}", error.what());
  } catch (const Error& error) {
    trouble_ = error.what();
  }
  drop();
  return false;
}

std::optional<Peeked> BoardPeek::take() {
  if (!is_asked_ || !move()) return std::nullopt;
  const std::string end = fmt::format("round {}\n", word_);
  if (!answer_.ends_with(end)) {
    const bool is_stuck = Clock::now() - asked_at_ > kPeekAnswerLimit;
    if (!is_stuck && answer_.size() <= kMaxPeekAnswerBytes) return std::nullopt;
    trouble_ = is_stuck ? "the board does not answer" : "the board's answer is too long";
    drop();
    return std::nullopt;
  }
  auto peeked = parse_peek_answer(answer_, word_, wishes_);
  is_asked_ = false;
  answer_.clear();
  if (!peeked) {
    trouble_ = "cannot parse the board's answer";
    drop();
    return std::nullopt;
  }
  for (PeekedPart& part : here_) peeked->parts.push_back(std::move(part));
  here_.clear();
  return peeked;
}

}  // namespace msprof
