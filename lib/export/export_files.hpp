// Names and folders of the files of one export. For the planners.
#pragma once

#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include "export/document.hpp"

namespace msprof {

// No two documents share a file name.
class FileNames {
 public:
  explicit FileNames(std::string extension) : extension_(std::move(extension)) {}
  std::string next(const std::string& stem);

 private:
  std::string extension_;
  std::set<std::string> taken_;
};

// `base`/`name`; throws Error(cannot_write) when it is a link that leads out of `base`, which only
// a capture from elsewhere would have.
std::filesystem::path product_folder(const std::filesystem::path& base, const std::string& name);

// A folder that jobs write to. It is made for the first file, and removed again where no job had
// anything to write.
class ProductFolder {
 public:
  explicit ProductFolder(std::filesystem::path path) : path_(std::move(path)) {}
  ~ProductFolder();
  ProductFolder(const ProductFolder&) = delete;
  ProductFolder& operator=(const ProductFolder&) = delete;
  const std::filesystem::path& make();

 private:
  std::filesystem::path path_;
  std::once_flag once_;
  bool is_new_ = false;
};

// The stem with "_<model>_<iteration>" where document.scope is one iteration, the device in front
// where it is one device.
void name_scope(Document& document);

// The stem of slice `number`: "op_summary_slice_1_20240515".
std::string slice_stem(const Document& document, std::size_t number);

}  // namespace msprof
