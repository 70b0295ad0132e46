// SurvivingProgram: an application on a board that goes on when the connection is lost. A keeper,
// a script on the board with no connection of its own, starts it, holds the board's lock, keeps
// what it prints in files and records its end; this side follows those files, over as many
// connections as it takes, also from another process or machine. For SshHost.
//
// In runs/<run>/survive: `keeper` (the script), `begun` (it has started), `pid` (its own, and when
// it started), `start` (when the application did), `out` and `err` (what was printed, bounded),
// `end`, `note` and `before` (what this side needs to go on), `present` (who follows), `seen` (how
// far), `closing` (somebody has taken the results: once made, never by two).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "board/link.hpp"
#include "board/program.hpp"
#include "collect/host.hpp"

namespace msprof {

// Without --timeout: how long a run goes on that nobody follows.
inline constexpr int kAloneHours = 24;

struct SurvivalPlan {
  double timeout_seconds = 0;      // 0: none
  std::uint64_t output_bytes = 0;  // of each stream that are kept
  std::string note;                // for who goes on with it: free text
  std::string before;              // likewise: the state before the application started
};

// Bytes that are kept of each stream on a disk with so much room.
std::uint64_t kept_output_bytes(std::uint64_t free_bytes);

class SurvivingProgram : public RunningProgram {
 public:
  // Starts `run`. `hint` is the command that goes on with it: "msprof collect --attach RUN …".
  SurvivingProgram(BoardLink& link, const BoardRun& run, const SurvivalPlan& plan,
                   std::string hint);
  // Follows the run of `link`, which was started before.
  SurvivingProgram(BoardLink& link, bool stdout_to_stderr, std::string hint);
  ~SurvivingProgram() override;
  SurvivingProgram(const SurvivingProgram&) = delete;
  SurvivingProgram& operator=(const SurvivingProgram&) = delete;

  // A lost connection is made again; ConnectionLost is thrown when the board stays away, and
  // Error(interrupted) where the terminal was closed: the application goes on either way.
  std::optional<ProgramEnd> wait(std::chrono::milliseconds limit) override;
  void signal(int number) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Stream {
    int fd;
    std::uint64_t bytes = 0;  // shown so far
  };
  std::string folder() const { return link_.run_folder() + "/survive"; }
  void start(const BoardRun& run, const SurvivalPlan& plan);
  void follow();
  void show(Stream& stream, std::string_view bytes);
  void tell_seen();
  void leave_if_hung_up() const;
  void recover();
  bool finish();
  void show_rest(Stream& stream, const char* name);
  void end_orphans();
  void take_end(std::string_view line);

  BoardLink& link_;
  std::string hint_;
  std::string token_;  // by which the board knows who has taken the results
  Stream out_;
  Stream err_;
  std::uint64_t told_bytes_ = 0;
  Clock::time_point tell_at_{};
  ProgramEnd end_;
  bool finished_ = false;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
