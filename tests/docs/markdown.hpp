// A markdown page with its links and link targets, for the tests of links and citations.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

struct MarkdownLink {
  std::size_t line = 0;  // line number, from 1
  std::string target;    // e.g. "cann_host.md#11-folders"
};

struct Markdown {
  std::vector<std::string> headings;  // text as written, without '#'
  std::set<std::string> anchors;      // anchors of headings by GitHub's rule, and of <a name="…">
  std::vector<std::string> numbers;   // section numbers of headings: "1.8.3"
  std::vector<MarkdownLink> links;    // inline, in definitions and in HTML, but not in code
  // The text without code blocks and link targets; line breaks are kept.
  std::string prose;
};

Markdown parse_markdown(std::string_view text);

// The anchor that GitHub gives a heading, before equal anchors get numbers.
std::string heading_anchor(std::string_view heading);

}  // namespace msprof::test
