// BoardFetch: fetches what a run left on a board. For SshHost.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "board/link.hpp"
#include "board/transfer.hpp"
#include "collect/host.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

enum class FetchedParts {
  everything,
  captures,  // of the output folder; nothing else is ours
};

class BoardFetch {
 public:
  // Takes the name of the project's folder below "tree".
  BoardFetch(BoardLink& link, const BoardInfo& info, std::string project);

  // Lists what is there; before the application starts.
  void remember();
  // Fetches what changed since then, as Host::fetch(); goes on after a lost connection with what is
  // missing. Throws Error(cannot_write) when this machine has no space, ConnectionLost.
  Fetched all(const std::filesystem::path& into, FetchedParts parts = FetchedParts::everything);

  // True if `path` (absolute) was a folder, or a link, of the run at remember().
  bool had_folder(const std::string& path) const;

 private:
  std::set<std::string> files_newer_than(const char* stamp);
  std::set<std::string> touched_files();
  RunChanges changes_since();
  void fetch_captures(const RunChanges& changes, const std::filesystem::path& into);
  void fetch_files(const RunChanges& changes, const std::filesystem::path& into);
  void group(const std::string& folder, std::vector<std::string> paths,
             const std::filesystem::path& into);
  std::vector<std::string> missing(const std::string& folder, const std::vector<std::string>& paths,
                                   const std::filesystem::path& into) const;
  void continue_parts(const std::string& folder, const std::vector<std::string>& paths,
                      const std::filesystem::path& into, const TransferProgress& progress);
  void note(const FetchReport& report);
  void note_refused();
  std::uint64_t bytes_of(const RunChanges& changes) const;
  void require_space(const std::filesystem::path& into) const;

  BoardLink& link_;
  BoardTransfer transfer_;
  std::string project_;
  TreeListing before_;
  TreeListing after_;
  std::set<std::string> newer_before_;  // than the start, before the application started
  Fetched fetched_;
  std::uint64_t expected_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<std::string> examples_;  // of them, with the reason
};

}  // namespace msprof
