#include "docs/markdown.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/text.hpp"

namespace msprof::test {

namespace {

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

// Returns the line with `code` replaced by blanks.
std::string without_code(std::string_view line) {
  std::string text(line);
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '`') {
      ++at;
      continue;
    }
    const std::size_t behind = std::min(text.find_first_not_of('`', at), text.size());
    const std::string marks(behind - at, '`');
    std::size_t close = text.find(marks, behind);
    // As many marks must close as opened.
    while (close != std::string::npos && close + marks.size() < text.size() &&
           text[close + marks.size()] == '`') {
      close = text.find(marks, std::min(text.find_first_not_of('`', close), text.size()));
    }
    if (close == std::string::npos) {
      at = behind;
      continue;
    }
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(behind),
              text.begin() + static_cast<std::ptrdiff_t>(close), ' ');
    at = close + marks.size();
  }
  return text;
}

// Returns the target: "a.md" in "<a.md>" and "a.md "title"".
std::string target_in(std::string_view text) {
  text = trim(text);
  if (text.starts_with('<'))
    return std::string(text.substr(1, std::min(text.find('>'), text.size()) - 1));
  return std::string(text.substr(0, text.find_first_of(" \t")));
}

void find_inline_links(std::string_view line, std::size_t number, Markdown& page) {
  for (std::size_t at = line.find("]("); at != std::string_view::npos;
       at = line.find("](", at + 2)) {
    int depth = 1;
    std::size_t end = at + 2;
    while (end < line.size() && depth > 0) {
      if (line[end] == '(') ++depth;
      if (line[end] == ')') --depth;
      ++end;
    }
    if (depth == 0) page.links.push_back({number, target_in(line.substr(at + 2, end - at - 3))});
  }
}

// Removes link targets, and texts that only name a page: links are checked separately, so these are
// not citations.
std::string without_targets(std::string_view line) {
  std::string text(line);
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at)) {
    const std::size_t close = text.find(')', at);
    if (close == std::string::npos) break;
    text.replace(at, close + 1 - at, "]");
    const std::size_t open = text.rfind('[', at);
    const bool is_page = std::string_view(text).substr(0, at).ends_with(".md");
    if (is_page && open != std::string::npos) text.replace(open, at - open, "[");
  }
  return text;
}

// Parses "[name]: target".
void find_definition(std::string_view line, std::size_t number, Markdown& page) {
  const std::string_view text = trim(line);
  const std::size_t close = text.find("]:");
  if (!text.starts_with('[') || text.starts_with("[^") || close == std::string_view::npos) return;
  page.links.push_back({number, target_in(text.substr(close + 2))});
}

void find_html(std::string_view line, std::size_t number, Markdown& page) {
  for (const std::string_view attribute : {"href=\"", "src=\"", "name=\"", "id=\""}) {
    for (std::size_t at = line.find(attribute); at != std::string_view::npos;
         at = line.find(attribute, at + 1)) {
      const std::size_t begin = at + attribute.size();
      const std::string value(line.substr(begin, line.find('"', begin) - begin));
      if (attribute.starts_with("href") || attribute.starts_with("src")) {
        page.links.push_back({number, value});
      } else {
        page.anchors.insert(value);
      }
    }
  }
}

// Returns "1.8 Records" for "## 1.8 Records ##"; empty for a line that is not a heading.
std::string_view heading_in(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  if (level == 0 || level > 6 || level == line.size() || line[level] != ' ') return {};
  std::string_view text = trim(line.substr(level));
  while (text.ends_with('#')) text.remove_suffix(1);
  return trim(text);
}

// Returns "1.8" for "1.8 Records".
std::string heading_number(std::string_view heading) {
  const std::string_view word = heading.substr(0, heading.find(' '));
  const bool is_number = !word.empty() && is_decimal_digit(word.front()) &&
                         is_decimal_digit(word.back()) &&
                         word.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_number ? std::string(word) : std::string();
}

// Detects non-ASCII symbols, which an anchor omits, unlike letters.
bool is_sign(std::uint32_t code) {
  return (code >= 0xA0 && code < 0xC0 && code != 0xAA && code != 0xB5 && code != 0xBA) ||
         code == 0xD7 || code == 0xF7 || (code >= 0x2000 && code < 0x2C00) ||
         (code >= 0x3000 && code < 0x3030) || (code >= 0xFF00 && code < 0xFF10) || code >= 0x1F000;
}

std::size_t utf8_length(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

std::uint32_t code_point(std::string_view letter) {
  constexpr std::uint32_t kFirstBits[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
  std::uint32_t code = static_cast<unsigned char>(letter[0]) & kFirstBits[letter.size()];
  for (const char c : letter.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  return code;
}

// Returns the displayed text of a heading: links by their text, no tags.
std::string shown(std::string_view heading) {
  const std::string plain = without_code(heading);
  std::string text;
  for (std::size_t at = 0; at < heading.size(); ++at) {
    const bool in_code = plain[at] != heading[at];
    if (!in_code && plain[at] == '<' && plain.find('>', at) != std::string::npos) {
      at = plain.find('>', at);
    } else if (!in_code && plain.compare(at, 2, "](") == 0 &&
               plain.find(')', at) != std::string::npos) {
      at = plain.find(')', at);
    } else {
      text += heading[at];
    }
  }
  return text;
}

}  // namespace

std::string heading_anchor(std::string_view heading) {
  const std::string text = lower_ascii(shown(heading));
  std::string anchor;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(static_cast<unsigned char>(text[at]));
    const std::string_view letter = std::string_view(text).substr(at, length);
    at += length;
    const char c = letter[0];
    if (length > 1) {
      if (!is_sign(code_point(letter))) anchor += letter;
    } else if (c == ' ' || c == '-') {
      anchor += '-';
    } else if (is_decimal_digit(c) || (c >= 'a' && c <= 'z') || c == '_') {
      anchor += c;
    }
  }
  return anchor;
}

Markdown parse_markdown(std::string_view text) {
  Markdown page;
  std::map<std::string, int> seen;
  std::size_t number = 0;
  std::string fence;  // marks that opened the current code block
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view trimmed = trim(line);
    if (!fence.empty()) {
      if (trimmed.starts_with(fence)) fence.clear();
      page.prose += '\n';
      continue;
    }
    if (trimmed.starts_with("```") || trimmed.starts_with("~~~")) {
      fence = trimmed.substr(0, 3);
      page.prose += '\n';
      continue;
    }
    page.prose += without_targets(line);
    page.prose += '\n';
    if (const std::string_view heading = heading_in(line); !heading.empty()) {
      const std::string anchor = heading_anchor(heading);
      const int before = seen[anchor]++;
      page.anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
      page.headings.emplace_back(heading);
      if (std::string section = heading_number(heading); !section.empty())
        page.numbers.push_back(std::move(section));
    }
    const std::string plain = without_code(line);
    find_inline_links(plain, number, page);
    find_definition(plain, number, page);
    find_html(plain, number, page);
  }
  return page;
}

}  // namespace msprof::test
