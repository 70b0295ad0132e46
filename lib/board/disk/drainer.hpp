// Drainer: downloads raw files while they grow, and lets the board free blocks that are stored
// safely on this machine. Used by BoardDrain.
//
// A file is drained once it has grown between polls, has a `.done` file, or is at rest: a file of
// constant size that is still written to may change anywhere. The first and the last 64 kB stay on
// the board: headers are rewritten, and the end may still change. Downloaded bytes are flushed
// locally and recorded in the journal before the board is asked to free them, and the board frees
// them only while their checksum is unchanged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "board/disk/drain_journal.hpp"
#include "board/disk/fill_rate.hpp"
#include "board/transfer/range_sum.hpp"
#include "collect/drain_status.hpp"

namespace msprof {

inline constexpr std::uint64_t kDrainBlock = 64 << 10;

struct RawEntry {
  std::string path;  // relative to the output folder of the run; passed is_acceptable_board_path()
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  std::string mtime;  // in the board's format; only compared for equality
};

struct RawLook {
  std::vector<RawEntry> files;
  std::optional<std::uint64_t> free_bytes;
  double rest_seconds = 2;  // time without a change of mtime after which a file is at rest
};

enum class Punched { freed, differs, cannot };

// Operations that a drain needs from a board, in blocks of kDrainBlock bytes. Each throws
// ConnectionLost; the request may then have been carried out or not.
class DrainBoard {
 public:
  virtual ~DrainBoard() = default;
  virtual SumTool tool() const = 0;
  virtual bool frees() const = 0;
  virtual RawLook look() = 0;
  // Returns fewer bytes if the file ends early.
  virtual std::string get(const std::string& path, std::uint64_t first, std::uint64_t blocks) = 0;
  virtual std::string sum(const std::string& path, std::uint64_t first, std::uint64_t blocks) = 0;
  // Frees the blocks if their checksum is `sum`; they then read as zeros.
  virtual Punched punch(const std::string& path, std::uint64_t first, std::uint64_t blocks,
                        const std::string& sum) = 0;
};

// A file of the run that is complete locally at the end.
struct DrainedResult {
  std::string path;        // relative to the output folder of the run
  bool is_beside = false;  // the board has a different file of that name; this is the earlier one
};

class Drainer {
 public:
  // Creates `folder` or resumes the drain in it. Throws Error(cannot_write).
  explicit Drainer(const std::filesystem::path& folder);

  // Lists the board's files and drains what has grown. Returns true if there is more to do at once.
  // `now`: seconds of a monotonic clock.
  bool cycle(DrainBoard& board, double now = seconds_now());
  // Call after the application has ended: downloads the rest of the drained files and verifies
  // them. After ConnectionLost it may be called again with another connection, and resumes.
  void finish(DrainBoard& board);
  // Call before finish() for a run of an earlier msprof: treats a file that is missing on the board
  // as rewritten, because it is unknown whether the application removed it.
  void keep_what_is_gone() { keeps_gone_ = true; }

  // Valid after finish(): the complete local files.
  const std::vector<DrainedResult>& results() const { return results_; }
  const std::vector<std::string>& notes() const { return notes_; }
  std::filesystem::path file(const std::string& path) const { return journal_.file(path); }
  const std::filesystem::path& folder() const { return journal_.folder(); }
  // True if data is stored locally that the board may have freed.
  bool is_needed() const;

  // Thread-safe.
  DrainStatus status() const;
  static double seconds_now();
  // Call only from the thread that calls cycle().
  FillRate& rate() { return rate_; }

 private:
  struct Tracked {
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::uint64_t length = 0;  // flushed to the local disk
    bool is_safe = false;      // has grown, has a .done file, or is at rest
    bool is_left = false;      // the rest, from `length` on, stays on the board
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
  std::map<std::string, RawEntry> listed_;  // from the last poll
  FillRate rate_;
  bool keeps_gone_ = false;
  std::vector<DrainedResult> results_;
  std::vector<std::string> notes_;
  mutable std::mutex mutex_;
  DrainStatus status_;
};

}  // namespace msprof
