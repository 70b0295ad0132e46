#include "board/disk/sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "board/transfer/listing.hpp"
#include "collect/arrival.hpp"
#include "collect/file_tree.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

using SinkClock = std::chrono::steady_clock;

constexpr std::size_t kFrameHead = 16;
constexpr std::string_view kFrameMagic = "MSNK";
constexpr std::string_view kSinkReady = "@msprof-sink@\n";
constexpr std::string_view kSinkOffset = ".sink";
constexpr std::uint64_t kMaxStreamedBytes = std::uint64_t{1} << 42;
constexpr std::size_t kMaxStreamedFiles = 100'000;
constexpr std::size_t kMaxSinkHead = 4 << 10;
constexpr std::chrono::milliseconds kSinkPoll{50};
constexpr std::chrono::seconds kSinkPatience{30};

// Arguments: $1 run folder. cat holds both ends of the FIFO, so that no application waits for a
// reader, and cat sees no end of file between two writers; when cat ends, the FIFO has no reader.
// The helper writes the end mark after the data in the FIFO when it reads a line or its connection
// is closed; it also opens both ends, because it must not wait for a reader.
constexpr BoardScript kSinkScript = {"reading the stream of the runtime", R"sh(
umask 077
cd "$1" && mkfifo sink && exec 3<>sink 4<&0 || exit 1
echo "@msprof-sink@"
{
  read -r word
  printf 'MSNK\000\000\000\000\000\000\000\000\000\000\000\000' 1<>sink
  read -r word
  kill $$ 2>/dev/null
  rm -f sink
} <&4 3>&- &
exec cat <&3 3>&- 4<&-
)sh"};

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string stream_trouble(const std::exception& error) {
  return printable(error.what());
}

// Overwrites the start of `to` with the first `bytes` bytes of `from`.
void copy_over(const fs::path& from, const fs::path& to, std::uint64_t bytes) {
  FileReader reader(from);
  const FileDescriptor fd(::open(to.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) throw_cannot_write(to, errno);
  std::vector<std::byte> buffer(1 << 20);
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t got = std::min<std::uint64_t>(reader.read(buffer), bytes - at);
    if (got == 0) return;
    if (::pwrite(fd.get(), buffer.data(), got, static_cast<off_t>(at)) != static_cast<ssize_t>(got))
      throw_cannot_write(to, errno);
    at += got;
  }
}

// Returns the offset from which the runtime wrote the file to the board's disk instead of the
// stream; 0 if it recorded no such offset.
std::uint64_t streamed_until(const fs::path& file) {
  std::error_code error;
  std::uint64_t until = 0;
  const fs::path said = file.string() + std::string(kSinkOffset);
  if (!fs::is_regular_file(said, error)) return 0;
  parse_u64(trim(read_text_file(said, 64)), until);
  fs::remove(said, error);
  return until;
}

}  // namespace

void SinkReader::take(std::string_view bytes) noexcept try {
  if (has_ended_ || !trouble_.empty()) return;
  held_.append(bytes);
  std::size_t done = 0;
  for (std::size_t size = 1; size > 0 && !has_ended_;) {
    size = take_frame(std::string_view(held_).substr(done));
    done += size;
  }
  held_.erase(0, done);
} catch (const std::exception& error) {
  trouble_ = stream_trouble(error);
}

// Returns the size of the complete frame at the start; 0 if it is incomplete.
std::size_t SinkReader::take_frame(std::string_view bytes) {
  if (bytes.size() < kFrameHead) return 0;
  if (!bytes.starts_with(kFrameMagic))
    throw Error(Exit::partial_data, "invalid data from the runtime's record stream (bad magic)");
  const std::size_t name_bytes = number_at<std::uint16_t>(bytes, 4);
  const std::size_t data_bytes = number_at<std::uint16_t>(bytes, 6);
  const std::size_t size = kFrameHead + name_bytes + data_bytes;
  if (bytes.size() < size) return 0;
  if (name_bytes == 0) {
    has_ended_ = true;
    open_.reset();
    return size;
  }
  write(std::string(bytes.substr(kFrameHead, name_bytes)), number_at<std::uint64_t>(bytes, 8),
        bytes.substr(kFrameHead + name_bytes, data_bytes));
  return size;
}

void SinkReader::write(const std::string& name, std::uint64_t offset, std::string_view data) {
  if (!is_acceptable_board_path(name) || !is_capture_name(name.substr(0, name.find('/'))))
    throw Error(
        Exit::partial_data,
        fmt::format("the runtime's record stream has an invalid file name {}", printable(name)));
  const auto found = files_.find(name);
  const std::uint64_t here = found == files_.end() ? 0 : found->second;
  // The runtime writes each file sequentially: any other offset is invalid.
  if (offset != here || here > kMaxStreamedBytes || files_.size() > kMaxStreamedFiles)
    throw Error(Exit::partial_data,
                fmt::format("the runtime's record stream skips {} of {}", offset, name));
  if (open_name_ != name || !open_) {
    const fs::path path = folder_ / name;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    open_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!open_) throw_cannot_write(path, errno);
    open_name_ = name;
  }
  const ssize_t written = ::write(open_.get(), data.data(), data.size());
  files_[name] = here + (written > 0 ? static_cast<std::uint64_t>(written) : 0);
  if (written != static_cast<ssize_t>(data.size()))
    throw_cannot_write(folder_ / name, written < 0 ? errno : ENOSPC);
}

BoardSink::BoardSink(BoardLink& link, const fs::path& output)
    : link_(link), folder_(output / ("streamed-" + link.run())), reader_(folder_) {
  create_output_folder(folder_);
  command_ = link_.shell().start(
      kSinkScript, {link_.run_folder()},
      [this](std::string_view bytes) {
        if (is_ready_) return reader_.take(bytes);
        if (head_.size() <= kMaxSinkHead) head_.append(bytes);
        if (!head_.starts_with(kSinkReady)) return;
        is_ready_ = true;
        reader_.take(std::string_view(head_).substr(kSinkReady.size()));
        head_.clear();
      },
      [this](std::string_view bytes) { errors_ = bytes.substr(0, 1 << 12); });
  const auto limit = SinkClock::now() + kSinkPatience;
  bool has_ended = false;
  while (!is_ready_ && !has_ended && SinkClock::now() < limit) {
    has_ended = command_->wait(kSinkPoll).has_value();
    interrupt::check();
  }
  if (is_ready_) return;
  command_.reset();
  throw Error(Exit::cannot_write,
              fmt::format("{}: no stream for the runtime (MSPROF_SINK): {}", link_.name(),
                          errors_.empty() ? "no answer" : printable(trim(errors_))));
}

std::string BoardSink::variable() const {
  return "MSPROF_SINK=" + link_.run_folder() + "/sink";
}

void BoardSink::finish() {
  if (!command_) return;
  try {
    const auto limit = SinkClock::now() + kSinkPatience;
    for (std::string_view rest = "end\n"; !rest.empty() && SinkClock::now() < limit;) {
      const std::size_t taken = command_->write(rest);
      rest.remove_prefix(taken);
      if (taken == 0 && command_->wait(kSinkPoll)) break;
    }
    while (!reader_.has_ended() && reader_.trouble().empty() && SinkClock::now() < limit &&
           !command_->wait(kSinkPoll) && !command_->reported_end()) {
    }
    command_->close_input();
  } catch (const ConnectionLost& error) {
    log::verbose("{}", error.what());
  }
  command_.reset();
}

std::vector<std::string> BoardSink::place(const fs::path& captures) {
  std::vector<std::string> notes;
  if (!reader_.trouble().empty())
    notes.push_back(fmt::format("a part of the recording was lost: {}", reader_.trouble()));
  for (const auto& [name, bytes] : reader_.files()) {
    const fs::path place = captures / name;
    std::error_code error;
    fs::create_directories(place.parent_path(), error);
    if (!fs::is_regular_file(place, error)) {
      fs::create_hard_link(folder_ / name, place, error);
      if (error) fs::rename(folder_ / name, place);
      continue;
    }
    const std::uint64_t until = streamed_until(place);
    if (until == 0) {
      fs::rename(folder_ / name, place.string() + ".streamed", error);
      notes.push_back(fmt::format("{}: the part received in the stream is in {}.streamed",
                                  printable(name), printable(name)));
      continue;
    }
    copy_over(folder_ / name, place, std::min(bytes, until));
    if (bytes < until) {
      notes.push_back(fmt::format(
          "{}: {} bytes from offset {} were in transit when the connection was lost, and are lost",
          printable(name), until - bytes, bytes));
    }
  }
  return notes;
}

std::set<std::string> BoardSink::captures() const {
  std::set<std::string> names;
  for (const auto& [name, bytes] : reader_.files()) names.insert(name.substr(0, name.find('/')));
  return names;
}

void BoardSink::remove() {
  command_.reset();
  remove_tree(folder_);
}

}  // namespace msprof
