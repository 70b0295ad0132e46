// AtomicFile: a file that appears under its name only when it is whole. For every writer.
// The bytes are in a temporary file beside it until commit(); a writer that is destroyed without
// commit (an error, Ctrl-C) leaves nothing. What a killed program left is removed by the next one
// that writes into the folder. A file that has its name survives a power cut.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/file_reader.hpp"
#include "base/text_output.hpp"

namespace msprof {

// The hint of a message about a file whose folder --output names.
inline constexpr std::string_view kOtherOutput = " (another folder can be given with --output)";

// Throws Error(cannot_write) naming `path`, the reason and the hint.
[[noreturn]] void throw_cannot_write(const std::filesystem::path& path, int error_number,
                                     std::string_view hint = kOtherOutput);

// Creates `folder` (and its parents) or throws Error(cannot_write) naming it and --output.
void create_output_folder(const std::filesystem::path& folder);

// A new, empty file beside `target`, ".<name>.<random>-<machine>.msprof-tmp", which this program
// owns (owner_lock.hpp) until it has its name or is removed. Others may write to it by its path().
// The first in a folder removes those whose programs are gone. Functions throw Error(cannot_write),
// which names the target.
class TemporaryFile {
 public:
  // Called before `target` gets the file.
  using Before = void (*)(const std::filesystem::path& target);

  explicit TemporaryFile(const std::filesystem::path& target, std::string_view hint = kOtherOutput,
                         Before before = nullptr);
  // Removes what has no name yet.
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept = default;
  TemporaryFile& operator=(TemporaryFile&& other) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& target() const { return target_; }
  // Another name in the same folder, for a file whose name depends on what came to be in it.
  void retarget(const std::filesystem::path& target) { target_ = target; }
  std::string_view hint() const { return hint_; }
  int fd() const { return fd_.get(); }  // for writing

  // Returns when the bytes are on the disk.
  void sync() const;
  // Gives the file its name. A power cut can empty it, or take the name, unless sync() comes before
  // and sync_folder() after.
  void rename();
  // All three.
  void publish();

 private:
  std::filesystem::path target_;
  std::string_view hint_;
  Before before_;
  std::filesystem::path path_;
  FileDescriptor fd_;  // -1: it has its name
};

// Gives files their names in their order. All bytes are on the disk before the first has its name:
// one wait for all. Throws Error(cannot_write).
void publish_together(std::vector<TemporaryFile>& files);

// A new, empty folder beside `target`, with a name as that of a TemporaryFile, which this program
// owns. Its file "lock" is that of the owner.
class TemporaryFolder {
 public:
  // Removes those that were made for the same target and whose programs are gone. `rescue` is
  // called for each of them before; it returns false if the folder must stay.
  explicit TemporaryFolder(
      const std::filesystem::path& target,
      const std::function<bool(const std::filesystem::path& folder)>& rescue = {},
      std::string_view hint = kOtherOutput);
  // Removes the folder.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

// Removes the temporary files in `folder` whose programs are gone. Where the file system has no
// locks, or may not show those of other machines, these are files that nobody wrote to for 24
// hours.
void remove_stale_temporaries(const std::filesystem::path& folder);

// Throws Error(cannot_write) when the disk does not take what is written.
class AtomicFile : public TextOutput {
 public:
  static constexpr std::size_t kBufferBytes = 1 << 20;  // written at a time

  // `hint` is for messages: "" for a file that the user named.
  explicit AtomicFile(const std::filesystem::path& target, std::string_view hint = kOtherOutput);

  void retarget(const std::filesystem::path& target) { file_.retarget(target); }
  const std::filesystem::path& target() const { return file_.target(); }
  // Writes a block that another buffer gathered.
  void write_block(std::string_view block);
  // Writes out what is buffered and gives the temporary file away, to be published with others.
  [[nodiscard]] TemporaryFile finish();
  // Writes out what is buffered and gives the file its name, on the disk.
  void commit();
  std::uint64_t bytes_written() const { return flushed_bytes_ + buffer_.size(); }

 private:
  void flush() override;
  void put(std::string_view bytes);
  TemporaryFile file_;
  std::uint64_t flushed_bytes_ = 0;
  std::uint64_t started_bytes_ = 0;  // on their way to the disk
};

// Writes a text that is there as a whole. Throws Error(cannot_write).
void write_text_file(const std::filesystem::path& target, std::string_view text);

}  // namespace msprof
