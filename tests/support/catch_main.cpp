// main() of the test programs: Catch2, and a report for tests/run_tests.py.
//
//   PROGRAM --list              prints the names of the cases, one per line
//   PROGRAM --report FILE --cases 3,4,5   runs these cases, by their numbers in that list
//   PROGRAM [Catch's arguments]
//
// The report has a line for the start of every case ("run NUMBER") and one for its end ("passed
// NUMBER", "failed NUMBER", "skipped NUMBER REASON"). Lines are written immediately, so that the
// runner knows which case was running if a program crashes.
#define CATCH_CONFIG_RUNNER  // NOLINT: a name of Catch
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/require.hpp"

namespace {

std::FILE* report = nullptr;
std::map<std::string, int> numbers;  // of all cases, by name
int skips_before = 0;

void write_line(const char* word, const std::string& name, const std::string& more = {}) {
  if (report == nullptr) return;
  std::fprintf(report, "%s %d%s\n", word, numbers.at(name), more.c_str());
  std::fflush(report);
}

class Reporting : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    TestEventListenerBase::testCaseStarting(info);
    skips_before = msprof::test::skip_count();
    write_line("run", info.name);
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (stats.totals.testCases.failed > 0) {
      write_line("failed", stats.testInfo.name);
    } else if (msprof::test::skip_count() > skips_before) {
      write_line("skipped", stats.testInfo.name, " " + msprof::test::last_skip());
    } else {
      write_line("passed", stats.testInfo.name);
    }
    TestEventListenerBase::testCaseEnded(stats);
  }
};
CATCH_REGISTER_LISTENER(Reporting)

// A Catch filter that matches only this name.
std::string make_filter(const std::string& name) {
  std::string filter;
  for (const char c : name) {
    if (std::strchr("[],\"\\", c) != nullptr) filter += '\\';
    filter += c;
  }
  return filter.front() == '-' ? '"' + filter + '"' : filter;
}

std::string make_filter(const std::vector<std::string>& names, const std::string& cases) {
  std::string filter;
  std::istringstream list(cases);
  for (std::string number; std::getline(list, number, ',');) {
    if (!filter.empty()) filter += ',';
    filter += make_filter(names.at(std::stoul(number)));
  }
  return filter;
}

}  // namespace

int main(int argc, char* argv[]) {
  Catch::Session session;
  std::string report_path;
  std::string cases;
  bool only_lists = false;
  using Catch::clara::Opt;
  session.cli(session.cli() | Opt(only_lists)["--list"]("list the cases, by number") |
              Opt(report_path, "file")["--report"]("where results are reported") |
              Opt(cases, "numbers")["--cases"]("cases to run, by number"));
  if (const int code = session.applyCommandLine(argc, argv); code != 0) return code;

  std::vector<std::string> names;
  for (const Catch::TestCase& test : Catch::getAllTestCasesSorted(session.config())) {
    numbers[test.name] = static_cast<int>(names.size());
    names.push_back(test.name);
  }
  if (only_lists) {
    for (const std::string& name : names) std::printf("%s\n", name.c_str());
    return 0;
  }
  if (!cases.empty()) {
    // Changing configData() is not enough: the session has already built its configuration.
    Catch::ConfigData data = session.configData();
    data.testsOrTags = {make_filter(names, cases)};
    session.useConfigData(data);
  }
  if (!report_path.empty()) {
    report = std::fopen(report_path.c_str(), "we");
    if (report == nullptr) {
      std::perror(report_path.c_str());
      return 1;
    }
  }
  return session.run();
}
