// Incoming: files of a board on their way into a folder of this machine, whichever way they travel:
// what is admitted, what was refused and why, how much came. For the ways of BoardTransfer.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "board/transfer.hpp"
#include "board/tree_writer.hpp"

namespace msprof {

class Incoming {
 public:
  explicit Incoming(const std::filesystem::path& into) : tree_(into) {}

  // Each returns whether it was made; what was not is counted with its reason. Throw
  // CannotWriteHere.
  bool make_folder(const NewFile& folder);
  bool open_file(const NewFile& file);
  void write(std::string_view bytes);
  void close_file() { tree_.close_file(); }
  void drop_file() noexcept { tree_.drop_file(); }
  void finish() { tree_.finish(); }

  // Counts a name once, however often it comes; a file that arrives later takes it back.
  void refuse(std::string_view path, std::string_view reason);
  // Names that are not known one by one.
  void refuse_unnamed(std::uint64_t count) { unnamed_ += count; }
  // Makes the folders of a listing, refuses its links and special files; returns its files.
  std::vector<NewFile> take_folders(const TreeListing& listing);

  // Bytes of files so far; may be asked from another thread.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t refused() const { return refused_.size() + unnamed_; }
  std::vector<std::string> examples() const;

 private:
  bool admit(const NewFile& file);
  TreeWriter tree_;
  std::atomic<std::uint64_t> bytes_{0};
  std::map<std::string, std::string, std::less<>> refused_;  // reason by name
  std::uint64_t unnamed_ = 0;
};

}  // namespace msprof
