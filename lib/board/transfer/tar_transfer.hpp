// Tar streams to and from a board. Used by the tar method of BoardTransfer, its tests and a fuzzer.
#pragma once

#include <archive.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "board/transfer/incoming.hpp"
#include "board/transfer/outgoing.hpp"
#include "board/transfer/transfer.hpp"

namespace msprof {

// Converts the entries of a project to a tar stream, on demand. Uses the GNU format, because
// busybox supports long names only in that format.
class TarWriter {
 public:
  // `entries` must outlive the object.
  TarWriter(const std::vector<ProjectEntry>& entries, const TransferProgress& progress);
  ~TarWriter();
  TarWriter(const TarWriter&) = delete;
  TarWriter& operator=(const TarWriter&) = delete;

  // Fills `buffer` and returns the number of bytes; 0 at the end. A file that changes while it is
  // read keeps its announced size and is sent again after the others. Warns about files that cannot
  // be read. Throws Error(interrupted).
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
  std::vector<const ProjectEntry*> again_;  // files that changed while they were read
  std::size_t next_again_ = 0;
  const ProjectEntry* entry_ = nullptr;  // the entry whose content is being written
  std::optional<SourceFile> file_;
  std::uint64_t left_bytes_ = 0;  // remaining bytes of the announced size
  std::vector<char> buffer_;
  std::string made_;  // output; the bytes from `taken_` on are not returned yet
  std::size_t taken_ = 0;
  bool is_finished_ = false;
  bool has_given_up_ = false;
  SendReport report_;
  std::unique_ptr<struct archive, Closer> archive_;
};

// Returns the next bytes, valid until the next call; empty at the end.
using TarSource = std::function<std::string_view()>;

// Reads one archive and its padding. Passes regular files and folders to `incoming`, and refuses
// all other entries there. Throws Error(partial_data) if the data is not an archive, ends early or
// continues after the end; entries that were already complete are kept. Throws CannotWriteHere.
void read_tar(const TarSource& source, Incoming& incoming);

}  // namespace msprof
