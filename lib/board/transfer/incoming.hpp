// Incoming: receives files of a board into a local folder, independent of the transfer method. Used
// by the methods of BoardTransfer.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/file_reader.hpp"
#include "board/transfer/transfer.hpp"

struct archive;

namespace msprof {

// The local disk cannot be written; `error_number` tells whether it is full.
class CannotWriteHere : public Error {
 public:
  CannotWriteHere(const std::string& message, int error_number)
      : Error(Exit::cannot_write, message), error_number_(error_number) {}
  bool is_full() const;

 private:
  int error_number_;
};

struct NewFile {
  std::string path;
  std::uint32_t mode = 0644;       // owner read and write are always added; no setuid; umask
                                   // applies
  std::int64_t mtime_seconds = 0;  // 0: unknown, the file gets the time of its arrival
  std::uint64_t size_bytes = 0;    // listed size; the received size may differ
};

// Creates files and folders below one local folder, through libarchive's secure extraction: never
// writes through a link or outside that folder, whatever the paths are. Paths must have passed
// is_acceptable_board_path().
class TreeWriter {
 public:
  // `into` must exist. Throws CannotWriteHere.
  explicit TreeWriter(const std::filesystem::path& into);
  // Removes a file that was not closed.
  ~TreeWriter();
  TreeWriter(const TreeWriter&) = delete;
  TreeWriter& operator=(const TreeWriter&) = delete;

  // Both return an empty string on success, or the reason why the entry cannot be created (its name
  // is in use, a link leads outside, the path is too long). Throw CannotWriteHere.
  std::string make_folder(const NewFile& folder);
  std::string open_file(const NewFile& file);
  // Opens a partially received local `file` for appending. Returns false if it is not a regular
  // file of `part_bytes` bytes.
  bool open_part(const NewFile& file, std::uint64_t part_bytes);

  void write(std::string_view bytes);
  void close_file();
  // Removes the current file, if any, unless keep_part() was called.
  void drop_file() noexcept;
  // Makes drop_file() keep an incomplete file, because the rest can be fetched later. Thread-safe.
  void keep_part() { keeps_part_ = true; }
  // Sets the permissions and times of the folders.
  void finish();

 private:
  struct Closer {
    void operator()(struct archive* handle) const;
  };
  std::string make(const NewFile& file, unsigned kind);
  void write_part(std::string_view bytes);
  void close_part();
  [[noreturn]] void fail(const std::string& path) const;
  std::filesystem::path into_;
  std::unique_ptr<struct archive, Closer> disk_;
  std::string open_path_;  // absolute; empty: no file is open
  FileDescriptor part_;    // descriptor of a file that is continued
  std::int64_t part_mtime_seconds_ = 0;
  std::atomic<bool> keeps_part_{false};
};

// Writes admitted files. Records refused files with the reason, and the amount of received data.
class Incoming {
 public:
  // `into` is as for TreeWriter.
  Incoming(const std::filesystem::path& into, const FetchAllowance& allowed)
      : tree_(into), allowed_(allowed) {}

  // Each returns true on success and counts a refused entry with its reason. Throw TooMuchSent if
  // the board sends more than is allowed, CannotWriteHere.
  bool make_folder(const NewFile& folder);
  bool open_file(const NewFile& file);
  bool open_part(const NewFile& file, std::uint64_t part_bytes);
  void write(std::string_view bytes);
  void close_file() { tree_.close_file(); }
  void drop_file() noexcept { tree_.drop_file(); }
  void keep_part() { tree_.keep_part(); }
  void finish() { tree_.finish(); }

  // Returns how many bytes the current file may still receive: its listed size plus an allowance
  // for growth that all files share.
  std::uint64_t room() const;
  // Upper limit for a tar stream with all files, headers and refused entries.
  std::uint64_t most_stream_bytes() const;
  // Resets the counters of received data before files are fetched again.
  void begin_again() { entries_ = taken_bytes_ = grown_bytes_ = 0; }

  // Counts a name once, even if it is refused repeatedly; receiving a file of that name removes it.
  void refuse(std::string_view path, std::string_view reason);
  // Counts entries whose names are unknown.
  void refuse_unnamed(std::uint64_t count) { unnamed_ += count; }
  // Creates the folders of a listing and refuses its links and special files; returns its files.
  std::vector<NewFile> take_folders(const TreeListing& listing);

  // Received bytes of files; thread-safe.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t refused() const { return refused_.size() + unnamed_; }
  std::vector<std::string> examples() const;

 private:
  bool admit(const NewFile& file);
  void count_entry();
  TreeWriter tree_;
  FetchAllowance allowed_;
  std::uint64_t entries_ = 0;
  std::uint64_t taken_bytes_ = 0;  // like bytes_, but since the last begin_again()
  std::uint64_t grown_bytes_ = 0;  // bytes beyond listed sizes
  std::uint64_t file_bytes_ = 0;   // received bytes of the current file
  std::uint64_t file_size_ = 0;    // listed size of the current file
  std::atomic<std::uint64_t> bytes_{0};
  std::map<std::string, std::string, std::less<>> refused_;  // reason for refusal, by name
  std::uint64_t unnamed_ = 0;
};

}  // namespace msprof
