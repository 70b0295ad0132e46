#include "export/export_files.hpp"

#include <fmt/format.h>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

std::string FileNames::next(const std::string& stem) {
  std::string name = limited_file_name(stem, extension_);
  for (int number = 2; !taken_.insert(name).second; ++number) {
    name = limited_file_name(stem, fmt::format("~{}{}", number, extension_));
  }
  return name;
}

fs::path product_folder(const fs::path& base, const std::string& name) {
  const fs::path folder = base / name;
  std::error_code error;
  if (fs::is_symlink(folder, error) &&
      fs::weakly_canonical(folder, error).parent_path() != fs::weakly_canonical(base, error)) {
    throw Error(Exit::cannot_write,
                fmt::format("{} is a link that leads out of {}; give another folder with --output",
                            folder.string(), base.string()));
  }
  return folder;
}

ProductFolder::~ProductFolder() {
  std::error_code ignored;
  if (is_new_) fs::remove(path_, ignored);  // does nothing to a folder with files
}

const fs::path& ProductFolder::make() {
  std::call_once(once_, [this] {
    std::error_code ignored;
    is_new_ = !fs::exists(path_, ignored);
    create_output_folder(path_);
    remove_stale_temporaries(path_);
  });
  return path_;
}

void name_scope(Document& document) {
  const ExportScope& scope = document.scope;
  if (!scope.model_number || !scope.iteration) return;
  const std::string device =
      scope.windows.size() == 1 ? fmt::format("_{}", scope.windows.front().device_id) : "";
  const std::string part = fmt::format("{}_{}_{}", device, *scope.model_number, *scope.iteration);
  const std::size_t at = document.slice_at > 0 ? document.slice_at : document.stem.size();
  document.stem.insert(at, part);
  if (document.slice_at > 0) document.slice_at += part.size();
}

std::string slice_stem(const Document& document, std::size_t number) {
  std::string stem = document.stem;
  const std::size_t at = document.slice_at > 0 ? document.slice_at : stem.size();
  return stem.insert(at, fmt::format("_slice_{}", number));
}

}  // namespace msprof
