#include "base/json_levels.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace msprof;

TEST_CASE("the depth of a JSON text is that of its arrays and objects") {
  CHECK_FALSE(is_nested_deeper("", 0));
  CHECK_FALSE(is_nested_deeper("5", 0));
  CHECK(is_nested_deeper("[]", 0));
  CHECK_FALSE(is_nested_deeper(R"({"a": [1, {"b": 2}], "c": [[3]]})", 3));
  CHECK(is_nested_deeper(R"({"a": [1, {"b": 2}], "c": [[3]]})", 2));
  CHECK(is_nested_deeper(std::string(1'000'000, '[')));
}

TEST_CASE("brackets in strings and comments are not counted") {
  CHECK_FALSE(is_nested_deeper(R"(["[[[[", "\"[[[", "\\"])", 1));
  CHECK(is_nested_deeper(R"(["\\", [[]]])", 2));
  CHECK_FALSE(is_nested_deeper("[ // [[\n /* [[ \" */ ]", 1));
  CHECK(is_nested_deeper("[ // \"\n [[ ]] ]", 2));
  CHECK(is_nested_deeper("[ /* \" */ [[ ]] ]", 2));
  CHECK(is_nested_deeper("[ / [[ ]] ]", 2));
  CHECK_FALSE(is_nested_deeper("[\"", 1));
  CHECK_FALSE(is_nested_deeper("[\"\\", 1));
  CHECK_FALSE(is_nested_deeper("/*", 1));
}
