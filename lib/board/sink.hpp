// BoardSink: takes what our runtime on a board writes into a stream, MSPROF_SINK, and makes files
// of it here, so that its records need no space on the board's disk. For SshHost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_reader.hpp"
#include "board/link.hpp"

namespace msprof {

// Files out of frames (lib/runtime/svp/profile/sink.hpp): 16 bytes {"MSNK", u16 bytes of the name,
// u16 bytes of data, u64 offset}, the name, the data. One without a name is the end.
class SinkReader {
 public:
  // Files come below `folder`, which exists.
  explicit SinkReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Never throws: what goes wrong is in trouble(), and from then on nothing is taken.
  void take(std::string_view bytes) noexcept;
  bool has_ended() const { return ended_; }
  const std::string& trouble() const { return trouble_; }
  // Bytes that have come in one piece from the start of the file, by name.
  const std::map<std::string, std::uint64_t>& files() const { return files_; }

 private:
  std::size_t take_frame(std::string_view bytes);
  void write(const std::string& name, std::uint64_t offset, std::string_view data);
  std::filesystem::path folder_;
  std::string held_;
  std::map<std::string, std::uint64_t> files_;
  std::string open_name_;
  FileDescriptor open_;
  bool ended_ = false;
  std::string trouble_;
};

class BoardSink {
 public:
  // Makes the FIFO in the run's folder and reads it, over a channel of the run's connection.
  // `output`: what comes is in its folder streamed-<run>. Throws Error(cannot_write).
  BoardSink(BoardLink& link, const std::filesystem::path& output);

  // "MSPROF_SINK=…" for the application.
  std::string variable() const;
  // After the application's end: takes what is under way. The connection may have been lost.
  void finish();
  // Puts the files that came into `captures`, where the rest of these captures is; what the board
  // has of a file follows on it. Returns sentences on what was lost on the way.
  std::vector<std::string> place(const std::filesystem::path& captures);
  // Removes the folder, which nobody needs any more.
  void remove();
  // The names of the captures of which something came.
  std::set<std::string> captures() const;
  bool has_files() const { return !reader_.files().empty(); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  BoardLink& link_;
  std::filesystem::path folder_;
  SinkReader reader_;
  bool is_ready_ = false;
  std::string head_;
  std::string errors_;
  std::unique_ptr<SshCommand> command_;
};

}  // namespace msprof
