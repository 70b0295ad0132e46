// BoardFetch: fetches what a run left on a board. For SshHost.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "board/link.hpp"
#include "board/steps.hpp"
#include "board/transfer.hpp"
#include "collect/host.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

// A file of the run that is here already: it came while the application ran.
struct HereFile {
  std::string path;  // relative to the run folder
  std::filesystem::path file;
  bool is_beside = false;  // the board has no file of that name
};

enum class FetchedParts {
  everything,
  captures,  // of the output folder; nothing else is ours
};

class BoardFetch {
 public:
  // Takes the name of the project's folder below "tree".
  BoardFetch(BoardLink& link, const BoardInfo& info, std::string project);

  // Lists what is there; before the application starts. `original` is a folder of the board that
  // the project was made of, with links perhaps; empty: there is none.
  void remember(const std::string& original = "");
  // The same as steps, where it can be asked so, else none; and their answers. False: it is not
  // known by them.
  std::vector<BoardStep> remember_steps() const;
  bool take_remembered(const std::vector<BoardAnswer>& answers);
  // Likewise what is there when the application has ended, and free space: all() need not ask then.
  // Behind that comes what the run recorded, as far as that is known without a question: all()
  // takes it from there. Returns the answer on free space.
  std::vector<BoardStep> end_steps() const;
  BoardAnswer take_end(std::unique_ptr<StepsUnderWay> answers);
  // Of the output folder only what is in `folder`, relative to the run folder, is the run's. Before
  // remember(): others may have put more there than can be listed.
  void leave_out_others_of(std::string folder) { only_output_ = std::move(folder); }
  // These are not asked for again; they are linked to their places at the end of all().
  void set_here(std::vector<HereFile> files) { here_ = std::move(files); }
  // That state as text, for another process, and back; what makes no sense of it is left out. The
  // name of the project's folder is part of it.
  std::string state() const;
  void take_state(std::string_view text);
  // Fetches what changed since then, as Host::fetch(); goes on after a lost connection with what is
  // missing. Throws Error(cannot_write) when this machine has no space, ConnectionLost.
  Fetched all(const std::filesystem::path& into, FetchedParts parts = FetchedParts::everything);

  // True if `path` (absolute) was a folder, or a link, of the run at remember().
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
  std::unique_ptr<StepsUnderWay> packed_of(const std::string& folder,
                                           const std::vector<std::string>& paths);
  FetchAllowance allowance_of(const std::string& folder,
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
  std::uint64_t bytes_of(const RunChanges& changes) const;
  void require_space(const std::filesystem::path& into) const;

  BoardLink& link_;
  BoardTransfer transfer_;
  std::string project_;
  TreeListing before_;
  TreeListing after_;
  std::string original_;
  TreeListing original_before_;
  std::set<std::string> newer_before_;  // than the start, before the application started
  // Of the end; each with what was newer than the start.
  std::optional<std::pair<TreeListing, std::set<std::string>>> end_;
  std::unique_ptr<StepsUnderWay> packed_;
  int packed_connection_ = 0;  // which of the link's
  std::vector<HereFile> here_;
  std::string only_output_;
  Fetched fetched_;
  std::uint64_t expected_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::uint64_t refused_ = 0;
  std::vector<std::string> examples_;  // of them, with the reason
};

}  // namespace msprof
