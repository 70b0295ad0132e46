// Host: a machine that runs applications, as the collector sees it. LocalHost is this machine; a
// board, SshHost, is another. To support a new one, implement Host and RunningProgram. The order
// of calls is connect, open, place, start, fetch, clean_up; the collector makes them and decides
// (time limits, Ctrl-C, messages to the user), a host only does.
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

// Folders of a run, as absolute paths in the host's own file system.
struct RunPaths {
  std::string project;  // the copy of the project
  std::string output;   // empty folder that acl.json names: captures appear in it
};

// A file that the run gets instead of, or besides, those of the project.
struct ExtraFile {
  std::filesystem::path path;  // relative to the project; may begin with ".." once
  std::string text;
};

// Changes to what a program prints on stdout.
struct OutputChanges {
  std::string dropped;  // lines that begin with this text are left out; empty: none
  std::string from;     // this text, where it is not empty,
  std::string to;       // becomes this one

  bool is_empty() const { return dropped.empty() && from.empty(); }
};

// Program to start. Paths are relative to the project.
struct RunCommand {
  std::filesystem::path main;
  std::filesystem::path working_folder;
  std::filesystem::path acl_json;  // handed to the runtime in MSPROF_ACL_JSON; empty: nothing is
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value", besides what the host's programs have
  // "LD_LIBRARY_PATH=folder", "PYTHONPATH=folder": in front of what the application has then.
  std::vector<std::string> prepended;
  bool stdout_to_stderr = false;
  bool on_terminal = false;    // of the board: what it prints comes at once, as one stream
  bool without_input = false;  // its stdin is empty: this machine's is for somebody else
  OutputChanges output_changes{};
  // Of a host whose runs survive a lost connection, for it to keep there: the time limit, and a
  // text for who goes on with the run.
  std::optional<double> timeout_seconds{};
  std::string note{};
};

// An earlier run that is gone on with.
struct ResumedRun {
  std::string note;            // of its RunCommand
  bool has_program = false;    // rejoin() gives it; else a recording is all that there is
  double elapsed_seconds = 0;  // since the application started, while it runs
  std::optional<double> timeout_seconds;
};

// End of an application: it could not be started, or a code, or a signal.
struct ProgramEnd {
  std::string start_error;  // reason why it could not be started; empty when it ran
  std::optional<int> exit_code;
  int signal = 0;
  std::uint64_t left_over = 0;   // processes it left behind, ended by the host
  bool connection_lost = false;  // the way to the host broke while it ran, so it was ended there
  bool timed_out = false;        // the host ended it at its time limit
  double seconds = 0;            // that it ran, where the host has measured it; else 0
  std::string cut{};             // why it ended before its end, which nobody saw; empty: it did not
  bool is_unknown = false;       // nobody saw whether and how it ended
};

// A started application. Destroying it ends the application and everything it started.
class RunningProgram {
 public:
  virtual ~RunningProgram() = default;
  // Waits up to `limit`; returns the end when the application and all it started are gone.
  virtual std::optional<ProgramEnd> wait(std::chrono::milliseconds limit) = 0;
  // Sends SIGINT, SIGTERM or SIGKILL to the application and what it started.
  virtual void signal(int number) = 0;
};

// A capture that stays on the host.
struct LeftCapture {
  std::string name;
  std::string place;  // absolute, on the host
  std::uint64_t bytes = 0;
  bool has_data = false;
  std::optional<int> exit_code;    // of its import there; empty: there was none
  std::filesystem::path products;  // what an export there wrote, on this machine; empty: nothing
};

struct FetchedCapture {
  std::string name;       // "JOB…"
  bool has_data = false;  // it holds a folder data/ with something in it
};

// Results of a run, already copied or moved into a folder of this machine.
struct Fetched {
  std::vector<FetchedCapture> captures;        // <into>/captures/<name>
  std::vector<LeftCapture> left;               // products: <into>/products/<name>
  std::vector<std::filesystem::path> files;    // <into>/files/<path>: made or changed by the run
  std::vector<std::filesystem::path> deleted;  // files of the project that the run deleted
  // Files of a project that is on the host, as absolute paths there, made, changed or deleted since
  // the run was made of it.
  std::vector<std::filesystem::path> changed_there;
  std::uint64_t bytes = 0;
  std::uint64_t not_fetched = 0;   // links, sockets, pipes: only files and folders are fetched
  std::vector<std::string> notes;  // what did not arrive complete, a sentence each
};

// Amount that place() copied to the host.
struct TransferTotals {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
};

class Host {
 public:
  virtual ~Host() = default;
  // "this machine", for messages.
  virtual std::string name() const = 0;
  virtual bool is_board() const = 0;
  // What it is, after connect(), and complete after place(): {"system", "Linux"}, {"machine",
  // "aarch64"}, {"product", "…"}.
  virtual std::vector<std::pair<std::string, std::string>> facts() const { return {}; }
  // Before connect(), where it is known then: what open() and place() will be given.
  virtual void expect(const Project&) {}
  // Makes sure that the host is there and free for a run.
  virtual void connect() {}
  // Opens a project that is on the host already, in its folder `folder`, to be run where it is;
  // `scratch`, an empty folder of this machine, is the host's until fetch(): a board puts the
  // acl.json files there, to be read.
  virtual Project existing_project(const std::string& main, const std::string& folder,
                                   const std::filesystem::path& scratch) = 0;
  virtual RunPaths open(const Project& project) = 0;
  virtual TransferTotals place(const Project& project, const std::vector<ExtraFile>& files) = 0;
  virtual std::unique_ptr<RunningProgram> start(const RunCommand& command) = 0;
  // A look at what the run writes, after start(); null: the host gives none. Not beyond clean_up().
  virtual std::unique_ptr<OutputPeek> peek() { return nullptr; }
  // Of a host that was made to go on with an earlier run, in place of existing_project() to
  // start().
  virtual ResumedRun resume() { return {}; }
  virtual std::unique_ptr<RunningProgram> rejoin(bool /*stdout_to_stderr*/) { return nullptr; }
  // Free space where the run writes; empty if unknown.
  virtual std::optional<std::uint64_t> free_bytes() = 0;
  // What has come home of a run that goes on; empty where nothing does before its end. From any
  // thread.
  virtual std::optional<DrainStatus> drain_status() const { return std::nullopt; }
  // Copies or moves the results into `into`, an empty folder.
  virtual Fetched fetch(const std::filesystem::path& into) = 0;
  // Puts a text file beside the raw data of a capture that stays on the host, before clean_up().
  // Throws Error.
  virtual void write_into(const LeftCapture&, const std::string& /*name*/,
                          const std::string& /*text*/) {}
  // Keeps what the run recorded on the host; returns where and for how long: "in /x until the next
  // run".
  virtual std::string keep() = 0;
  // Removes everything that open() and place() made, and what connect() holds.
  virtual void clean_up() = 0;
  // Sentence on what stays on the host after that; empty: nothing.
  virtual std::string remains() const { return ""; }
};

}  // namespace msprof
