// Checks the repository: every page and section cited by a comment, and every link target of a
// page, exists; the folders of lib make only includes allowed by lib/ARCHITECTURE.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "docs/documents.hpp"
#include "docs/include_table.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;

namespace {

const Documents& repository() {
  static const Documents read = Documents::read(MSPROF_SOURCE_DIR);
  return read;
}

std::string join_lines(const std::vector<std::string>& wrong) {
  std::string text;
  for (const std::string& sentence : wrong) text += sentence + "\n";
  return text;
}

void append(std::vector<std::string>& to, std::vector<std::string> more) {
  to.insert(to.end(), more.begin(), more.end());
}

// lib/store/pages includes only lib/base; only sources of the store include it, by pages.hpp.
std::vector<std::string> wrong_page_includes(const std::string& file, const std::string& source) {
  const std::string include = "#include \"store/", pages = "pages/",
                    interface = "pages/pages.hpp\"";
  const bool is_inside = file.starts_with("lib/store/pages/");
  const bool is_user = file.starts_with("lib/store/") && file.ends_with(".cpp");
  std::vector<std::string> wrong;
  for (std::size_t at = source.find(include); at != source.npos; at = source.find(include, at)) {
    at += include.size();
    const std::string_view path = std::string_view(source).substr(at, source.find('\n', at) - at);
    const bool is_allowed = is_inside ? path.starts_with(pages)
                                      : !path.starts_with(pages) || (is_user && path == interface);
    if (!is_allowed) wrong.push_back(file + " may not include \"store/" + std::string(path));
  }
  return wrong;
}

}  // namespace

TEST_CASE("every page and section cited in a comment exists") {
  std::vector<std::string> wrong;
  std::size_t sources = 0;
  for (const std::string& file : repository().files()) {
    const std::filesystem::path path = std::filesystem::path(MSPROF_SOURCE_DIR) / file;
    // The tests of this folder cite pages that do not exist.
    const auto style = comment_style(file);
    if (!style || std::filesystem::is_directory(path) || file.starts_with("tests/docs/")) continue;
    ++sources;
    append(wrong, repository().wrong_citations(file, read_file(path), *style));
  }
  CHECK(join_lines(wrong) == "");
  CHECK(sources > 400);
}

TEST_CASE("every page and section cited in a page exists") {
  std::vector<std::string> wrong;
  for (const auto& [page, content] : repository().pages())
    append(wrong, repository().wrong_citations(page));
  CHECK(join_lines(wrong) == "");
}

TEST_CASE("every link of a page leads to a file and a heading") {
  std::vector<std::string> wrong;
  for (const auto& [page, content] : repository().pages())
    append(wrong, repository().wrong_links(page));
  CHECK(join_lines(wrong) == "");
}

TEST_CASE("every link of an installed page leads to an installed page or to the source") {
  const TempFolder folder;
  const std::string install = "cmake -DCMAKE_INSTALL_LOCAL_ONLY=1 -DCMAKE_INSTALL_PREFIX='" +
                              folder.path().string() + "' -P " MSPROF_INSTALL_SCRIPT " >/dev/null";
  REQUIRE(std::system(install.c_str()) == 0);
  const Documents installed = Documents::read(folder.path() / MSPROF_DOC_FOLDER);
  std::vector<std::string> wrong;
  for (const auto& [page, content] : installed.pages()) append(wrong, installed.wrong_links(page));
  CHECK(join_lines(wrong) == "");
  CHECK(installed.pages().size() == repository().pages().size());
}

TEST_CASE("section numbers of a page are unique") {
  std::vector<std::string> wrong;
  for (const auto& [page, content] : repository().pages())
    append(wrong, repository().repeated_sections(page));
  CHECK(join_lines(wrong) == "");
}

TEST_CASE("README.md can be read in a few minutes: it has 110 lines at most") {
  const std::string text = read_file(std::filesystem::path(MSPROF_SOURCE_DIR) / "README.md");
  CHECK(std::count(text.begin(), text.end(), '\n') <= 110);
}

TEST_CASE("the folders of lib include only what ARCHITECTURE.md allows") {
  const std::filesystem::path root = MSPROF_SOURCE_DIR;
  const IncludeTable table(read_file(root / "lib" / "ARCHITECTURE.md"));
  CHECK(join_lines(table.wrong_rows()) == "");
  std::set<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(root / "lib"))
    if (entry.is_directory()) folders.insert(entry.path().filename());
  CHECK(folders == table.folders());
  std::vector<std::string> wrong;
  std::size_t sources = 0;
  for (const std::string& file : repository().files()) {
    const bool is_source = file.ends_with(".cpp") || file.ends_with(".hpp") ||
                           file.ends_with(".c") || file.ends_with(".h") || file.ends_with(".def") ||
                           file.ends_with(".cpp.in");
    if (!is_source || !file.starts_with("lib/")) continue;
    ++sources;
    const std::string source = read_file(root / file);
    append(wrong, table.wrong_includes(file, source));
    append(wrong, wrong_page_includes(file, source));
  }
  CHECK(join_lines(wrong) == "");
  CHECK(sources > 400);
}
