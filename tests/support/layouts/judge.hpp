// Compares an inferred layout with the true one. For the tests and the soak of the inference.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "import/layout/inferred_layout.hpp"
#include "support/layouts/layout_generator.hpp"

namespace msprof::test {

struct KindVerdict {
  // Verdicts for each field, "record size" and "header size": "certain", "likely" or "unknown"; ",
  // wrong" is appended to the first two if the truth differs.
  std::vector<std::pair<std::string, std::string>> words;
  std::vector<std::string> wrong;  // certain but wrong
  bool has_main_fields = false;    // record size, layer, start, end, total are certain and right
};

// `bytes`: content of the data file. A field is right if it gives the true value in every record.
KindVerdict judge(const layout::FoundKind& found, const TrueLayout& truth,
                  const std::string& bytes);

}  // namespace msprof::test
