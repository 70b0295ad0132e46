// The parts of a capture for which `--style cann5` writes files: each device, and the host. For the
// planners of its tables and timelines.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/exporter.hpp"
#include "export/product_folder.hpp"
#include "export/scope/output_file.hpp"
#include "store/database.hpp"

namespace msprof::old {

// Returns the folder `name` ("summary" or "timeline") of `--style cann5` for `part` ("device_0",
// "host") of a capture: inside a folder named after the part, except in a JOB folder, which is a
// single device.
std::filesystem::path cann5_folder(const Database& db, const std::filesystem::path& base,
                                   const std::string& part, const std::string& name);

// Device number used for the host in its file names.
inline constexpr int kHostNumber = 64;

struct DevicePart {
  std::int64_t device = 0;
  ExportScope scope;
  // True for a capture of CANN 5 without steps: its operators ran one by one.
  bool is_single_operator = false;
  bool is_host() const { return device == kHostNumber; }
  std::string name() const { return is_host() ? "host" : fmt::format("device_{}", device); }
};

// Returns the devices in `scope`, each with the scope limited to it.
std::vector<DevicePart> split_by_device(const Database& db, const ExportScope& scope);

// Returns the host with the whole scope: an iteration only affects file names.
DevicePart host_part(const ExportScope& scope);

// The file name contains the model and the iteration if both are set.
OutputFile make_output_file(std::string_view topic, const DevicePart& part);

// Creates each folder of an export once; parts of a capture may share one.
class Folders {
 public:
  Folders(const Database& db, std::filesystem::path base, std::string name, std::string kind)
      : db_(db), base_(std::move(base)), name_(std::move(name)), kind_(std::move(kind)) {}

  std::shared_ptr<ProductFolder> find(const DevicePart& part, bool replaces_all) {
    return at(cann5_folder(db_, base_, part.name(), name_), replaces_all);
  }
  std::shared_ptr<ProductFolder> of_capture(bool replaces_all) {
    return at(product_folder(base_, name_), replaces_all);
  }

 private:
  std::shared_ptr<ProductFolder> at(const std::filesystem::path& path, bool replaces_all) {
    auto& folder = folders_[path];
    if (!folder) folder = std::make_shared<ProductFolder>(path, kind_, replaces_all);
    return folder;
  }

  const Database& db_;
  std::filesystem::path base_;
  std::string name_;
  std::string kind_;
  std::map<std::filesystem::path, std::shared_ptr<ProductFolder>> folders_;
};

void warn_missing(const DevicePart& part, const std::vector<std::string_view>& topics);

// Runs `write` and logs the topic if it has no data for this device.
template <typename Write>
std::vector<ExportedFile> write_or_say(const DevicePart& part, std::string_view topic,
                                       Write&& write) {
  auto files = write();
  if (files.empty()) warn_missing(part, {topic});
  return files;
}

}  // namespace msprof::old
