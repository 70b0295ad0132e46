// What a test needs of the machine and may not find: it is skipped, and that is counted.
#pragma once

#include <string>
#include <string_view>

namespace msprof::test {

// Whether the test may go on. `what` is a word ("disk", "shared", "zsh"). Where it is not there,
// `missing` says so in a sentence on stdout and the test returns; but where the variable
// MSPROF_TEST_REQUIRE, words with blanks between them, names it, this throws: the test fails.
bool require_or_skip(std::string_view what, bool is_there, std::string_view missing);

// For a program of that name in PATH.
bool require_program_or_skip(const std::string& name);

// Number of calls of require_or_skip() that returned false, and the sentence of the last one.
int skip_count();
std::string last_skip();

}  // namespace msprof::test
