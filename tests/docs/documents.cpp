#include "docs/documents.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "support/files.hpp"

namespace msprof::test {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kFormats = "docs/formats/";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_path_char(char c) {
  return is_digit(c) || is_letter(c) || c == '_' || c == '-' || c == '.' || c == '/';
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t';
}

std::size_t lines_before(std::string_view text, std::size_t at) {
  return static_cast<std::size_t>(
      std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
}

// Accepts "1", "1.10.2", but not "0.5", "64.", "20.408".
bool is_section(std::string_view text) {
  const auto parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    return !part.empty() && part.size() <= 2 && std::all_of(part.begin(), part.end(), is_digit) &&
           part.front() != '0';
  });
}

// Reads the section numbers that follow the name of a page.
class SectionReader {
 public:
  SectionReader(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::vector<std::string> read() {
    std::vector<std::string> sections;
    skip_spaces();
    while (true) {
      const std::string section = number();
      if (section.empty()) return sections;
      sections.push_back(section);
      skip_remark();
      if (!skip_separator()) return sections;
    }
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // Returns "" for other text, and for a number that is part of a word: "3rd", "7%".
  std::string number() {
    std::size_t end = at_;
    while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '.')) ++end;
    std::string_view found = text_.substr(at_, end - at_);
    while (found.ends_with('.')) found.remove_suffix(1);
    const bool goes_on = end < text_.size() && (is_letter(text_[end]) || text_[end] == '%');
    if (goes_on || !is_section(found)) return {};
    at_ += found.size();
    return std::string(found);
  }

  void skip_remark() {
    const std::size_t before = at_;
    skip_spaces();
    const std::size_t close =
        at_ < text_.size() && text_[at_] == '(' ? text_.find(')', at_) : std::string_view::npos;
    at_ = close == std::string_view::npos ? before : close + 1;
  }

  bool skip_separator() {
    skip_spaces();
    bool found = false;
    for (const std::string_view separator : {",", "and", "to", "-", "–", "…"}) {
      if (!text_.substr(at_).starts_with(separator)) continue;
      at_ += separator.size();
      skip_spaces();
      found = true;
    }
    return found;
  }

  std::string_view text_;
  std::size_t at_;
};

// Calls `take(begin, word)` for each word made of path characters.
template <typename Take>
void for_each_path(std::string_view text, Take&& take) {
  for (std::size_t at = 0; at < text.size();) {
    if (!is_path_char(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_path_char(text[end])) ++end;
    // Patterns ("*.md", "<name>.md") and parts of URLs are not paths of the repository.
    const char before = at > 0 ? text[at - 1] : ' ';
    const bool is_part = std::string_view("*>:$}~{@").find(before) != std::string_view::npos;
    std::string_view word = text.substr(at, end - at);
    while (word.ends_with('.')) word.remove_suffix(1);
    if (!is_part && !word.empty()) take(at, word);
    at = end;
  }
}

bool is_page_name(std::string_view word) {
  return word.size() > 3 && word.ends_with(".md") && word[word.size() - 4] != '/';
}

std::string parent_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string joined(const std::string& folder, const std::string& name) {
  return fs::path(folder.empty() ? name : folder + "/" + name).lexically_normal().generic_string();
}

std::string at_line(const std::string& file, std::size_t line) {
  return file + ":" + std::to_string(line) + ": ";
}

bool is_skipped(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return (name.starts_with('.') && name != ".github") || name.starts_with("build") ||
         name == "node_modules" || name.ends_with(".files") || name.starts_with("JOB");
}

std::string percent_decoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string digits = lower_ascii(text.substr(at).substr(0, 3));
    const std::size_t high = digits.size() == 3 ? kHex.find(digits[1]) : std::string_view::npos;
    const std::size_t low = digits.size() == 3 ? kHex.find(digits[2]) : std::string_view::npos;
    if (text[at] == '%' && high != std::string_view::npos && low != std::string_view::npos) {
      decoded += static_cast<char>(high * 16 + low);
      at += 2;
    } else {
      decoded += text[at];
    }
  }
  return decoded;
}

// "https://…", "mailto:…"
bool is_elsewhere(std::string_view target) {
  const std::size_t colon = target.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         std::all_of(target.begin(), target.begin() + static_cast<long>(colon), is_letter);
}

}  // namespace

std::vector<Citation> citations_in(std::string_view text) {
  std::vector<Citation> citations;
  for_each_path(text, [&](std::size_t at, std::string_view word) {
    if (!is_page_name(word)) return;
    std::size_t behind = at + word.size();
    if (behind < text.size() && text[behind] == '`') ++behind;
    citations.push_back(
        {std::string(word), SectionReader(text, behind).read(), lines_before(text, at)});
  });
  return citations;
}

std::vector<std::string> bare_sections_in(std::string_view comment) {
  const auto with_points = [](std::vector<std::string> sections) {
    const bool any = std::any_of(sections.begin(), sections.end(), [](const std::string& section) {
      return section.find('.') != std::string::npos;
    });
    return any ? sections : std::vector<std::string>();
  };
  std::vector<std::string> found;
  const std::size_t end = std::min(comment.find_first_not_of("0123456789."), comment.size());
  const bool stands_alone = end == comment.size() || comment[end] == ',' || comment[end] == '\n';
  if (end > 0 && stands_alone) found = with_points(SectionReader(comment.substr(0, end), 0).read());
  for (std::size_t at = comment.find('('); at != std::string_view::npos;
       at = comment.find('(', at + 1)) {
    const std::size_t close = comment.find(')', at);
    if (close == std::string_view::npos) break;
    const std::string_view inner = comment.substr(at + 1, close - at - 1);
    if (inner.find_first_not_of("0123456789., \nandto-") != std::string_view::npos) continue;
    for (std::string& section : with_points(SectionReader(inner, 0).read()))
      found.push_back(std::move(section));
  }
  return found;
}

void Documents::add(const std::string& path, std::string_view text) {
  files_.insert(path);
  for (std::string folder = parent_folder(path); !folder.empty(); folder = parent_folder(folder))
    files_.insert(folder);
  if (path.ends_with(".md")) pages_[path] = parse_markdown(text);
}

Documents Documents::read(const fs::path& folder) {
  Documents documents;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator();
       ++at) {
    if (at->is_directory()) {
      if (is_skipped(at->path())) at.disable_recursion_pending();
      continue;
    }
    const std::string path = at->path().lexically_relative(folder).generic_string();
    documents.add(path, path.ends_with(".md") ? read_file(at->path()) : std::string());
  }
  return documents;
}

// Returns the page next to the file, in a folder above it, among the formats, or the only page of
// that name; otherwise an empty path.
std::string Documents::find_page(const std::string& file, const std::string& name) const {
  for (std::string folder = parent_folder(file);; folder = parent_folder(folder)) {
    if (std::string path = joined(folder, name); pages_.count(path) != 0) return path;
    if (folder.empty()) break;
  }
  if (std::string path = std::string(kFormats) + name; pages_.count(path) != 0) return path;
  std::vector<std::string> others;
  for (const auto& [path, page] : pages_) {
    if (path.ends_with("/" + name)) others.push_back(path);
  }
  return others.size() == 1 ? others.front() : std::string();
}

bool Documents::has_section(const std::string& page, const std::string& section) const {
  const auto& numbers = pages_.at(page).numbers;
  return std::find(numbers.begin(), numbers.end(), section) != numbers.end();
}

void Documents::check_text(const std::string& file, std::size_t line, std::string_view text,
                           bool needs_sections, std::set<std::string>& cited,
                           std::vector<std::string>& wrong) const {
  for (const Citation& citation : citations_in(text)) {
    const std::string where = at_line(file, line + citation.line);
    const std::string page = find_page(file, citation.page);
    if (page.empty()) {
      wrong.push_back(where + "there is no " + citation.page);
      continue;
    }
    cited.insert(page);
    for (const std::string& section : citation.sections) {
      if (!has_section(page, section))
        wrong.push_back(where + citation.page + " has no section " + section);
    }
    if (needs_sections && citation.sections.empty() && !pages_.at(page).numbers.empty())
      wrong.push_back(where + citation.page + " is cited without a section");
  }
  for_each_path(text, [&](std::size_t at, std::string_view word) {
    if (!word.starts_with("docs/") || is_page_name(word)) return;
    while (word.ends_with('/')) word.remove_suffix(1);
    if (files_.count(std::string(word)) == 0)
      wrong.push_back(at_line(file, line + lines_before(text, at)) + "there is no " +
                      std::string(word));
  });
}

std::vector<std::string> Documents::wrong_citations(const std::string& file,
                                                    std::string_view source,
                                                    CommentStyle style) const {
  std::vector<std::string> wrong;
  std::set<std::string> cited;
  const auto comments = read_comments(source, style);
  for (const Comment& comment : comments)
    check_text(file, comment.line, comment.text, true, cited, wrong);
  std::erase_if(cited, [&](const std::string& page) { return pages_.at(page).numbers.empty(); });
  if (cited.empty()) return wrong;
  for (const Comment& comment : comments) {
    for (const std::string& section : bare_sections_in(comment.text)) {
      const bool is_there = std::any_of(cited.begin(), cited.end(), [&](const std::string& page) {
        return has_section(page, section);
      });
      if (!is_there)
        wrong.push_back(at_line(file, comment.line) + "no page that is cited here has a section " +
                        section);
    }
  }
  return wrong;
}

std::vector<std::string> Documents::wrong_citations(const std::string& page) const {
  std::vector<std::string> wrong;
  std::set<std::string> cited;
  check_text(page, 1, pages_.at(page).prose, false, cited, wrong);
  return wrong;
}

std::vector<std::string> Documents::wrong_links(const std::string& page) const {
  std::vector<std::string> wrong;
  for (const MarkdownLink& link : pages_.at(page).links) {
    if (is_elsewhere(link.target)) continue;
    const std::string where = at_line(page, link.line) + "'" + link.target + "': ";
    const std::size_t hash = std::min(link.target.find('#'), link.target.size());
    const std::string name = percent_decoded(std::string_view(link.target).substr(0, hash));
    std::string path = name.empty() ? page : joined(parent_folder(page), name);
    while (path.ends_with('/')) path.pop_back();
    if (name.starts_with('/') || path.starts_with("..")) {
      wrong.push_back(where + "leaves the repository");
    } else if (path != "." && files_.count(path) == 0) {
      wrong.push_back(where + "there is no such file");
    } else if (hash < link.target.size()) {
      const auto found = pages_.find(path);
      const bool is_there =
          found != pages_.end() &&
          found->second.anchors.count(percent_decoded(link.target.substr(hash + 1))) != 0;
      if (!is_there) wrong.push_back(where + "there is no such heading");
    }
  }
  return wrong;
}

std::vector<std::string> Documents::repeated_sections(const std::string& page) const {
  std::vector<std::string> repeated;
  std::set<std::string> seen;
  for (const std::string& number : pages_.at(page).numbers) {
    if (!seen.insert(number).second) repeated.push_back(page + " has two sections " + number);
  }
  return repeated;
}

}  // namespace msprof::test
