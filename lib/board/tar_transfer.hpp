// Tar streams to and from a board. For the tar way of BoardTransfer, its tests and fuzzing.
#pragma once

#include <archive.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/incoming.hpp"
#include "board/outgoing.hpp"
#include "board/transfer.hpp"

namespace msprof {

// Entries of a project as a tar stream, made while it is taken. GNU format: busybox understands its
// long names, and no others.
class TarWriter {
 public:
  // `entries` outlive it.
  TarWriter(const std::vector<ProjectEntry>& entries, const TransferProgress& progress);
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  // Fills `buffer`, returns 0 at the end. A file that changes while it is read keeps the size that
  // was announced and comes once more behind the others. Warns of files that cannot be read.
  // Throws Error(interrupted).
  std::size_t fill(char* buffer, std::size_t size);

  const SendReport& report() const { return report_; }

 private:
  struct Closer {
    void operator()(struct archive* handle) const { archive_write_free(handle); }
  };
  static la_ssize_t take(struct archive* handle, void* self, const void* bytes, std::size_t size);
  void step();
  void begin(const ProjectEntry& entry);
  void write_header(const ProjectEntry& entry, std::uint64_t size_bytes, std::int64_t mtime);
  void continue_file();
  void finish_file();
  void require(la_ssize_t result) const;

  const std::vector<ProjectEntry>& entries_;
  const TransferProgress& progress_;
  std::size_t next_ = 0;
  std::vector<const ProjectEntry*> again_;  // changed while they were read
  std::size_t next_again_ = 0;
  const ProjectEntry* entry_ = nullptr;  // whose bytes are under way
  std::optional<SourceFile> file_;
  std::uint64_t left_bytes_ = 0;  // of those announced
  std::vector<char> buffer_;
  std::string made_;  // from `taken_` on not yet given away
  std::size_t taken_ = 0;
  bool finished_ = false;
  bool given_up_ = false;
  SendReport report_;
  std::unique_ptr<struct archive, Closer> archive_;
};

// Returns the next bytes, good until the next call; empty at the end.
using TarSource = std::function<std::string_view()>;

// Reads one archive and what pads it: regular files and folders go to `incoming`, everything else
// is refused there. Throws Error(partial_data) where the bytes are no archive, end too early or go
// on behind its end; what came whole before is there then, what did not is not. Throws
// CannotWriteHere.
void read_tar(const TarSource& source, Incoming& incoming);

}  // namespace msprof
