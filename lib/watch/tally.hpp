// Tally: counts what raw files say of a run while they are written, a few bytes at a time; one for
// each kind of capture. RunTally decides which bytes are read next, within a budget. For LiveView.
// Files of a run are untrusted: nothing here throws for what is in them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collect/output_peek.hpp"
#include "import/layout_choice.hpp"
#include "watch/figures.hpp"

namespace msprof::watch {

class Tally {
 public:
  enum class Content { other, text, records };

  virtual ~Tally() = default;
  // By the path in the output folder.
  virtual Content content_of(const std::string& path) = 0;
  // A text file as a whole.
  virtual void take_text(const std::string& path, std::string_view text) = 0;
  // False where records of the file cannot be read (any more).
  virtual bool wants(const std::string& path, std::uint64_t file_bytes) = 0;
  // Takes bytes of a file of records from `from` on; returns how many are done with. The others
  // come again, with what is behind them.
  virtual std::size_t take_records(const std::string& path, std::uint64_t from,
                                   std::string_view bytes) = 0;
  // Asks to do without up to `bytes`; returns how many of them are not needed: 0, or whole records.
  virtual std::uint64_t pass_over(const std::string& path, std::uint64_t bytes) = 0;
  virtual RecordFigures figures() const = 0;
};

// What the records of boards are read with.
struct LayoutSearch {
  LayoutPlaces places;
  std::string product;  // of the board, as it says itself; empty: unknown
};

std::unique_ptr<Tally> make_svp_tally(LayoutSearch search);
std::unique_ptr<Tally> make_cann_tally();

class RunTally {
 public:
  explicit RunTally(LayoutSearch search);

  // What is to be read next of these files, at most about `budget_bytes`.
  std::vector<PeekWish> plan(const std::vector<PeekedFile>& files, std::uint64_t budget_bytes);
  void take(const PeekedPart& part);
  RecordFigures figures() const;

 private:
  struct Source {
    Tally* tally = nullptr;  // null: nobody reads it
    Tally::Content content = Tally::Content::other;
    std::uint64_t file_bytes = 0;
    std::uint64_t from =
        0;  // of records: so many bytes are done with; of text: its size, when read
    std::uint64_t round = 0;   // when it was read last
    bool is_at_end = false;    // what is behind `from` is not written yet, whatever the size
    bool is_complete = false;  // its .done is there
  };
  Source& source_of(const std::string& path);
  bool is_wanted(const std::string& path, Source& source, std::uint64_t file_bytes);

  std::unique_ptr<Tally> svp_;
  std::unique_ptr<Tally> cann_;
  std::map<std::string, Source> sources_;
  std::uint64_t round_ = 0;
};

}  // namespace msprof::watch
