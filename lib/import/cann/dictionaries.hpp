// Dictionaries: maps numbers and hashes of a CANN capture to names (type_info_dic, hash_dic).
// Filled before any other kind is read. Also LineReader, which reads text files. Source:
// cann_host.md 1.5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/file_reader.hpp"
#include "store/trace_db_writer.hpp"

namespace msprof::cann {

class Dictionaries {
 public:
  // A later entry replaces an earlier one with the same key.
  void add_type(std::uint32_t level, std::uint64_t type, std::string name);
  void add_hash(std::uint64_t hash, std::string text);

  // Returns the name of a type, or its decimal number if unknown. If the level is known, 27 and 28
  // are always DYNAMIC_ENABLE and DYNAMIC_DISABLE.
  std::string type_name(std::uint32_t level, std::uint64_t type) const;
  std::optional<std::string_view> find_type_name(std::uint32_t level, std::uint64_t type) const;

  // Returns the text of a hash, or its decimal number if unknown.
  std::string hash_text(std::uint64_t hash) const;
  std::optional<std::string_view> find_hash_text(std::uint64_t hash) const;
  // Returns the id of the hash's text in table `name`; cached.
  std::int64_t hash_name_id(TraceDbWriter& store, std::uint64_t hash);

  // Returns the number of distinct hashes not found, except 0. If it is large, the dictionary is
  // missing.
  std::uint64_t unknown_hashes() const { return unknown_hashes_; }

 private:
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint64_t, std::string>> types_;
  std::unordered_map<std::uint64_t, std::string> hashes_;
  std::unordered_map<std::uint64_t, std::int64_t> name_ids_;
  std::uint64_t unknown_hashes_ = 0;
};

// Reads a text file line by line in bounded memory.
class LineReader {
 public:
  struct Line {
    std::string_view text;     // without `separator`; valid until the next call
    std::uint64_t offset = 0;  // offset of the line in the file
    bool is_too_long = false;  // longer than kMaxLineBytes; `text` is empty
  };
  static constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

  // Throws Error(partial_data) if the file cannot be read.
  explicit LineReader(const std::filesystem::path& path, char separator = '\n');

  // Returns the next line, or nullopt at the end. The last line needs no separator.
  std::optional<Line> next();

 private:
  bool fill();

  FileReader reader_;
  char separator_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // unread bytes are [begin_, end_) of the buffer
  std::size_t end_ = 0;
  std::uint64_t offset_ = 0;  // file offset of begin_
  bool is_at_end_ = false;
};

}  // namespace msprof::cann
