// ThriftWriter: writes a struct in Thrift's compact protocol, the format of page headers and
// footers in Parquet files. Source: the specification of that protocol by Apache Thrift.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/parquet/encodings.hpp"

namespace msprof::parquet {

// Type ids of the compact protocol.
enum class ThriftType : std::uint8_t {
  boolean = 1,
  i8 = 3,
  i32 = 5,
  i64 = 6,
  text = 8,
  list = 9,
  structure = 12
};

// Starts with the outermost struct open. Fields must be written in ascending order of ids; every
// struct ends with end().
class ThriftWriter {
 public:
  ThriftWriter() : last_ids_{0} {}

  void boolean(int id, bool value) { header(id, value ? 1 : 2); }
  void i8(int id, std::int8_t value) {
    header(id, to_number(ThriftType::i8));
    byte(static_cast<std::uint8_t>(value));
  }
  void i32(int id, std::int32_t value) {
    header(id, to_number(ThriftType::i32));
    append_varint(bytes_, zigzag(value));
  }
  void i64(int id, std::int64_t value) {
    header(id, to_number(ThriftType::i64));
    append_varint(bytes_, zigzag(value));
  }
  void text(int id, std::string_view value) {
    header(id, to_number(ThriftType::text));
    text_element(value);
  }
  void begin(int id) {
    header(id, to_number(ThriftType::structure));
    begin_element();
  }
  // Must be followed by `size` elements, each written with an *_element() function.
  void list(int id, ThriftType elements, std::size_t size) {
    header(id, to_number(ThriftType::list));
    const std::uint8_t type = to_number(elements);
    if (size < kLongList) {
      byte(static_cast<std::uint8_t>(size << 4 | type));
    } else {
      byte(static_cast<std::uint8_t>(kLongList << 4 | type));
      append_varint(bytes_, size);
    }
  }

  void i32_element(std::int32_t value) { append_varint(bytes_, zigzag(value)); }
  void text_element(std::string_view value) {
    append_varint(bytes_, value.size());
    bytes_.append(value);
  }
  void begin_element() { last_ids_.push_back(0); }

  // Ends the innermost struct; the last call ends the outermost one.
  void end() {
    byte(0);
    last_ids_.pop_back();
  }

  std::string take() { return std::move(bytes_); }

 private:
  static constexpr std::size_t kLongList = 15;
  static constexpr int kMaxShortStep = 15;

  static std::uint8_t to_number(ThriftType type) { return static_cast<std::uint8_t>(type); }
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void header(int id, std::uint8_t type) {
    const int step = id - last_ids_.back();
    if (step > 0 && step <= kMaxShortStep) {
      byte(static_cast<std::uint8_t>(step << 4 | type));
    } else {
      byte(type);
      append_varint(bytes_, zigzag(id));
    }
    last_ids_.back() = id;
  }

  std::string bytes_;
  std::vector<int> last_ids_;  // of each open struct
};

}  // namespace msprof::parquet
