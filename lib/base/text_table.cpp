#include "base/text_table.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

// Shortens names so that different names still look different, by cutting a common prefix or the
// middle. For tables on a terminal.

// Part to keep if several cuts distinguish the same number of texts. Names are often paths, whose
// ends differ more than their starts.
enum class Keep { ends, begins };

// Shares of the width to try for the start of a text; the rest is for its end.
constexpr std::array kForEnds = {0.35, 0.0, 0.65, 1.0};
constexpr std::array kForBegins = {1.0, 0.65, 0.35, 0.0};
// Minimum prefix length worth replacing with an ellipsis.
constexpr std::size_t kMinPrefix = 4;
constexpr std::string_view kSeparators = "/.:_-+";

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> all;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    all.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return all;
}

std::string cut_inside(const std::string& text, int width, double head_part) {
  if (display_width(text) <= width) return text;
  const auto all = characters(text);
  const int room = std::max(0, width - 1);
  const int head_room = static_cast<int>(room * head_part);
  std::size_t head = 0, tail = all.size();
  int used = 0;
  while (head < tail && used + display_width(all[head]) <= head_room)
    used += display_width(all[head++]);
  while (tail > head && used + display_width(all[tail - 1]) <= room)
    used += display_width(all[--tail]);
  std::string result;
  for (std::size_t i = 0; i < head; ++i) result += all[i];
  result += "…";
  for (std::size_t i = tail; i < all.size(); ++i) result += all[i];
  return result;
}

// Returns the length of the prefix common to all names, up to its last separator. Ignores "-" and
// "N/A".
std::size_t common_prefix(const std::vector<std::string>& texts) {
  const std::string* first = nullptr;
  std::size_t common = 0;
  bool differ = false;
  for (const std::string& text : texts) {
    if (text.empty() || text == "-" || text == "N/A") continue;
    if (first == nullptr) {
      first = &text;
      common = text.size();
      continue;
    }
    differ = differ || text != *first;
    const std::size_t most = std::min(common, text.size());
    common = static_cast<std::size_t>(
        std::mismatch(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(most),
                      first->begin())
            .first -
        text.begin());
  }
  if (!differ) return 0;
  const std::size_t at = first->substr(0, common).find_last_of(kSeparators);
  return at == std::string::npos || at + 1 < kMinPrefix ? 0 : at + 1;
}

struct Cut {
  std::size_t prefix = 0;  // bytes cut from the front of every name
  double head_part = 0;
};

std::string apply(const std::string& text, const Cut& cut, int width) {
  if (display_width(text) <= width) return text;
  const bool drops = cut.prefix > 0 && text.size() > cut.prefix;
  if (!drops) return cut_inside(text, width, cut.head_part);
  const std::string rest = text.substr(cut.prefix);
  if (display_width(rest) + 1 <= width) return "…" + rest;
  return cut_inside("…" + rest, width, cut.head_part);
}

class Shortener {
 public:
  explicit Shortener(const std::vector<std::string>& texts)
      : distinct_(texts.begin(), texts.end()), prefix_(common_prefix(texts)) {}

  std::size_t count() const { return distinct_.size(); }

  // Finds the cut that keeps most names distinct; returns it and the number of distinct names.
  std::pair<Cut, std::size_t> best(int width, Keep keep) const {
    Cut best;
    std::size_t most = 0;
    const auto& head_parts = keep == Keep::ends ? kForEnds : kForBegins;
    const auto first = keep == Keep::ends ? prefix_ : 0;
    for (const std::size_t prefix : {first, prefix_ - first}) {
      for (const double head_part : head_parts) {
        if (most == distinct_.size()) break;
        const Cut cut{prefix, head_part};
        std::set<std::string> left;
        for (const std::string& text : distinct_) left.insert(apply(text, cut, width));
        if (left.size() > most) {
          most = left.size();
          best = cut;
        }
      }
    }
    return {best, most};
  }

 private:
  std::set<std::string> distinct_;
  std::size_t prefix_;
};

// Shortens `texts` (valid UTF-8) to at most `width` columns each, with "…" for omitted text. Cuts
// all of them in the same way, chosen to keep most of them distinct.
std::vector<std::string> shorten_apart(const std::vector<std::string>& texts, int width,
                                       Keep keep) {
  const bool fits = std::all_of(texts.begin(), texts.end(),
                                [&](const auto& text) { return display_width(text) <= width; });
  if (fits) return texts;
  const Cut cut = Shortener(texts).best(width, keep).first;
  std::vector<std::string> result;
  result.reserve(texts.size());
  for (const std::string& text : texts) result.push_back(apply(text, cut, width));
  return result;
}

// Returns the smallest width >= `least` at which shorten_apart() keeps all texts distinct.
int width_apart(const std::vector<std::string>& texts, int least) {
  int most = least;
  for (const std::string& text : texts) most = std::max(most, display_width(text));
  const Shortener shortener(texts);
  int low = least;
  // Bisection: a greater width is hardly ever worse.
  while (low < most) {
    const int middle = low + (most - low) / 2;
    if (shortener.best(middle, Keep::ends).second == shortener.count()) {
      most = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

constexpr int kGap = 2;            // blanks between columns
constexpr int kComfortable = 12;   // texts are shortened to this before headers wrap
constexpr int kNarrowest = 4;      // minimum width of a text
constexpr int kReadableName = 24;  // names stay at least this wide if the table must be split

// Finds the column that names the subject of a row.
std::optional<std::size_t> find_name_column(const std::vector<std::string>& headers) {
  for (const std::string_view end : {"name", "operator", "type"}) {
    for (std::size_t i = 0; i < headers.size(); ++i) {
      const std::string header = lower_ascii(headers[i]);
      // "Ori Layer Name" lists the layers that were fused into one.
      if (header.ends_with(end) && !header.starts_with("ori")) return i;
    }
  }
  return std::nullopt;
}

void append_cell(std::string& line, const std::string& cell, int width, bool right) {
  const std::string text = shorten(cell, width);
  const auto padding = static_cast<std::size_t>(std::max(0, width - display_width(text)));
  if (right) line.append(padding, ' ');
  line += text;
  if (!right) line.append(padding, ' ');
}

void end_line(std::string& line, std::string& out) {
  line.erase(line.find_last_not_of(' ') + 1);
  out += line + "\n";
  line.clear();
}

int widest(const std::vector<std::string>& lines) {
  int width = 0;
  for (const auto& line : lines) width = std::max(width, display_width(line));
  return width;
}

template <typename Columns>
int total_width(const Columns& columns) {
  int total = -kGap;
  for (const auto& column : columns) total += column.width + kGap;
  return total;
}

template <typename Columns>
int key_width(const Columns& columns) {
  int total = -kGap;
  for (const auto& column : columns) total += column.is_key ? column.width + kGap : 0;
  return total;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> columns, std::vector<bool> numbers)
    : is_number_(std::move(numbers)) {
  begin(columns);
}

// Column names are also untrusted: SQL can set them.
void TextTable::begin(std::span<const std::string> columns) {
  columns_.clear();
  for (const std::string& column : columns) columns_.push_back(printable(column));
  is_number_.resize(columns_.size());
}

void TextTable::row(std::span<const Cell> cells) {
  std::vector<std::string>& row = rows_.emplace_back();
  for (const Cell& cell : cells) {
    if (cell.is_number() && row.size() < is_number_.size()) is_number_[row.size()] = true;
    row.push_back(shown(cell));
  }
  row.resize(columns_.size());
}

std::string TextTable::shown(const Cell& cell) const {
  return cell.form == CellForm::missing ? "-" : printable(cell_text(cell));
}

std::vector<TextTable::Column> TextTable::natural_columns() const {
  const auto name = find_name_column(columns_);
  std::vector<Column> columns;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool is_name = name == i && !is_number_[i];
    Column column{
        {columns_[i]}, display_width(columns_[i]), is_number_[i], i == 0 || is_name, is_name};
    for (const auto& row : rows_) column.width = std::max(column.width, display_width(row[i]));
    columns.push_back(std::move(column));
  }
  return columns;
}

void TextTable::shrink_texts(std::vector<Column>& columns, int max_width, int narrowest) const {
  for (int total = total_width(columns); total > max_width; --total) {
    Column* candidate = nullptr;
    for (Column& column : columns) {
      if (column.is_number || column.is_name || column.width <= narrowest) continue;
      if (candidate == nullptr || column.width > candidate->width) candidate = &column;
    }
    if (candidate == nullptr) return;
    --candidate->width;
  }
}

void TextTable::shrink_name(std::vector<Column>& columns, int max_width) const {
  const int excess = total_width(columns) - max_width;
  for (std::size_t i = 0; i < columns.size() && excess > 0; ++i) {
    Column& column = columns[i];
    if (!column.is_name || column.width <= kReadableName) continue;
    const int least = width_apart(column_texts(i), kReadableName);
    column.width = std::clamp(column.width - excess, std::min(least, column.width), column.width);
  }
}

void TextTable::break_headers(std::vector<Column>& columns) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    column.header.clear();
    for (const auto word : split(columns_[i], ' ')) column.header.emplace_back(word);
    column.width = widest(column.header);
    for (const auto& row : rows_) column.width = std::max(column.width, display_width(row[i]));
  }
}

void TextTable::fit_beside_keys(std::vector<Column>& columns, int max_width) const {
  const auto limit = [](Column& column, int width) {
    if (!column.is_number) column.width = std::min(column.width, std::max(kNarrowest, width));
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    if (!column.is_key) continue;
    // At most half the width of a narrow terminal, unless names would look alike.
    const int half = max_width / 2;
    const bool is_long = column.is_name && column.width > half;
    limit(column, is_long ? width_apart(column_texts(i), std::max(half, kNarrowest)) : half);
  }
  // Shortens keys that fill the terminal: the column next to them needs space, too.
  for (Column& column : columns) {
    const int excess = key_width(columns) - (max_width - kGap - kComfortable);
    if (column.is_key && excess > 0) limit(column, column.width - excess);
  }
  for (Column& column : columns)
    if (!column.is_key) limit(column, max_width - kGap - key_width(columns));
}

std::vector<std::string> TextTable::column_texts(std::size_t column) const {
  std::vector<std::string> texts;
  for (const auto& row : rows_) texts.push_back(row[column]);
  return texts;
}

void TextTable::cut_texts(const std::vector<Column>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_number) continue;
    auto texts = shorten_apart(column_texts(i), columns[i].width,
                               columns[i].is_name ? Keep::ends : Keep::begins);
    for (std::size_t row = 0; row < rows_.size(); ++row) rows_[row][i] = std::move(texts[row]);
  }
}

void TextTable::render_block(const std::vector<Column>& columns, std::span<const std::size_t> block,
                             bool bold_header, std::string& out) const {
  std::string line;
  const auto add_line = [&](auto&& cell_at) {
    for (std::size_t n = 0; n < block.size(); ++n) {
      if (n > 0) line.append(kGap, ' ');
      const Column& column = columns[block[n]];
      append_cell(line, cell_at(block[n]), column.width, column.is_number);
    }
  };
  std::size_t header_lines = 0;
  for (const std::size_t i : block) header_lines = std::max(header_lines, columns[i].header.size());
  for (std::size_t n = 0; n < header_lines; ++n) {
    add_line([&](std::size_t i) {
      // Aligns short headers to the bottom line.
      const auto& header = columns[i].header;
      const std::size_t above = header_lines - header.size();
      return n < above ? std::string() : header[n - above];
    });
    if (bold_header) line.insert(0, "\033[1m").append("\033[0m");
    end_line(line, out);
  }
  for (std::size_t n = 0; n < block.size(); ++n) {
    if (n > 0) line.append(kGap, ' ');
    for (int dash = 0; dash < columns[block[n]].width; ++dash) line += "─";
  }
  end_line(line, out);
  for (const auto& row : rows_) {
    add_line([&](std::size_t i) { return row[i]; });
    end_line(line, out);
  }
}

std::string TextTable::render(int max_width, bool bold_header) const {
  std::vector<Column> columns = natural_columns();
  if (max_width <= 0) max_width = total_width(columns);
  shrink_texts(columns, max_width, kComfortable);
  if (total_width(columns) > max_width) {
    break_headers(columns);
    shrink_texts(columns, max_width, kComfortable);
    auto narrow = columns;
    shrink_name(narrow, max_width);
    shrink_texts(narrow, max_width, kNarrowest);
    // Shrinks texts this far only if the table then need not be split.
    if (total_width(narrow) <= max_width) {
      columns = std::move(narrow);
    } else {
      fit_beside_keys(columns, max_width);
    }
  }
  TextTable shown = *this;
  shown.cut_texts(columns);
  return shown.render_blocks(columns, max_width, bold_header);
}

std::string TextTable::for_terminal(int fd) const {
  return render(text_width(fd), is_colour_allowed(fd));
}

std::string TextTable::render_blocks(const std::vector<Column>& columns, int max_width,
                                     bool bold_header) const {
  std::vector<std::size_t> keys;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].is_key) keys.push_back(i);
  std::string out;
  std::vector<std::size_t> block = keys;
  int used = key_width(columns);
  const auto flush = [&] {
    std::sort(block.begin(), block.end());
    if (!out.empty()) out += "\n";
    render_block(columns, block, bold_header, out);
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].is_key) continue;
    // Every table gets at least one column in addition to the repeated keys.
    if (block.size() > keys.size() && used + kGap + columns[i].width > max_width) {
      flush();
      block = keys;
      used = key_width(columns);
    }
    used += kGap + columns[i].width;
    block.push_back(i);
  }
  flush();
  return out;
}

}  // namespace msprof
