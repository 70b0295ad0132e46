#include "support/parquet/parquet_reader.hpp"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "support/files.hpp"

namespace msprof::test {

namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("not Parquet as it should be: ") + what);
}

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : left_(bytes) {}

  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
  std::string_view take(std::size_t count) {
    require(count <= left_.size(), "bytes end too early");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      require(shift < 64, "a varint is too long");
      const std::uint64_t next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  }
  std::int64_t signed_varint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
  }
  std::uint32_t number32() {
    std::uint32_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::int64_t number64() {
    std::int64_t value = 0;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
};

// Any value of Thrift's compact protocol.
struct Value {
  std::int64_t number = 0;
  std::string text;
  std::vector<Value> list;
  std::map<int, Value> fields;

  const Value& at(int id) const {
    const auto found = fields.find(id);
    require(found != fields.end(), "a field is missing");
    return found->second;
  }
  const Value* find(int id) const {
    const auto found = fields.find(id);
    return found == fields.end() ? nullptr : &found->second;
  }
};

Value read_value(Bytes& in, int type);

Value read_struct(Bytes& in) {
  Value value;
  int id = 0;
  for (std::uint8_t head = in.byte(); head != 0; head = in.byte()) {
    id = head >> 4 != 0 ? id + (head >> 4) : static_cast<int>(in.signed_varint());
    require(value.fields.emplace(id, read_value(in, head & 15)).second, "a field is there twice");
  }
  return value;
}

Value read_list(Bytes& in) {
  const std::uint8_t head = in.byte();
  const std::uint64_t size = head >> 4 == 15 ? in.varint() : head >> 4;
  Value value;
  for (std::uint64_t i = 0; i < size; ++i) value.list.push_back(read_value(in, head & 15));
  return value;
}

Value read_value(Bytes& in, int type) {
  Value value;
  switch (type) {
    case 1:
      value.number = 1;
      return value;
    case 2:
      return value;
    case 3:
      value.number = in.byte();
      return value;
    case 5:
    case 6:
      value.number = in.signed_varint();
      return value;
    case 8:
      value.text = in.take(in.varint());
      return value;
    case 9:
      return read_list(in);
    case 12:
      return read_struct(in);
    default:
      require(false, "a type of Thrift that is not used");
      return value;
  }
}

std::uint64_t packed_bits(std::string_view bytes, std::size_t first, unsigned width) {
  std::uint64_t value = 0;
  for (unsigned bit = 0; bit < width; ++bit) {
    const std::size_t at = first + bit;
    const auto byte = static_cast<std::uint8_t>(bytes[at / 8]);
    value |= static_cast<std::uint64_t>(byte >> (at % 8) & 1) << bit;
  }
  return value;
}

// Reads `count` values of the RLE / bit-packing hybrid encoding.
std::vector<std::uint64_t> read_hybrid(Bytes& in, std::size_t count, unsigned width) {
  std::vector<std::uint64_t> values;
  while (values.size() < count) {
    const std::uint64_t head = in.varint();
    require(head >> 1 != 0, "an empty run");
    if ((head & 1) != 0) {
      const std::size_t packed = (head >> 1) * 8;
      const std::string_view bytes = in.take(packed / 8 * width);
      for (std::size_t i = 0; i < packed && values.size() < count; ++i)
        values.push_back(packed_bits(bytes, i * width, width));
    } else {
      const std::string_view bytes = in.take((width + 7) / 8);
      require(head >> 1 <= count - values.size(), "a run is too long");
      values.insert(values.end(), head >> 1, packed_bits(bytes, 0, width));
    }
  }
  return values;
}

std::vector<ParquetCell> read_differences(Bytes& in, std::size_t count) {
  const std::uint64_t block = in.varint();
  const std::uint64_t parts = in.varint();
  require(parts != 0 && block % 128 == 0 && block / parts % 32 == 0, "blocks of differences");
  require(in.varint() == count, "the count of differences");
  auto value = static_cast<std::uint64_t>(in.signed_varint());
  std::vector<ParquetCell> values;
  if (count != 0) values.emplace_back(static_cast<std::int64_t>(value));
  while (values.size() < count) {
    const auto least = static_cast<std::uint64_t>(in.signed_varint());
    const std::string_view widths = in.take(parts);
    for (std::size_t part = 0; part < parts && values.size() < count; ++part) {
      const auto width = static_cast<std::uint8_t>(widths[part]);
      require(width <= 64, "a width of more than 64 bits");
      const std::string_view bytes = in.take(block / parts / 8 * width);
      for (std::size_t i = 0; i < block / parts && values.size() < count; ++i) {
        value += least + packed_bits(bytes, i * width, width);
        values.emplace_back(static_cast<std::int64_t>(value));
      }
    }
  }
  return values;
}

std::vector<ParquetCell> read_plain(Bytes& in, std::size_t count, bool is_text) {
  std::vector<ParquetCell> values;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_text) {
      values.emplace_back(std::string(in.take(in.number32())));
    } else {
      values.emplace_back(in.number64());
    }
  }
  return values;
}

class ChunkReader {
 public:
  ChunkReader(std::string_view file, const ParquetColumn& column, const Value& facts)
      : file_(file), column_(column), facts_(facts) {}

  ParquetChunk read() {
    require(facts_.at(1).number == (column_.is_text ? 6 : 2), "the type of a chunk");
    require(facts_.at(3).list.at(0).text == column_.name, "the name of a chunk");
    require(facts_.at(4).number == 6, "the codec is zstd");
    for (const Value& encoding : facts_.at(2).list)
      chunk_.encodings.insert(static_cast<int>(encoding.number));
    read_statistics();
    const Value* dictionary = facts_.find(11);
    const auto begin =
        static_cast<std::size_t>(dictionary != nullptr ? dictionary->number : facts_.at(9).number);
    require(begin <= file_.size(), "the place of a chunk");
    Bytes in(file_.substr(begin));
    in = Bytes(in.take(static_cast<std::size_t>(facts_.at(7).number)));
    std::int64_t plain_bytes = 0;
    const std::size_t all = in.left();
    while (in.left() != 0) {
      const std::size_t at = begin + all - in.left();
      const std::size_t before = in.left();
      const Value header = read_struct(in);
      const auto head_bytes = static_cast<std::int64_t>(before - in.left());
      plain_bytes += head_bytes + header.at(2).number;
      read_page(header, in.take(static_cast<std::size_t>(header.at(3).number)), at);
    }
    require(plain_bytes == facts_.at(6).number, "the size of a chunk before compression");
    require(chunk_.cells.size() == static_cast<std::size_t>(facts_.at(5).number),
            "the values of a chunk");
    return std::move(chunk_);
  }

 private:
  void read_statistics() {
    const Value& statistics = facts_.at(12);
    chunk_.null_count = statistics.at(3).number;
    if (const Value* max = statistics.find(5)) chunk_.max = max->text;
    if (const Value* min = statistics.find(6)) chunk_.min = min->text;
    if (const Value* exact = statistics.find(7)) chunk_.is_max_exact = exact->number != 0;
    if (const Value* exact = statistics.find(8)) chunk_.is_min_exact = exact->number != 0;
  }

  static std::string unpacked(std::string_view bytes, std::size_t size) {
    std::string plain(size, '\0');
    const std::size_t got = ZSTD_decompress(plain.data(), size, bytes.data(), bytes.size());
    require(ZSTD_isError(got) == 0 && got == size, "a compressed page");
    return plain;
  }

  void read_page(const Value& header, std::string_view bytes, std::size_t at) {
    const std::string plain = unpacked(bytes, static_cast<std::size_t>(header.at(2).number));
    Bytes in(plain);
    if (header.at(1).number == 2) {
      require(facts_.find(11) != nullptr && chunk_.cells.empty() && dictionary_.empty(),
              "the dictionary is the first page");
      require(header.at(7).at(2).number == 0, "dictionaries are plain");
      dictionary_ =
          read_plain(in, static_cast<std::size_t>(header.at(7).at(1).number), column_.is_text);
      chunk_.dictionary_size = dictionary_.size();
    } else {
      require(header.at(1).number == 0, "the type of a page");
      if (chunk_.data_pages++ == 0)
        require(static_cast<std::size_t>(facts_.at(9).number) == at, "the place of the data");
      read_data(header.at(5), in);
    }
    require(in.left() == 0, "bytes are left in a page");
  }

  void read_data(const Value& header, Bytes& in) {
    const auto rows = static_cast<std::size_t>(header.at(1).number);
    std::vector<std::uint64_t> levels(rows, 1);
    if (column_.is_optional) {
      require(header.at(3).number == 3, "levels are runs");
      Bytes part(in.take(in.number32()));
      levels = read_hybrid(part, rows, 1);
      require(part.left() == 0, "bytes are left in levels");
    }
    const auto count = static_cast<std::size_t>(std::count(levels.begin(), levels.end(), 1u));
    const int encoding = static_cast<int>(header.at(2).number);
    require(chunk_.encodings.contains(encoding), "the footer names the encodings");
    const auto values = read_values(in, count, encoding);
    std::size_t next = 0;
    for (const std::uint64_t level : levels)
      chunk_.cells.push_back(level != 0 ? values[next++] : ParquetCell());
  }

  std::vector<ParquetCell> read_values(Bytes& in, std::size_t count, int encoding) {
    if (count != 0) chunk_.page_encodings.insert(encoding);
    if (encoding == 5) return read_differences(in, count);
    if (encoding == 0) return read_plain(in, count, column_.is_text);
    require(encoding == 8, "an encoding that is not used");
    const unsigned width = in.byte();
    require(width >= 1 && width <= 32, "the width of numbers of the dictionary");
    std::vector<ParquetCell> values;
    for (const std::uint64_t number : read_hybrid(in, count, width)) {
      require(number < dictionary_.size(), "a number that the dictionary does not have");
      values.push_back(dictionary_[number]);
    }
    return values;
  }

  std::string_view file_;
  const ParquetColumn& column_;
  const Value& facts_;
  ParquetChunk chunk_;
  std::vector<ParquetCell> dictionary_;
};

void read_schema(const Value& footer, ParquetFile& file) {
  const auto& elements = footer.at(2).list;
  require(!elements.empty() &&
              elements[0].at(5).number == static_cast<std::int64_t>(elements.size() - 1),
          "the schema is flat");
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const Value& element = elements[i];
    ParquetColumn column{element.at(4).text, element.at(1).number == 6, element.at(3).number == 1};
    require(column.is_text || element.at(1).number == 2, "integers and texts only");
    const Value& logical = element.at(10);
    require(logical.fields.contains(column.is_text ? 1 : 10), "the logical type");
    if (!column.is_text)
      require(logical.at(10).at(1).number == 64 && logical.at(10).at(2).number == 1,
              "signed 64 bit");
    file.columns.push_back(std::move(column));
  }
  require(footer.at(7).list.size() == file.columns.size(), "an order of each column");
}

}  // namespace

std::vector<ParquetCell> ParquetFile::column(const std::string& name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const ParquetColumn& column) { return column.name == name; });
  require(found != columns.end(), "there is no such column");
  std::vector<ParquetCell> cells;
  for (const auto& group : groups) {
    const auto& some = group.at(static_cast<std::size_t>(found - columns.begin())).cells;
    cells.insert(cells.end(), some.begin(), some.end());
  }
  return cells;
}

ParquetFile read_parquet(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  require(bytes.size() >= 12 && bytes.starts_with("PAR1") && bytes.ends_with("PAR1"), "its magic");
  const std::uint32_t size = Bytes(std::string_view(bytes).substr(bytes.size() - 8)).number32();
  require(size <= bytes.size() - 12, "the size of the footer");
  Bytes in(std::string_view(bytes).substr(bytes.size() - 8 - size, size));
  const Value footer = read_struct(in);
  require(in.left() == 0, "bytes are left in the footer");
  ParquetFile file;
  read_schema(footer, file);
  for (const Value& one : footer.at(5).list) file.metadata[one.at(1).text] = one.at(2).text;
  std::int64_t rows = 0;
  for (const Value& group : footer.at(4).list) {
    const auto& chunks = group.at(1).list;
    require(chunks.size() == file.columns.size(), "a chunk a column");
    file.groups.emplace_back();
    for (std::size_t column = 0; column < chunks.size(); ++column) {
      ChunkReader reader(bytes, file.columns[column], chunks[column].at(3));
      file.groups.back().push_back(reader.read());
      require(
          file.groups.back().back().cells.size() == static_cast<std::size_t>(group.at(3).number),
          "the rows of a group");
    }
    rows += group.at(3).number;
  }
  require(rows == footer.at(3).number, "the rows of the file");
  file.rows = static_cast<std::uint64_t>(rows);
  return file;
}

}  // namespace msprof::test
