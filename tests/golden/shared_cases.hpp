// The shared cases: captures with the products that the vendor's tool made of them, and the
// comparer that comes with them. For the tests that compare with these.
#pragma once

#include <filesystem>
#include <string>

#include "golden/cann_fixture.hpp"

namespace msprof::test {

// Where the shared files are: beside the repository, and not everywhere.
const std::filesystem::path& shared_folder();
// Whether there are cases of that group ("cann", "system"); else the test is skipped.
bool has_cases_or_skip(const std::string& group);

// The one PROF folder in `parent`.
std::filesystem::path prof_in(const std::filesystem::path& parent);

// A copy of the capture of a case, "910a_a" of the group "cann", to make products in.
struct SharedCase {
  SharedCase(const std::string& group, const std::string& name);

  std::filesystem::path expected;
  TempFolder folder;
  std::filesystem::path prof;
  std::filesystem::path products;
};

// "equal", or what the comparer says of `files` of the folder `expected` (all where there are none)
// and what `actual` has in their place. `options` are the comparer's.
std::string compare_products(const std::filesystem::path& expected,
                             const std::filesystem::path& actual, const Lines& options,
                             const Lines& files);

}  // namespace msprof::test
