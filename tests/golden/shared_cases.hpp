// The shared cases: captures with products made by the vendor's tool, and the comparer for them.
#pragma once

#include <filesystem>
#include <string>

#include "golden/cann_fixture.hpp"

namespace msprof::test {

// The folder of the shared files, next to the repository; it does not exist everywhere.
const std::filesystem::path& shared_folder();
// Returns true if there are cases of that group ("cann", "system"); otherwise the test is skipped.
bool has_cases_or_skip(const std::string& group);

// The one PROF folder in `parent`.
std::filesystem::path prof_in(const std::filesystem::path& parent);

// A copy of a case's capture, e.g. "910a_a" of the group "cann", for making products.
struct SharedCase {
  SharedCase(const std::string& group, const std::string& name);

  std::filesystem::path expected;
  TempFolder folder;
  std::filesystem::path prof;
  std::filesystem::path products;
};

// "equal", or the comparer's output for `files` in `expected` (all files if empty) and their
// counterparts in `actual`. `options` are passed to the comparer.
std::string compare_products(const std::filesystem::path& expected,
                             const std::filesystem::path& actual, const Lines& options,
                             const Lines& files);

}  // namespace msprof::test
