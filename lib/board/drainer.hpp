// Drainer: brings raw files home while they grow, and has the board free what is safe here. For
// BoardDrain.
//
// A file is drained when it has been seen to grow, has its `.done`, or is at rest: one that keeps
// its size and is written to may change anywhere. Of those the first and the last 64 kB stay on the
// board: headers are rewritten, and the end may be under way. What has come is flushed here and in
// the journal before the board is asked to free it, and the board frees it only while it still has
// the same checksum.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "board/drain_journal.hpp"
#include "board/fill_rate.hpp"
#include "board/range_sum.hpp"
#include "collect/drain_status.hpp"

namespace msprof {

inline constexpr std::uint64_t kDrainBlock = 64 << 10;

struct RawEntry {
  std::string path;  // acceptable, relative to the output folder of the run
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::string mtime;  // as the board gives it, to be compared only
};

struct RawLook {
  std::vector<RawEntry> files;
  std::optional<std::uint64_t> free_bytes;
  double rest_seconds = 2;  // how long a time of change must stay the same to mean rest
};

enum class Punched { freed, differs, cannot };

// What a board does for it; blocks are of kDrainBlock bytes. Each throws ConnectionLost, after
// which the request may or may not have been carried out.
class DrainBoard {
 public:
  virtual ~DrainBoard() = default;
  virtual SumTool tool() const = 0;
  virtual bool frees() const = 0;
  virtual RawLook look() = 0;
  // Less than asked for where the file ends before.
  virtual std::string get(const std::string& path, std::uint64_t first, std::uint64_t blocks) = 0;
  virtual std::string sum(const std::string& path, std::uint64_t first, std::uint64_t blocks) = 0;
  // Frees the blocks, which read as zeros then, if they have that sum.
  virtual Punched punch(const std::string& path, std::uint64_t first, std::uint64_t blocks,
                        const std::string& sum) = 0;
};

// A file of the run that is here in the end.
struct DrainedResult {
  std::string path;        // relative to the output folder of the run
  bool is_beside = false;  // the board has another file of that name: this is what came before
};

class Drainer {
 public:
  // `folder` is made, or gone on with. Throws Error(cannot_write).
  explicit Drainer(const std::filesystem::path& folder);

  // A look, and what has grown since the last. True where there is more to do at once.
  // `now`: seconds of a clock that only goes on.
  bool cycle(DrainBoard& board, double now = seconds_now());
  // After the application's end: brings the rest of what was drained, and verifies. After
  // ConnectionLost it may be called again with another connection, and goes on.
  void finish(DrainBoard& board);
  // Before finish(), of a run that an earlier msprof left: what is not on the board any more was
  // perhaps not removed by the application, and counts as written anew.
  void keep_what_is_gone() { keeps_gone_ = true; }

  // After finish(): what is whole here.
  const std::vector<DrainedResult>& results() const { return results_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::filesystem::path file(const std::string& path) const { return journal_.file(path); }
  const std::filesystem::path& folder() const { return journal_.folder(); }
  // Something is here that the board may not have any more.
  bool is_needed() const;

  // From any thread.
  DrainStatus status() const;
  static double seconds_now();
  // From the thread of cycle().
  FillRate& rate() { return rate_; }

 private:
  struct Tracked {
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::uint64_t length = 0;  // flushed here
    bool is_safe = false;      // it has grown, has its .done, or is at rest
    bool is_left = false;      // the board's alone from `length` on, until the end
    std::string mtime;
    double same_since = 0;
  };

  void take(DrainBoard& board, const RawLook& look, double now);
  void judge(Tracked& file, const RawEntry& entry, const RawLook& look, double now) const;
  void take_renamed(DrainBoard& board, const std::map<std::string, RawEntry>& listed);
  bool drain(DrainBoard& board, const std::string& path, Tracked& file);
  void punch(DrainBoard& board, const std::string& path, Tracked& file);
  bool is_here_or_freed(DrainBoard& board, const std::string& path, std::uint64_t first,
                        std::uint64_t blocks);
  bool are_zeros(DrainBoard& board, const std::string& path, std::uint64_t first,
                 std::uint64_t blocks);
  bool is_same(DrainBoard& board, const std::string& path, std::uint64_t first,
               std::uint64_t blocks);
  void leave(const std::string& path, Tracked& file, std::uint64_t length);
  void require_space(const std::vector<std::string>& paths) const;
  bool is_still_ours(DrainBoard& board, const std::string& path, Tracked& file);
  void finish_file(DrainBoard& board, const std::string& path, Tracked& file);
  void set_aside(const std::string& path, const Tracked& file, std::string_view why);
  bool bring_rest(DrainBoard& board, const std::string& path, Tracked& file);
  std::uint64_t freed(const std::string& path) const;
  bool may_be_freed(const std::string& path) const;
  std::string read_here(const std::string& path, std::uint64_t first, std::uint64_t blocks) const;
  void write_here(const std::string& path, std::uint64_t at, std::string_view bytes) const;
  void update_status(const DrainBoard& board);

  DrainJournal journal_;
  std::map<std::string, Tracked> tracked_;
  std::map<std::string, RawEntry> listed_;  // by the last look
  FillRate rate_;
  bool keeps_gone_ = false;
  std::vector<DrainedResult> results_;
  std::vector<std::string> notes_;
  mutable std::mutex mutex_;
  DrainStatus status_;
};

}  // namespace msprof
