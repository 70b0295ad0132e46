// SurvivingProgram: an application on a board that continues when the connection is lost. A keeper,
// a script on the board that does not depend on the connection, starts the application, holds the
// board's lock, stores the output in files and records the end. This class follows those files,
// over any number of connections, also from another process or machine. Used by SshHost.
//
// Files in runs/<run>/survive: `keeper` (the script), `begun` (it has started), `pid` (its pid and
// start time), `start` (start time of the application), `out` and `err` (output, limited), `end`,
// `note` and `before` (data that msprof needs to resume), `present` (who is following), `seen` (how
// far), `closing` (an msprof has taken the results; created once, so that no two take them).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "board/session/link.hpp"
#include "board/session/program.hpp"
#include "collect/host.hpp"

namespace msprof {

class SurvivingProgram : public RunningProgram {
 public:
  // Starts `command`, whose paths are absolute and on the board. `before`: state before the start,
  // for the msprof that resumes the run. `hint` is the command that resumes it: "msprof collect
  // --attach RUN …".
  SurvivingProgram(BoardLink& link, const RunCommand& command, const std::string& before,
                   std::string hint);
  // Follows the run of `link`, which was started earlier.
  SurvivingProgram(BoardLink& link, bool stdout_to_stderr, std::string hint);
  ~SurvivingProgram() override;
  SurvivingProgram(const SurvivingProgram&) = delete;
  SurvivingProgram& operator=(const SurvivingProgram&) = delete;

  // Reconnects after a lost connection. Throws ConnectionLost if the board stays unreachable, and
  // Error(interrupted) if the terminal was closed; the application continues in both cases.
  std::optional<ProgramEnd> wait(std::chrono::milliseconds limit) override;
  void signal(int number) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Stream {
    int fd;
    std::uint64_t bytes = 0;  // number of bytes shown so far
  };
  std::string folder() const { return link_.run_folder() + "/survive"; }
  void start(const RunCommand& command, std::uint64_t output_bytes, const std::string& before);
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
  std::string token_;  // identifies the msprof that took the results
  Stream out_;
  Stream err_;
  std::uint64_t told_bytes_ = 0;
  Clock::time_point tell_at_{};
  ProgramEnd end_;
  bool is_finished_ = false;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
