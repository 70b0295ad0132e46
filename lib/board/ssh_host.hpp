// SshHost: runs applications on a board over SSH. Created by the verb and used by the collector.
//
// Folders on the board below <board_dir>/msprof: `lock` (one run at a time), `cache/<id>` (a copy
// of each project of each machine, so that only changes are sent), `runs/<run>` (the fresh copy of
// one run, removed after it) and `kept/<run>` (runs kept by --keep or --leave, or that could not be
// fetched).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "board/disk/drain.hpp"
#include "board/disk/leave.hpp"
#include "board/disk/nfs.hpp"
#include "board/run_phase.hpp"
#include "board/session/config.hpp"
#include "board/session/info.hpp"
#include "board/session/left_runs.hpp"
#include "board/session/link.hpp"
#include "board/session/server.hpp"
#include "board/transfer/fetch.hpp"
#include "board/transfer/upload.hpp"
#include "collect/host.hpp"

namespace msprof {

struct BoardRunOptions {
  double reconnect_seconds = 30;
  bool keep = false;         // keep the run folder on the board
  bool no_cache = false;     // keep no copy of the project on the board
  bool clean_board = false;  // remove all of msprof's files after the run
  bool force = false;        // take over the board from another run; delete results that were never
                             // fetched
  bool runs_in_login_shell = false;  // start the application in the environment of a login shell
  // Run an application that is already on the host; upload nothing and fetch only captures.
  bool runs_in_place = false;
  LeaveOptions leave{};   // keep the recording on the host
  DrainOptions drain{};   // download the recording while the application runs
  std::string nfs{};      // SERVER:/path for the recording; empty: on the board
  bool survives = false;  // the run continues without a connection (board/session/survive.hpp)
  // Instead of starting a run, resume an existing one (board/session/left_runs.hpp).
  std::optional<RunChoice> resume{};
  std::string resume_words{};  // options of the command that resumes, after the run: "--config
                               // board.ini"
};

class SshHost : public Host {
 public:
  // `config.login.password` must be set (password_source()).
  SshHost(const BoardConfig& config, const BoardRunOptions& options);

  // Connects, probes, prints the facts in one line, and takes the board's lock. Throws
  // Error(kept_results) if clean_board would delete results that were never fetched, unless `force`
  // is set.
  void connect(const Project* expected) override;
  Project existing_project(const std::string& main, const std::string& folder,
                           const std::filesystem::path& scratch) override;
  RunPaths open(const Project& project) override;
  TransferTotals place(const Project& project, const std::vector<ExtraFile>& files) override;
  std::unique_ptr<RunningProgram> start(const RunCommand& in_project) override;
  // Returns nullopt while the drain monitors the disk, unless the drain has found it full.
  std::optional<std::uint64_t> free_bytes() override;
  std::unique_ptr<OutputPeek> peek() override;
  std::optional<DrainStatus> drain_status() const override;
  ResumedRun resume(bool stdout_to_stderr) override;
  Fetched fetch(const std::filesystem::path& into) override;
  void write_into(const LeftCapture& capture, const std::string& name,
                  const std::string& text) override;
  std::string keep() override;
  std::string clean_up() override;

  // With `runs_in_place`, valid after existing_project().
  const ServerApplication& application() const { return application_; }
  // Call after open().
  ServerRuntimes find_runtimes();
  // Sets the path of this project's msprof on the host, which processes recordings that stay there.
  void set_tool(const std::string& tool) { leave_.set_tool(tool); }

  // Connects only to list the runs; see fetchable_runs().
  std::vector<LeftRun> left_runs();

  // Valid after connect().
  const BoardInfo& info() const { return link_.info(); }
  // Connects like connect() and removes <board_dir>/msprof; starts no run.
  void clean_board();

 private:
  // Throws std::logic_error for a change that kNextPhases does not allow.
  void enter(RunPhase next);
  std::string on_board(const std::filesystem::path& in_project) const;
  std::vector<BoardStep> first_steps(const Project& project) const;
  void await_first_steps();
  void make_folder();
  TransferTotals place_by_cache(const Project& project, const std::vector<ExtraFile>& files);
  void note_free(const BoardAnswer& answer);
  void ask_at_end(class BoardProgram& program);
  void refuse_to_lose_results();
  void refuse_other_machine(const std::string& head, const std::string& program) const;
  std::string remove_run();
  void take_drained();
  void find_drained();
  void end_drain();
  void choose_earlier_run();
  std::string resume_hint() const;

  BoardRunOptions options_;
  BoardLink link_;
  RunPhase phase_ = RunPhase::closed;
  std::vector<BoardAnswer> upload_answers_;  // answers to the first steps of the upload, until it
                                             // starts
  std::optional<std::uint64_t> free_once_;   // free space that another answer contained, returned
                                             // once
  std::string project_;                      // folder of the project on the board
  std::string remote_folder_;                // folder of a project that was already on the board
  ServerApplication application_;
  BoardLeave leave_;
  BoardNfs nfs_;
  std::unique_ptr<BoardUpload> upload_;
  std::unique_ptr<BoardFetch> fetch_;
  std::unique_ptr<BoardDrain> drain_;
  std::string drain_gap_;  // sentence about drained data of an earlier run that is missing locally
};

}  // namespace msprof
