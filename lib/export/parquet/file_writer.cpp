#include "export/parquet/file_writer.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "export/parquet/thrift_writer.hpp"

namespace msprof::parquet {

namespace {

constexpr std::string_view kParquetMagic = "PAR1";
// Version 2 encodings in version 1 pages, which every reader supports.
constexpr std::int32_t kParquetVersion = 2;

// Numbers in parquet.thrift.
constexpr std::int32_t kTypeInt64 = 2;
constexpr std::int32_t kTypeByteArray = 6;
constexpr std::int32_t kRequired = 0;
constexpr std::int32_t kOptional = 1;
constexpr std::int32_t kConvertedUtf8 = 0;
constexpr std::int32_t kConvertedInt64 = 18;
constexpr std::int32_t kCodecZstd = 6;
constexpr int kLogicalString = 1;
constexpr int kLogicalInteger = 10;

// Makes the columns of a page start in different cache lines of the processor.
constexpr std::size_t kStridePadding = 24;

std::int32_t physical_type(const ColumnSpec& column) {
  return column.find_text ? kTypeByteArray : kTypeInt64;
}

void write_schema(ThriftWriter& out, const std::vector<ColumnWriter>& columns) {
  out.list(2, ThriftType::structure, columns.size() + 1);
  out.begin_element();
  out.text(4, "schema");
  out.i32(5, static_cast<std::int32_t>(columns.size()));
  out.end();
  for (const ColumnWriter& writer : columns) {
    const ColumnSpec& column = writer.spec();
    out.begin_element();
    out.i32(1, physical_type(column));
    out.i32(3, column.is_required ? kRequired : kOptional);
    out.text(4, column.name);
    out.i32(6, column.find_text ? kConvertedUtf8 : kConvertedInt64);
    out.begin(10);
    if (column.find_text) {
      out.begin(kLogicalString);
    } else {
      out.begin(kLogicalInteger);
      out.i8(1, 64);
      out.boolean(2, true);
    }
    out.end();
    out.end();
    out.end();
  }
}

void write_statistics(ThriftWriter& out, const ChunkFacts& facts, bool has_exactness) {
  out.begin(12);
  out.i64(3, facts.nulls);
  if (facts.max) out.text(5, *facts.max);
  if (facts.min) out.text(6, *facts.min);
  if (has_exactness && facts.max) out.boolean(7, facts.is_max_exact);
  if (has_exactness && facts.min) out.boolean(8, facts.is_min_exact);
  out.end();
}

void write_chunk(ThriftWriter& out, const ColumnSpec& column, const ChunkFacts& facts,
                 std::int64_t offset) {
  out.begin_element();
  out.i64(2, 0);  // offset of external metadata, no longer used
  out.begin(3);
  out.i32(1, physical_type(column));
  out.list(2, ThriftType::i32, facts.encodings.size());
  for (const Encoding encoding : facts.encodings)
    out.i32_element(static_cast<std::int32_t>(encoding));
  out.list(3, ThriftType::text, 1);
  out.text_element(column.name);
  out.i32(4, kCodecZstd);
  out.i64(5, facts.rows);
  out.i64(6, facts.plain_bytes);
  out.i64(7, facts.compressed_bytes);
  out.i64(9, offset + facts.dictionary_bytes);
  if (facts.dictionary_bytes != 0) out.i64(11, offset);
  write_statistics(out, facts, static_cast<bool>(column.find_text));
  out.end();
  out.end();
}

}  // namespace

FileWriter::FileWriter(const std::filesystem::path& target, std::vector<ColumnSpec> columns,
                       FileOptions options)
    : options_(std::move(options)),
      file_(target),
      compressor_(options_.zstd_level),
      page_stride_(options_.page_rows + kStridePadding) {
  columns_.reserve(columns.size());
  for (ColumnSpec& column : columns) columns_.emplace_back(std::move(column), compressor_);
  page_.resize(page_stride_ * columns_.size());
  file_.write(kParquetMagic);
}

void FileWriter::throw_wrong_size() {
  throw Error(Exit::internal_error, "a Parquet row has the wrong number of cells");
}

// Writes the collected cells as a page of each column, or as two if a row group ends within them.
void FileWriter::write_pages() {
  for (std::size_t begin = 0; begin < page_filled_;) {
    const std::size_t count = static_cast<std::size_t>(
        std::min<std::uint64_t>(page_filled_ - begin, options_.group_rows - group_rows_));
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      columns_[column].add_page(
          std::span<const std::int64_t>(page_).subspan(column * page_stride_ + begin, count));
    }
    group_rows_ += count;
    begin += count;
    if (group_rows_ == options_.group_rows) write_group();
  }
  rows_ += page_filled_;
  page_filled_ = 0;
}

void FileWriter::write_group() {
  if (group_rows_ == 0) return;
  Group group{{}, group_rows_};
  for (ColumnWriter& column : columns_) {
    ColumnWriter::Chunk chunk = column.finish_group();
    group.chunks.push_back({std::move(chunk.facts), file_.bytes_written()});
    file_.write(chunk.dictionary);
    file_.write(chunk.pages);
    column.begin_group();
  }
  groups_.push_back(std::move(group));
  group_rows_ = 0;
}

std::uint64_t FileWriter::finish() {
  write_pages();
  write_group();
  const std::string bytes = footer();
  std::string size;
  append_raw(size, static_cast<std::uint32_t>(bytes.size()));
  file_.write(bytes);
  file_.write(size);
  file_.write(kParquetMagic);
  return file_.bytes_written();
}

std::string FileWriter::footer() const {
  ThriftWriter out;
  out.i32(1, kParquetVersion);
  write_schema(out, columns_);
  out.i64(3, static_cast<std::int64_t>(rows_));
  out.list(4, ThriftType::structure, groups_.size());
  for (const Group& group : groups_) {
    std::int64_t plain_bytes = 0;
    std::int64_t compressed_bytes = 0;
    out.begin_element();
    out.list(1, ThriftType::structure, group.chunks.size());
    for (std::size_t column = 0; column < group.chunks.size(); ++column) {
      const Chunk& chunk = group.chunks[column];
      write_chunk(out, columns_[column].spec(), chunk.facts,
                  static_cast<std::int64_t>(chunk.offset));
      plain_bytes += chunk.facts.plain_bytes;
      compressed_bytes += chunk.facts.compressed_bytes;
    }
    out.i64(2, plain_bytes);
    out.i64(3, static_cast<std::int64_t>(group.rows));
    out.i64(5, group.chunks.empty() ? 0 : static_cast<std::int64_t>(group.chunks.front().offset));
    out.i64(6, compressed_bytes);
    out.end();
  }
  out.list(5, ThriftType::structure, options_.metadata.size());
  for (const auto& [key, value] : options_.metadata) {
    out.begin_element();
    out.text(1, key);
    out.text(2, value);
    out.end();
  }
  out.text(6, "msprof");
  // Sort order of each column's statistics: that of its type.
  out.list(7, ThriftType::structure, columns_.size());
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    out.begin_element();
    out.begin(1);
    out.end();
    out.end();
  }
  out.end();
  return out.take();
}

}  // namespace msprof::parquet
