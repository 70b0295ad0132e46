// FileWriter: writes a Parquet file of integers and texts row by row. Memory is limited to the
// current page and the compressed pages of one row group. Source: the README and parquet.thrift of
// Apache Parquet's format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "export/parquet/column_writer.hpp"

namespace msprof::parquet {

struct FileOptions {
  std::uint64_t group_rows = 1'000'000;
  std::size_t page_rows = 32'768;
  int zstd_level = 3;
  // Key-value metadata in the footer.
  std::vector<std::pair<std::string, std::string>> metadata{};
};

class FileWriter {
 public:
  // Throws Error(cannot_write). No file named `target` appears before commit().
  FileWriter(const std::filesystem::path& target, std::vector<ColumnSpec> columns,
             FileOptions options);

  // Adds a row: one cell per column; kNull is null.
  void add(std::span<const std::int64_t> cells) {
    if (cells.size() != columns_.size()) throw_wrong_size();
    std::int64_t* to = page_.data() + page_filled_;
    for (const std::int64_t cell : cells) {
      *to = cell;
      to += page_stride_;
    }
    if (++page_filled_ == options_.page_rows) write_pages();
  }

  std::uint64_t rows() const { return rows_ + page_filled_; }

  // Writes the rest and the footer. Returns the size of the file in bytes.
  std::uint64_t finish();
  // Call after finish(). Returns the file, which gets its name when the caller publishes it. Throws
  // Error(cannot_write).
  TemporaryFile take() { return file_.finish(); }
  const std::filesystem::path& target() const { return file_.target(); }

 private:
  struct Chunk {
    ChunkFacts facts;
    std::uint64_t offset = 0;
  };
  struct Group {
    std::vector<Chunk> chunks;
    std::uint64_t rows = 0;
  };

  [[noreturn]] static void throw_wrong_size();
  void write_pages();
  void write_group();
  std::string footer() const;

  FileOptions options_;
  AtomicFile file_;
  Compressor compressor_;
  std::vector<ColumnWriter> columns_;
  std::size_t page_stride_;
  std::vector<std::int64_t> page_;  // column by column
  std::size_t page_filled_ = 0;
  std::uint64_t rows_ = 0;  // in written pages
  std::uint64_t group_rows_ = 0;
  std::vector<Group> groups_;
};

}  // namespace msprof::parquet
