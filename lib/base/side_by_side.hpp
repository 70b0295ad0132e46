// Work of several processes at once, forked from this one, whose output comes back line by line.
// For verbs that do the same in several places at a time with what a process has only once: libssh,
// Ctrl-C, messages.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace msprof {

// Lines of a stream that comes in pieces. A line ends at '\n', or at a '\r' that stands for
// itself, as a progress bar has them; one longer than kMaxBytes comes in parts.
class LineSplitter {
 public:
  using Sink = std::function<void(std::string_view line)>;  // without its end

  explicit LineSplitter(Sink sink) : sink_(std::move(sink)) {}
  void add(std::string_view bytes);
  // The last line may have no end.
  void finish();

  static constexpr std::size_t kMaxBytes = 16 << 10;

 private:
  void end_line();
  Sink sink_;
  std::string line_;
  bool after_return_ = false;
};

// Runs in the child; returns its exit code. What it leaves in `result` comes to the parent.
using SideWork = std::function<int(std::string& result)>;

enum class SideStream { out, err };

struct SideEnd {
  int exit_code = -1;  // -1: by a signal
  int signal = 0;
  std::string result;     // at most kMaxSideResult
  bool is_whole = false;  // the child gave all of it
};

inline constexpr std::size_t kMaxSideResult = 64 << 20;

// Forks a child for each of `works`, in a process group of its own, with stdin from nowhere, and
// waits for all. `on_line` gets the lines that they print, in the order in which they come;
// `on_end` each as it ends. Signals that end programs are handed on to all, a second one too; the
// third ends this process, and the children with it. No thread may run beside the caller.
// Throws Error(cannot_write) where no process can be made, when those that were have ended.
std::vector<SideEnd> run_side_by_side(
    const std::vector<SideWork>& works,
    const std::function<void(std::size_t work, SideStream stream, std::string_view line)>& on_line,
    const std::function<void(std::size_t work, const SideEnd& end)>& on_end = {});

// So many processes at a time, of those forked after it was made. A process that dies gives its
// place back.
class ProcessSlots {
 public:
  // Throws Error(cannot_write) where the machine gives no file for it.
  explicit ProcessSlots(std::size_t count);
  ~ProcessSlots();
  ProcessSlots(const ProcessSlots&) = delete;
  ProcessSlots& operator=(const ProcessSlots&) = delete;

  class Slot {
   public:
    Slot(int fd, long place) : fd_(fd), place_(place) {}
    ~Slot();
    Slot(Slot&& other) noexcept : fd_(other.fd_), place_(other.place_) { other.place_ = -1; }
    Slot& operator=(Slot&&) = delete;

   private:
    int fd_;
    long place_;
  };
  // Waits for a place; throws Error(interrupted) on Ctrl-C. A process takes one at a time.
  Slot take() const;

 private:
  int fd_;
  std::size_t count_;
};

}  // namespace msprof
