#include "board/transfer/cat_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/text.hpp"
#include "board/transfer/outgoing.hpp"
#include "board/transfer/transfer_ways.hpp"

namespace msprof {

BoardShell::Source CatReader::names() {
  held_.clear();
  std::string text;
  for (std::size_t i = next_; i < files_.size(); ++i) text += "./" + files_[i].path + "\n";
  return [text = std::move(text), at = std::size_t{0}](char* buffer, std::size_t size) mutable {
    const std::size_t count = text.copy(buffer, size, at);
    at += count;
    return count;
  };
}

void CatReader::take(std::string_view bytes) {
  if (is_done()) {  // unexpected output after the last file
    unasked_bytes_ += bytes.size();
    if (unasked_bytes_ > kMaxAnswer) throw TooMuchSent("the board sends more files than requested");
    return;
  }
  held_.append(bytes);
  while (!is_done() && take_end()) {
  }
  if (is_done()) held_.clear();
}

void CatReader::begin() {
  if (has_begun_) return;
  has_begun_ = true;
  is_admitted_ = incoming_.open_file(files_[next_]);
}

// Writes the first `size` held bytes as content.
void CatReader::give(std::size_t size) {
  begin();
  file_bytes_ += size;
  if (is_admitted_) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size, incoming_.room()));
    incoming_.write(std::string_view(held_).substr(0, wanted));
    is_endless_ = wanted < size;
  } else {
    is_endless_ = file_bytes_ > kMaxGrowth && file_bytes_ - kMaxGrowth > files_[next_].size_bytes;
  }
  held_.erase(0, size);
}

// Returns true if the held bytes contained the end of a file; another end may follow.
bool CatReader::take_end() {
  const std::string mark = "\n" + word_ + " ";
  const auto at = held_.find(mark);
  if (at == std::string::npos) {
    // The end of the buffer may be an incomplete mark.
    if (held_.size() >= mark.size()) give(held_.size() - mark.size() + 1);
  } else {
    give(at);
    const auto end = held_.find('\n', mark.size());
    if (end == std::string::npos && held_.size() < mark.size() + 8) return false;
    const bool good = std::string_view(held_).substr(mark.size(), end - mark.size()) == "0";
    held_.erase(0, end == std::string::npos ? held_.size() : end + 1);
    if (!good) {
      has_failed_ = true;
      incoming_.drop_file();
    } else if (is_admitted_) {
      incoming_.close_file();
    }
    advance();
    return true;
  }
  if (is_endless_) {
    if (is_admitted_) incoming_.close_file();
    const std::string name = printable(files_[next_].path);
    advance();
    throw EndlessFile(fmt::format("{} keeps growing while it is read", name));
  }
  return false;
}

void CatReader::advance() {
  ++next_;
  has_begun_ = is_endless_ = false;
  file_bytes_ = 0;
}

void CatReader::finish() {
  if (is_done()) return;
  has_failed_ = true;
  incoming_.drop_file();
  next_ = files_.size();
}

namespace {

// Arguments: $1 folder, $2 random word that occurs in no file. File names on stdin, prefixed with
// "./".
const BoardScript kCatFiles = {"fetching by cat", R"sh(
cd "$1" || exit 1
while IFS= read -r name
do
  cat "$name" </dev/null
  printf '\n%s %s\n' "$2" "$?"
done
)sh"};

// Arguments: $1 folder, $2 name prefixed with "./", $3 number of the first missing byte, from 1.
const BoardScript kTail = {"continuing a file by tail", R"sh(
cd "$1" && exec tail -c "+$3" "$2"
)sh"};

// Arguments: $1 folder, $2 name, $3 permissions, $4 time. If touch does not support `@`, the file
// keeps the time of its arrival and is sent again next time.
const BoardScript kWriteFile = {"sending by cat", R"sh(
umask 077
cd "$1" && cat >"$2" && chmod "$3" "$2" || exit 1
touch -d "@$4" "$2" 2>/dev/null || :
)sh"};

const BoardScript kSetTime = {"setting a file's time", R"sh(
cd "$1" && touch -d "@$3" "$2"
)sh"};

// Returns true if the current file grew without end: then the remaining files must be requested
// again.
bool fetch_once(BoardShell& shell, const std::string& folder, CatReader& reader,
                const TransferProgress& progress, std::string& problem) {
  try {
    const BoardAnswer answer = shell.stream(kCatFiles, {folder, reader.word()}, reader.names(),
                                            [&](std::string_view bytes) {
                                              reader.take(bytes);
                                              if (progress) progress(reader.bytes());
                                            });
    reader.finish();
    if (reader.has_failed() && problem.empty()) problem = answer.reason();
    return false;
  } catch (const EndlessFile& endless) {
    if (problem.empty()) problem = endless.what();
    return true;
  }
}

}  // namespace

std::string fetch_by_cat(BoardShell& shell, const std::string& folder, const TreeListing& wanted,
                         Incoming& incoming, const TransferProgress& progress) {
  CatReader reader(incoming.take_folders(wanted), random_end_word(), incoming);
  std::string problem;
  while (!reader.is_done() && fetch_once(shell, folder, reader, progress, problem)) {
  }
  return problem;
}

void continue_by_tail(BoardShell& shell, const std::string& folder, const NewFile& file,
                      std::uint64_t part_bytes, Incoming& incoming,
                      const TransferProgress& progress) {
  if (!incoming.open_part(file, part_bytes)) return;
  std::uint64_t missing = file.size_bytes - part_bytes;
  std::uint64_t unwanted = 0;
  const auto take = [&](std::string_view bytes) {
    const std::string_view wanted = bytes.substr(0, missing);
    missing -= wanted.size();
    unwanted += bytes.size() - wanted.size();
    if (unwanted > kMaxGrowth)
      throw TooMuchSent(fmt::format("{} does not end", printable(file.path)));
    incoming.write(wanted);
    if (progress) progress(incoming.bytes());
  };
  const BoardAnswer answer =
      shell.stream(kTail, {folder, "./" + file.path, std::to_string(part_bytes + 1)}, {}, take);
  if (!answer.has_succeeded()) throw Error(Exit::partial_data, answer.reason());
  incoming.close_file();
}

void send_file_by_cat(BoardShell& shell, const std::string& folder, const ProjectEntry& entry,
                      SendReport& report, const TransferProgress& progress) {
  SourceFile file(entry.source);
  if (!open_for_sending(file, entry, report)) return;
  const std::string name = "./" + entry.path.string();
  const std::string mode = fmt::format("{:o}", entry.mode & 0777U);
  const BoardAnswer answer =
      shell.stream(kWriteFile, {folder, name, mode, fmt::format("{}", file.copied_mtime_seconds())},
                   counted_reads(file, report, progress), {});
  if (!answer.has_succeeded()) throw_board_cannot_write(shell, folder, answer.reason());
  if (told_of_change(file, entry)) shell.ask(kSetTime, {folder, name, "0"});
}

}  // namespace msprof
