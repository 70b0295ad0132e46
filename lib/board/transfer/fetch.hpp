// BoardFetch: downloads the results of a run from a board. Used by SshHost.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "board/session/link.hpp"
#include "board/session/steps.hpp"
#include "board/transfer/transfer.hpp"
#include "collect/host.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

// A file of the run that was downloaded while the application ran.
struct HereFile {
  std::string path;  // relative to the run folder
  std::filesystem::path file;
  bool is_beside = false;  // the board has no file of that name
};

enum class FetchedParts {
  everything,
  captures,  // only the captures in the output folder
};

class BoardFetch {
 public:
  // `project` is the name of the project's folder below "tree". `only_output`, if not empty, is the
  // only part of the output folder that belongs to the run, relative to the run folder: an output
  // folder that is shared may have too many other files to list.
  BoardFetch(BoardLink& link, std::string project, std::string only_output);

  // Lists the existing files. Call before the application starts. `original` is the folder on the
  // board that the project was created from, possibly with links; empty: none.
  void remember(const std::string& original = "");
  // remember() as steps, empty if it cannot be done in steps, and the parser of their answers.
  // take_remembered() returns false if the answers are not sufficient.
  std::vector<BoardStep> remember_steps() const;
  bool take_remembered(const std::vector<BoardAnswer>& answers);
  // Steps that list the files and the free space after the application has ended, so that all()
  // need not query them. They also stream the captures, if these can be packed without further
  // queries; all() reads the stream. take_end() returns the answer on free space.
  std::vector<BoardStep> end_steps() const;
  BoardAnswer take_end(std::unique_ptr<StepsUnderWay> answers);
  // These files are not requested again; all() links them into place at its end.
  void set_here(std::vector<HereFile> files) { here_ = std::move(files); }
  // The state of remember() as text for another process, and its parser, which ignores invalid
  // lines. Includes the name of the project's folder.
  std::string state() const;
  void take_state(std::string_view text);
  // Fetches what changed since remember(), as for Host::fetch(). After a lost connection it resumes
  // with the missing files. Throws Error(cannot_write) if this machine has no space,
  // ConnectionLost.
  Fetched all(const std::filesystem::path& into, FetchedParts parts = FetchedParts::everything);

  // Returns true if `path` (absolute) was a folder or link of the run at remember().
  bool had_folder(const std::string& path) const;

 private:
  BoardStep stamp_step() const;
  std::vector<std::string> listed_paths() const;
  std::set<std::string> files_newer_than(const char* stamp, const TreeListing& listing);
  std::set<std::string> touched_files(std::set<std::string> touched);
  RunChanges changes_since();
  void fetch_captures(const RunChanges& changes, const std::filesystem::path& into);
  void fetch_files(const RunChanges& changes, const std::filesystem::path& into);
  void group(const std::string& folder, std::vector<std::string> paths,
             const std::filesystem::path& into);
  std::unique_ptr<StepsUnderWay> take_packed(const std::string& folder,
                                             const std::vector<std::string>& paths);
  FetchAllowance listed_allowance(const std::string& folder,
                                  const std::vector<std::string>& paths) const;
  std::vector<std::string> missing(const std::string& folder, const std::vector<std::string>& paths,
                                   const std::filesystem::path& into) const;
  void continue_parts(const std::string& folder, const std::vector<std::string>& paths,
                      const std::filesystem::path& into, const TransferProgress& progress);
  std::vector<std::string> without_here(const std::string& folder,
                                        const std::vector<std::string>& paths) const;
  bool is_here(const std::string& path) const;
  void name_fetched(const RunChanges& changes, const std::filesystem::path& into);
  void place_here(const RunChanges& changes, const std::filesystem::path& into);
  void note(const FetchReport& report);
  void note_refused();
  void compare_original();
  std::uint64_t count_bytes(const RunChanges& changes) const;
  void require_space(const std::filesystem::path& into) const;

  BoardLink& link_;
  BoardTransfer transfer_;
  std::string project_;
  TreeListing before_;
  TreeListing after_;
  std::string original_;
  TreeListing original_before_;
  std::set<std::string> newer_before_;  // newer than the start stamp even before the application
                                        // started
  // The listing at the end and the files that were newer than the start stamp.
  std::optional<std::pair<TreeListing, std::set<std::string>>> end_;
  std::unique_ptr<StepsUnderWay> packed_;
  int packed_connection_ = 0;  // number of the link's connection that the packed stream uses
  std::vector<HereFile> here_;
  std::string only_output_;
  Fetched fetched_;
  std::uint64_t expected_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<std::string> examples_;  // some refused names, with the reason
};

}  // namespace msprof
