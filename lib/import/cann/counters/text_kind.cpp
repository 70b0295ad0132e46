#include "import/cann/counters/text_kind.hpp"

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "import/cann/dictionaries.hpp"

namespace msprof::cann {

void SliceLines::read(const Take& take) {
  for (const RawFile* file : files_) {
    const std::uint64_t before = records_;
    try {
      read_file(*file, take);
    } catch (const Error& error) {
      if (error.code() != Exit::partial_data) throw;
      context_->report.add(FindingId::unreadable_file, kind_, file->name, "unreadable",
                           error.what());
    }
    context_->report.count_file(kind_, records_ - before);
  }
  if (!open_.empty()) {
    // Not used: a number may have lost its last digits.
    context_->report.skip_record(kind_, open_at_.file->name, "incomplete line at the end",
                                 open_at_.offset);
    open_.clear();
  }
}

void SliceLines::read_file(const RawFile& file, const Take& take) {
  LineReader lines(file.path);
  bool is_first = true;
  while (const auto line = lines.next()) {
    const Place place{&file, line->offset};
    const bool is_open = line->offset + line->text.size() == file.size_bytes;
    if (line->is_too_long || line->text.size() > kMaxLineBytes ||
        open_.size() + (is_first ? line->text.size() : 0) > kMaxLineBytes) {
      context_->report.skip_record(kind_, file.name, "line longer than 64 KB", line->offset);
      open_.clear();
    } else if (!open_.empty()) {
      const std::size_t head = open_.size();
      open_ += line->text;
      if (!is_open) {
        at_ = open_at_;
        const std::string whole = std::move(open_);
        open_.clear();
        const std::string_view reason = take(whole);
        if (!reason.empty()) {
          context_->report.skip_record(kind_, at_.file->name, reason, at_.offset);
          show(std::string_view(whole).substr(head), place, take);
        }
      }
    } else if (is_open && !line->text.empty()) {
      open_ = line->text;
      open_at_ = place;
    } else {
      show(line->text, place, take);
    }
    is_first = false;
  }
}

void SliceLines::show(std::string_view line, const Place& place, const Take& take) {
  at_ = place;
  const std::string_view reason = take(line);
  if (!reason.empty()) context_->report.skip_record(kind_, place.file->name, reason, place.offset);
}

void SliceLines::skip(std::string_view reason) const {
  if (at_.file != nullptr) context_->report.skip_record(kind_, at_.file->name, reason, at_.offset);
}

void TextKind::import(const ImportContext& context, const RawFile& file) {
  const CannPart& part = import_.session.find_part(file);
  const std::pair<std::string_view, std::string> key{part.name,
                                                     import_.session.parsed_name(file).stem};
  auto found = gathered_.find(key);
  if (found == gathered_.end())
    found = gathered_.emplace(key, Gathered{&part, SliceLines(context, name())}).first;
  found->second.lines.add(file);
  if (!files_.is_last(context, *this)) return;
  for (auto& [part_and_stem, gathered] : gathered_)
    read(context, *gathered.part, part_and_stem.second, gathered.lines);
  gathered_.clear();
}

LineWords::LineWords(std::string_view line) {
  const char* at = line.data();
  const char* const end = at + line.size();
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (true) {
    while (at != end && is_blank(*at)) ++at;
    if (at == end) return;
    const char* const begin = at;
    while (at != end && !is_blank(*at)) ++at;
    if (count_ == kMaxCount) {
      ++count_;
      return;
    }
    words_[count_++] = std::string_view(begin, static_cast<std::size_t>(at - begin));
  }
}

bool LineWords::number(std::size_t i, std::uint64_t& value) const {
  if (i >= std::min(count_, kMaxCount)) return false;
  const std::string_view word = words_[i];
  const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
  return result.ec == std::errc() && result.ptr == word.data() + word.size();
}

std::optional<std::uint64_t> parse_stamp_ns(std::string_view word) {
  constexpr std::size_t kDigits = 9;
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos || word.size() - colon - 1 != kDigits) return std::nullopt;
  std::uint64_t seconds = 0;
  std::uint64_t ns = 0;
  constexpr std::uint64_t kSecond = 1'000'000'000;
  if (!parse_u64(word.substr(0, colon), seconds) || !parse_u64(word.substr(colon + 1), ns) ||
      seconds > INT64_MAX / kSecond - 1)
    return std::nullopt;
  return seconds * kSecond + ns;
}

std::optional<std::int64_t> parse_scaled_decimal(std::string_view word, int places) {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  bool has_point = false;
  const auto shift = [&value](unsigned digit) {
    return !__builtin_mul_overflow(value, 10u, &value) &&
           !__builtin_add_overflow(value, digit, &value);
  };
  for (const char c : word) {
    if (c == '.' && !has_point && digits > 0) {
      has_point = true;
      digits = 0;
      continue;
    }
    if (c < '0' || c > '9' || (has_point && places-- == 0) ||
        !shift(static_cast<unsigned>(c - '0')))
      return std::nullopt;
    ++digits;
  }
  if (digits == 0) return std::nullopt;
  while (places-- > 0) {
    if (!shift(0)) return std::nullopt;
  }
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> parse_thousandths(std::string_view word) {
  constexpr std::int64_t kWhole = 1000;
  const char* const end = word.data() + word.size();
  std::uint64_t whole = 0;
  auto [at, error] = std::from_chars(word.data(), end, whole);
  if (error != std::errc() || whole >= static_cast<std::uint64_t>(INT64_MAX / kWhole))
    return std::nullopt;
  std::int64_t value = static_cast<std::int64_t>(whole) * kWhole;
  if (at == end) return value;
  if (*at != '.' || ++at == end) return std::nullopt;
  for (std::int64_t unit = kWhole / 10; at != end; ++at, unit /= 10) {
    if (*at < '0' || *at > '9') return std::nullopt;
    value += (*at - '0') * unit;
  }
  return value;
}

}  // namespace msprof::cann
