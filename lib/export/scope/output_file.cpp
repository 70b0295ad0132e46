#include "export/scope/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof {

void check_file_count(std::size_t count) {
  constexpr std::size_t kMaxFiles = 50'000;
  if (count <= kMaxFiles) return;
  throw Error(Exit::cannot_write,
              fmt::format("the capture has more than {} tables or timelines, which are not written "
                          "as files; `msprof query` and `show` read them",
                          with_thousands(kMaxFiles)));
}

std::string FileNames::next(const std::string& stem) {
  check_file_count(taken_.size() + 1);
  std::string name = limited_file_name(stem, extension_);
  const auto [first, is_new] = taken_.try_emplace(name, 2);
  if (is_new) return name;
  do {
    name = limited_file_name(stem, name_suffix(first->second++) + extension_);
  } while (!taken_.try_emplace(name, 2).second);
  return name;
}

bool is_of_scope(const Database& db, const OutputFile& output_file, const ExportScope& scope) {
  if (scope.devices.empty() || output_file.model_row == kNull) return true;
  Statement read = db.prepare("SELECT device_id FROM model WHERE id = ?");
  read.bind(1, output_file.model_row);
  return !read.step() || read.is_null(0) || scope.takes_device(read.integer(0));
}

void name_scope(OutputFile& output_file) {
  output_file.product = output_file.stem;
  const ExportScope& scope = output_file.scope;
  if (!scope.model_number || !scope.iteration) return;
  const auto& windows = scope.windows;
  const bool is_of_one_device =
      !windows.empty() && std::all_of(windows.begin(), windows.end(), [&](const auto& window) {
        return window.device_id == windows.front().device_id;
      });
  const std::string device = is_of_one_device ? fmt::format("_{}", windows.front().device_id) : "";
  const std::string part = fmt::format("{}_{}_{}", device, *scope.model_number, *scope.iteration);
  const std::size_t at = output_file.slice_at > 0 ? output_file.slice_at : output_file.stem.size();
  output_file.stem.insert(at, part);
  if (output_file.slice_at > 0) output_file.slice_at += part.size();
}

std::string slice_stem(const OutputFile& output_file, std::size_t number) {
  std::string stem = output_file.stem;
  const std::size_t at = output_file.slice_at > 0 ? output_file.slice_at : stem.size();
  return stem.insert(at, fmt::format("_slice_{}", number));
}

}  // namespace msprof
