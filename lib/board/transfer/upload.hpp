// BoardUpload: creates a fresh copy of a project for one run on a board. Updates the copy that the
// board keeps between runs, with as few bytes as possible, and copies it. Used by SshHost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "board/session/link.hpp"
#include "board/transfer/transfer.hpp"
#include "collect/host.hpp"
#include "collect/project.hpp"

namespace msprof {

// Changes that make a copy equal to `project`: entries to send, and paths to remove first, contents
// before their folders. Folders and links, which have no content, are sent whenever in doubt.
struct CacheUpdate {
  std::vector<ProjectEntry> send;
  std::vector<std::string> remove;
  std::uint64_t files = 0;  // number of regular files in `send`
  std::uint64_t bytes = 0;  // total size of these files
};

// Compares type, size, time in whole seconds and the owner's permissions. Names that cannot be
// listed (with control characters) are always sent.
CacheUpdate plan_update(const Project& project, const TreeListing& there);

// Returns "my_app-0123456789abcdef", derived from the project's name, its path and this machine.
std::string cache_name(const Project& project);

// Partially sent files below this size are sent again from the start.
inline constexpr std::uint64_t kMinUploadPart = 1 << 20;

// Steps that run in the same round trips as an upload.
struct UploadContext {
  std::vector<BoardAnswer> begun{};    // answers to BoardUpload::first_steps(); empty if unknown
  std::vector<BoardStep> before{};     // steps to run before the upload if `begun` is not usable;
                                       // they may run again after a lost connection
  std::vector<BoardStep> after{};      // steps to run once `target` exists
  std::vector<BoardAnswer> answers{};  // the answers to `after`; empty if they did not run
};

class BoardUpload {
 public:
  // `target` is the absolute path of the project in the run folder; it must not exist yet.
  BoardUpload(BoardLink& link, std::string target);

  // Returns the first queries of by_cache(), relative to the folder `msprof` of a board whose facts
  // are not known yet.
  static std::vector<BoardStep> first_steps(const Project& project);

  // Updates the copy of the project that the board caches, then copies it to `target`, or moves it
  // there if space is low. Throws Error(cannot_write) if the board has no space, ConnectionLost,
  // Error(interrupted); the cached copy then has only complete files, if the board is still
  // reachable.
  TransferTotals by_cache(const Project& project, UploadContext& company);
  // Sends everything to `target`.
  TransferTotals directly(const Project& project);
  // Creates `target` from a folder on the board without duplicating its large files: they become
  // hard links, or symbolic links if the folder is on another file system. Small files, which
  // applications may write to, are copied. If the board supports neither, copies everything and
  // reports that.
  void from_board(const std::string& folder);
  // Sends files of msprof; paths are relative to `target` and may start with one "..".
  void place_files(const Project& project, const std::vector<ExtraFile>& files);
  // place_files() as steps; empty if they do not fit into a command.
  std::vector<BoardStep> place_steps(const Project& project,
                                     const std::vector<ExtraFile>& files) const;

  // Describes the project data kept on the board, in a sentence; empty: none.
  std::string remains() const;

 private:
  TransferTotals send(const Project& project, const std::string& folder,
                      UploadContext* company = nullptr);
  struct Start;
  Start begin(const std::string& folder, std::vector<BoardStep> steps);
  std::optional<Start> find_begun(const std::string& folder,
                                  const std::vector<BoardAnswer>& answers) const;
  std::vector<ProjectEntry> extra_entries(const Project& project,
                                          const std::vector<ExtraFile>& files) const;
  void require_space(std::uint64_t bytes, std::uint64_t free) const;
  void remove(const std::string& folder, const std::vector<std::string>& paths);
  void drop_unfinished(const Project& project);
  // Continues partially received files and removes completed ones from `update`.
  void continue_parts(CacheUpdate& update, const TreeListing& there, const std::string& folder,
                      const TransferProgress& progress);

  BoardLink& link_;
  BoardTransfer transfer_;
  std::string target_;
  std::string cache_;  // path of the board's copy; empty: none is kept
  std::uint64_t cache_bytes_ = 0;
  bool is_cache_whole_ = false;
};

}  // namespace msprof
