// BoardDrain: downloads raw files while the application runs, so that a small disk on the board
// suffices. Uses a separate connection and thread. Used by SshHost.
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

#include "board/disk/drain_channel.hpp"
#include "board/disk/drainer.hpp"
#include "board/session/link.hpp"
#include "collect/drain_status.hpp"

namespace msprof {

struct DrainOptions {
  bool on = false;
  std::filesystem::path output;  // downloads go to its folder drained-<run>
};

class BoardDrain {
 public:
  // Starts at once. `link` is used by finish() only.
  BoardDrain(BoardLink& link, const DrainOptions& options);
  // For a run of `link` that an earlier msprof drained into `folder`; supports finish() only.
  BoardDrain(BoardLink& link, const std::filesystem::path& folder);
  ~BoardDrain();
  BoardDrain(const BoardDrain&) = delete;
  BoardDrain& operator=(const BoardDrain&) = delete;

  // Waits until the first poll has succeeded or failed. Throws Error(interrupted).
  void wait_until_it_looks();
  // Throws ConnectFailure(host_key) if the drain's connection reached a machine other than the
  // board.
  void check();
  // Thread-safe.
  DrainStatus status() const { return drainer_.status(); }
  // Stops the thread and aborts the current transfer.
  void stop();
  // Call after the application has ended: completes the downloaded files. Throws ConnectionLost;
  // the files then stay in folder().
  void finish();

  // Valid after finish().
  const std::vector<DrainedResult>& results() const { return drainer_.results(); }
  const std::vector<std::string>& notes() const { return drainer_.notes(); }
  std::filesystem::path file(const std::string& path) const { return drainer_.file(path); }

  std::filesystem::path folder() const { return drainer_.folder(); }
  // True if the folder holds data that the board may have freed.
  bool is_needed() const { return drainer_.is_needed(); }
  // Removes the folder, once its files have been moved to their final location.
  void remove();

 private:
  BoardDrain(BoardLink& link, const std::filesystem::path& folder, bool is_over);
  void run();
  void work();
  bool step(BoardShell& shell, std::unique_ptr<DrainChannel>& channel);
  bool pause(double seconds);
  void warn_of_low_disk();
  void note_look();
  std::unique_ptr<DrainChannel> open(BoardShell& shell);

  BoardLink& link_;
  const std::string board_;
  const std::string output_;
  const bool has_stat_;
  const double reconnect_seconds_;
  const bool is_over_;  // an earlier msprof drained this run; supports finish() only
  SshLogin login_;
  Drainer drainer_;
  std::optional<DrainTools> tools_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopping_ = false;
  bool has_looked_ = false;
  std::string stranger_;  // problem with the host key; empty: none
  std::thread thread_;
};

}  // namespace msprof
