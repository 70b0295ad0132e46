#define CATCH_CONFIG_RUNNER  // NOLINT: a name of Catch
#include <catch2/catch.hpp>

#include "support/require.hpp"

int main(int argc, char* argv[]) {
  const int failed = Catch::Session().run(argc, argv);
  return failed == 0 && msprof::test::skip_count() > 0 ? msprof::test::kSkippedExitCode : failed;
}
