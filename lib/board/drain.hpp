// BoardDrain: brings raw files home while the application runs, over a connection and in a thread
// of its own, so that a small disk lasts. For SshHost.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "board/drain_channel.hpp"
#include "board/drainer.hpp"
#include "board/link.hpp"
#include "collect/drain_status.hpp"

namespace msprof {

struct DrainOptions {
  bool on = false;
  std::filesystem::path output;  // what comes home is in its folder drained-<run>
};

class BoardDrain {
 public:
  // Begins at once. `link` is used by finish() alone.
  BoardDrain(BoardLink& link, const DrainOptions& options, double reconnect_seconds);
  // Of an earlier run of `link`, with the `folder` that its drain has left: for finish() alone.
  BoardDrain(BoardLink& link, const std::filesystem::path& folder);
  ~BoardDrain();
  BoardDrain(const BoardDrain&) = delete;
  BoardDrain& operator=(const BoardDrain&) = delete;

  // Waits until it has had its first look, or cannot. Throws Error(interrupted).
  void wait_until_it_looks();
  // Throws ConnectFailure(host_key) where its connection met another machine than the board.
  void check();
  // From any thread.
  DrainStatus status() const { return drainer_.status(); }
  // Ends the thread, with what is under way.
  void stop();
  // After the application's end: what has come is made whole. Throws ConnectionLost, after which it
  // stays in folder().
  void finish();

  // After finish().
  const std::vector<DrainedResult>& results() const { return drainer_.results(); }
  const std::vector<std::string>& notes() const { return drainer_.notes(); }
  std::filesystem::path file(const std::string& path) const { return drainer_.file(path); }

  std::filesystem::path folder() const { return drainer_.folder(); }
  // What is there is not on the board any more.
  bool is_needed() const { return drainer_.is_needed(); }
  // Removes the folder: its files have their places.
  void remove();

 private:
  void run();
  void work();
  bool step(BoardShell& shell, std::unique_ptr<DrainChannel>& channel);
  bool pause(double seconds);
  void warn_of_disk();
  void note_look();
  std::unique_ptr<DrainChannel> open(BoardShell& shell);

  BoardLink& link_;
  const std::string board_;
  const std::string output_;
  const bool has_stat_;
  const double reconnect_seconds_;
  const bool is_over_;  // an earlier msprof drained it
  SshLogin login_;
  Drainer drainer_;
  std::optional<DrainTools> tools_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool has_looked_ = false;
  std::string stranger_;  // what was wrong with the host key; empty: nothing
  std::thread thread_;
};

}  // namespace msprof
