#include <exception>
#include <thread>

#include "base/text.hpp"
#include "board/byte_queue.hpp"
#include "board/shell_tree.hpp"
#include "board/tar_reader.hpp"
#include "board/tar_writer.hpp"
#include "board/transfer_ways.hpp"

namespace msprof {

namespace {

// $1 the folder, then names that begin with "./", so that none looks like an option.
constexpr BoardScript kPack = {"fetching by tar", R"sh(
cd "$1" || exit 1
shift
exec tar cf - "$@" </dev/null
)sh"};

// -o: not the owners that the stream names, which only root's tar would take anyway.
constexpr BoardScript kUnpack = {"sending by tar", R"sh(
mkdir -p "$1" && cd "$1" && exec tar xpof -
)sh"};

// What the names of one command may take, below what a board takes as a whole.
constexpr std::size_t kMostNameBytes = 8'000;

std::vector<std::vector<std::string>> in_batches(const std::string& folder,
                                                 const std::vector<std::string>& paths) {
  const std::size_t most = kMostNameBytes - std::min(kMostNameBytes, shell_quoted(folder).size());
  std::vector<std::vector<std::string>> batches;
  std::size_t bytes = 0;
  for (const std::string& path : paths) {
    std::string name = path == "." ? path : "./" + path;
    const std::size_t size = shell_quoted(name).size() + 1;
    if (batches.empty() || bytes + size > most) {
      batches.push_back({folder});
      bytes = 0;
    }
    bytes += size;
    batches.back().push_back(std::move(name));
  }
  return batches;
}

// Unpacks in a thread of its own: the connection pushes, libarchive pulls, and two cores share the
// work. Its end is waited for however the connection's part ends.
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
  // No more comes; throws what the unpacking threw.
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
  std::exception_ptr error_;  // the thread's until it has been joined
  std::thread thread_;
};

std::string fetch_batch(BoardShell& shell, const std::vector<std::string>& arguments,
                        Incoming& incoming, const TransferProgress& progress) {
  BoardAnswer answer;
  std::string problem;
  try {
    Unpacker unpacker(incoming);
    answer = shell.stream(kPack, arguments, {}, [&](std::string_view bytes) {
      unpacker.push(bytes);
      if (progress) progress(incoming.bytes());
    });
    unpacker.finish();
  } catch (const Error& error) {
    if (error.code() != Exit::partial_data) throw;
    problem = error.what();
  }
  if (progress) progress(incoming.bytes());
  // Why tar failed tells more than how its stream then looks.
  const bool failed = answer.end.exit_code.value_or(0) != 0 || !answer.end.signal.empty();
  return failed ? answer.reason() : problem;
}

}  // namespace

std::string fetch_by_tar(BoardShell& shell, const std::string& folder,
                         const std::vector<std::string>& paths, Incoming& incoming,
                         const TransferProgress& progress) {
  std::string problem;
  for (const auto& batch : in_batches(folder, paths)) {
    const std::string found = fetch_batch(shell, batch, incoming, progress);
    if (problem.empty()) problem = found;
  }
  return problem;
}

SendReport send_by_tar(BoardShell& shell, const std::string& folder,
                       const std::vector<ProjectEntry>& entries, const TransferProgress& progress) {
  make_room(shell, folder, entries);
  TarWriter writer(entries, progress);
  const auto fill = [&](char* buffer, std::size_t size) { return writer.fill(buffer, size); };
  const BoardAnswer answer = shell.stream(kUnpack, {folder}, fill, {});
  if (!answer.ok()) throw_board_cannot_write(shell, folder, answer.reason());
  return writer.report();
}

}  // namespace msprof
