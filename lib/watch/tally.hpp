// Tally: evaluates raw files of a run while they are written, a few bytes at a time; there is one
// class for each type of capture. RunTally decides which bytes to read next, within a budget. Used
// by LiveView. Files of a run are untrusted: nothing here throws for their contents.
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
  // `path` is relative to the output folder.
  virtual Content classify_content(const std::string& path) = 0;
  // `text` is a complete text file.
  virtual void take_text(const std::string& path, std::string_view text) = 0;
  // Returns false if records of the file cannot be read (any more).
  virtual bool wants(const std::string& path, std::uint64_t file_bytes) = 0;
  // Processes bytes of a record file from offset `from`; returns how many were consumed. The others
  // are passed again, followed by more data.
  virtual std::size_t take_records(const std::string& path, std::uint64_t from,
                                   std::string_view bytes) = 0;
  // Skips whole records, at most `bytes` bytes; returns the number of bytes, 0 if it cannot skip.
  virtual std::uint64_t pass_over(const std::string& path, std::uint64_t bytes) = 0;
  virtual RecordFigures figures() const = 0;
};

// Parameters for reading the records of boards.
struct LayoutSearch {
  LayoutPlaces places;
  std::string product;  // as reported by the board; empty: unknown
};

std::unique_ptr<Tally> make_svp_tally(LayoutSearch search);
std::unique_ptr<Tally> make_cann_tally();

class RunTally {
 public:
  explicit RunTally(LayoutSearch search);

  // Returns what to read next from these files, at most about `budget_bytes`.
  std::vector<PeekWish> plan(const std::vector<PeekedFile>& files, std::uint64_t budget_bytes);
  void take(const PeekedPart& part);
  RecordFigures figures() const;

 private:
  struct Source {
    Tally* tally = nullptr;  // null: ignored
    Tally::Content content = Tally::Content::other;
    std::uint64_t file_bytes = 0;
    std::uint64_t from = 0;    // records: consumed bytes; text: its size when it was read
    std::uint64_t round = 0;   // round in which it was last read
    bool is_at_end = false;    // the bytes after `from` are not written yet, whatever the file size
    bool is_complete = false;  // its .done file exists
  };
  Source& find_or_add_source(const std::string& path);
  bool is_wanted(const std::string& path, Source& source, std::uint64_t file_bytes);

  std::unique_ptr<Tally> svp_;
  std::unique_ptr<Tally> cann_;
  std::map<std::string, Source> sources_;
  std::uint64_t round_ = 0;
};

}  // namespace msprof::watch
