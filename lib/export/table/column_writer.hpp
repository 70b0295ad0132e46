// ColumnWriter: writes rows as binary columns, which a program reads without parsing numbers. For
// `msprof query --format columns`, which the Python module reads.
//
// In the machine's byte order, without padding:
//   "msprof.columns/1\n"
//   u32 bytes, JSON array of the column names
//   chunks: u32 rows, not 0; for each column u8 kind, and
//     0  nothing: all NULL
//     1  rows x i64
//     2  rows x u8, 1 for NULL; rows x i64
//     3  rows x f64, NaN for NULL
//     4  u32 bytes, JSON array of values, the first is null; rows x u16, indexes of values
//   u32 0; without it the data is incomplete
#pragma once

#include <memory>

#include "base/row_sink.hpp"
#include "base/text_output.hpp"

namespace msprof {

class ColumnWriter : public RowSink {
 public:
  // Missing cells are NULL; blobs are hexadecimal texts.
  explicit ColumnWriter(TextOutput& out, Absent absent = Absent::null);
  ~ColumnWriter() override;
  void begin(std::span<const std::string> columns) override;
  void row(std::span<const Cell> cells) override;
  std::unique_ptr<RowBlock> make_block() override;
  void end() override;

 private:
  class Rows;
  class Block;
  void write_rows();

  TextOutput& out_;
  std::size_t columns_ = 0;
  std::unique_ptr<Rows> rows_;
};

}  // namespace msprof
