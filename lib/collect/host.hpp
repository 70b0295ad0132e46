// Host: a machine that runs applications. LocalHost is this machine, SshHost a board. To support
// another kind, implement Host and RunningProgram. The collector calls connect, open, place, start,
// fetch, clean_up, in this order, and makes all decisions (time limits, Ctrl-C, messages to the
// user).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collect/drain_status.hpp"
#include "collect/output_peek.hpp"
#include "collect/project.hpp"

namespace msprof {

// Folders of a run, as absolute paths on the host.
struct RunPaths {
  std::string project;  // the copy of the project
  std::string output;   // empty folder that acl.json specifies: captures appear in it
};

// A file for the run that replaces or supplements those of the project.
struct ExtraFile {
  std::filesystem::path path;  // relative to the project; may start with one ".."
  std::string text;
};

// Changes to a program's stdout.
struct OutputChanges {
  std::string dropped;  // lines that start with this text are dropped; empty: none
  std::string from;     // text to replace by `to`; empty: none
  std::string to;       // replacement

  bool is_empty() const { return dropped.empty() && from.empty(); }
};

// A program to start. Paths are relative to the project, or absolute.
struct RunCommand {
  std::filesystem::path main;
  std::filesystem::path working_folder;
  std::filesystem::path acl_json;  // passed to the runtime in MSPROF_ACL_JSON; empty: none
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", in addition to the host's environment
  std::string libraries;                 // prepended to LD_LIBRARY_PATH; empty: nothing
  std::string modules;                   // prepended to PYTHONPATH; empty: nothing
  bool sends_stdout_to_stderr = false;
  bool is_on_terminal =
      false;                   // on a pty of the board: stdout and stderr are one unbuffered stream
  bool without_input = false;  // empty stdin for the program: msprof itself uses the local stdin
  OutputChanges output_changes{};
  // Stored on a host whose runs survive a lost connection: the time limit, and a text for the
  // msprof that resumes the run.
  std::optional<double> timeout_seconds{};
  std::string note{};
};

// How an application ended: it could not be started, or an exit code, or a signal.
struct ProgramEnd {
  std::string start_error;  // reason why it could not be started; empty if it was started
  std::optional<int> exit_code;
  int signal = 0;
  std::uint64_t left_over = 0;      // number of remaining processes, ended by the host
  bool is_connection_lost = false;  // the connection was lost, so the host ended it
  bool has_timed_out = false;       // the host ended it at the time limit
  double seconds = 0;               // run time measured by the host; 0: not measured
  std::string cut{};                // why it was cut off without an observed end; empty: it was not
  bool is_unknown = false;          // nobody observed whether and how it ended
};

// A started application. The destructor ends it and all its child processes.
class RunningProgram {
 public:
  virtual ~RunningProgram() = default;
  // Waits up to `limit`; returns the end once the application and all its children are gone.
  virtual std::optional<ProgramEnd> wait(std::chrono::milliseconds limit) = 0;
  // Sends SIGINT, SIGTERM or SIGKILL to the application and its children.
  virtual void signal(int number) = 0;
};

// An earlier run that is resumed.
struct ResumedRun {
  std::string note;                         // the note in its RunCommand
  std::unique_ptr<RunningProgram> program;  // null: there is only a recording
  double elapsed_seconds = 0;               // since the application started, while it runs
  std::optional<double> timeout_seconds;
};

// A capture that stays on the host.
struct LeftCapture {
  std::string name;
  std::string place;  // absolute, on the host
  std::uint64_t bytes = 0;
  bool has_data = false;
  std::optional<int> exit_code;    // exit code of the import there; empty: not imported
  std::filesystem::path products;  // local folder with the products exported there; empty: none
};

struct FetchedCapture {
  std::string name;       // "JOB…"
  bool has_data = false;  // contains a non-empty folder data/
};

// Results of a run, copied or moved to a local folder.
struct Fetched {
  std::vector<FetchedCapture> captures;        // <into>/captures/<name>
  std::vector<LeftCapture> left;               // products: <into>/products/<name>
  std::vector<std::filesystem::path> files;    // <into>/files/<path>: created or changed by the run
  std::vector<std::filesystem::path> deleted;  // files of the project that the run deleted
  // Absolute paths of files in a project on the host that were created, changed or deleted since
  // the copy for the run was made.
  std::vector<std::filesystem::path> changed_there;
  std::uint64_t bytes = 0;
  std::uint64_t not_fetched = 0;   // links, sockets, pipes: only files and folders are fetched
  std::vector<std::string> notes;  // sentences about incomplete data
};

// Totals of place().
struct TransferTotals {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

class Host {
 public:
  using Facts = std::vector<std::pair<std::string, std::string>>;

  virtual ~Host() = default;
  // "this machine", for messages.
  const std::string& name() const { return name_; }
  bool is_board() const { return is_board_; }
  // Facts about the host, valid after connect() and complete after place(): {"system", "Linux"},
  // {"machine", "aarch64"}, {"product", "…"}.
  const Facts& facts() const { return facts_; }
  // Checks that the host is reachable and free for a run. `expected`: the project of open() and
  // place(); null: not known yet.
  virtual void connect(const Project* /*expected*/) {}
  // Opens a project in `folder` on the host, to be run there. `scratch` is an empty local folder
  // that the host uses until fetch(): a board stores copies of the acl.json files there.
  virtual Project existing_project(const std::string& main, const std::string& folder,
                                   const std::filesystem::path& scratch) = 0;
  virtual RunPaths open(const Project& project) = 0;
  virtual TransferTotals place(const Project& project, const std::vector<ExtraFile>& files) = 0;
  virtual std::unique_ptr<RunningProgram> start(const RunCommand& command) = 0;
  // Returns an observer of the run's output, valid from start() to clean_up(); null if not
  // supported.
  virtual std::unique_ptr<OutputPeek> peek() { return nullptr; }
  // Replaces the calls from existing_project() to start() if the host was created to resume a run.
  virtual ResumedRun resume(bool /*sends_stdout_to_stderr*/) { return {}; }
  // Free space for the run's output; empty if unknown.
  virtual std::optional<std::uint64_t> free_bytes() = 0;
  // Returns the progress of downloads during the run; empty if there are none. Thread-safe.
  virtual std::optional<DrainStatus> drain_status() const { return std::nullopt; }
  // Copies or moves the results to `into`, an empty folder.
  virtual Fetched fetch(const std::filesystem::path& into) = 0;
  // Writes a text file next to the raw data of a capture that stays on the host. Call before
  // clean_up(). Throws Error.
  virtual void write_into(const LeftCapture&, const std::string& /*name*/,
                          const std::string& /*text*/) {}
  // Keeps the recording on the host; returns its location and how long it stays: "in /x until the
  // next run".
  virtual std::string keep() = 0;
  // Removes everything that open() and place() created, and releases what connect() holds. Returns
  // a description of files that are left on the host; empty: none. A second call does nothing.
  virtual std::string clean_up() = 0;

 protected:
  Host(std::string name, bool is_board, Facts facts = {})
      : facts_(std::move(facts)), name_(std::move(name)), is_board_(is_board) {}

  Facts facts_;

 private:
  std::string name_;
  bool is_board_;
};

}  // namespace msprof
