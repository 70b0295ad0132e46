// CatReader: many files out of one stream, each followed by a line with a word that no file holds
// and the exit code of its `cat`. For the cat way of BoardTransfer, and for fuzzing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "board/incoming.hpp"
#include "board/shell.hpp"

namespace msprof {

// A file came far beyond its listed size without an end; what came of it is kept.
class EndlessFile : public Error {
 public:
  explicit EndlessFile(const std::string& message) : Error(Exit::partial_data, message) {}
};

class CatReader {
 public:
  CatReader(std::vector<NewFile> files, std::string word, Incoming& incoming)
      : files_(std::move(files)), word_(std::move(word)), incoming_(incoming) {}

  const std::string& word() const { return word_; }
  // The names of the files that are still to come, for the board's stdin; a stream begins anew.
  BoardShell::Source names();
  // Throws EndlessFile, after which the rest can be asked for again; TooMuchSent, CannotWriteHere.
  void take(std::string_view bytes);
  // The stream is over: a file that is not whole is removed.
  void finish();

  bool is_done() const { return next_ == files_.size(); }
  // A file could not be read on the board, or the stream ended before the last one.
  bool has_failed() const { return failed_; }
  std::uint64_t bytes() const { return incoming_.bytes(); }

 private:
  bool take_end();
  void give(std::size_t size);
  void begin();
  void advance();
  std::vector<NewFile> files_;
  std::string word_;
  Incoming& incoming_;
  std::size_t next_ = 0;
  bool begun_ = false;     // the file `next_`
  bool admitted_ = false;  // and it is written
  std::uint64_t file_bytes_ = 0;
  bool is_endless_ = false;
  std::string held_;  // not yet known to be content
  std::size_t unasked_bytes_ = 0;
  bool failed_ = false;
};

}  // namespace msprof
