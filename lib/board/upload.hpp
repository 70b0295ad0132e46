// BoardUpload: a fresh copy of a project for one run on a board, by way of the copy that the board
// keeps between runs and that is brought up to date with as few bytes as possible. For SshHost.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "board/link.hpp"
#include "board/transfer.hpp"
#include "collect/host.hpp"
#include "collect/project.hpp"

namespace msprof {

// Changes that bring a copy in the state of `project`: entries to send (folders and links, which
// have no content, whenever in doubt) and paths to remove first, those that hold others before
// these.
struct CacheUpdate {
  std::vector<ProjectEntry> send;
  std::vector<std::string> remove;
  std::uint64_t files = 0;  // regular files among `send`
  std::uint64_t bytes = 0;  // their content
};

// Compares by kind, size, time in whole seconds and the owner's permissions. Names that cannot be
// listed (with control characters) are always sent.
CacheUpdate plan_update(const Project& project, const TreeListing& there);

// "my_app-0123456789abcdef" of the project's name, and of this machine and the project's path.
std::string cache_name(const Project& project);

// Parts of smaller files than this are sent again.
inline constexpr std::uint64_t kMinUploadPart = 1 << 20;

// What is asked of the board in the same round trips as an upload.
struct UploadCompany {
  // The answers to BoardUpload::first_steps(), once; empty where they are not known.
  std::function<std::vector<BoardAnswer>()> first{};
  // Before it, where those did not do; `again`: after a lost connection, when they may have run
  // already.
  std::function<std::vector<BoardStep>(bool again)> before{};
  std::vector<BoardStep> after{};      // when `target` is there
  std::vector<BoardAnswer> answers{};  // to those; empty where they were not asked
};

class BoardUpload {
 public:
  // Takes `target`, the path of the project in the run folder; absolute, it does not exist yet.
  BoardUpload(BoardLink& link, const BoardInfo& info, std::string target);

  // What by_cache() asks first, in the folder `msprof` of a board that nothing is known of yet.
  static std::vector<BoardStep> first_steps(const Project& project);

  // Sends what changed since the last run into the board's copy and makes `target` of it: a copy,
  // or the board's copy itself where space is short. Throws Error(cannot_write) when the board has
  // no space, ConnectionLost, Error(interrupted); the board's copy then has whole files only, where
  // it can still be reached.
  TransferTotals by_cache(const Project& project, UploadCompany& company);
  // Sends everything to `target`.
  TransferTotals directly(const Project& project);
  // Makes a folder of the board `target` without a second copy of its large files: they are hard
  // links, or links where that folder is on another file system; small ones, which applications
  // write to, are copied. Where the board can neither, all are, and that is said.
  void from_board(const std::string& folder);
  // Files of our own; paths are relative to `target` and may begin with ".." once.
  void place_files(const Project& project, const std::vector<ExtraFile>& files);
  // The same as steps; empty where they do not fit into a command.
  std::vector<BoardStep> place_steps(const Project& project,
                                     const std::vector<ExtraFile>& files) const;

  // Sentence on what the board keeps of the project; empty: nothing.
  std::string remains() const;

 private:
  TransferTotals send(const Project& project, const std::string& folder,
                      UploadCompany* company = nullptr);
  struct Start;
  Start begin(const std::string& folder, std::vector<BoardStep> steps);
  std::optional<Start> begun(const std::string& folder, const UploadCompany& company) const;
  std::vector<ProjectEntry> entries_of(const Project& project,
                                       const std::vector<ExtraFile>& files) const;
  void require_space(std::uint64_t bytes, std::uint64_t free) const;
  void remove(const std::string& folder, const std::vector<std::string>& paths);
  void drop_unfinished(const Project& project);
  // Goes on with what of the files to send has come in part; takes those that are whole then out.
  void continue_parts(CacheUpdate& update, const TreeListing& there, const std::string& folder,
                      const TransferProgress& progress);

  BoardLink& link_;
  BoardTransfer transfer_;
  std::string target_;
  std::string cache_;  // the board's copy; empty: it keeps none
  std::uint64_t cache_bytes_ = 0;
  bool cache_is_whole_ = false;
};

}  // namespace msprof
