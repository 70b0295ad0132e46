#include <dlfcn.h>
#include <stdio.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "support/files.hpp"
#include "support/temp_folder.hpp"

extern "C" int c_application(void);

namespace {

std::string run_output(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char block[4096];
  for (std::size_t got = 0; (got = fread(block, 1, sizeof block, pipe)) > 0;)
    text.append(block, got);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it)
    found.insert((*it)[1]);
  return found;
}

}  // namespace

TEST_CASE("the library needs only libc and libm") {
  const std::set<std::string> needed =
      all_matches(run_output("readelf -d " MSPROF_SVP_ACL), R"(NEEDED.*\[(.*)\])");
  // The dynamic loader is part of libc; before glibc 2.34, threads were a separate library.
  std::set<std::string> surprising;
  for (const std::string& name : needed) {
    if (!std::regex_match(name, std::regex(R"(lib(c|m|pthread)\.so.*|ld-linux.*)")))
      surprising.insert(name);
  }
  CHECK(needed.contains("libc.so.6"));
  CHECK(surprising == std::set<std::string>{});
}

TEST_CASE("the library runs with every glibc from 2.17 on") {
  const std::string undefined = run_output("nm -D --undefined-only " MSPROF_SVP_ACL);
  const std::set<std::string> versions = all_matches(undefined, R"(@(GLIBC_[0-9.]+))");
  CHECK(versions.contains("GLIBC_2.17"));
  std::set<std::string> newer;
  for (const std::string& version : versions) {
    int minor = 0;
    REQUIRE(sscanf(version.c_str(), "GLIBC_2.%d", &minor) == 1);
    if (minor > 17) newer.insert(version);
  }
  INFO(undefined);
  CHECK(newer == std::set<std::string>{});
  // Before glibc 2.34, the thread functions are in a separate library.
  CHECK(run_output("readelf -d " MSPROF_SVP_ACL).find("[libpthread.so.0]") != std::string::npos);
}

TEST_CASE("the pages of the runtime and its models are installed") {
  const msprof::test::TempFolder folder;
  run_output("cmake -DCMAKE_INSTALL_LOCAL_ONLY=1 -DCMAKE_INSTALL_PREFIX='" +
             folder.path().string() + "' -P " MSPROF_INSTALL_SCRIPT);
  for (const std::string page : {"lib/runtime/README.md", "lib/runtime/engine/MODEL_FORMAT.md"}) {
    INFO(page);
    const std::string text = msprof::test::read_file(folder.path() / MSPROF_DOC_FOLDER / page);
    CHECK(text.starts_with("# "));
    CHECK(text == msprof::test::read_file(std::filesystem::path(MSPROF_SOURCE_FOLDER) / page));
  }
}

TEST_CASE("the runtime's page lists every call of profiling") {
  const std::filesystem::path folder = MSPROF_SOURCE_FOLDER "/lib/runtime";
  const std::string header = msprof::test::read_file(folder / "svp/include/svp_acl_prof.h");
  const std::string page = msprof::test::read_file(folder / "README.md");
  const std::set<std::string> calls = all_matches(header, R"(svp_acl_prof_(\w+)\()");
  CHECK(calls.size() == 20);
  for (const std::string& call : calls) {
    INFO(call);
    CHECK(page.find("`" + call + "`") != std::string::npos);
  }
}

TEST_CASE("the library exports exactly the svp_acl functions of the interface") {
  const std::string text = run_output("nm -D --defined-only " MSPROF_SVP_ACL);
  std::set<std::string> exported;
  std::istringstream lines(text);
  for (std::string address, type, name; lines >> address >> type >> name;) {
    INFO(name);
    CHECK(name.starts_with("svp_acl_"));
    CHECK(type == "T");
    exported.insert(name);
  }
  // 2 + 7 + 20 + 37 + 67 + 3 functions in the six headers.
  CHECK(exported.size() == 136);
}

TEST_CASE("the library does not contain a sanitizer") {
  const std::string undefined = run_output("nm -D --undefined-only " MSPROF_SVP_ACL);
  CHECK(undefined.find("__asan") == std::string::npos);
  CHECK(undefined.find("__ubsan") == std::string::npos);
}

TEST_CASE("an application in C builds against the headers and runs") {
  CHECK(c_application() == 0);
}

TEST_CASE("the library can be loaded and unloaded at run time") {
  void* library = dlopen(MSPROF_SVP_ACL, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  CHECK(dlsym(library, "svp_acl_mdl_execute") != nullptr);
  CHECK(dlclose(library) == 0);
}
