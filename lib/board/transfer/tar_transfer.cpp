#include "board/transfer/tar_transfer.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "board/session/steps.hpp"
#include "board/transfer/listing.hpp"
#include "board/transfer/outgoing.hpp"
#include "board/transfer/transfer_ways.hpp"

namespace msprof {

namespace {

// Bounded queue of bytes between two threads: the connection pushes, libarchive pulls.
class ByteQueue {
 public:
  // For the writer. push() waits while the queue is full. If the reader has ended, it throws the
  // reader's error, or drops the bytes if there was none.
  void push(std::string_view bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return was_left_ || waiting_bytes_ < kMaxBytes; });
    if (error_) std::rethrow_exception(error_);
    if (was_left_) return;
    const bool was_empty = blocks_.empty();
    // Combines small chunks into a block, so that the reader is not woken for each.
    if (was_empty || blocks_.back().size() + bytes.size() > kBlockBytes) {
      blocks_.emplace_back();
      blocks_.back().reserve(kBlockBytes);
    }
    blocks_.back().append(bytes);
    waiting_bytes_ += bytes.size();
    if (was_empty) changed_.notify_all();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    changed_.notify_all();
  }

  // For the reader. Returns the next block, valid until the next call; empty at the end.
  std::string_view pull() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_closed_ || !blocks_.empty(); });
    if (blocks_.empty()) return {};
    const bool was_full = waiting_bytes_ >= kMaxBytes;
    current_ = std::move(blocks_.front());
    blocks_.pop_front();
    waiting_bytes_ -= current_.size();
    if (was_full) changed_.notify_all();
    return current_;
  }

  // Call when the reader has ended; `error` is null on success.
  void leave(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    was_left_ = true;
    blocks_.clear();
    waiting_bytes_ = 0;
    changed_.notify_all();
  }

 private:
  static constexpr std::size_t kBlockBytes = 256 << 10;
  static constexpr std::size_t kMaxBytes = 4 << 20;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> blocks_;
  std::size_t waiting_bytes_ = 0;
  std::string current_;  // used by the reader only
  std::exception_ptr error_;
  bool is_closed_ = false;
  bool was_left_ = false;
};

// Maximum padding of tar after the end of an archive.
constexpr std::uint64_t kMaxPadding = 1 << 20;

class TarReader {
 public:
  TarReader(const TarSource& source, Incoming& incoming)
      : source_(source),
        incoming_(incoming),
        left_bytes_(incoming.most_stream_bytes()),
        archive_(archive_read_new()) {
    if (!archive_) throw std::bad_alloc();
    // Reads only tar, without decompression, so that the data never becomes larger than the
    // received bytes.
    archive_read_support_format_tar(archive_.get());
  }

  void read() {
    if (archive_read_open(archive_.get(), this, nullptr, give, nullptr) != ARCHIVE_OK) fail();
    while (next()) take_entry();
    std::uint64_t padding = 0;
    for (std::string_view rest = source_(); !rest.empty(); rest = source_()) {
      padding += rest.size();
      if (padding > kMaxPadding) {
        throw Error(Exit::partial_data, "the board's tar stream continues after its end");
      }
    }
  }

 private:
  struct Closer {
    void operator()(struct archive* handle) const { archive_read_free(handle); }
  };

  static la_ssize_t give(struct archive* handle, void* self, const void** buffer) {
    auto& reader = *static_cast<TarReader*>(self);
    try {
      const std::string_view bytes = reader.source_();
      // Also bounds the data of refused entries, which is skipped.
      if (bytes.size() > reader.left_bytes_)
        throw TooMuchSent("the board's tar stream is longer than listed");
      reader.left_bytes_ -= bytes.size();
      *buffer = bytes.data();
      return static_cast<la_ssize_t>(bytes.size());
    } catch (...) {
      // Exceptions must not pass through the C code of libarchive.
      reader.error_ = std::current_exception();
      archive_set_error(handle, EIO, "the source failed");
      return ARCHIVE_FATAL;
    }
  }

  [[noreturn]] void fail() const {
    if (error_) std::rethrow_exception(error_);
    const char* const words = archive_error_string(archive_.get());
    throw Error(Exit::partial_data,
                fmt::format("cannot read the board's tar stream: {}",
                            words == nullptr ? "it is empty or damaged" : printable(words)));
  }

  bool next() {
    const int result = archive_read_next_header(archive_.get(), &entry_);
    if (result == ARCHIVE_EOF) return false;
    if (result < ARCHIVE_WARN) fail();
    return true;
  }

  // Returns the reason to refuse an entry; empty: none.
  std::string_view objection_to_kind() const {
    if (archive_entry_hardlink(entry_) != nullptr) return "is a hard link to another file";
    const auto kind = archive_entry_filetype(entry_);
    if (kind == AE_IFLNK) return kLink;
    if (kind != AE_IFREG && kind != AE_IFDIR) return kSpecialFile;
    // msprof creates no sparse files; a hole of any size costs its sender nothing.
    if (archive_entry_sparse_count(entry_) > 0) return "is a sparse file";
    return "";
  }

  void take_entry() {
    const char* const name = archive_entry_pathname(entry_);
    if (name == nullptr) {
      incoming_.refuse_unnamed(1);
      return;
    }
    NewFile file;
    file.path = plain_board_path(name);
    if (file.path.empty()) return;
    const std::string_view objection = objection_to_kind();
    if (!objection.empty()) {
      incoming_.refuse(file.path, objection);
      return;
    }
    file.size_bytes = static_cast<std::uint64_t>(archive_entry_size(entry_));
    file.mode = archive_entry_perm(entry_);
    if (archive_entry_mtime_is_set(entry_) != 0) file.mtime_seconds = archive_entry_mtime(entry_);
    if (archive_entry_filetype(entry_) == AE_IFDIR) {
      incoming_.make_folder(file);
    } else if (incoming_.open_file(file)) {
      take_bytes();
    }
  }

  void take_bytes() {
    const void* buffer = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    la_int64_t expected = 0;
    for (;;) {
      const int result = archive_read_data_block(archive_.get(), &buffer, &size, &offset);
      if (result == ARCHIVE_EOF) break;
      if (result < ARCHIVE_WARN || (size > 0 && offset != expected)) {
        incoming_.drop_file();
        fail();
      }
      incoming_.write({static_cast<const char*>(buffer), size});
      expected += static_cast<la_int64_t>(size);
    }
    incoming_.close_file();
  }

  const TarSource& source_;
  Incoming& incoming_;
  std::uint64_t left_bytes_;  // bytes that may still be read
  std::unique_ptr<struct archive, Closer> archive_;
  struct archive_entry* entry_ = nullptr;
  std::exception_ptr error_;
};

constexpr std::size_t kChunk = 128 << 10;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

struct FreeArchiveEntry {
  void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};

unsigned archive_type(const ProjectEntry& entry) {
  switch (entry.kind) {
    case EntryKind::folder:
      return AE_IFDIR;
    case EntryKind::link:
      return AE_IFLNK;
    case EntryKind::file:
      break;
  }
  return AE_IFREG;
}

// Arguments: $1 folder, then names prefixed with "./", so that none looks like an option.
const BoardScript kPack = {"fetching by tar", R"sh(
cd "$1" || exit 1
shift
exec tar cf - "$@" </dev/null
)sh"};

// Arguments: $1 folder. If it has no captures, nothing is packed.
const BoardScript kPackCaptures = {"fetching by tar", R"sh(
cd "$1" || exit 1
set --
for name in JOB* PROF_*; do
  [ ! -d "$name" ] || [ -L "$name" ] || set -- "$@" "./$name"
done
[ $# -gt 0 ] || exit 9
exec tar cf - "$@" </dev/null
)sh"};

// -o: ignores the owners in the stream, which would only matter if tar ran as root.
const BoardScript kUnpack = {"sending by tar", R"sh(
mkdir -p "$1" && cd "$1" && exec tar xpof -
)sh"};

// Limit for the total size of names in one command; the board's limit is for the whole command.
constexpr std::size_t kMaxTarNameBytes = 8'000;

std::vector<std::vector<std::string>> in_batches(const std::string& folder,
                                                 const std::vector<std::string>& paths) {
  const std::size_t most = kMaxTarNameBytes - std::min(kMaxTarNameBytes, folder.size());
  std::vector<std::vector<std::string>> batches;
  std::size_t bytes = 0;
  for (const std::string& path : paths) {
    std::string name = path == "." ? path : "./" + path;
    const std::size_t size = name.size() + 1;
    if (batches.empty() || bytes + size > most) {
      batches.push_back({folder});
      bytes = 0;
    }
    bytes += size;
    batches.back().push_back(std::move(name));
  }
  return batches;
}

// Unpacks in a separate thread: the connection pushes and libarchive pulls, on two cores. The
// destructor joins the thread.
class Unpacker {
 public:
  explicit Unpacker(Incoming& incoming)
      : thread_([this, &incoming] {
          try {
            read_tar([this] { return queue_.pull(); }, incoming);
          } catch (...) {
            error_ = std::current_exception();
          }
          queue_.leave(error_);
        }) {}
  ~Unpacker() { stop(); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  void push(std::string_view bytes) { queue_.push(bytes); }
  // Ends the input; rethrows an error of the unpacking thread.
  void finish() {
    stop();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
  }
  ByteQueue queue_;
  std::exception_ptr error_;  // only accessed by the thread until it is joined
  std::thread thread_;
};

// Unpacks the data that `stream` passes to its sink; `stream` returns the answer of the board's
// tar.
std::string unpack(const std::function<BoardAnswer(const StreamSink&)>& stream, Incoming& incoming,
                   const TransferProgress& progress) {
  BoardAnswer answer;
  std::string problem;
  try {
    Unpacker unpacker(incoming);
    const auto push = [&](std::string_view bytes) {
      unpacker.push(bytes);
      if (progress) progress(incoming.bytes());
    };
    try {
      answer = stream(push);
    } catch (const ConnectionLost&) {
      incoming.keep_part();  // must be set before unpacking ends
      throw;
    }
    unpacker.finish();
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) throw;
    problem = error.what();
  }
  if (progress) progress(incoming.bytes());
  // tar's own message is more helpful than the error that its stream caused.
  const bool failed = answer.end.exit_code.value_or(0) != 0 || !answer.end.signal.empty();
  return failed ? answer.reason() : problem;
}

std::string fetch_batch(BoardShell& shell, const std::vector<std::string>& arguments,
                        Incoming& incoming, const TransferProgress& progress, StepAfter* after) {
  std::vector<BoardStep> steps = {{.script = kPack, .arguments = arguments, .may_fail = true}};
  if (after != nullptr) steps.push_back(after->step);
  const auto stream = [&](const StreamSink& sink) {
    StepsUnderWay command(shell, steps, random_end_word());
    if (command.count() == 0) return shell.stream(kPack, arguments, {}, sink);
    BoardAnswer answer = command.next(sink);
    if (command.count() > 1) after->answer = command.next();
    command.finish();
    return answer;
  };
  return unpack(stream, incoming, progress);
}

}  // namespace

void read_tar(const TarSource& source, Incoming& incoming) {
  TarReader(source, incoming).read();
}

TarWriter::TarWriter(const std::vector<ProjectEntry>& entries, const TransferProgress& progress)
    : entries_(entries), progress_(progress), buffer_(kChunk), archive_(archive_write_new()) {
  if (!archive_) throw std::bad_alloc();
  require(archive_write_set_format_gnutar(archive_.get()));
  // Disables blocking: data is passed on immediately.
  require(archive_write_set_bytes_per_block(archive_.get(), 0));
  require(archive_write_open(archive_.get(), this, nullptr, take, nullptr));
}

// Closing an unfinished archive would pad the current file to its announced size; `has_given_up_`
// discards that output.
TarWriter::~TarWriter() {
  has_given_up_ = true;
  archive_.reset();
}

void TarWriter::require(la_ssize_t result) const {
  if (result >= ARCHIVE_WARN) return;
  const char* const words = archive_error_string(archive_.get());
  throw Error(Exit::internal_error, fmt::format("cannot create a tar stream of the project: {}",
                                                words == nullptr ? "unknown reason" : words));
}

la_ssize_t TarWriter::take(struct archive* handle, void* self, const void* bytes,
                           std::size_t size) {
  auto& writer = *static_cast<TarWriter*>(self);
  try {
    if (!writer.has_given_up_) {
      writer.made_.append(static_cast<const char*>(bytes), size);
      return static_cast<la_ssize_t>(size);
    }
  } catch (const std::exception&) {
    // Exceptions must not pass through the C code of libarchive.
  }
  archive_set_error(handle, ENOMEM, "out of memory");
  return -1;
}

// Fills the whole buffer: libarchive produces one header or small file at a time, and each returned
// chunk becomes a separate packet.
std::size_t TarWriter::fill(char* buffer, std::size_t size) {
  std::size_t count = 0;
  while (count < size && (taken_ < made_.size() || !is_finished_)) {
    if (taken_ == made_.size()) {
      made_.clear();
      taken_ = 0;
      step();
    }
    const std::size_t part = made_.copy(buffer + count, size - count, taken_);
    taken_ += part;
    count += part;
  }
  return count;
}

void TarWriter::step() {
  if (file_) {
    continue_file();
  } else if (next_ < entries_.size()) {
    begin(entries_[next_++]);
  } else if (next_again_ < again_.size()) {
    begin(*again_[next_again_++]);
  } else {
    require(archive_write_close(archive_.get()));
    is_finished_ = true;
  }
}

void TarWriter::begin(const ProjectEntry& entry) {
  interrupt::check();
  if (entry.kind != EntryKind::file) {
    write_header(entry, 0, entry.mtime_ns / kNsPerSecond);
    return;
  }
  file_.emplace(entry.source);
  if (!open_for_sending(*file_, entry, report_)) {
    file_.reset();
    return;
  }
  entry_ = &entry;
  left_bytes_ = file_->size_bytes();
  // A file that is sent twice may have changed again: with the time 1970 the next run sends it
  // again.
  const bool second = next_again_ > 0;
  write_header(entry, left_bytes_, second ? 0 : file_->copied_mtime_seconds());
  if (second) --report_.files;  // counted at the first attempt
}

void TarWriter::write_header(const ProjectEntry& entry, std::uint64_t size_bytes,
                             std::int64_t mtime) {
  const std::unique_ptr<struct archive_entry, FreeArchiveEntry> header(archive_entry_new());
  if (!header) throw std::bad_alloc();
  const unsigned owner = entry.kind == EntryKind::folder ? 0700U : 0U;
  archive_entry_copy_pathname(header.get(), entry.path.c_str());
  archive_entry_set_mode(header.get(), archive_type(entry) | (entry.mode & 0777U) | owner);
  archive_entry_set_size(header.get(), static_cast<la_int64_t>(size_bytes));
  archive_entry_set_mtime(header.get(), mtime, 0);
  if (entry.kind == EntryKind::link) archive_entry_copy_symlink(header.get(), entry.link.c_str());
  require(archive_write_header(archive_.get(), header.get()));
}

void TarWriter::continue_file() {
  if (left_bytes_ == 0) {
    finish_file();
    return;
  }
  std::size_t count = file_->read(buffer_);
  if (count == 0) {
    // Pads a file that has become shorter than its announced size.
    count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), left_bytes_));
    std::fill_n(buffer_.begin(), count, '\0');
  }
  require(archive_write_data(archive_.get(), buffer_.data(), count));
  left_bytes_ -= count;
  report_.bytes += count;
  if (progress_) progress_(report_.bytes);
}

void TarWriter::finish_file() {
  if (next_again_ > 0) {
    told_of_change(*file_, *entry_);
  } else if (file_->has_changed()) {
    log::verbose("{} changed while it was sent, and is sent again",
                 printable(entry_->path.string()));
    again_.push_back(entry_);
  }
  file_.reset();
}

std::string fetch_by_tar(BoardShell& shell, const std::string& folder,
                         const std::vector<std::string>& paths, Incoming& incoming,
                         const TransferProgress& progress, StepAfter* after) {
  std::string problem;
  const auto batches = in_batches(folder, paths);
  for (const auto& batch : batches) {
    const bool is_last = &batch == &batches.back();
    const std::string found =
        fetch_batch(shell, batch, incoming, progress, is_last ? after : nullptr);
    if (problem.empty()) problem = found;
  }
  return problem;
}

BoardStep pack_captures_step(const std::string& folder) {
  return {.script = kPackCaptures, .arguments = {folder}, .may_fail = true};
}

std::string take_packed(StepsUnderWay& packed, Incoming& incoming, const TransferProgress& progress,
                        std::optional<BoardAnswer>& listed) {
  const auto stream = [&](const StreamSink& sink) {
    try {
      BoardAnswer answer = packed.next(sink);
      if (packed.left() > 0) listed = packed.next();
      packed.finish();
      return answer;
    } catch (...) {
      // Stop the stream, whose sink no longer exists.
      packed.drop();
      throw;
    }
  };
  return unpack(stream, incoming, progress);
}

SendReport send_by_tar(BoardShell& shell, const std::string& folder,
                       const std::vector<ProjectEntry>& entries, const TransferProgress& progress,
                       const SendPlan& plan) {
  std::vector<BoardStep> steps = plan.before;
  if (!plan.is_empty) steps.push_back(room_step(folder, entries));
  steps.push_back({.script = kUnpack, .arguments = {folder}, .takes_input = true});
  const std::size_t own = steps.size();
  steps.insert(steps.end(), plan.after.begin(), plan.after.end());
  TarWriter writer(entries, progress);
  const auto fill = [&](char* buffer, std::size_t size) { return writer.fill(buffer, size); };
  std::vector<BoardAnswer> answers = shell.ask_each(steps, fill);
  for (std::size_t i = 0; i < own; ++i) {
    if (!answers[i].has_succeeded()) throw_board_cannot_write(shell, folder, answers[i].reason());
  }
  answers.erase(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(own));
  if (plan.answers != nullptr) *plan.answers = std::move(answers);
  return writer.report();
}

}  // namespace msprof
