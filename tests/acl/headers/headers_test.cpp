// The headers as programs include them, and the libraries as programs link them.
#include <dlfcn.h>
#include <fnmatch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/headers/elf_file.hpp"
#include "acl/headers/tables.hpp"
#include "support/files.hpp"
#include "support/variable.hpp"

extern "C" int short_names_resolve(void);

namespace {

namespace fs = std::filesystem;
using msprof::test::read_file;
using msprof::test::Variable;

const fs::path kTree = MSPROF_HOST_TREE;
const fs::path kLibraries = kTree / "lib64";

std::set<std::string> function_names(const msprof_named_function* table) {
  std::set<std::string> names;
  for (; table->name != nullptr; ++table) names.insert(table->name);
  return names;
}

// Returns the names that a header declares: the text between an export macro and the first
// parenthesis.
std::set<std::string> declared_in(const fs::path& header) {
  std::string text = std::regex_replace(read_file(header), std::regex("//[^\n]*"), "");
  text = std::regex_replace(text, std::regex("(^|\n)[ \t]*#[^\n]*"), "\n");
  const std::regex prototype(
      R"((ACL_FUNC_VISIBILITY|MSVP_PROF_API|ACL_DUMP_API|ACLNN_API)\s[^(;]*?(\w+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), prototype), end; it != end; ++it)
    names.insert((*it)[2]);
  return names;
}

// Returns the headers below include/, as programs include them, except those of mstx, which are
// tested separately.
std::set<std::string> installed_headers() {
  std::set<std::string> headers;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const auto& entry : fs::recursive_directory_iterator(kTree / "include", options)) {
    if (entry.path().extension() == ".h")
      headers.insert(entry.path().lexically_relative(kTree / "include").string());
  }
  std::erase_if(headers, [](const std::string& header) { return header.starts_with("mstx/"); });
  return headers;
}

std::set<std::string> all_names() {
  std::set<std::string> names;
  for (const HeaderTables& tables : header_tables()) names.merge(function_names(tables.c));
  return names;
}

// Returns the patterns after "global:" in the library's version script.
std::vector<std::string> exported_patterns() {
  const std::string map = read_file(MSPROF_ACL_EXPORTS);
  std::smatch match;
  REQUIRE(std::regex_search(map, match, std::regex(R"(global:([^}]*?)local:)")));
  std::string list = match[1];
  std::replace(list.begin(), list.end(), ';', ' ');
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), {}};
}

// Returns a value that the enumeration does not define, although a C program can pass it.
template <typename Enumeration>
Enumeration enumerator(int value) {
  Enumeration made;
  static_assert(sizeof made == sizeof value);
  std::memcpy(&made, &value, sizeof made);
  return made;
}

// Returns the output of bash after sourcing setenv.bash of the tree.
std::string after_setenv(const std::string& command) {
  const std::string line =
      "bash -c 'source \"" + (kTree / "bin/setenv.bash").string() + "\"; " + command + "'";
  FILE* pipe = popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  REQUIRE(pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("Every header has its table, and every table its header") {
  std::set<std::string> tabled;
  for (const HeaderTables& tables : header_tables()) tabled.insert(tables.header);
  CHECK(tabled == installed_headers());
}

TEST_CASE(
    "Each header, alone in a C11 and in a C++ file, gives the address of every function it "
    "declares") {
  std::size_t functions = 0;
  for (const HeaderTables& tables : header_tables()) {
    INFO(tables.header);
    for (const msprof_named_function* table : {tables.c, tables.cpp}) {
      for (const msprof_named_function* entry = table; entry->name != nullptr; ++entry) {
        INFO(entry->name);
        CHECK(entry->address != nullptr);
      }
      CHECK(function_names(table) == declared_in(kTree / "include" / tables.header));
    }
    functions += function_names(tables.c).size();
  }
  // Each function is declared in exactly one header.
  CHECK(functions == all_names().size());
}

TEST_CASE("Headers are also found by their short names in acl/") {
  CHECK(short_names_resolve() == 0);
}

TEST_CASE("A program that loads libascendcl.so finds every function by its name") {
  void* library = dlopen((kLibraries / "libascendcl.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  for (const std::string& name : all_names()) {
    INFO(name);
    CHECK(dlsym(library, name.c_str()) != nullptr);
  }
  CHECK(dlclose(library) == 0);
}

TEST_CASE("libascendcl.so exports exactly the functions of its map and headers") {
  const std::vector<std::string> patterns = exported_patterns();
  REQUIRE(!patterns.empty());
  const std::set<std::string> declared = all_names();
  // Exported because the injection of stamps looks them up by name; no CANN header declares them.
  const std::set<std::string> undeclared = {"InitInjectionMstx", "ProfRegisterMstxFunc",
                                            "aclprofWarmup"};
  for (const std::string& name : read_elf(kLibraries / "libascendcl.so").exported) {
    INFO(name);
    CHECK(std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
      return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    }));
    CHECK((declared.contains(name) || undeclared.contains(name)));
  }
}

TEST_CASE("libascendcl.so needs only libc and libm") {
  for (const std::string& name : read_elf(kLibraries / "libascendcl.so").needed) {
    INFO(name);
    CHECK(std::regex_match(name, std::regex(R"(lib(c|m|pthread|dl|rt)\.so\.\d+|ld-linux[\w.-]*)")));
  }
}

TEST_CASE("The companion libraries are empty and need libascendcl.so in their own folder") {
  for (const std::string name : {"msprofiler", "profapi", "c_sec", "nnopbase", "opapi",
                                 "acl_op_compiler", "acl_dvpp", "acl_cblas"}) {
    const fs::path path = kLibraries / ("lib" + name + ".so");
    INFO(path);
    const ElfFile file = read_elf(path);
    CHECK(file.needed == std::set<std::string>{"libascendcl.so"});
    CHECK(file.exported.empty());
    CHECK(file.soname == path.filename());
    CHECK(file.runpath == "$ORIGIN");
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != nullptr);
    CHECK(dlsym(library, "aclrtGetSocName") != nullptr);
    CHECK(dlclose(library) == 0);
  }
}

TEST_CASE("The alias names are links to libascendcl.so") {
  for (const std::string name : {"acl_rt", "acl_mdl", "acl_op_executor"}) {
    INFO(name);
    CHECK(fs::equivalent(kLibraries / ("lib" + name + ".so"), kLibraries / "libascendcl.so"));
  }
}

TEST_CASE("setenv.bash puts its own tree before existing paths") {
  CHECK(after_setenv("printf %s \"$ASCEND_HOME_PATH\"") == kTree.string());
  {
    const Variable python("PYTHONPATH", "/of/the/user");
    CHECK(after_setenv("printf %s \"$PYTHONPATH\"") ==
          (kTree / "python").string() + ":/of/the/user");
  }
  const Variable python("PYTHONPATH", std::nullopt);
  // No empty entry, which would mean the working folder.
  CHECK(after_setenv("set -u; printf %s \"$PYTHONPATH\"") == (kTree / "python").string());
  CHECK(after_setenv("printf %s \"${LD_LIBRARY_PATH%%:*}\"") == kLibraries.string());
  CHECK(after_setenv("cd \"$DDK_PATH\" && test -e runtime/include/acl/acl.h && test -e "
                     "include/mstx/ms_tools_ext.h "
                     "&& test -e \"$NPU_HOST_LIB\"/libascendcl.so && printf there") == "there");
}

TEST_CASE("Unknown enumeration values are refused") {
  std::int64_t option = 0;
  for (const int value : {-1, 4, 1000}) {
    INFO(value);
    CHECK(aclrtSetSysParamOpt(enumerator<aclSysParamOpt>(value), 1) == ACL_ERROR_INVALID_PARAM);
    CHECK(aclrtGetSysParamOpt(enumerator<aclSysParamOpt>(value), &option) ==
          ACL_ERROR_INVALID_PARAM);
  }
  std::int32_t property = 0;
  for (const int value : {-2, 3, 1000})
    CHECK(aclGetCannAttribute(enumerator<aclCannAttr>(value), &property) ==
          ACL_ERROR_INVALID_PARAM);
  CHECK(aclDataTypeSize(enumerator<aclDataType>(1000)) == 0);
}
