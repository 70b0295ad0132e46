// SshHost: runs applications on a board over SSH. For the verb, which hands it to the collector.
//
// On the board, below <board_dir>/msprof: `lock` (one run at a time), `cache/<id>` (a copy of each
// project of each machine, so that only what changed is sent), `runs/<run>` (the fresh copy of one
// run, removed after it) and `kept/<run>` (what --keep kept or --leave left, or what could not be
// fetched).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "board/config.hpp"
#include "board/drain.hpp"
#include "board/fetch.hpp"
#include "board/info.hpp"
#include "board/leave.hpp"
#include "board/left_runs.hpp"
#include "board/link.hpp"
#include "board/nfs.hpp"
#include "board/server.hpp"
#include "board/sink.hpp"
#include "board/upload.hpp"
#include "collect/host.hpp"

namespace msprof {

struct BoardRunOptions {
  double reconnect_seconds = 30;  // time to reconnect to a lost board
  bool keep = false;              // the run folder stays on the board
  bool no_cache = false;          // nothing of the project stays on the board
  bool clean_board = false;       // afterwards nothing at all of ours stays there
  bool force = false;             // take the board from another run; delete what was never fetched
  bool in_login_shell = false;    // the application has the environment of a login shell
  // Run an application where it is on the host, and copy nothing; fetch captures alone.
  bool in_place = false;
  LeaveOptions leave{};   // the recording stays there
  DrainOptions drain{};   // it comes home while the application runs
  bool sink = false;      // our runtime writes its records into a stream to `drain.output`
  std::string nfs{};      // SERVER:/path, where it is recorded; empty: on the board
  bool survives = false;  // the run goes on without a connection (board/survive.hpp)
  // In place of a run: go on with one that is there (board/left_runs.hpp).
  std::optional<RunChoice> resume{};
  std::string resume_words{};  // of the command that does so, behind the run: "--config board.ini"
};

class SshHost : public Host {
 public:
  // `config.login.password` must be set (password_source()).
  SshHost(const BoardConfig& config, const BoardRunOptions& options);

  std::string name() const override { return link_.name(); }
  bool is_board() const override { return true; }
  std::vector<std::pair<std::string, std::string>> facts() const override;
  void expect(const Project& project) override;
  // Connects, probes, prints in one line what it found, and takes the board's lock. Throws
  // Error(kept_results) if clean_board would delete what was never fetched, unless `force`.
  void connect() override;
  Project existing_project(const std::string& main, const std::string& folder,
                           const std::filesystem::path& scratch) override;
  RunPaths open(const Project& project) override;
  TransferTotals place(const Project& project, const std::vector<ExtraFile>& files) override;
  std::unique_ptr<RunningProgram> start(const RunCommand& command) override;
  // While the drain watches the disk itself: empty, unless it was seen full.
  std::optional<std::uint64_t> free_bytes() override;
  std::unique_ptr<OutputPeek> peek() override;
  std::optional<DrainStatus> drain_status() const override;
  ResumedRun resume() override;
  std::unique_ptr<RunningProgram> rejoin(bool stdout_to_stderr) override;
  Fetched fetch(const std::filesystem::path& into) override;
  void write_into(const LeftCapture& capture, const std::string& name,
                  const std::string& text) override;
  std::string keep() override;
  void clean_up() override;
  std::string remains() const override { return remains_; }

  // With `in_place`, after existing_project().
  const ServerApplication& application() const { return application_; }
  // After open().
  ServerRuntimes find_runtimes();
  // This project's msprof on the host, for what is left there.
  void set_tool(const std::string& tool) { leave_.set_tool(tool); }

  // Connects for the list alone; fetchable_runs().
  std::vector<LeftRun> left_runs();

  // Returns the facts, after connect().
  const BoardInfo& info() const { return link_.info(); }
  // Connects as connect() does and removes <board_dir>/msprof, without a run.
  void clean_board();

 private:
  std::string project_folder() const;  // of the run, on the board
  std::string on_board(const std::filesystem::path& in_project) const;
  BoardStep folder_step(bool again, const std::string& folder) const;
  void await_first_steps();
  std::vector<BoardAnswer> take_upload_answers() {
    await_first_steps();
    return std::exchange(upload_answers_, {});
  }
  void make_folder();
  void make_fetch(const std::string& project);
  TransferTotals place_by_cache(const Project& project, const std::vector<ExtraFile>& files);
  void note_free(const BoardAnswer& answer);
  void ask_at_end(class BoardProgram& program);
  std::unique_ptr<RunningProgram> checked(std::unique_ptr<RunningProgram> program);
  void refuse_to_lose_results();
  void refuse_other_machine(const Project& project) const;
  void remove_run();
  void take_drained();
  void find_drained();
  void end_drain();
  void end_sink();
  void place_streamed(Fetched& fetched, const std::filesystem::path& captures);
  void choose_earlier_run();
  std::string resume_hint() const;

  BoardRunOptions options_;
  BoardLink link_;
  bool connected_ = false;
  bool has_run_ = false;  // the run folder is on the board
  bool has_folder_ = false;
  std::vector<BoardStep> first_steps_;       // asked with the lock; empty: none were
  std::vector<BoardAnswer> upload_answers_;  // to those of the upload, until it takes them
  std::optional<std::uint64_t> free_once_;   // as another answer brought it, for who asks next
  bool at_stake_ = false;                    // it may have results that are nowhere else
  bool kept_safe_ = false;                   // what could not be fetched stays there
  // Since a run that survives was started, or was followed, until its results are fetched: whatever
  // ends this msprof leaves it as it is.
  bool is_its_own_ = false;
  bool survives_ = false;  // or is one that did
  std::string project_name_;
  std::string remote_folder_;  // a project that was on the board already
  std::string remote_head_;    // the first bytes of its program
  ServerApplication application_;
  BoardLeave leave_;
  BoardNfs nfs_;
  std::unique_ptr<BoardUpload> upload_;
  std::unique_ptr<BoardFetch> fetch_;
  std::unique_ptr<BoardDrain> drain_;
  std::string drain_gap_;  // sentence on what came of an earlier run and is not here
  std::unique_ptr<BoardSink> sink_;
  std::string remains_;
};

}  // namespace msprof
