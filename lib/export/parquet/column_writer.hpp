// ColumnWriter: encodes one column of a Parquet file, page by page, and keeps the compressed pages
// of the current row group. Source: the README and parquet.thrift of Apache Parquet's format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "export/parquet/encodings.hpp"

struct ZSTD_CCtx_s;
namespace msprof::parquet {

// Gets the text of a key (a name id or a level) as UTF-8. Returns false if there is no text: the
// cell is null. Called once per key and row group while the number of keys is small.
using TextLookup = std::function<bool(std::int64_t key, std::string& text)>;

enum class Values {
  ascending,  // differences are small
  repeated,   // few distinct values
  any,        // uses the encoding that is smallest for the first page with values
};

struct ColumnSpec {
  std::string name;
  Values values = Values::any;
  bool is_required = false;  // never null
  TextLookup find_text{};    // for columns of texts, whose cells are keys
};

// Compresses with zstd, reusing a context. Use one per thread.
class Compressor {
 public:
  explicit Compressor(int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Appends `bytes` compressed to `out`; returns the compressed size.
  std::size_t append(std::string& out, std::string_view bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  int level_;
};

// Assigns numbers to keys in the order of their first use, up to kMaxKeys.
class KeyNumbers {
 public:
  static constexpr std::uint32_t kFull = UINT32_MAX;

  KeyNumbers();
  // Returns the number of `key`; kFull if it is new and there are already kMaxKeys.
  std::uint32_t find_or_add(std::int64_t key);
  std::span<const std::int64_t> keys() const { return keys_; }
  void clear();

  static constexpr std::size_t kMaxKeys = 1 << 16;

 private:
  void grow();
  std::size_t first_slot(std::int64_t key) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u) >>
                                    shift_);
  }

  struct Slot {
    std::int64_t key = 0;
    std::uint32_t number = kFull;
  };
  std::vector<Slot> slots_;
  int shift_;
  std::vector<std::int64_t> keys_;
};

// Facts about the column in one row group, for the footer.
struct ChunkFacts {
  std::int64_t rows = 0;
  std::int64_t nulls = 0;
  std::int64_t plain_bytes = 0;       // of its pages and their headers, before zstd
  std::int64_t compressed_bytes = 0;  // of its pages and their headers in the file
  std::int64_t dictionary_bytes = 0;  // of the dictionary page in the file; 0: no dictionary
  std::vector<Encoding> encodings;    // without duplicates
  // Bounds of the values, for statistics; empty if there is no value.
  std::optional<std::string> min;
  std::optional<std::string> max;
  bool is_min_exact = true;  // false: the text was cut
  bool is_max_exact = true;
};

class ColumnWriter {
 public:
  // `compressor` must outlive this object.
  ColumnWriter(ColumnSpec spec, Compressor& compressor)
      : spec_(std::move(spec)), compressor_(compressor) {}

  // Adds the next cells; kNull is null.
  void add_page(std::span<const std::int64_t> cells);

  // Ends the row group and returns its pages as they go into the file, dictionary first. Valid
  // until begin_group(); call that before the next page.
  struct Chunk {
    ChunkFacts facts;
    std::string_view dictionary;
    std::string_view pages;
  };
  Chunk finish_group();
  void begin_group();

  const ColumnSpec& spec() const { return spec_; }

 private:
  enum class Layout { undecided, dictionary, delta, plain };

  void add_integers(std::span<const std::int64_t> cells);
  void add_texts(std::span<const std::int64_t> cells);
  bool number_keys(std::span<const std::int64_t> values);
  bool number_texts(std::span<const std::int64_t> cells);
  bool take_text(std::uint32_t number);
  bool find_text(std::int64_t key, std::string& text) const;
  void add_plain_texts(std::span<const std::int64_t> cells);
  void decide();
  std::size_t size_as(Layout layout);
  void append_values(std::string& body, Encoding encoding);
  void append_levels(std::string& body, std::size_t rows) const;
  void write_page(std::size_t rows, Encoding encoding);
  void note_bounds(std::string_view text);
  void write_dictionary();
  std::string plain_dictionary() const;
  void note_encoding(Encoding encoding);
  std::string page_header(bool is_dictionary, std::size_t plain_bytes, std::size_t bytes,
                          std::size_t values, Encoding encoding) const;

  ColumnSpec spec_;
  Compressor& compressor_;
  Layout layout_ = Layout::undecided;  // of the whole file
  bool is_overflown_ = false;          // the dictionary of this row group is full
  KeyNumbers keys_;
  // For columns of texts: the texts of the dictionary, and the dictionary index of each key.
  std::string texts_;
  std::vector<std::uint32_t> text_numbers_;
  std::uint32_t text_count_ = 0;

  std::string pages_;
  std::string dictionary_;
  ChunkFacts facts_;
  std::optional<std::int64_t> least_;
  std::optional<std::int64_t> largest_;
  std::optional<std::string> least_text_;
  std::optional<std::string> largest_text_;

  // The current page.
  std::vector<std::int64_t> values_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> levels_;  // empty: all cells have a value, or none has
  std::string plain_texts_;
  std::size_t value_count_ = 0;
  std::string body_;
  std::string trial_;
};

}  // namespace msprof::parquet
