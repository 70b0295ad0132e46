// TextKind: base of kinds whose files are text; the slices of a part are concatenated. SliceLines
// reads the lines, Words and the parsers read their contents. The input is untrusted: lines of any
// length, NULs, numbers that exceed 64 bits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/cann/cann_import.hpp"

namespace msprof::cann {

class SliceLines {
 public:
  // Longer lines are reported as damaged.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 16;

  SliceLines(const ImportContext& context, std::string_view kind)
      : context_(&context), kind_(kind) {}
  void add(const RawFile& file) { files_.push_back(&file); }

  // Returns why a line is invalid, as one of a few fixed texts, or empty if it is valid. Lines
  // without data, such as headers, are valid.
  using Take = std::function<std::string_view(std::string_view line)>;
  // Calls `take` for every line, including empty ones, without its end. A line may continue in the
  // next slice; if the joined line is invalid, the start of the next slice is passed as a separate
  // line. Invalid lines are reported with their position; files and records are counted.
  void read(const Take& take);

  void count() { ++records_; }
  // Counts an invalid record that spans several lines, at the current line.
  void skip(std::string_view reason) const;

 private:
  struct Place {
    const RawFile* file = nullptr;
    std::uint64_t offset = 0;
  };
  void read_file(const RawFile& file, const Take& take);
  void show(std::string_view line, const Place& place, const Take& take);

  const ImportContext* context_;
  std::string_view kind_;
  std::vector<const RawFile*> files_;
  std::string open_;  // start of a line that continues in the next slice
  Place open_at_;
  Place at_;
  std::uint64_t records_ = 0;
};

class TextKind : public RawKind {
 public:
  // `stem`: stem of the files it owns; `kind`: name of the kind and of its tracks.
  TextKind(CannImport& import, std::string_view kind, std::string_view stem)
      : import_(import), kind_(kind), stem_(stem) {}

  std::string_view name() const override { return kind_; }
  bool owns(const RawFile& file) const override {
    return import_.session.parsed_name(file).stem == stem_;
  }
  void import(const ImportContext& context, const RawFile& file) override;

 protected:
  virtual void read(const ImportContext& context, const CannPart& part, const std::string& stem,
                    SliceLines& lines) = 0;

  CannImport& import_;

 private:
  struct Gathered {
    const CannPart* part = nullptr;
    SliceLines lines;
  };
  std::string_view kind_;
  std::string_view stem_;
  std::map<std::pair<std::string_view, std::string>, Gathered> gathered_;  // by part and stem
  OwnedFiles files_;
};

// The words of a line, separated by blanks and tabs; at most kMaxCount.
class LineWords {
 public:
  static constexpr std::size_t kMaxCount = 64;
  explicit LineWords(std::string_view line);
  std::size_t size() const { return count_; }  // kMaxCount + 1 if there are more
  std::string_view operator[](std::size_t i) const { return words_[i]; }
  // Parses word `i` as a decimal number. Returns false if it has other characters, exceeds 64 bits
  // or does not exist.
  bool number(std::size_t i, std::uint64_t& value) const;

 private:
  std::array<std::string_view, kMaxCount> words_;
  std::size_t count_ = 0;
};

// Converts "9691379:000123456", seconds and nine digits, to ns.
std::optional<std::uint64_t> parse_stamp_ns(std::string_view word);

// Returns "12.34" times 10^`places`, exactly: 1234 for two places. Returns nullopt if there are
// more digits or if the result does not fit.
std::optional<std::int64_t> parse_scaled_decimal(std::string_view word, int places);

// Like parse_scaled_decimal() for thousandths, but cuts off further digits. Faster, for words found
// in many lines.
std::optional<std::int64_t> parse_thousandths(std::string_view word);

}  // namespace msprof::cann
