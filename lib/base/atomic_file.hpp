// AtomicFile: a file that appears under its name only when it is complete. Used by every writer.
// The bytes go to a temporary file in the same folder until commit(). A writer destroyed without
// commit() (an error, Ctrl-C) leaves no file. Temporaries of a killed program are removed by the
// next program that writes into the folder. A published file survives a power cut.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "base/file_reader.hpp"
#include "base/text_output.hpp"

namespace msprof {

// Hint for errors about a file in the folder given by --output.
inline constexpr std::string_view kOtherOutput = " (another folder can be given with --output)";

// Throws Error(cannot_write) with `path`, the reason and the hint.
[[noreturn]] void throw_cannot_write(const std::filesystem::path& path, int error_number,
                                     std::string_view hint = kOtherOutput);

// Creates `folder` and its parents, or throws Error(cannot_write) with the folder and --output.
void create_output_folder(const std::filesystem::path& folder);

// A new, empty file next to `target`, named ".<name>.<random>-<machine>.msprof-tmp". This program
// owns it (owner_lock.hpp) until it is renamed or removed. Other code may write to it through
// path(). The first one created in a folder removes abandoned ones. All functions throw
// Error(cannot_write) with the target's path.
class TemporaryFile {
 public:
  // Called before the file replaces `target`.
  using Before = void (*)(const std::filesystem::path& target);

  explicit TemporaryFile(const std::filesystem::path& target, std::string_view hint = kOtherOutput,
                         Before before = nullptr);
  // Removes the file unless it was renamed.
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept = default;
  TemporaryFile& operator=(TemporaryFile&& other) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& target() const { return target_; }
  // Changes the target to another name in the same folder, for names that depend on the content.
  void retarget(const std::filesystem::path& target) { target_ = target; }
  std::string_view hint() const { return hint_; }
  int fd() const { return fd_.get(); }

  // Returns once the bytes are on disk.
  void sync() const;
  // Renames the file to its target. Without sync() before and sync_folder() after, a power cut can
  // leave it empty or undo the rename.
  void rename();
  // sync(), rename(), sync_folder().
  void publish();

 private:
  std::filesystem::path target_;
  std::string_view hint_;
  Before before_;
  std::filesystem::path path_;
  FileDescriptor fd_;  // -1 after rename()
};

// Renames files to their targets in order. All bytes are on disk before the first rename, so that
// the caller waits for the disk once. Throws Error(cannot_write).
void publish_together(std::vector<TemporaryFile>& files);

// A new, empty folder next to `target`, named like a TemporaryFile and owned by this program
// through its file "lock".
class TemporaryFolder {
 public:
  // Removes abandoned folders for the same target. Calls `rescue` for each before removal; false
  // keeps the folder.
  explicit TemporaryFolder(
      const std::filesystem::path& target,
      const std::function<bool(const std::filesystem::path& folder)>& rescue = {},
      std::string_view hint = kOtherOutput);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

// Removes abandoned temporary files in `folder`. If the file system has no locks or the file
// belongs to another machine, the file counts as abandoned after 24 hours without a write.
void remove_stale_temporaries(const std::filesystem::path& folder);

// Buffered writer for a TemporaryFile. Throws Error(cannot_write) if writing fails.
class AtomicFile : public TextOutput {
 public:
  static constexpr std::size_t kBufferBytes = 1 << 20;  // bytes per write

  // `hint` is appended to errors; "" for a file that the user named.
  explicit AtomicFile(const std::filesystem::path& target, std::string_view hint = kOtherOutput);

  void retarget(const std::filesystem::path& target) { file_.retarget(target); }
  const std::filesystem::path& target() const { return file_.target(); }
  // Writes a block from another buffer.
  void write_block(std::string_view block);
  // Flushes the buffer and releases the temporary file, to be published with others.
  [[nodiscard]] TemporaryFile finish();
  // Flushes the buffer and publishes the file.
  void commit();
  std::uint64_t bytes_written() const { return flushed_bytes_ + buffer_.size(); }

 private:
  void flush() override;
  void put(std::string_view bytes);
  TemporaryFile file_;
  std::uint64_t flushed_bytes_ = 0;
  std::uint64_t started_bytes_ = 0;  // bytes whose writeback was started
};

// Writes a complete text file. Throws Error(cannot_write).
void write_text_file(const std::filesystem::path& target, std::string_view text);

}  // namespace msprof
