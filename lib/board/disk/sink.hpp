// BoardSink: receives the stream (MSPROF_SINK) that our runtime writes on a board, and stores it as
// local files, so that its records need no space on the board's disk. Used by SshHost.
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
#include "board/session/link.hpp"

namespace msprof {

// Splits frames (lib/runtime/svp/profile/sink.hpp) into files. A frame is 16 bytes {"MSNK", u16
// bytes of the name, u16 bytes of data, u64 offset}, the name, the data. A frame without a name is
// the end.
class SinkReader {
 public:
  // Creates files below `folder`, which must exist.
  explicit SinkReader(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Never throws: errors are in trouble(), and later input is ignored.
  void take(std::string_view bytes) noexcept;
  bool has_ended() const { return has_ended_; }
  const std::string& trouble() const { return trouble_; }
  // Number of contiguous bytes received from the start of each file, by name.
  const std::map<std::string, std::uint64_t>& files() const { return files_; }

 private:
  std::size_t take_frame(std::string_view bytes);
  void write(const std::string& name, std::uint64_t offset, std::string_view data);
  std::filesystem::path folder_;
  std::string held_;
  std::map<std::string, std::uint64_t> files_;
  std::string open_name_;
  FileDescriptor open_;
  bool has_ended_ = false;
  std::string trouble_;
};

class BoardSink {
 public:
  // Creates the FIFO in the run's folder and reads it over a channel of the run's connection.
  // Stores the data in the folder streamed-<run> in `output`. Throws Error(cannot_write).
  BoardSink(BoardLink& link, const std::filesystem::path& output);

  // Returns "MSPROF_SINK=…" for the application.
  std::string variable() const;
  // Call after the application has ended: receives the remaining data, even if the connection was
  // lost.
  void finish();
  // Moves the received files into `captures`, next to the other files of these captures. If the
  // board also has data of a file, it is placed after the streamed data. Returns sentences about
  // lost data.
  std::vector<std::string> place(const std::filesystem::path& captures);
  // Removes the folder streamed-<run>.
  void remove();
  // Returns the names of the captures for which data was received.
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
