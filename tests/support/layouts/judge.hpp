// Holds a layout that was found against the truth. For the tests and the soak of the inference.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "import/layout/inferred_layout.hpp"
#include "support/layouts/layout_generator.hpp"

namespace msprof::test {

struct KindVerdict {
  // Of each field, "record size" and "header size": "certain", "likely", "unknown", the first two
  // with ", wrong" where the truth is another.
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<std::string> wrong;  // certain and wrong
  bool has_main_fields = false;    // record size, layer, start, end, total are certain and right
};

// `bytes`: of the data file. A field is right when it gives the value of the true one in every
// record.
KindVerdict judge(const layout::FoundKind& found, const TrueLayout& truth,
                  const std::string& bytes);

}  // namespace msprof::test
