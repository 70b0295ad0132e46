// ColumnWriter: one column of a Parquet file. Takes its cells a page at a time and keeps the
// compressed pages of the row group that is being made. For FileWriter.
// Source: the README and parquet.thrift of Apache Parquet's format.
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

// Text of a key, a name id or a level, as UTF-8. False where there is none: the cell is null.
// Called once for each key of a row group while these are few.
using TextOf = std::function<bool(std::int64_t key, std::string& text)>;

enum class Values {
  ascending,  // differences are small
  repeated,   // few different ones
  any,        // what is smallest for the first page that has values is kept
};

struct ColumnSpec {
  std::string name;
  Values values = Values::any;
  bool is_required = false;  // never null
  TextOf text_of{};          // of a column of texts: its cells are keys
};

// zstd with a context that is used again. One for each thread.
class Compressor {
 public:
  explicit Compressor(int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Appends `bytes` compressed to `out`; returns how many that gave.
  std::size_t append(std::string& out, std::string_view bytes);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  int level_;
};

// Numbers of keys in the order in which they came, up to a limit.
class KeyNumbers {
 public:
  static constexpr std::uint32_t kFull = UINT32_MAX;

  KeyNumbers();
  // The number of `key`; kFull where it is new, and there are kMaxKeys already.
  std::uint32_t number_of(std::int64_t key);
  std::span<const std::int64_t> keys() const { return keys_; }
  void clear();

  static constexpr std::size_t kMaxKeys = 1 << 16;

 private:
  void grow();
  std::size_t slot_of(std::int64_t key) const {
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

// What a footer says about the column in one row group.
struct ChunkFacts {
  std::int64_t rows = 0;
  std::int64_t nulls = 0;
  std::int64_t plain_bytes = 0;       // of its pages with their headers, before zstd
  std::int64_t compressed_bytes = 0;  // the same in the file
  std::int64_t dictionary_bytes = 0;  // of the dictionary page in the file; 0: there is none
  std::vector<Encoding> encodings;    // each once
  // Bounds of the values, as statistics have them; empty where there is no value.
  std::optional<std::string> min;
  std::optional<std::string> max;
  bool is_min_exact = true;  // false: the text is longer
  bool is_max_exact = true;
};

class ColumnWriter {
 public:
  // `compressor` outlives this.
  ColumnWriter(ColumnSpec spec, Compressor& compressor)
      : spec_(std::move(spec)), compressor_(compressor) {}

  // The next cells; kNull is null.
  void add_page(std::span<const std::int64_t> cells);

  // Ends the row group: its pages, the dictionary first, as they go into the file. Valid until
  // begin_group(), which is called before the next page.
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
  bool text_of(std::int64_t key, std::string& text) const;
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
  Layout layout_ = Layout::undecided;  // of the file
  bool is_overflown_ = false;          // the dictionary of this row group takes no more
  KeyNumbers keys_;
  // Of texts: where each key's text ends in texts_; the number of it in the dictionary.
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

  // Of the page that is being made.
  std::vector<std::int64_t> values_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> levels_;  // empty where all are alike
  std::string plain_texts_;
  std::size_t value_count_ = 0;
  std::string body_;
  std::string trial_;
};

}  // namespace msprof::parquet
