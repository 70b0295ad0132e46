#include "board/disk/drainer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/atomic_file.hpp"
#include "base/durable.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/read_write.hpp"
#include "base/text.hpp"
#include "board/transfer/listing.hpp"
#include "collect/arrival.hpp"
#include "ssh/ssh_connection.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kChunkBlocks = 64;   // per request: 4 MB
constexpr std::uint64_t kCycleBlocks = 256;  // per file before switching to the next
constexpr std::uint64_t kZeroBlocks = 256;   // per checksum request for zeros
constexpr std::string_view kDoneSuffix = ".done";
constexpr std::string_view kBesideSuffix = ".drained";
constexpr std::string_view kWrittenAnew = "rewritten on";
constexpr std::string_view kGone = "removed from";

// Removes all-zero blocks at the end, which the application may have preallocated, and the block
// before them, which it may still be writing.
std::string_view without_zero_blocks(std::string_view bytes) {
  const std::size_t whole = bytes.size();
  while (bytes.size() >= kDrainBlock &&
         bytes.substr(bytes.size() - kDrainBlock).find_first_not_of('\0') == std::string_view::npos)
    bytes.remove_suffix(kDrainBlock);
  if (bytes.size() < whole) bytes.remove_suffix(std::min<std::size_t>(bytes.size(), kDrainBlock));
  return bytes;
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_cannot_write(folder, error.value());
}

}  // namespace

double Drainer::seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Drainer::Drainer(const fs::path& folder) : journal_(folder) {
  for (const auto& [path, file] : journal_.files()) {
    Tracked& tracked = tracked_[path];
    tracked.inode = file.inode;
    tracked.size = tracked.length = file.length;
    tracked.is_safe = true;
  }
}

std::uint64_t Drainer::freed(const std::string& path) const {
  const auto found = journal_.files().find(path);
  return found == journal_.files().end() ? 0 : found->second.freed;
}

// The first block is never freed.
bool Drainer::may_be_freed(const std::string& path) const {
  const auto found = journal_.files().find(path);
  return found != journal_.files().end() && found->second.length > kDrainBlock;
}

bool Drainer::is_needed() const {
  return std::any_of(journal_.files().begin(), journal_.files().end(),
                     [](const auto& one) { return one.second.length > kDrainBlock; });
}

DrainStatus Drainer::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void Drainer::update_status(const DrainBoard& board) {
  DrainStatus now;
  for (const auto& [path, file] : tracked_) {
    if (file.length == 0) continue;
    ++now.files;
    now.bytes += file.length;
    now.freed_bytes += freed(path) > kDrainBlock ? freed(path) - kDrainBlock : 0;
  }
  now.bytes_per_second = rate_.bytes_per_second();
  now.free_bytes = rate_.free_bytes();
  now.seconds_left = rate_.seconds_left();
  now.frees = board.frees();
  const std::lock_guard lock(mutex_);
  status_ = now;
}

std::string Drainer::read_here(const std::string& path, std::uint64_t first,
                               std::uint64_t blocks) const {
  const fs::path file = journal_.file(path);
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::string bytes(blocks * kDrainBlock, '\0');
  bytes.resize(
      read_all_at(fd.get(), std::as_writable_bytes(std::span(bytes)), first * kDrainBlock));
  return bytes;
}

// Returns after the bytes are on disk.
void Drainer::write_here(const std::string& path, std::uint64_t at, std::string_view bytes) const {
  const fs::path file = journal_.file(path);
  make_folders(file.parent_path());
  std::error_code ignored;
  const bool is_new = !fs::exists(file, ignored);
  const FileDescriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) throw_cannot_write(file, errno);
  if (const int error = write_all_at(fd.get(), std::as_bytes(std::span(bytes)), at))
    throw_cannot_write(file, error);
  sync_file(fd.get(), file);
  // Syncs the folder entry, too: the board frees these bytes next.
  if (is_new) {
    for (fs::path folder = file.parent_path(); folder != journal_.folder();
         folder = folder.parent_path())
      sync_folder(folder);
  }
}

bool Drainer::is_same(DrainBoard& board, const std::string& path, std::uint64_t first,
                      std::uint64_t blocks) {
  for (const std::uint64_t end = first + blocks; first < end; first += kChunkBlocks) {
    const std::uint64_t some = std::min(kChunkBlocks, end - first);
    const std::string here = read_here(path, first, some);
    if (here.size() != some * kDrainBlock ||
        board.sum(path, first, some) != range_sum(board.tool(), here))
      return false;
  }
  return true;
}

bool Drainer::are_zeros(DrainBoard& board, const std::string& path, std::uint64_t first,
                        std::uint64_t blocks) {
  std::string expected;
  std::uint64_t of_blocks = 0;
  for (const std::uint64_t end = first + blocks; first < end;) {
    const std::uint64_t some = std::min(kZeroBlocks, end - first);
    if (some != of_blocks)
      expected = range_sum(board.tool(), std::string(some * kDrainBlock, '\0'));
    of_blocks = some;
    if (board.sum(path, first, some) != expected) return false;
    first += some;
  }
  return true;
}

bool Drainer::is_here_or_freed(DrainBoard& board, const std::string& path, std::uint64_t first,
                               std::uint64_t blocks) {
  return blocks == 0 || are_zeros(board, path, first, blocks) ||
         is_same(board, path, first, blocks);
}

// Leaves the rest of the file, from `length` on, to the board.
void Drainer::leave(const std::string& path, Tracked& file, std::uint64_t length) {
  file.is_left = true;
  file.length = length;
  if (length <= kDrainBlock) {
    file.length = 0;
    journal_.forgotten(path);
    return;
  }
  journal_.kept(path, length);
  if (::truncate(journal_.file(path).c_str(), static_cast<off_t>(length)) != 0)
    throw_cannot_write(journal_.file(path), errno);
}

// Follows renamed files (for example by log rotation) whose start is unchanged. If the new name is
// the old name of another renamed file, that file is moved first.
void Drainer::take_renamed(DrainBoard& board, const std::map<std::string, RawEntry>& listed) {
  if (board.tool() == SumTool::none) return;
  const auto is_at = [&](const std::string& path, std::uint64_t inode) {
    const auto found = listed.find(path);
    return found != listed.end() && found->second.inode == inode;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto& [path, file] : tracked_) {
      if (file.length == 0 || is_at(path, file.inode)) continue;
      const auto place = std::find_if(listed.begin(), listed.end(), [&, &old = file](auto& one) {
        const auto before = tracked_.find(one.first);
        return one.second.inode == old.inode && one.second.size >= old.length &&
               (before == tracked_.end() || before->second.length == 0);
      });
      if (place == listed.end()) continue;
      const std::string to = place->first;
      if (board.sum(to, 0, 1) != range_sum(board.tool(), read_here(path, 0, 1))) continue;
      const std::string from = path;
      const Tracked same = file;
      make_folders(journal_.file(to).parent_path());
      journal_.moved(from, to);
      tracked_.erase(from);
      tracked_.insert_or_assign(to, same);
      moved = true;
      break;
    }
  }
}

void Drainer::judge(Tracked& file, const RawEntry& entry, const RawLook& look, double now) const {
  const bool has_grown = entry.size > file.size;
  if (has_grown || entry.mtime != file.mtime) file.same_since = now;
  file.is_safe = file.is_safe || has_grown || now - file.same_since >= look.rest_seconds ||
                 listed_.contains(entry.path + std::string(kDoneSuffix));
  file.size = entry.size;
  file.mtime = entry.mtime;
}

void Drainer::take(DrainBoard& board, const RawLook& look, double now) {
  listed_.clear();
  std::uint64_t raw_bytes = 0;
  for (const RawEntry& entry : look.files) {
    raw_bytes = saturating_sum(raw_bytes, entry.size);
    if (is_acceptable_board_path(entry.path)) listed_.insert_or_assign(entry.path, entry);
  }
  rate_.add(now, raw_bytes, look.free_bytes);
  // Forgets files that vanished before any download: otherwise names that change with each poll
  // would accumulate without limit.
  std::erase_if(tracked_, [this](const auto& one) {
    return one.second.length == 0 && !listed_.contains(one.first) &&
           !journal_.files().contains(one.first);
  });
  take_renamed(board, listed_);
  for (const auto& [path, entry] : listed_) {
    if (path.ends_with(kDoneSuffix)) continue;
    const Tracked fresh = {entry.inode, entry.size, 0, false, false, entry.mtime, now};
    Tracked& file = tracked_.try_emplace(path, fresh).first->second;
    if (file.inode != entry.inode || entry.size < file.length) {
      // Replaced by another file, or rewritten.
      file.is_left = true;
      if (may_be_freed(path)) continue;
      if (journal_.files().contains(path)) journal_.forgotten(path);
      file = fresh;
    }
    judge(file, entry, look, now);
  }
}

bool Drainer::cycle(DrainBoard& board, double now) {
  take(board, board.look(), now);
  bool has_more = false;
  for (auto& [path, file] : tracked_) {
    if (!file.is_safe || file.is_left || !listed_.contains(path)) continue;
    has_more = drain(board, path, file) || has_more;
    update_status(board);
  }
  update_status(board);
  return has_more;
}

// Returns true if more of the file can be drained now.
bool Drainer::drain(DrainBoard& board, const std::string& path, Tracked& file) {
  if (board.frees()) punch(board, path, file);  // finish a punch that a lost connection interrupted
  const std::uint64_t end = file.size > kDrainBlock ? (file.size - kDrainBlock) / kDrainBlock : 0;
  if (end < 2) return false;  // too short: no block can be freed
  std::uint64_t first = file.length / kDrainBlock;
  for (std::uint64_t done = 0; first < end && !file.is_left && done < kCycleBlocks;) {
    const std::uint64_t blocks = std::min(kChunkBlocks, end - first);
    const std::string bytes = board.get(path, first, blocks);
    if (bytes.size() != blocks * kDrainBlock) return false;  // shorter now; the next poll shows it
    const std::string_view data = without_zero_blocks(bytes);
    if (data.empty()) return false;
    write_here(path, file.length, data);
    file.length += data.size();
    if (board.frees()) {
      journal_.punching(path, file.inode, file.length);
      punch(board, path, file);
    }
    if (data.size() != bytes.size()) return false;
    first += blocks;
    done += blocks;
  }
  return first < end && !file.is_left;
}

void Drainer::punch(DrainBoard& board, const std::string& path, Tracked& file) {
  if (const auto found = journal_.files().find(path);
      found == journal_.files().end() || found->second.length < file.length) {
    if (file.length == 0) return;
    journal_.punching(path, file.inode, file.length);  // downloaded before it could be freed
  }
  const std::uint64_t first = std::max(freed(path), kDrainBlock) / kDrainBlock;
  for (std::uint64_t at = first, end = file.length / kDrainBlock; at < end;) {
    const std::uint64_t blocks = std::min(kChunkBlocks, end - at);
    const std::string here = read_here(path, at, blocks);
    const Punched answer = board.punch(path, at, blocks, range_sum(board.tool(), here));
    if (answer == Punched::cannot) return;
    if (answer == Punched::differs && !are_zeros(board, path, at, blocks)) {
      log::verbose("{}: rewritten while it was downloaded; the rest is downloaded at the end",
                   printable(path));
      leave(path, file, at * kDrainBlock);
      return;
    }
    at += blocks;
    journal_.freed(path, at * kDrainBlock);
  }
}

void Drainer::finish(DrainBoard& board) {
  take(board, board.look(), seconds_now());
  std::vector<std::string> paths;
  for (const auto& [path, file] : tracked_) {
    if (file.length > 0) paths.push_back(path);
  }
  require_space(paths);
  for (const std::string& path : paths) {
    const bool is_done = std::any_of(results_.begin(), results_.end(), [&](const auto& result) {
      return result.path == path || result.path == path + std::string(kBesideSuffix);
    });
    if (is_done) continue;
    Tracked& file = tracked_[path];
    const auto now = listed_.find(path);
    if (now == listed_.end() && keeps_gone_ && may_be_freed(path)) {
      set_aside(path, file, kGone);
      continue;
    }
    if (now == listed_.end()) {
      // The application has removed the file.
      journal_.forgotten(path);
      file.length = 0;
      continue;
    }
    if (now->second.inode != file.inode) {
      set_aside(path, file, kWrittenAnew);
      continue;
    }
    file.size = now->second.size;
    finish_file(board, path, file);
  }
  update_status(board);
}

// The reported sizes are untrusted: a board could claim, and send, any amount.
void Drainer::require_space(const std::vector<std::string>& paths) const {
  std::uint64_t needed = 0;
  for (const std::string& path : paths) {
    const auto now = listed_.find(path);
    const std::uint64_t here = tracked_.at(path).length;
    if (now == listed_.end() || now->second.size < here) continue;
    needed = saturating_sum(needed, now->second.size - here);
  }
  const auto free = read_free_bytes(folder());
  if (!free || *free >= needed) return;
  throw Error(Exit::cannot_write,
              fmt::format("the rest of the recording needs {}, but only {} are free in {}",
                          human_bytes(needed), human_bytes(*free), folder().string()));
}

// Freed blocks that are not zero were rewritten. Later blocks may be freed, too, without a record.
bool Drainer::is_still_ours(DrainBoard& board, const std::string& path, Tracked& file) {
  const std::uint64_t first = freed(path) / kDrainBlock;
  const std::uint64_t end = file.length / kDrainBlock;
  if (file.size < file.length) return false;
  if (first > 1 && !are_zeros(board, path, 1, first - 1)) return false;
  const std::uint64_t open = std::max<std::uint64_t>(first, 1);
  if (open < end && !is_here_or_freed(board, path, open, end - open))
    leave(path, file, open * kDrainBlock);
  return true;
}

void Drainer::finish_file(DrainBoard& board, const std::string& path, Tracked& file) {
  if (!may_be_freed(path)) {
    // The board still has the whole file.
    if (board.tool() == SumTool::none || file.size < file.length ||
        !is_same(board, path, 0, file.length / kDrainBlock)) {
      leave(path, file, 0);
      return;
    }
  } else if (!is_still_ours(board, path, file)) {
    set_aside(path, file, kWrittenAnew);
    return;
  }
  if (file.length == 0) return;
  if (!is_same(board, path, 0, 1)) {
    const std::string head = board.get(path, 0, 1);
    write_here(path, 0, std::string_view(head).substr(0, kDrainBlock));
  }
  if (bring_rest(board, path, file)) results_.push_back({path});
}

// Keeps both files: the downloaded bytes exist only locally, and the board's file is a different
// one.
void Drainer::set_aside(const std::string& path, const Tracked& file, std::string_view why) {
  // A killed msprof may already have set the file aside.
  const bool is_beside = path.ends_with(kBesideSuffix);
  const std::string beside = is_beside ? path : path + std::string(kBesideSuffix);
  if (!is_beside) journal_.moved(path, beside);
  results_.push_back({beside, true});
  notes_.push_back(fmt::format(
      "{}: {} the board after its first {} were downloaded and freed there; they are in {}",
      printable(path), why, human_bytes(file.length), printable(beside)));
}

bool Drainer::bring_rest(DrainBoard& board, const std::string& path, Tracked& file) {
  std::uint64_t at = file.length / kDrainBlock * kDrainBlock;
  while (at < file.size) {
    const std::uint64_t wanted = std::min(kChunkBlocks * kDrainBlock, file.size - at);
    std::string bytes = board.get(path, at / kDrainBlock, (wanted + kDrainBlock - 1) / kDrainBlock);
    if (bytes.size() < wanted) {
      notes_.push_back(fmt::format("{}: the board sent {} of its {}", printable(path),
                                   human_bytes(at + bytes.size()), human_bytes(file.size)));
      file.size = at + bytes.size();
    }
    bytes.resize(std::min<std::uint64_t>(bytes.size(), wanted));
    if (bytes.empty()) break;
    write_here(path, at, bytes);
    at += bytes.size();
    if (at % kDrainBlock == 0) file.length = at;
  }
  if (::truncate(journal_.file(path).c_str(), static_cast<off_t>(file.size)) != 0)
    throw_cannot_write(journal_.file(path), errno);
  return true;
}

}  // namespace msprof
