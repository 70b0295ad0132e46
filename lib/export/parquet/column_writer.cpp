#include "export/parquet/column_writer.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "base/error.hpp"
#include "base/number.hpp"
#include "export/parquet/thrift_writer.hpp"
#include "store/cells.hpp"

namespace msprof::parquet {

namespace {

// Limit for the texts of a dictionary or a page, because readers load them as a whole.
constexpr std::size_t kMaxTextBytes = 4 << 20;
// The store is untrusted input: its texts may have any length.
constexpr std::size_t kMaxTextLength = 1 << 20;
// Texts in statistics are cut to this length, because readers load the footer as a whole.
constexpr std::size_t kMaxBoundBytes = 128;

// PageType in parquet.thrift.
constexpr std::int32_t kDataPage = 0;
constexpr std::int32_t kDictionaryPage = 2;

std::string raw_text(std::int64_t value) {
  std::string bytes;
  append_raw(bytes, value);
  return bytes;
}

// Returns at most the first `most` bytes of valid UTF-8, cut between characters.
std::string cut_text(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

// Returns a text greater than every text that starts with `text`; empty if there is no simple one.
std::optional<std::string> above(std::string text) {
  while (!text.empty()) {
    const auto last = static_cast<unsigned char>(text.back());
    if (last < 0x7e) {
      text.back() = static_cast<char>(last + 1);
      return text;
    }
    text.pop_back();
  }
  return {};
}

}  // namespace

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()), level_(level) {
  if (!context_) throw std::bad_alloc();
}
Compressor::~Compressor() = default;
void Compressor::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

std::size_t Compressor::append(std::string& out, std::string_view bytes) {
  const std::size_t at = out.size();
  const std::size_t bound = ZSTD_compressBound(bytes.size());
  out.resize(at + bound);
  const std::size_t size =
      ZSTD_compressCCtx(context_.get(), out.data() + at, bound, bytes.data(), bytes.size(), level_);
  if (ZSTD_isError(size) != 0) {
    throw Error(Exit::internal_error,
                fmt::format("zstd cannot compress a page: {}.", ZSTD_getErrorName(size)));
  }
  out.resize(at + size);
  return size;
}

KeyNumbers::KeyNumbers() : slots_(64), shift_(64 - 6) {}

std::uint32_t KeyNumbers::find_or_add(std::int64_t key) {
  std::size_t at = first_slot(key);
  for (; slots_[at].number != kFull; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].key == key) return slots_[at].number;
  }
  if (keys_.size() >= kMaxKeys) return kFull;
  const auto number = static_cast<std::uint32_t>(keys_.size());
  slots_[at] = {key, number};
  keys_.push_back(key);
  if (keys_.size() * 2 > slots_.size()) grow();
  return number;
}

void KeyNumbers::grow() {
  slots_.assign(slots_.size() * 2, Slot());
  --shift_;
  for (std::size_t number = 0; number < keys_.size(); ++number) {
    std::size_t at = first_slot(keys_[number]);
    while (slots_[at].number != kFull) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {keys_[number], static_cast<std::uint32_t>(number)};
  }
}

void KeyNumbers::clear() {
  std::fill(slots_.begin(), slots_.end(), Slot());
  keys_.clear();
}

void ColumnWriter::add_page(std::span<const std::int64_t> cells) {
  if (cells.empty()) return;
  facts_.rows += static_cast<std::int64_t>(cells.size());
  if (spec_.find_text) {
    add_texts(cells);
  } else {
    add_integers(cells);
  }
}

void ColumnWriter::add_integers(std::span<const std::int64_t> cells) {
  values_.resize(cells.size());
  std::size_t count = 0;
  std::int64_t least = INT64_MAX;
  std::int64_t largest = INT64_MIN;
  for (const std::int64_t cell : cells) {
    values_[count] = cell;
    const bool is_given = spec_.is_required || cell != kNull;
    count += is_given ? 1 : 0;
    least = is_given ? std::min(least, cell) : least;
    largest = std::max(largest, cell);
  }
  values_.resize(count);
  value_count_ = count;
  levels_.clear();
  if (count != 0 && count != cells.size()) {
    levels_.resize(cells.size());
    std::transform(cells.begin(), cells.end(), levels_.begin(),
                   [](std::int64_t cell) { return cell == kNull ? 0u : 1u; });
  }
  if (count == 0) return write_page(cells.size(), Encoding::plain);
  least_ = std::min(least_.value_or(least), least);
  largest_ = std::max(largest_.value_or(largest), largest);

  if (layout_ == Layout::undecided) decide();
  if (layout_ == Layout::dictionary && !is_overflown_) {
    is_overflown_ = !number_keys(values_);
    if (!is_overflown_) return write_page(cells.size(), Encoding::dictionary);
  }
  // If differences overflow, some readers do not wrap them correctly.
  const bool is_narrow = largest < INT64_MAX / 2 && least > INT64_MIN / 2;
  write_page(cells.size(),
             layout_ != Layout::plain && is_narrow ? Encoding::delta : Encoding::plain);
}

// Fills numbers_ with dictionary indexes; returns false if the dictionary is full.
bool ColumnWriter::number_keys(std::span<const std::int64_t> values) {
  numbers_.resize(values.size());
  std::int64_t last_key = kNull;
  std::uint32_t last = KeyNumbers::kFull;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (last == KeyNumbers::kFull || values[i] != last_key) {
      last_key = values[i];
      last = keys_.find_or_add(last_key);
      if (last == KeyNumbers::kFull) return false;
    }
    numbers_[i] = last;
  }
  return true;
}

// Chooses the layout: as specified, or the one that makes the first page smallest.
void ColumnWriter::decide() {
  if (spec_.values != Values::any) {
    layout_ = spec_.values == Values::repeated ? Layout::dictionary : Layout::delta;
    return;
  }
  const std::size_t delta = size_as(Layout::delta);
  const std::size_t plain = size_as(Layout::plain);
  const std::size_t dictionary = number_keys(values_) ? size_as(Layout::dictionary) : SIZE_MAX;
  layout_ = Layout::delta;
  if (plain < delta) layout_ = Layout::plain;
  if (dictionary <= std::min(plain, delta)) layout_ = Layout::dictionary;
  keys_.clear();
}

std::size_t ColumnWriter::size_as(Layout layout) {
  body_.clear();
  trial_.clear();
  if (layout == Layout::dictionary) body_ = plain_dictionary();
  append_values(body_, layout == Layout::dictionary ? Encoding::dictionary
                       : layout == Layout::delta    ? Encoding::delta
                                                    : Encoding::plain);
  return compressor_.append(trial_, body_);
}

void ColumnWriter::add_texts(std::span<const std::int64_t> cells) {
  is_overflown_ = is_overflown_ || !number_texts(cells);
  if (is_overflown_) {
    add_plain_texts(cells);
  } else {
    write_page(cells.size(), value_count_ == 0 ? Encoding::plain : Encoding::dictionary);
  }
}

// Like number_keys(), for texts; fills levels_, too.
bool ColumnWriter::number_texts(std::span<const std::int64_t> cells) {
  constexpr std::uint32_t kNoText = KeyNumbers::kFull;
  numbers_.resize(cells.size());
  levels_.resize(cells.size());
  value_count_ = 0;
  std::int64_t last_key = kNull;
  std::uint32_t last = kNoText;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] != last_key) {
      last_key = cells[i];
      last = kNoText;
      if (last_key != kNull) {
        const std::uint32_t key = keys_.find_or_add(last_key);
        if (key == KeyNumbers::kFull || !take_text(key)) return false;
        last = text_numbers_[key];
      }
    }
    numbers_[value_count_] = last;
    levels_[i] = last != kNoText ? 1 : 0;
    value_count_ += levels_[i];
  }
  numbers_.resize(value_count_);
  if (value_count_ == 0 || value_count_ == cells.size()) levels_.clear();
  return true;
}

// Adds the text of a key to the dictionary if it is missing; returns false if it is full.
bool ColumnWriter::take_text(std::uint32_t number) {
  if (number < text_numbers_.size()) return true;
  if (texts_.size() > kMaxTextBytes) return false;
  std::string text;
  if (find_text(keys_.keys()[number], text)) {
    append_raw(texts_, static_cast<std::uint32_t>(text.size()));
    texts_ += text;
    note_bounds(text);
    text_numbers_.push_back(text_count_++);
  } else {
    text_numbers_.push_back(KeyNumbers::kFull);
  }
  return true;
}

// Writes one page, or several if the texts are long.
void ColumnWriter::add_plain_texts(std::span<const std::int64_t> cells) {
  std::int64_t last_key = kNull;
  bool has_text = false;
  std::string text;
  for (std::size_t at = 0; at < cells.size();) {
    plain_texts_.clear();
    levels_.clear();
    value_count_ = 0;
    for (; at < cells.size() && plain_texts_.size() < kMaxTextBytes; ++at) {
      if (cells[at] != last_key) {
        last_key = cells[at];
        has_text = last_key != kNull && find_text(last_key, text);
        if (has_text) note_bounds(text);
      }
      levels_.push_back(has_text ? 1 : 0);
      if (!has_text) continue;
      append_raw(plain_texts_, static_cast<std::uint32_t>(text.size()));
      plain_texts_ += text;
      ++value_count_;
    }
    const std::size_t rows = levels_.size();
    if (value_count_ == 0 || value_count_ == rows) levels_.clear();
    write_page(rows, Encoding::plain);
  }
}

bool ColumnWriter::find_text(std::int64_t key, std::string& text) const {
  if (!spec_.find_text(key, text)) return false;
  text = cut_text(text, kMaxTextLength);
  return true;
}

void ColumnWriter::note_bounds(std::string_view text) {
  if (!least_text_ || text < *least_text_) least_text_ = text;
  if (!largest_text_ || text > *largest_text_) largest_text_ = text;
}

void ColumnWriter::append_values(std::string& body, Encoding encoding) {
  if (encoding == Encoding::dictionary) {
    const std::size_t size = spec_.find_text ? text_count_ : keys_.keys().size();
    // At least one bit: not every reader accepts indexes of width 0.
    const int width = std::max(1, bits_for(size - 1));
    body.push_back(static_cast<char>(width));
    append_hybrid(body, numbers_, width);
  } else if (spec_.find_text) {
    body += plain_texts_;
  } else if (encoding == Encoding::delta) {
    append_delta(body, values_);
  } else {
    body.append(reinterpret_cast<const char*>(values_.data()), values_.size() * sizeof values_[0]);
  }
}

// Appends for each cell whether it has a value; for columns that may have nulls.
void ColumnWriter::append_levels(std::string& body, std::size_t rows) const {
  if (spec_.is_required) return;
  const std::size_t at = body.size();
  append_raw(body, std::uint32_t{0});
  if (levels_.empty()) {
    append_run(body, rows, value_count_ == 0 ? 0 : 1, 1);
  } else {
    append_hybrid(body, levels_, 1);
  }
  const auto bytes = static_cast<std::uint32_t>(body.size() - at - sizeof(std::uint32_t));
  std::memcpy(body.data() + at, &bytes, sizeof bytes);
}

void ColumnWriter::write_page(std::size_t rows, Encoding encoding) {
  facts_.nulls += static_cast<std::int64_t>(rows - value_count_);
  body_.clear();
  append_levels(body_, rows);
  if (value_count_ != 0) append_values(body_, encoding);
  trial_.clear();
  const std::size_t bytes = compressor_.append(trial_, body_);
  const std::string header = page_header(false, body_.size(), bytes, rows, encoding);
  pages_ += header;
  pages_ += trial_;
  facts_.plain_bytes += static_cast<std::int64_t>(header.size() + body_.size());
  note_encoding(encoding);
  if (!spec_.is_required) note_encoding(Encoding::rle);
}

void ColumnWriter::note_encoding(Encoding encoding) {
  auto& known = facts_.encodings;
  if (std::find(known.begin(), known.end(), encoding) == known.end()) known.push_back(encoding);
}

std::string ColumnWriter::plain_dictionary() const {
  if (spec_.find_text) return texts_;
  const auto keys = keys_.keys();
  return {reinterpret_cast<const char*>(keys.data()), keys.size_bytes()};
}

void ColumnWriter::write_dictionary() {
  const auto& known = facts_.encodings;
  if (std::find(known.begin(), known.end(), Encoding::dictionary) == known.end()) return;
  const std::string plain = plain_dictionary();
  const std::size_t size = spec_.find_text ? text_count_ : keys_.keys().size();
  trial_.clear();
  const std::size_t bytes = compressor_.append(trial_, plain);
  dictionary_ = page_header(true, plain.size(), bytes, size, Encoding::plain);
  facts_.plain_bytes += static_cast<std::int64_t>(dictionary_.size() + plain.size());
  dictionary_ += trial_;
  note_encoding(Encoding::plain);
}

std::string ColumnWriter::page_header(bool is_dictionary, std::size_t plain_bytes,
                                      std::size_t bytes, std::size_t values,
                                      Encoding encoding) const {
  const auto number = [](auto value) { return static_cast<std::int32_t>(value); };
  ThriftWriter header;
  header.i32(1, is_dictionary ? kDictionaryPage : kDataPage);
  header.i32(2, number(plain_bytes));
  header.i32(3, number(bytes));
  header.begin(is_dictionary ? 7 : 5);
  header.i32(1, number(values));
  header.i32(2, number(encoding));
  if (!is_dictionary) {
    header.i32(3, number(Encoding::rle));  // for definition and repetition levels
    header.i32(4, number(Encoding::rle));
  }
  header.end();
  header.end();
  return header.take();
}

ColumnWriter::Chunk ColumnWriter::finish_group() {
  dictionary_.clear();
  write_dictionary();
  if (least_) {
    facts_.min = raw_text(*least_);
    facts_.max = raw_text(*largest_);
  }
  if (least_text_) {
    facts_.min = cut_text(*least_text_, kMaxBoundBytes);
    facts_.is_min_exact = facts_.min->size() == least_text_->size();
    const std::string largest = cut_text(*largest_text_, kMaxBoundBytes);
    facts_.is_max_exact = largest.size() == largest_text_->size();
    facts_.max = facts_.is_max_exact ? std::optional(largest) : above(largest);
  }
  facts_.dictionary_bytes = static_cast<std::int64_t>(dictionary_.size());
  facts_.compressed_bytes = static_cast<std::int64_t>(dictionary_.size() + pages_.size());
  return {std::move(facts_), dictionary_, pages_};
}

void ColumnWriter::begin_group() {
  pages_.clear();
  dictionary_.clear();
  facts_ = {};
  keys_.clear();
  texts_.clear();
  text_numbers_.clear();
  text_count_ = 0;
  is_overflown_ = false;
  least_.reset();
  largest_.reset();
  least_text_.reset();
  largest_text_.reset();
}

}  // namespace msprof::parquet
