// AtomicFile: a file that appears under its name only when it is whole. For every writer.
// The bytes are in a temporary file beside it until commit(); a writer that is destroyed without
// commit (an error, Ctrl-C) leaves nothing. What a killed program left is removed by the next one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/file_reader.hpp"
#include "base/text_output.hpp"

namespace msprof {

// A name beside `target` that no other program uses, also none of another machine that shares the
// folder: ".<name>.<pid>.<n>-<machine>.msprof-tmp".
std::filesystem::path temporary_beside(const std::filesystem::path& target);

// Such a name, for a file that others write. What has it when this is destroyed is removed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : path_(temporary_beside(target)) {}
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Returns true if `name` is such a name and its program, of this machine, is gone.
bool is_stale_temporary(std::string_view name);

// Removes the temporary files in `folder` whose programs are gone; of programs of other machines
// those that nobody wrote to for a day.
void remove_stale_temporaries(const std::filesystem::path& folder);

// The hint of a message about a file whose folder --output names.
inline constexpr std::string_view kOtherOutput = " (another folder can be given with --output)";

// Throws Error(cannot_write) naming `path`, the reason and the hint.
[[noreturn]] void throw_cannot_write(const std::filesystem::path& path, int error_number,
                                     std::string_view hint = kOtherOutput);

// Creates `folder` (and its parents) or throws Error(cannot_write) naming it and --output.
void create_output_folder(const std::filesystem::path& folder);

// Flushes to the disk and renames: for the store, which later commands take as it is. Throws
// Error(cannot_write), which names `target`.
void flush_to_disk(const std::filesystem::path& temporary, const std::filesystem::path& target);
// Renames a finished temporary file to its name, without flushing it: products can be made again
// from the store.
void move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& target);

// Throws Error(cannot_write) when the disk does not take what is written.
class AtomicFile : public TextOutput {
 public:
  static constexpr std::size_t kBufferBytes = 1 << 20;  // written at a time

  // `hint` is for messages: "" for a file that the user named.
  explicit AtomicFile(const std::filesystem::path& target, std::string_view hint = kOtherOutput);
  ~AtomicFile() override;

  // Takes another name in the same folder, for a file whose name depends on what came to be in it.
  void retarget(const std::filesystem::path& target) { target_ = target; }
  const std::filesystem::path& target() const { return target_; }
  // Writes a block that another buffer gathered.
  void write_block(std::string_view block);
  // Writes out what is buffered; returns the name of the temporary file, which has everything now.
  const std::filesystem::path& finish();
  // Skips the flush to the disk: a run with an interval writes ten thousand products, each can be
  // made again from the store.
  void commit();
  std::uint64_t bytes_written() const { return flushed_bytes_ + buffer_.size(); }

 private:
  void flush() override;
  void put(std::string_view bytes);
  std::filesystem::path target_;
  std::string_view hint_;
  std::filesystem::path temporary_;
  FileDescriptor fd_;
  std::uint64_t flushed_bytes_ = 0;
  bool committed_ = false;
};

// Writes a text that is there as a whole. Throws Error(cannot_write).
void write_text_file(const std::filesystem::path& target, std::string_view text);

}  // namespace msprof
