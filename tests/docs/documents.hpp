// References from comments and pages of the repository, and checks that their targets exist. A
// check returns one message per error: "lib/x.hpp:3: cann_host.md has no section 9.9".
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

// A citation such as "cann_host.md 1.8, 1.10 (remark)": the page as written, and the sections after
// its name.
struct Citation {
  std::string page;
  std::vector<std::string> sections;
  std::size_t line = 0;  // within the text, from 0
};
std::vector<Citation> citations_in(std::string_view text);

// Section numbers without a page, which refer to pages that the file cites elsewhere: "3.2" at the
// start of a comment, and parentheses with only numbers, "(5.3, 5.4)".
std::vector<std::string> bare_sections_in(std::string_view comment);

// The files and pages of the repository. Paths are relative to its root:
// "docs/formats/cann_host.md".
class Documents {
 public:
  Documents() = default;
  // Reads everything below `folder` except built, installed and hidden files.
  static Documents read(const std::filesystem::path& folder);
  void add(const std::string& path, std::string_view text = {});

  const std::map<std::string, Markdown>& pages() const { return pages_; }
  const std::set<std::string>& files() const { return files_; }

  // Checks the comments of a source file: pages and their sections, paths below docs/.
  std::vector<std::string> wrong_citations(const std::string& file, std::string_view source,
                                           CommentStyle style) const;
  // Checks the prose of a page.
  std::vector<std::string> wrong_citations(const std::string& page) const;
  std::vector<std::string> wrong_links(const std::string& page) const;
  // Section numbers used by two headings of a page.
  std::vector<std::string> repeated_sections(const std::string& page) const;

 private:
  std::string find_page(const std::string& file, const std::string& name) const;
  bool has_section(const std::string& page, const std::string& section) const;
  void check_text(const std::string& file, std::size_t line, std::string_view text,
                  bool needs_sections, std::set<std::string>& cited,
                  std::vector<std::string>& wrong) const;

  std::map<std::string, Markdown> pages_;
  std::set<std::string> files_;  // also folders
};

}  // namespace msprof::test
