// TextKind: a kind whose files are lines of text, the slices of a part one behind the other.
// SliceLines gives the lines; Words and the parsers read what is in them. The bytes are untrusted:
// lines of any length, NULs, numbers beyond 64 bits. For the kinds of counters.
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
  // Longer ones are damage.
  static constexpr std::size_t kMaxLineBytes = std::size_t{1} << 16;

  SliceLines(const ImportContext& context, std::string_view kind)
      : context_(&context), kind_(kind) {}
  void add(const RawFile& file) { files_.push_back(&file); }

  // Why a line is none, a few fixed words; empty for one that was taken. Lines that only frame the
  // data, such as headers, are taken, too.
  using Take = std::function<std::string_view(std::string_view line)>;
  // Shows every line, empty ones too, without its end. A line may go on in the next slice; where
  // such a one is not taken, what the next slice begins with is shown by itself. What is not taken
  // is counted in the report with its place, and so are files and `records()`.
  void read(const Take& take);

  // Counts one record that the lines gave; call it once each.
  void count() { ++records_; }
  // Counts a record made of several lines that is none, at the line shown last.
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
  std::string open_;  // a line whose end is in the next slice
  Place open_at_;
  Place at_;
  std::uint64_t records_ = 0;
};

class TextKind : public RawKind {
 public:
  // `stem`: of the files it owns; `kind`: its name, and that of its tracks.
  TextKind(CannImport& import, std::string_view kind, std::string_view stem)
      : import_(import), kind_(kind), stem_(stem) {}

  std::string_view name() const override { return kind_; }
  bool owns(const RawFile& file) const override {
    return import_.session.name_of(file).stem == stem_;
  }
  void import(const ImportContext& context, const RawFile& file) override;

 protected:
  // Reads all lines of one part and stem.
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

// The words of a line, parted by blanks and tabs, at most kMaxCount of them.
class Words {
 public:
  static constexpr std::size_t kMaxCount = 64;
  explicit Words(std::string_view line);
  std::size_t size() const { return count_; }  // kMaxCount + 1 for more
  std::string_view operator[](std::size_t i) const { return words_[i]; }
  // All digits, at most 64 bits; false otherwise, and for a word that is not there.
  bool number(std::size_t i, std::uint64_t& value) const;

 private:
  std::array<std::string_view, kMaxCount> words_;
  std::size_t count_ = 0;
};

// "9691379:000123456" as ns: seconds, and nine digits.
std::optional<std::uint64_t> ns_of_stamp(std::string_view word);

// "12.34" times 10^`places`, exactly: 1234 for two places; more digits are refused, as is what does
// not fit.
std::optional<std::int64_t> scaled_decimal(std::string_view word, int places);

// The same in thousandths, for words that many lines have: digits beyond them are cut.
std::optional<std::int64_t> thousandths(std::string_view word);

}  // namespace msprof::cann
