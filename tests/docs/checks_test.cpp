// Tests the checks on small texts: planted errors are found, and only those.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "docs/documents.hpp"
#include "docs/include_table.hpp"

using namespace msprof::test;

using Texts = std::vector<std::string>;

namespace {

Documents small() {
  Documents documents;
  documents.add("README.md", "# Title\n[a](docs/formats/cann_host.md#1-raw-data)\n");
  documents.add("docs/formats/cann_host.md",
                "# Host\n## 1 Raw data\n### 1.8 Records\n#### 1.8.1 api_event\n## 1.10 Tasks\n");
  documents.add("docs/formats/cann_device.md", "# Device\n### 5.3 Log\n### 5.4 Thread log\n");
  documents.add("lib/runtime/engine/MODEL_FORMAT.md", "# Model\n");
  documents.add("lib/x.cpp");
  return documents;
}

Texts wrong(const std::string& source, const std::string& file = "lib/x.cpp") {
  return small().wrong_citations(file, source, CommentStyle::slashes);
}

Texts wrong_links(const std::string& text) {
  Documents documents = small();
  documents.add("docs/page.md", text);
  return documents.wrong_links("docs/page.md");
}

}  // namespace

TEST_CASE("citations of existing pages and sections pass") {
  CHECK(wrong("// Source: cann_host.md 1.8, 1.10.\n").empty());
  CHECK(wrong("// Source: cann_host.md 1.8 (calls), 1.10; cann_device.md 5.3 to 5.4.\n").empty());
  CHECK(wrong("// Sources: cann_host.md 1.8.1 and 1.10, cann_device.md\n// 5.3-5.4.\n").empty());
  CHECK(wrong("/* cann_host.md 1\n * and more */ int a;\n").empty());
  CHECK(wrong("int a;  // see lib/runtime/engine/MODEL_FORMAT.md\n").empty());
  CHECK(wrong("// MODEL_FORMAT.md has it\n", "lib/runtime/engine/model/model.hpp").empty());
  CHECK(wrong("// docs/formats, docs/formats/cann_host.md 1.8\n").empty());
}

TEST_CASE("a citation of a missing section is found, with its line") {
  CHECK(wrong("int a;\n// Source: cann_host.md 1.9.\n") ==
        Texts{"lib/x.cpp:2: cann_host.md has no section 1.9"});
  CHECK(wrong("// Source: cann_host.md 1.8 (remark), 9,\n// 1.10.\n") ==
        Texts{"lib/x.cpp:1: cann_host.md has no section 9"});
  CHECK(wrong("// text\n// cann_host.md 1.8 to 1.12\n") ==
        Texts{"lib/x.cpp:2: cann_host.md has no section 1.12"});
  CHECK(wrong("// cann_device.md\n// 5.5\n") ==
        Texts{"lib/x.cpp:1: cann_device.md has no section 5.5"});
}

TEST_CASE("a citation of a missing page is found") {
  CHECK(wrong("// Source: cann_corrections.md J-A1.\n") ==
        Texts{"lib/x.cpp:1: there is no cann_corrections.md"});
  CHECK(wrong("// Model_format.md has it\n") == Texts{"lib/x.cpp:1: there is no Model_format.md"});
  CHECK(wrong("// as docs/atlas.md says\n") == Texts{"lib/x.cpp:1: there is no docs/atlas.md"});
  CHECK(wrong("// pictures of docs/images\n") == Texts{"lib/x.cpp:1: there is no docs/images"});
}

TEST_CASE("a citation of a page with sections must name a section") {
  CHECK(wrong("// Source: cann_host.md.\n") ==
        Texts{"lib/x.cpp:1: cann_host.md is cited without a section"});
}

TEST_CASE("a bare section number refers to a page that the file cites") {
  const std::string head = "// Source: cann_device.md 5.3.\n\n";
  CHECK(wrong(head + "struct A {  // 5.4\n// The log (5.3, 5.4).\n").empty());
  CHECK(wrong(head + "struct A {  // 5.5, chips 1 and 2\n") ==
        Texts{"lib/x.cpp:3: no page that is cited here has a section 5.5"});
  CHECK(wrong(head + "// The log (5.3, 9.4).\n") ==
        Texts{"lib/x.cpp:3: no page that is cited here has a section 9.4"});
  CHECK(wrong(head + "// 5.5 ms of max(0.25, 0.5), (12), (64 bytes), (20.408)\n").empty());
  CHECK(wrong("// The log (9.4).\n").empty());
}

TEST_CASE("text that is not a comment, not one of our pages or not a section is ignored") {
  CHECK(wrong("const char* a = \"// none.md 1.2\";\n").empty());
  CHECK(wrong("auto a = R\"(// none.md)\"; char b = '\"'; int c = 1'000;\n").empty());
  CHECK(wrong("// *.md, <page>.md and https://example.com/none.md\n").empty());
  CHECK(wrong("// cann_host.md 1.8: 3 kinds of it\n").empty());
  CHECK(small()
            .wrong_citations("a.cmake", "set(A \"# none.md\")\n# cann_host.md 1.8\n",
                             CommentStyle::hash)
            .empty());
}

TEST_CASE("comments in scripts are checked") {
  CHECK(small().wrong_citations("scripts/a", "echo a # none.md\n", CommentStyle::hash) ==
        Texts{"scripts/a:1: there is no none.md"});
}

TEST_CASE("citations in pages are checked, code blocks are not") {
  Documents documents = small();
  documents.add("docs/page.md",
                "# A\nSee `cann_host.md 1.8` and `cann_host.md 7`.\n"
                "```\nnone.md\n```\nnone.md\n");
  CHECK(documents.wrong_citations("docs/page.md") ==
        Texts{"docs/page.md:2: cann_host.md has no section 7",
              "docs/page.md:6: there is no none.md"});
}

TEST_CASE("a link is not a citation, but a section in its text is") {
  Documents documents = small();
  documents.add("docs/page.md",
                "[none.md](none.md) [cann_host.md 7](formats/cann_host.md#none) x\n");
  CHECK(documents.wrong_citations("docs/page.md") ==
        Texts{"docs/page.md:1: cann_host.md has no section 7"});
}

TEST_CASE("links to files, headings and other sites pass") {
  CHECK(wrong_links("# One\n[a](#one) [b](formats/cann_host.md#18-records) [c](formats/)\n"
                    "[d](https://example.com/x#y) [e](../README.md) ![f](../lib/x.cpp \"title\")\n"
                    "`[g](none.md)`\n```\n[h](none.md)\n```\n[i]: formats/cann_device.md\n")
            .empty());
}

TEST_CASE("a dead link is found, with its line") {
  CHECK(wrong_links("text\n[a](none.md)\n") ==
        Texts{"docs/page.md:2: 'none.md': there is no such file"});
  CHECK(wrong_links("[a](formats/cann_host.md#19-none)\n") ==
        Texts{"docs/page.md:1: 'formats/cann_host.md#19-none': there is no such heading"});
  CHECK(wrong_links("[a](#none)\n") == Texts{"docs/page.md:1: '#none': there is no such heading"});
  CHECK(wrong_links("[a]: none.md\n<img src=\"none.png\">\n") ==
        Texts{"docs/page.md:1: 'none.md': there is no such file",
              "docs/page.md:2: 'none.png': there is no such file"});
  CHECK(wrong_links("[a](../../x.md) [b](/README.md)\n") ==
        Texts{"docs/page.md:1: '../../x.md': leaves the repository",
              "docs/page.md:1: '/README.md': leaves the repository"});
}

TEST_CASE("anchors are computed as by GitHub") {
  CHECK(heading_anchor("1.8 Records") == "18-records");
  CHECK(heading_anchor("node_basic_info and `node_attr_info`") ==
        "node_basic_info-and-node_attr_info");
  CHECK(heading_anchor("What it is: a `<name>`, or not?") == "what-it-is-a-name-or-not");
  CHECK(heading_anchor("rule_<device>.json") == "rule_json");  // a tag, which is not displayed
  CHECK(heading_anchor("[Title](page.md) – Größe … 2 × 3") == "title--größe--2--3");
  CHECK(parse_markdown("# A\n## A\n# A-1\n").anchors == std::set<std::string>{"a", "a-1"});
  CHECK(parse_markdown("# A\n<a name=\"old\"></a>\n").anchors == std::set<std::string>{"a", "old"});
}

TEST_CASE("a section number used twice is found") {
  Documents documents;
  documents.add("a.md", "# 1 One\n## 1.1 A\n## 1.1 B\n");
  CHECK(documents.repeated_sections("a.md") == Texts{"a.md has two sections 1.1"});
}

TEST_CASE("an include that the table does not allow is found, with its line") {
  const IncludeTable table(
      "| other | table |\n|---|---|\n| x | a |\n\n"
      "| folder | what it does | may include |\n|---|---|---|\n"
      "| a | Errors. | – |\n| b | Text. | a |\n| c | Both. | a, b |\ntext\n| d | no row | c |\n");
  CHECK(table.folders() == std::set<std::string>{"a", "b", "c"});
  CHECK(table.wrong_rows().empty());
  const std::string includes =
      "#include \"a/x.hpp\"\n#include <c/y.h>\n  # include \"b/z.hpp\"\n#include \"other/w.hpp\"\n";
  CHECK(table.wrong_includes("lib/c/deep/v.cpp", includes).empty());
  CHECK(table.wrong_includes("lib/b/v.cpp", includes).empty());
  CHECK(table.wrong_includes("lib/a/v.cpp", includes) ==
        Texts{"lib/a/v.cpp:3: a may not include \"b/z.hpp\""});
  CHECK(table.wrong_includes("lib/unknown/v.cpp", includes).size() == 2);
}

TEST_CASE("a folder that may include one below it in the table is found") {
  const IncludeTable table("| folder | may include |\n|---|---|\n| a | b |\n| b | a, b |\n");
  CHECK(table.wrong_rows() == Texts{"a may include b, which has no row above it",
                                    "b may include b, which has no row above it"});
}
