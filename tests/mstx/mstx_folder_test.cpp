// Separate programs that call the client, and the data that import reads from their folders.
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/files.hpp"
#include "support/run_program.hpp"
#include "support/temp_folder.hpp"

using namespace msprof::test;
using nlohmann::json;

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

const std::string kLibrary = MSPROF_MSTX_LIBRARY;

// Runs a program under the recorder in a temporary folder.
struct Run {
  Run(const std::string& program, Variables variables,
      const std::vector<std::string>& arguments = {}) {
    result = run_program(std::string(MSPROF_MSTX_PROGRAMS "/") + program, arguments,
                         {folder.path(), std::move(variables)});
  }

  std::vector<std::filesystem::path> captures() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      if (entry.path().filename().string().starts_with("PROF_")) found.push_back(entry.path());
    }
    return found;
  }

  // Returns the rest of the output line that starts with this word.
  std::string said(const std::string& word) const {
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(word + " ")) return line.substr(word.size() + 1);
    }
    return "";
  }

  TempFolder folder;
  RunResult result;
};

// Imports the only capture; returns every range and mark, ordered by start.
json import_ranges(const Run& run) {
  REQUIRE(run.captures().size() == 1);
  const std::string capture = run.captures()[0].string();
  const RunResult import = run_msprof({"import", "-dir", capture});
  INFO(import.out << import.err);
  REQUIRE(import.exit_code == 0);
  CHECK((import.out + import.err).find("complete") != std::string::npos);
  const RunResult rows =
      run_msprof({"query", "SELECT * FROM v_user_ranges ORDER BY start_ns, message", "-q", "-dir",
                  capture, "--format", "json"});
  INFO(rows.err);
  REQUIRE(rows.exit_code == 0);
  return json::parse(rows.out);
}

std::vector<std::string> messages(const json& rows, const std::string& domain) {
  std::vector<std::string> found;
  for (const json& row : rows) {
    if (row.at("domain") == domain) found.push_back(row.at("message"));
  }
  return found;
}

json find_row(const json& rows, const std::string& message) {
  for (const json& row : rows) {
    if (row.at("message") == message) return row;
  }
  FAIL("no row " << message);
  return {};
}

std::string letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

void check_all_calls(const Run& run) {
  INFO(run.result.out << run.result.err);
  REQUIRE(run.result.exit_code == 0);
  CHECK(run.result.err.empty());
  CHECK(run.said("tool") == "4096");
  CHECK(run.said("ids") == "2 3");
  CHECK(run.said("refused") == "0");
  CHECK(run.said("handles") == "1 1 1 1");
  CHECK(run.said("heap") == "1");
  const json rows = import_ranges(run);
  CHECK(messages(rows, "default") == std::vector<std::string>{"a mark", "outer", "overlapping",
                                                              letters(400), letters(156),
                                                              "range in default"});
  CHECK(messages(rows, "net") == std::vector<std::string>{"mark in net", "range in net"});
  CHECK(rows.size() == 8);

  const json outer = find_row(rows, "outer"), mark = find_row(rows, "a mark");
  CHECK(outer.at("kind") == "start/end");
  CHECK(mark.at("kind") == "marker");
  CHECK(mark.at("duration_us") == 0);
  std::istringstream measured(run.said("outer"));
  double least_ns = 0, most_ns = 0;
  measured >> least_ns >> most_ns;
  const double recorded_ns = outer.at("duration_us").get<double>() * 1000;
  CHECK(recorded_ns >= least_ns - 1);
  CHECK(recorded_ns <= most_ns + 1);
}

}  // namespace

TEST_CASE("a C program with a recorder from MSTX_INJECTION_PATH records its ranges") {
  check_all_calls(Run("mstx_calls", {{"MSTX_INJECTION_PATH", kLibrary}}));
}

TEST_CASE("a C program with a preloaded recorder records its ranges") {
  check_all_calls(Run("mstx_calls", {{"LD_PRELOAD", kLibrary}}));
}

TEST_CASE("a C program linked to libms_tools_ext.so records its ranges") {
  check_all_calls(Run("mstx_linked", {{"MSTX_INJECTION_PATH", kLibrary}}));
  check_all_calls(Run("mstx_linked", {{"LD_PRELOAD", kLibrary}}));
  const Run alone("mstx_linked", {});
  CHECK(alone.result.exit_code == 0);
  CHECK(alone.said("tool") == "0");
  CHECK(alone.captures().empty());
}

TEST_CASE("without a recorder the calls have no effect") {
  for (const Variables& variables :
       {Variables{}, Variables{{"MSTX_INJECTION_PATH", "/nowhere/libmsprof_mstx.so"}}}) {
    const Run run("mstx_calls", variables);
    CHECK(run.result.exit_code == 0);
    CHECK(run.result.err.empty());
    CHECK(run.said("tool") == "0");
    CHECK(run.said("ids") == "0 0");
    CHECK(run.said("handles") == "0 1 1 1");
    CHECK(run.captures().empty());
  }
}

TEST_CASE("a program compiled with MSTX_DISABLE calls no library") {
  const Run run("mstx_disabled", {{"MSTX_INJECTION_PATH", kLibrary}});
  CHECK(run.result.exit_code == 0);
  CHECK(run.said("tool") == "0");
  CHECK(run.captures().empty());
}

TEST_CASE("a program without a call leaves no folder") {
  TempFolder folder;
  const RunResult result =
      run_program("/bin/true", {}, {folder.path(), {{"LD_PRELOAD", kLibrary}}});
  CHECK(result.exit_code == 0);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the folder is created in MSPROF_MSTX_OUTPUT") {
  const Run run("mstx_calls", {{"MSTX_INJECTION_PATH", kLibrary}, {"MSPROF_MSTX_OUTPUT", "a/b"}});
  REQUIRE(run.captures().size() == 1);
  CHECK(run.captures()[0].parent_path() == run.folder / "a/b");
}

TEST_CASE("if no folder can be created, the program runs and one line gives the reason") {
  const Run run("mstx_calls",
                {{"MSTX_INJECTION_PATH", kLibrary}, {"MSPROF_MSTX_OUTPUT", "/proc/nothing/here"}});
  CHECK(run.result.exit_code == 0);
  CHECK(run.said("ids") == "0 0");
  CHECK(std::count(run.result.err.begin(), run.result.err.end(), '\n') == 1);
  CHECK(run.result.err.find("marks and ranges are not recorded") != std::string::npos);
}

TEST_CASE("lists in the environment select the recorded domains") {
  const auto domains = [](Variables variables) {
    variables.emplace_back("MSTX_INJECTION_PATH", kLibrary);
    const Run run("mstx_calls", variables);
    std::vector<std::string> found;
    for (const json& row : import_ranges(run)) found.push_back(row.at("domain"));
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    if (!run.result.err.empty()) found.push_back("said");
    return found;
  };
  using Texts = std::vector<std::string>;
  CHECK(domains({{"MSPROF_MSTX_DOMAIN_INCLUDE", "net,other"}}) == Texts{"net"});
  CHECK(domains({{"MSPROF_MSTX_DOMAIN_EXCLUDE", "net"}}) == Texts{"default"});
  CHECK(domains({{"MSPROF_MSTX_DOMAIN_INCLUDE", "default"},
                 {"MSPROF_MSTX_DOMAIN_EXCLUDE", "default"}}) == Texts{"default", "said"});
}

TEST_CASE("ranges of all threads are recorded, those of a child process are not") {
  const Run run("mstx_threads", {{"MSTX_INJECTION_PATH", kLibrary}}, {"2000"});
  INFO(run.result.err);
  REQUIRE(run.result.exit_code == 0);
  const json rows = import_ranges(run);
  CHECK(rows.size() == 4 * 2 * 2000 + 4 + 1);
  for (const std::string thread : {"0", "1", "2", "3"}) {
    CHECK(messages(rows, "thread " + thread).size() == 2000);
    // A range ended by another thread belongs to the thread that started it.
    const json handed_over = find_row(rows, "handed over " + thread);
    const json first = [&] {
      for (const json& row : rows) {
        if (row.at("domain") == "thread " + thread) return row;
      }
      return json();
    }();
    CHECK(handed_over.at("thread_id") == first.at("thread_id"));
  }
  CHECK(messages(rows, "default").back() == "after the child");
}

TEST_CASE("the injection library exports one function and needs libc and libm only") {
  const RunResult exported =
      run_program("/usr/bin/nm", {"-D", "--defined-only", "--format=posix", kLibrary});
  REQUIRE(exported.exit_code == 0);
  CHECK(exported.out.starts_with("InitInjectionMstx T"));
  CHECK(std::count(exported.out.begin(), exported.out.end(), '\n') == 1);
  const RunResult needed = run_program("/usr/bin/readelf", {"-d", kLibrary});
  CHECK(needed.out.find("libc.so") != std::string::npos);
  CHECK(needed.out.find("libstdc++") == std::string::npos);
}

TEST_CASE("a closed library stays loaded for its threads") {
  for (const std::string& library : {kLibrary, std::string(MSPROF_ACL_LIBRARY)}) {
    void* const first = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(first != nullptr);
    CHECK(dlclose(first) == 0);
    void* const again = dlopen(library.c_str(), RTLD_NOW | RTLD_NOLOAD);
    CHECK(again != nullptr);
    if (again != nullptr) dlclose(again);
  }
}

TEST_CASE("libms_tools_ext.so exports every function of the client and nothing else") {
  const RunResult exported =
      run_program("/usr/bin/nm", {"-D", "--defined-only", "--format=posix", MSPROF_MSTX_CLIENT});
  REQUIRE(exported.exit_code == 0);
  for (const std::string function :
       {"mstxMarkA", "mstxRangeStartA", "mstxRangeEnd", "mstxGetToolId", "mstxDomainCreateA",
        "mstxDomainDestroy", "mstxDomainMarkA", "mstxDomainRangeStartA", "mstxDomainRangeEnd",
        "mstxMemHeapRegister", "mstxMemHeapUnregister", "mstxMemRegionsRegister",
        "mstxMemRegionsUnregister", "mstxMemPermissionsAssign"}) {
    INFO(function);
    CHECK(exported.out.find(function + " T") != std::string::npos);
  }
  CHECK(std::count(exported.out.begin(), exported.out.end(), '\n') == 14);
}
