// What comments and pages of the repository point to, and the checks that it is there. A check
// gives a sentence for each thing that is wrong: "lib/x.hpp:3: cann_host.md has no section 9.9".
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "docs/comments.hpp"
#include "docs/markdown.hpp"

namespace msprof::test {

// "cann_host.md 1.8, 1.10 (remark)": a page as it is written, and the sections behind its name.
struct Citation {
  std::string page;
  std::vector<std::string> sections;
  std::size_t line = 0;  // within the text, from 0
};
std::vector<Citation> citations_in(std::string_view text);

// Sections without a page, for pages that the file names elsewhere: "3.2" where a comment begins
// with it, and numbers alone in parentheses, "(5.3, 5.4)".
std::vector<std::string> bare_sections_in(std::string_view comment);

// Paths are relative to the repository's folder: "docs/formats/cann_host.md".
class Documents {
 public:
  Documents() = default;
  // Everything below `folder`, but for what is built, installed or hidden.
  static Documents read(const std::filesystem::path& folder);
  void add(const std::string& path, std::string_view text = {});

  const std::map<std::string, Markdown>& pages() const { return pages_; }
  const std::set<std::string>& files() const { return files_; }

  // Comments of a source file: pages and their sections, paths below docs/.
  std::vector<std::string> wrong_citations(const std::string& file, std::string_view source,
                                           CommentStyle style) const;
  // The same of the prose of a page.
  std::vector<std::string> wrong_citations(const std::string& page) const;
  std::vector<std::string> wrong_links(const std::string& page) const;
  // Numbers that two headings of a page have.
  std::vector<std::string> repeated_sections(const std::string& page) const;

 private:
  std::string find_page(const std::string& file, const std::string& name) const;
  bool has_section(const std::string& page, const std::string& section) const;
  void check_text(const std::string& file, std::size_t line, std::string_view text,
                  bool needs_sections, std::set<std::string>& cited,
                  std::vector<std::string>& wrong) const;

  std::map<std::string, Markdown> pages_;
  std::set<std::string> files_;  // and folders
};

}  // namespace msprof::test
