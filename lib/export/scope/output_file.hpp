// OutputFile: one file that a table or a timeline layer writes. For exports and `show`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <typeindex>
#include <utility>

#include "export/scope/export_scope.hpp"
#include "store/database.hpp"

namespace msprof {

// Data that the layers of one file share. The first layer that needs it computes it while the
// others wait.
class LayerShare {
 public:
  template <typename Part, typename Make>
  std::shared_ptr<const Part> get(const Make& make) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const void>& part = parts_[typeid(Part)];
    if (!part) part = make();
    return std::static_pointer_cast<const Part>(part);
  }

 private:
  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<const void>> parts_;
};

struct OutputFile {
  std::string stem;                // file name without extension, sanitized
  std::int64_t step_id = kNull;    // the step, if the file is about one
  std::int64_t model_row = kNull;  // the model, if the file is about one
  std::int64_t key = 0;            // for use by the table or layer
  // Position of "_slice_<i>" in the stem if a CSV has more than a million rows; 0: never sliced.
  std::size_t slice_at = 0;
  // Layers with the same stem write one file together, in the order of the list.
  bool is_shared = false;
  // Set by the exporter: the file has both calls and tasks, so arrows between them are drawn.
  bool has_arrows = true;
  // Set by the exporter: every end of an arrow is 'f' (TimelineOptions).
  bool ends_every_arrow = false;
  // Set by the timeline exporter.
  std::shared_ptr<LayerShare> share{};
  // Set by the exporter: all devices and processes of a board's capture are in one file.
  bool is_merged = false;
  // Set by the exporter: the rows to include, and the stem without the suffixes for them. Files of
  // the same product replace each other.
  ExportScope scope{};
  std::string product{};
};

// Returns false to stop. For lists of files that can be too long to keep in memory.
using FileVisitor = std::function<bool(const OutputFile&)>;

// Throws Error(cannot_write) for more files than an export keeps in memory; only an untrusted store
// has so many.
void check_file_count(std::size_t count);

// Makes file names that are unique within an export.
class FileNames {
 public:
  explicit FileNames(std::string extension) : extension_(std::move(extension)) {}
  // Throws like check_file_count().
  std::string next(const std::string& stem);

 private:
  std::string extension_;
  std::map<std::string, int> taken_;  // value: number that a further file of this name tries first
};

// Returns false if the document is about a device's model that is out of scope (board captures).
// Documents about several devices check the scope row by row.
bool is_of_scope(const Database& db, const OutputFile& output_file, const ExportScope& scope);

// Sets output_file.product. If output_file.scope is one iteration, adds "_<model>_<iteration>" to
// the stem, preceded by the device if the scope is one device.
void name_scope(OutputFile& output_file);

// Returns the stem of slice `number`: "op_summary_slice_1_20240515".
std::string slice_stem(const OutputFile& output_file, std::size_t number);

}  // namespace msprof
