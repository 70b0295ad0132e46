// A page of markdown as its links see it. For the tests of links and citations.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace msprof::test {

struct MarkdownLink {
  std::size_t line = 0;  // from 1
  std::string target;    // "cann_host.md#11-folders"
};

struct Markdown {
  std::vector<std::string> headings;  // as written, without '#'
  std::set<std::string> anchors;      // of headings by GitHub's rule, and of <a name="…">
  std::vector<std::string> numbers;   // that headings begin with: "1.8.3"
  std::vector<MarkdownLink> links;    // inline, in definitions, in HTML; not those in code
  // The text without code blocks and targets of links; lines stay lines.
  std::string prose;
};

Markdown parse_markdown(std::string_view text);

// The anchor that GitHub gives a heading, before it numbers equal ones.
std::string anchor_of(std::string_view heading);

}  // namespace msprof::test
