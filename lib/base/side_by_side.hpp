// Runs work in several forked processes at once and delivers their output line by line. For verbs
// that work on several targets at once and use per-process state: libssh, Ctrl-C, messages.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.hpp"

namespace msprof {

// Splits a stream that arrives in chunks into lines. A line ends at '\n' or at a lone '\r', as
// progress bars print it; lines longer than kMaxBytes are delivered in parts.
class LineSplitter {
 public:
  using Sink = std::function<void(std::string_view line)>;  // without the line end

  explicit LineSplitter(Sink sink) : sink_(std::move(sink)) {}
  void add(std::string_view bytes);
  // Delivers the last line, which may have no line end.
  void finish();

  static constexpr std::size_t kMaxBytes = 16 << 10;

 private:
  void end_line();
  Sink sink_;
  std::string line_;
  bool is_after_return_ = false;
};

// Runs in the child and returns its exit code. The parent receives `result`.
using SideWork = std::function<int(std::string& result)>;

enum class SideStream { out, err };

struct SideEnd : ProcessEnd {
  std::string result;     // at most kMaxSideResult
  bool is_whole = false;  // the result is complete
};

inline constexpr std::size_t kMaxSideResult = 64 << 20;

// Forks a child for each of `works`, each in a new process group with an empty stdin, and waits for
// all. `on_line` gets the lines they print as they arrive, `on_end` each result when a child ends.
// The first two termination signals are forwarded to all children; the third ends this process and
// its children. The caller must be the only thread. Throws Error(cannot_write) if a process cannot
// be created, after those already started have ended.
std::vector<SideEnd> run_side_by_side(
    const std::vector<SideWork>& works,
    const std::function<void(std::size_t work, SideStream stream, std::string_view line)>& on_line,
    const std::function<void(std::size_t work, const SideEnd& end)>& on_end = {});

// Limits how many processes, forked after its creation, work at the same time. A process that dies
// releases its slot.
class ProcessSlots {
 public:
  // Throws Error(cannot_write) if the memory file cannot be created.
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
  // Waits for a slot; throws Error(interrupted) on Ctrl-C. A process holds at most one.
  Slot take() const;

 private:
  int fd_;
  std::size_t count_;
};

}  // namespace msprof
