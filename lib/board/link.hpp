// BoardLink: a board while a run uses it: the connection, what is known of the board, and its lock;
// opened again when it is lost. For SshHost and its parts.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "board/config.hpp"
#include "board/facts.hpp"
#include "board/keeper.hpp"
#include "board/shell.hpp"

namespace msprof {

class BoardLink {
 public:
  BoardLink(const BoardConfig& config, double reconnect_seconds);

  // Connects, looks and takes the lock. Throws Error(board_unreachable), Error(cannot_write).
  void open(bool force);
  // After ConnectionLost: the same run again on a new connection. Throws ConnectionLost when the
  // board stays away; signals from before are set aside, a new Ctrl-C ends it.
  void recover();
  // Does `work`, again after a lost connection. Gives up, with the last ConnectionLost, when
  // `progress` (bytes moved so far, say) has not grown between three losses.
  void persistently(const std::function<void()>& work,
                    const std::function<std::uint64_t()>& progress);
  // Gives the lock back and disconnects. Never throws.
  void close();

  BoardShell& shell() { return shell_; }
  const BoardFacts& facts() const { return facts_; }
  std::string name() const { return shell_.login().name(); }
  // Identifies the run on the board: "20261120-191500-4711".
  const std::string& run() const { return run_; }
  std::string run_folder() const { return facts_.folder + "/runs/" + run_; }
  std::string kept_folder() const { return facts_.folder + "/kept/" + run_; }

 private:
  BoardShell shell_;
  std::string board_dir_;
  double reconnect_seconds_;
  std::string run_;
  BoardFacts facts_;
  std::unique_ptr<BoardKeeper> keeper_;
};

}  // namespace msprof
