#include "msprof/capture_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/json_text.hpp"
#include "base/stdout_output.hpp"
#include "base/text.hpp"
#include "cluster/products/capture_analysis.hpp"

namespace msprof {

Exit analyse_capture(const CollectorSettings& settings, const ChosenCapture& capture) {
  const std::string words = settings.value("rule");
  const std::vector<std::string_view> rules = split(words, ',');
  const auto has_rule = [&](std::string_view rule) {
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  };
  const cluster::AnalysisOptions options{.writes_communication = has_rule("communication"),
                                         .writes_matrix = has_rule("communication_matrix"),
                                         .json = settings.value("type") != "db"};
  const ReadyStore ready = ready_store(capture);
  const auto files =
      cluster::write_capture_analysis(ready.db.database(), capture.products, options);
  // Callers of the vendor's tool find the files by these lines.
  for (const std::filesystem::path& file : files) {
    print_document_text(fmt::format("{{\"status\": 0, \"info\": \"\", \"data\": {}}}\n",
                                    json_string(std::filesystem::absolute(file).string())),
                        DocumentForm::json);
  }
  return ready.exit;
}

}  // namespace msprof
