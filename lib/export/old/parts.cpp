#include "export/old/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/log.hpp"
#include "export/scope/cann_rules.hpp"
#include "export/scope/export_style.hpp"

namespace msprof::old {

std::filesystem::path cann5_folder(const Database& db, const std::filesystem::path& base,
                                   const std::string& part, const std::string& name) {
  // A folder that contains device_N/ would look like a PROF folder.
  if (read_generation(db) == "classic") return product_folder(base, name);
  return product_folder(product_folder(base, part), name);
}

std::vector<DevicePart> split_by_device(const Database& db, const ExportScope& scope) {
  std::vector<DevicePart> parts;
  const bool is_single_operator =
      read_generation(db) == "cann5" && !cann::has_rows(db, "SELECT 1 FROM iteration");
  Statement read = db.prepare("SELECT id FROM device ORDER BY id");
  while (read.step()) {
    DevicePart part{read.integer(0), scope, is_single_operator};
    if (!scope.takes_device(part.device)) continue;
    part.scope.devices = {part.device};
    std::erase_if(part.scope.windows,
                  [&](const IterationWindow& window) { return window.device_id != part.device; });
    if (part.scope.windows.empty() && !scope.windows.empty()) {
      log::info("{}: the device did not run iteration {} of model {}", part.name(),
                scope.iteration.value_or(0), scope.model_number.value_or(0));
      continue;
    }
    parts.push_back(std::move(part));
  }
  if (parts.empty()) log::info("the capture has no selected device, so no files are written");
  return parts;
}

DevicePart host_part(const ExportScope& scope) {
  return {kHostNumber, scope};
}

OutputFile make_output_file(std::string_view topic, const DevicePart& part) {
  OutputFile output_file;
  output_file.stem = fmt::format("{}_{}", topic, part.device);
  output_file.product = output_file.stem;
  if (part.scope.model_number && part.scope.iteration) {
    if (!part.is_host()) output_file.stem += fmt::format("_{}", *part.scope.model_number);
    output_file.stem += fmt::format("_{}", *part.scope.iteration);
  } else if (part.is_single_operator) {
    output_file.stem += "_1";
  }
  output_file.slice_at = output_file.stem.size();
  output_file.scope = part.scope;
  output_file.has_arrows = false;  // CANN 5 draws no arrows to tasks
  return output_file;
}

void warn_missing(const DevicePart& part, const std::vector<std::string_view>& topics) {
  if (!topics.empty()) log::info("{}: no data for {}", part.name(), fmt::join(topics, ", "));
}

}  // namespace msprof::old
