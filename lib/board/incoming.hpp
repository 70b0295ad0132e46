// Incoming: files of a board on their way into a folder of this machine, whichever way they travel.
// For the ways of BoardTransfer.
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
#include "board/transfer.hpp"

struct archive;

namespace msprof {

// This machine's disk does not take something; `error_number` shows if it is full.
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
  std::uint32_t mode = 0644;       // the owner can always read and write; no setuid; umask applies
  std::int64_t mtime_seconds = 0;  // 0: unknown, so the time of its arrival
  std::uint64_t size_bytes = 0;    // as it was listed; what comes may be more or less
};

// Makes files and folders below one folder of this machine, through libarchive's secure extraction:
// nothing is written through a link or outside of that folder, whatever the paths are. Paths must
// have passed is_acceptable_board_path().
class TreeWriter {
 public:
  // `into` exists. Throws CannotWriteHere.
  explicit TreeWriter(const std::filesystem::path& into);
  // Removes a file that is not closed.
  ~TreeWriter();
  TreeWriter(const TreeWriter&) = delete;
  TreeWriter& operator=(const TreeWriter&) = delete;

  // Both return the reason why the tree cannot have it (something else is in the way, a link leads
  // out, the path is too long), empty when it is made. Throw CannotWriteHere.
  std::string make_folder(const NewFile& folder);
  std::string open_file(const NewFile& file);
  // Opens a part of `file` that is here for what comes behind it. False where the file here is not
  // a part of `part_bytes`.
  bool open_part(const NewFile& file, std::uint64_t part_bytes);

  void write(std::string_view bytes);
  void close_file();
  // Removes the file under way, if there is one; after keep_part() it stays as it is.
  void drop_file() noexcept;
  // The rest of the file under way can be fetched later. From any thread.
  void keep_part() { keeps_part_ = true; }
  // Gives the folders their permissions and times.
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
  FileDescriptor part_;    // of a file that is continued
  std::int64_t part_mtime_seconds_ = 0;
  std::atomic<bool> keeps_part_{false};
};

// Record of what was admitted, what was refused and why, and how much came.
class Incoming {
 public:
  // `into` as of TreeWriter.
  Incoming(const std::filesystem::path& into, const FetchAllowance& allowed)
      : tree_(into), allowed_(allowed) {}

  // Each returns true if it was made; what was not is counted with its reason. Throw TooMuchSent
  // for more than is allowed, CannotWriteHere.
  bool make_folder(const NewFile& folder);
  bool open_file(const NewFile& file);
  bool open_part(const NewFile& file, std::uint64_t part_bytes);
  void write(std::string_view bytes);
  void close_file() { tree_.close_file(); }
  void drop_file() noexcept { tree_.drop_file(); }
  void keep_part() { tree_.keep_part(); }
  void finish() { tree_.finish(); }

  // Bytes that the file under way may still get: its listed size, and what it may have grown since.
  // Where others have grown without end nothing is left for that.
  std::uint64_t room() const;
  // Of everything, as a tar stream brings it, with its headers and what is refused.
  std::uint64_t most_stream_bytes() const;
  // What was sent counts no more: files are fetched once more.
  void begin_again() { entries_ = taken_bytes_ = grown_bytes_ = 0; }

  // Counts a name once, however often it comes; a file that arrives later takes it back.
  void refuse(std::string_view path, std::string_view reason);
  // Counts names that are not known one by one.
  void refuse_unnamed(std::uint64_t count) { unnamed_ += count; }
  // Makes the folders of a listing, refuses its links and special files; returns its files.
  std::vector<NewFile> take_folders(const TreeListing& listing);

  // Bytes of files so far; may be read from another thread.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t refused() const { return refused_.size() + unnamed_; }
  std::vector<std::string> examples() const;

 private:
  bool admit(const NewFile& file);
  void count_entry();
  TreeWriter tree_;
  FetchAllowance allowed_;
  std::uint64_t entries_ = 0;
  std::uint64_t taken_bytes_ = 0;  // as bytes_, since the fetch began (again)
  std::uint64_t grown_bytes_ = 0;  // of files that were listed with fewer
  std::uint64_t file_bytes_ = 0;   // of the file under way
  std::uint64_t file_size_ = 0;    // as it was listed
  std::atomic<std::uint64_t> bytes_{0};
  std::map<std::string, std::string, std::less<>> refused_;  // reason by name
  std::uint64_t unnamed_ = 0;
};

}  // namespace msprof
