// The files that define the build of msprof agree: presets, scripts, options and the version.
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "support/files.hpp"
#include "support/run_program.hpp"

using namespace msprof;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = MSPROF_PAGES;

using Names = std::set<std::string>;

// Returns all matches of the first group of `pattern` in `text`.
Names all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  Names found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

std::string file_of_source(const char* name) {
  return test::read_file(kSource / name);
}

nlohmann::json presets(const char* file = "CMakePresets.json") {
  return nlohmann::json::parse(file_of_source(file));
}

Names configured_by(const nlohmann::json& document) {
  Names names;
  for (const auto& preset : document.at("configurePresets")) {
    if (!preset.value("hidden", false)) names.insert(preset.at("name"));
  }
  return names;
}

std::string version_of_project() {
  const Names versions =
      all_matches(file_of_source("CMakeLists.txt"), R"(project\(msprof VERSION ([0-9.]+))");
  REQUIRE(versions.size() == 1);
  return *versions.begin();
}

}  // namespace

TEST_CASE("Every preset that the manual names is there, to configure and to build") {
  const auto document = presets();
  const Names expected = {"release", "test",         "sanitize", "tsan",
                          "aarch64", "test-aarch64", "fuzz",     "bench"};
  Names built;
  for (const auto& preset : document.at("buildPresets")) {
    CHECK(preset.at("name") == preset.at("configurePreset"));
    built.insert(preset.at("name"));
  }
  CHECK(configured_by(document) == expected);
  CHECK(built == expected);
  CHECK(configured_by(presets("lib/runtime/CMakePresets.json")) ==
        Names{"runtime", "runtime-aarch64", "runtime-armhf"});
}

TEST_CASE("Options of the presets are options of CMakeLists.txt") {
  const std::string cmake_lists = file_of_source("CMakeLists.txt");
  Names options = all_matches(cmake_lists, R"(option\((MSPROF_\w+))");
  options.merge(all_matches(cmake_lists, R"(set\((MSPROF_\w+) \S+ CACHE)"));
  const auto document = presets();
  for (const auto& preset : document.at("configurePresets")) {
    if (!preset.contains("cacheVariables")) continue;
    for (const auto& [name, value] : preset.at("cacheVariables").items()) {
      if (!name.starts_with("MSPROF_")) continue;
      INFO(preset.at("name") << ": " << name);
      CHECK(options.contains(name));
    }
  }
}

TEST_CASE("Scripts build with the presets and add no option that a preset has") {
  Names used;
  for (const auto& entry : fs::directory_iterator(kSource / "scripts")) {
    const std::string script = test::read_file(entry.path());
    // A build folder with any other name uses the release preset.
    const std::string begin = R"((?:^|\n|; )\s*(?:nice )?scripts/build )";
    used.merge(all_matches(script, begin + R"((\w[\w-]*))"));
    INFO(entry.path());
    CHECK(all_matches(script, begin + R"((?:release|test|fuzz|bench) (-D\w+))").empty());
  }
  for (const char* preset : {"release", "test", "fuzz", "bench"}) {
    INFO(preset);
    CHECK(used.contains(preset));
  }
}

TEST_CASE(
    "The version is that of project() and stands nowhere else in the product or the scripts") {
  const std::string version = version_of_project();
  CHECK(test::run_msprof({"--version"}).out == "msprof " + version + "\n");

  std::string literal;
  for (const char c : version) literal += c == '.' ? std::string("\\.") : std::string(1, c);
  const std::regex alone("(^|[^0-9.])" + literal + "([^0-9.]|$)");
  for (const char* folder : {"apps", "lib", "scripts"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = test::read_file(entry.path());
      if (text.find(version) == std::string::npos) continue;
      INFO(entry.path());
      CHECK_FALSE(std::regex_search(text, alone));
    }
  }
}
