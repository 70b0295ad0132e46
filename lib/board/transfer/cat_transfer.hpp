// CatReader: splits one stream into many files. Each file is followed by a line with a random word,
// which occurs in no file, and the exit code of its `cat`. Used by the cat method of BoardTransfer,
// and by a fuzzer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "board/session/shell.hpp"
#include "board/transfer/incoming.hpp"

namespace msprof {

// A file grew without end, far beyond its listed size; the received part is kept.
class EndlessFile : public Error {
 public:
  explicit EndlessFile(const std::string& message) : Error(Exit::partial_data, message) {}
};

class CatReader {
 public:
  CatReader(std::vector<NewFile> files, std::string word, Incoming& incoming)
      : files_(std::move(files)), word_(std::move(word)), incoming_(incoming) {}

  const std::string& word() const { return word_; }
  // Returns the names of the remaining files for the board's stdin; starts a new stream.
  BoardShell::Source names();
  // Throws EndlessFile, after which the remaining files can be requested again; TooMuchSent;
  // CannotWriteHere.
  void take(std::string_view bytes);
  // Call at the end of the stream. Removes an incomplete file.
  void finish();

  bool is_done() const { return next_ == files_.size(); }
  // True if a file could not be read on the board, or the stream ended before the last file.
  bool has_failed() const { return has_failed_; }
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
  bool has_begun_ = false;    // the content of file `next_` has started
  bool is_admitted_ = false;  // file `next_` is being written locally
  std::uint64_t file_bytes_ = 0;
  bool is_endless_ = false;
  std::string held_;  // bytes that may be content or part of an end mark
  std::size_t unasked_bytes_ = 0;
  bool has_failed_ = false;
};

}  // namespace msprof
