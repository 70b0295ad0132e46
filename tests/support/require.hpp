// Requirements that the machine may not meet: the test is then skipped and counted.
#pragma once

#include <string>
#include <string_view>

namespace msprof::test {

// Returns true if the test may continue. `what` is a word ("disk", "shared", "zsh"). If it is
// missing, prints the sentence `missing` on stdout and returns false; the test must return. But if
// the variable MSPROF_TEST_REQUIRE (words separated by blanks) contains `what`, throws, so that the
// test fails.
bool require_or_skip(std::string_view what, bool is_there, std::string_view missing);

// The same for the program `name` in PATH.
bool require_program_or_skip(const std::string& name);

// Number of calls of require_or_skip() that returned false, and the sentence printed last.
int skip_count();
std::string last_skip();

}  // namespace msprof::test
