// Man pages: one per verb, complete, and accepted by groff without a warning.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "base/text.hpp"
#include "msprof/help_text.hpp"
#include "msprof/verbs.hpp"
#include "support/files.hpp"
#include "support/require.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;
namespace fs = std::filesystem;

namespace {

// Removes the escapes from a page's text.
std::string plain_text(std::string page) {
  for (const auto& [escape, text] : {std::pair{"\\-", "-"},
                                     {"\\(aq", "'"},
                                     {"\\(ga", "`"},
                                     {"\\(ti", "~"},
                                     {"\\&", ""},
                                     {"\\[u2026]", "…"},
                                     {"\\e", "\\"}}) {
    for (auto at = page.find(escape); at != std::string::npos; at = page.find(escape, at))
      page.replace(at, std::string(escape).size(), text);
  }
  return page;
}

// The texts of EXIT STATUS, as README has them: "| 3 | partial or bad data".
std::set<std::string> exit_rows(const std::string& page) {
  const auto begin = page.find(".SH EXIT STATUS\n");
  const auto lines =
      split(std::string_view(page).substr(begin, page.find(".SH", begin + 1) - begin), '\n');
  std::set<std::string> rows;
  for (std::size_t i = 1; i + 2 < lines.size(); i += 3) {
    const std::string_view code = lines[i + 1].substr(3, lines[i + 1].size() - 6);
    rows.insert("| " + std::string(code) + " | " + std::string(lines[i + 2]));
  }
  return rows;
}

}  // namespace

TEST_CASE("every verb has a man page with its options, and groff has no warning for it") {
  const test::TempFolder folder;
  const fs::path pages = folder.path() / "man1";
  REQUIRE(test::run_msprof({"__man_pages", pages.string()}).exit_code == 0);
  std::set<std::string> expected = {"msprof.1"};
  const auto root = build_command_tree();
  for (const auto& verb : root->commands()) {
    if (verb->is_hidden()) continue;
    const std::string name = "msprof-" + verb->name() + ".1";
    CAPTURE(name);
    expected.insert(name);
    const std::string page = plain_text(test::read_file(pages / name));
    for (const auto& option : verb->options()) {
      CAPTURE(option->names);
      CHECK(page.find("\\fB" + cli::option_head(*option) + "\\fR\n" + cli::option_help(*option)) !=
            std::string::npos);
    }
  }
  std::set<std::string> written;
  for (const auto& entry : fs::directory_iterator(pages)) {
    written.insert(entry.path().filename().string());
    const std::string page = test::read_file(entry.path());
    CAPTURE(entry.path());
    for (const char* title : {"NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "EXAMPLES"})
      CHECK(page.find("\n.SH " + std::string(title) + "\n") != std::string::npos);
  }
  CHECK(written == expected);

  if (!test::require_program_or_skip("groff")) return;
  for (const std::string& name : written) {
    const auto result =
        test::run_program("/usr/bin/groff", {"-man", "-Tutf8", "-ww", (pages / name).string()});
    CAPTURE(name);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
  }
}

TEST_CASE("man pages and README have the same exit codes") {
  const test::TempFolder folder;
  REQUIRE(test::run_msprof({"__man_pages", folder.path().string()}).exit_code == 0);
  const std::string readme = test::read_file(fs::path(MSPROF_PAGES) / "README.md");
  std::string table = plain_text(test::read_file(folder.path() / "msprof.1"));
  const auto rows = exit_rows(table);
  CHECK(rows.size() == 10);
  for (const std::string& row : rows) {
    CAPTURE(row);
    CHECK(readme.find("\n" + row) != std::string::npos);
  }
}
