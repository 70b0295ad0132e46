#include "board/transfer/upload_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/outgoing.hpp"
#include "board/transfer/range_sum.hpp"

namespace msprof {

namespace {

// How many bytes are sent again if the board has no checksum tool: an upper limit for the damage of
// a power failure at the end of a file.
constexpr std::uint64_t kResentBytes = 1 << 20;
constexpr std::size_t kPartChunk = 256 << 10;

// Arguments: $1 folder, $2 name, $3 tool. Prints "sum WORDS", and "here" every 10 s, as the
// checksum may take minutes.
const BoardScript kSum = {"checking the uploaded part of a file", R"sh(
cd "$1" || exit 1
alive() {
  trap 'kill $nap 2>/dev/null; exit 0' TERM
  while :; do
    sleep 10 >/dev/null & nap=$!
    wait $nap
    echo here
  done
}
alive 2>/dev/null & sign=$!
sum=$("$3" < "$2")
kill $sign
echo "sum $sum"
)sh"};

// Arguments: $1 folder, $2 name, $3 expected size. Fails if the size has changed. Appends stdin.
const BoardScript kAppend = {"continuing a file", R"sh(
cd "$1" || exit 1
size=$(wc -c < "$2") && [ "$size" -eq "$3" ] || exit 9
chmod u+w "$2" 2>/dev/null
exec cat >> "$2"
)sh"};

// Arguments: $1 folder, $2 name, $3 size in blocks of $4 bytes.
const BoardScript kShorten = {"truncating a file", R"sh(
cd "$1" && chmod u+w "$2" && dd if=/dev/null "of=$2" "bs=$4" "seek=$3" count=0 2>/dev/null
)sh"};

// Arguments: $1 folder, $2 name, $3 complete size, $4 permissions, $5 time.
const BoardScript kFinish = {"completing a file", R"sh(
cd "$1" || exit 1
size=$(wc -c < "$2") && [ "$size" -eq "$3" ] || { rm -f "$2"; exit 9; }
chmod "$4" "$2" || exit 1
touch -d "@$5" "$2" 2>/dev/null || :
)sh"};

const BoardScript kWriteNote = {"recording the sent files", R"sh(
cat > "$1.new" && mv "$1.new" "$1"
)sh"};

const BoardScript kReadNote = {"querying the sent files", R"sh(
[ ! -f "$1" ] || cat "$1"
)sh"};

const BoardScript kRemoveNote = {"removing the record of the sent files", R"sh(
rm -f "$1"
)sh"};

constexpr int kOtherSize = 9;

std::string format_note(const ProjectEntry& entry) {
  return fmt::format("{} {} {}", entry.size_bytes, entry.mtime_ns, entry.path.string());
}

// Reads the first `bytes` bytes of a file; returns false if it is shorter.
template <typename Take>
bool read_begin(SourceFile& file, std::uint64_t bytes, const Take& take) {
  std::vector<char> buffer(kPartChunk);
  while (bytes > 0) {
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, buffer.size()));
    const std::size_t count = file.read(std::span(buffer).first(most));
    if (count == 0) return false;
    take(std::string_view(buffer.data(), count));
    bytes -= count;
  }
  return true;
}

std::string sum_in(std::string_view answer) {
  for (const std::string_view line : split(answer, '\n')) {
    if (line.starts_with("sum ")) return std::string(line.substr(4, line.find(' ', 4) - 4));
  }
  return "";
}

}  // namespace

UploadParts::UploadParts(BoardShell& shell, std::string folder, std::string checksum)
    : shell_(shell), folder_(std::move(folder)), checksum_(std::move(checksum)) {}

// Leaves `file` positioned after the part.
bool UploadParts::is_same(SourceFile& file, const ProjectEntry& entry, std::uint64_t part_bytes) {
  const std::string name = "./" + entry.path.string();
  if (checksum_.empty()) {
    const BoardAnswer note = shell_.ask(kReadNote, {note_file()}, {}, kMaxListingBytes);
    const std::string own = format_note(entry);
    bool is_noted = false;
    for (std::string_view lines = note.out; !lines.empty() && !is_noted;)
      is_noted = take_line(lines) == own;
    if (!is_noted) return false;
    return read_begin(file, part_bytes, [](std::string_view) {});
  }
  const std::string there = sum_in(shell_.ask(kSum, {folder_, name, checksum_}).out);
  std::string here;
  if (sum_tool(checksum_) == SumTool::cksum) {
    Cksum sum;
    if (!read_begin(file, part_bytes, [&](std::string_view bytes) { sum.add(bytes); }))
      return false;
    here = std::to_string(sum.value());
  } else {
    Sha256 sum;
    if (!read_begin(file, part_bytes, [&](std::string_view bytes) { sum.add(bytes); }))
      return false;
    here = sum.hex();
  }
  return there == here;
}

bool UploadParts::complete(const ProjectEntry& entry, std::uint64_t part_bytes,
                           const TransferProgress& progress) {
  if (!is_one_line(entry.path.string())) return false;
  const std::string name = "./" + entry.path.string();
  if (checksum_.empty()) {
    const std::uint64_t blocks = part_bytes / kResentBytes;
    if (blocks < 2) return false;
    part_bytes = (blocks - 1) * kResentBytes;
  }
  SourceFile file(entry.source);
  // A file that has changed since the project was listed is sent again completely.
  if (file.error() != 0 || file.size_bytes() != entry.size_bytes) return false;
  if (!is_same(file, entry, part_bytes)) return false;
  if (checksum_.empty()) {
    shell_.change(kShorten, {folder_, name, std::to_string(part_bytes / kResentBytes),
                             std::to_string(kResentBytes)});
  }
  log::info("{} continues at {} of {}", printable(entry.path.string()), human_bytes(part_bytes),
            human_bytes(entry.size_bytes));
  if (part_bytes < entry.size_bytes) {
    std::uint64_t bytes = part_bytes;
    const auto read = [&](char* buffer, std::size_t size) {
      const std::size_t count = file.read(std::span(buffer, size));
      bytes += count;
      if (progress && count > 0) progress(bytes);
      return count;
    };
    const BoardAnswer answer =
        shell_.stream(kAppend, {folder_, name, std::to_string(part_bytes)}, read, {});
    if (answer.end.exit_code == kOtherSize) return false;
    if (!answer.has_succeeded()) throw_board_cannot_write(shell_, folder_, answer.reason());
  }
  const bool changed = told_of_change(file, entry);
  const std::string time = changed ? "0" : std::to_string(file.copied_mtime_seconds());
  const BoardAnswer answer = shell_.ask(kFinish, {folder_, name, std::to_string(entry.size_bytes),
                                                  fmt::format("{:o}", entry.mode & 0777U), time});
  if (answer.end.exit_code == kOtherSize) return false;
  if (!answer.has_succeeded()) throw_board_cannot_write(shell_, folder_, answer.reason());
  return true;
}

void UploadParts::begin(const std::vector<ProjectEntry>& entries) {
  if (!checksum_.empty() || entries.empty()) return;
  std::string lines;
  for (const ProjectEntry& entry : entries) {
    if (is_one_line(entry.path.string())) lines += format_note(entry) + "\n";
  }
  shell_.change(kWriteNote, {note_file()}, lines);
}

void UploadParts::end() {
  if (checksum_.empty()) shell_.change(kRemoveNote, {note_file()});
}

}  // namespace msprof
