// Captured text on a terminal: no name can send control sequences to it; files and pipes get every
// byte.
#include <catch2/catch.hpp>

#include "base/text.hpp"
#include "cli/cli_fixture.hpp"
#include "support/prof/prof_run.hpp"
#include "support/typed_terminal.hpp"

using namespace msprof::test;
namespace fs = std::filesystem;

namespace {

// Clears the screen, rings the bell, sets the title, changes the writing direction; a spreadsheet
// would also evaluate it as a formula.
const std::string kHostile = "=\x1b[2J\x1b]0;t\x07\x7f\u009b\u202e\u2066\u061c\u200f";
// The same as an SQL expression, with a NUL.
const std::string kHostileSql =
    "'=' || char(27) || '[2J' || char(27, 93) || '0;t' || char(7, 127, 155, 0x202e, 0x2066, 0x61c,"
    " 0x200f, 0)";

// Returns the screen of a program run on a terminal without colours, without the characters that
// the terminal adds.
std::string read_screen(const Words& words) {
  TypedTerminal terminal(msprof_path(), words,
                         {.variables = {{"NO_COLOR", "1"}}, .stdout_is_file = false});
  std::string screen = terminal.wait().err;
  // Removes the progress line, which each update clears.
  for (const std::string_view own : {"\r\x1b[K", "\r\n"}) {
    for (std::size_t at = screen.find(own); at != std::string::npos; at = screen.find(own, at))
      screen.replace(at, own.size(), "\n");
  }
  return screen;
}

bool is_harmless(const std::string& screen) {
  std::string text = screen;
  std::erase(text, '\t');
  std::erase(text, '\r');  // printed before a percentage
  return msprof::printable(text, msprof::KeepNewlines::yes) == text;
}

// Two equal captures with hostile folder names and contents.
struct HostileCaptures {
  TempFolder folder;
  fs::path first, second;

  explicit HostileCaptures(bool is_prof) {
    for (fs::path* capture : {&first, &second}) {
      const fs::path parent = folder / (capture == &first ? "a" : "b");
      if (is_prof) {
        prof::RunShape shape;
        shape.tasks = 60;
        *capture = prof::make_run(parent, {}, shape).folder;
      } else {
        *capture = make_face(parent, "JOBA").folder();
      }
      const fs::path odd = parent / (capture->filename().string() + kHostile);
      fs::rename(*capture, odd);
      *capture = odd;
      REQUIRE(run_msprof({"import", "-q", "-dir", odd.string()}).exit_code == 0);
      query(odd / "sqlite" / "msprof.db",
            "UPDATE name SET text = " + kHostileSql + " || text WHERE text <> ''");
    }
  }
};

}  // namespace

TEST_CASE("names of a capture steer no terminal, whichever verb shows them") {
  const bool is_prof = GENERATE(false, true);
  const HostileCaptures captures(is_prof);
  const std::string dir = captures.first.string(), other = captures.second.string();
  const std::string sql = "SELECT " + kHostileSql + " AS \"" + kHostile + "\", name FROM v_ops";
  for (const Words& words : {Words{"show", "-dir", dir},
                             Words{"show", "--json", "-dir", dir},
                             Words{"query", "-dir", dir},
                             Words{"query", "--json", "-dir", dir},
                             Words{"query", "-dir", dir, sql},
                             Words{"query", "-dir", dir, sql, "--format", "csv"},
                             Words{"query", "-dir", dir, sql, "--format", "json"},
                             Words{"query", "-dir", dir, sql, "--json"},
                             Words{"query", "-dir", dir, other, "--format", "csv", sql},
                             Words{"query", "-dir", dir, "SELECT " + kHostile},
                             Words{"compare", dir, other},
                             Words{"compare", dir, other, "--format", "csv"},
                             Words{"compare", dir, other, "--format", "html"},
                             Words{"compare", dir, other, "--json"},
                             Words{"advise", "-dir", dir, "--all"},
                             Words{"advise", "--json", "-dir", dir},
                             Words{"doctor", "--dir", dir},
                             Words{"doctor", "--json", "--dir", dir},
                             Words{"list", captures.folder.path().string()},
                             Words{"list", "--json", captures.folder.path().string()},
                             Words{"report", "-dir", dir},
                             Words{"export", "all", "-dir", dir, "-v"},
                             Words{"export", "text" + kHostile, "-dir", dir},
                             Words{"show", "-dir", dir + kHostile},
                             Words{"import", "-dir", other, "-v"},
                             Words{"import", "--json", "-dir", other}}) {
    const std::string screen = read_screen(words);
    INFO(words.front() << " " << words.back() << "\n" << screen.substr(0, 4000));
    CHECK_FALSE(screen.empty());
    CHECK(is_harmless(screen));
  }
}

TEST_CASE("a document on a terminal has the values that a pipe gets, and a pipe every byte") {
  const HostileCaptures captures(false);
  const std::string dir = captures.first.string();
  const std::string sql = "SELECT " + kHostileSql + " AS t";
  const std::string whole = kHostile + '\0';
  CHECK(run_msprof({"query", "-q", "-dir", dir, sql, "--format", "csv"}).out ==
        "t\n" + whole + "\n");
  CHECK(run_msprof({"query", "-q", "-dir", dir, sql, "--excel"}).out ==
        "\xEF\xBB\xBFt\n'" + whole + "\n");
  for (const Words& form : {Words{"--json"}, Words{"--format", "json"}}) {
    Words words = {"query", "-q", "-dir", dir, sql};
    words.insert(words.end(), form.begin(), form.end());
    const std::string piped = run_msprof(words).out;
    CHECK(piped.find("\x7f\u009b\u202e") != std::string::npos);
    CHECK(nlohmann::json::parse(read_screen(words)) == nlohmann::json::parse(piped));
  }
}
