// Reads a Parquet file of 64-bit integers and texts, and checks its internal consistency. Shares no
// code with the writer. For the writer's tests. Source: the README, the page about encodings and
// parquet.thrift of the format of Apache Parquet.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace msprof::test {

// A null, an integer or a text.
using ParquetCell = std::variant<std::monostate, std::int64_t, std::string>;

struct ParquetChunk {
  std::vector<ParquetCell> cells;
  std::int64_t null_count = -1;         // from its statistics; -1: missing
  std::optional<std::string> min, max;  // as bytes
  bool is_min_exact = true, is_max_exact = true;
  std::set<int> encodings;       // listed in the footer
  std::set<int> page_encodings;  // of data pages with values
  std::size_t data_pages = 0;
  std::size_t dictionary_size = 0;
};

struct ParquetColumn {
  std::string name;
  bool is_text = false;
  bool is_optional = false;
};

struct ParquetFile {
  std::vector<ParquetColumn> columns;
  std::vector<std::vector<ParquetChunk>> groups;  // one chunk per column
  std::map<std::string, std::string> metadata;
  std::uint64_t rows = 0;

  // All cells of a column; throws if there is no such column.
  std::vector<ParquetCell> column(const std::string& name) const;
};

// Throws std::runtime_error if the file is invalid.
ParquetFile read_parquet(const std::filesystem::path& path);

}  // namespace msprof::test
