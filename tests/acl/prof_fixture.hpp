// Shared by the profiling tests: aclInit and aclFinalize, configurations, a model, stderr.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/acl/include/acl/acl.h"
#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/acl/prof/profiler.hpp"
#include "support/files.hpp"
#include "support/temp_folder.hpp"
#include "support/variable.hpp"

namespace msprof::acl::test {

using msprof::test::TempFolder;
using msprof::test::Variable;

// Captures stderr of this process for its lifetime.
class CapturedStderr {
 public:
  CapturedStderr() : saved_(dup(STDERR_FILENO)) {
    const int file = open(path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
  }
  ~CapturedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string text() const { return msprof::test::read_file(path()); }

 private:
  std::string path() const { return (folder_ / "stderr").string(); }
  TempFolder folder_;
  int saved_;
};

// Returns the names of the PROF folders in a folder.
inline std::vector<std::string> prof_folder_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const std::string& name : msprof::test::names_in(folder))
    if (name.starts_with("PROF_")) names.push_back(name);
  return names;
}

// Returns the host files of a PROF folder whose names contain `part`, e.g. "msproftx"; slices are
// joined.
inline std::string host_bytes(const std::filesystem::path& prof, const std::string& part) {
  std::string bytes;
  for (const std::string& name : msprof::test::names_in(prof / "host" / "data")) {
    if (name.find(part) != std::string::npos && !name.ends_with(".done"))
      bytes += msprof::test::read_file(prof / "host" / "data" / name);
  }
  return bytes;
}

// Runs one test between aclInit and aclFinalize in a temporary folder, and cleans up any state that
// the test leaves.
class Scene {
 public:
  Scene() = default;
  ~Scene() {
    finish_profiling();
    for (const aclprofConfig* config : configs_) aclprofDestroyConfig(config);
    for (const aclprofSubscribeConfig* config : subscriptions_)
      aclprofDestroySubscribeConfig(config);
    if (initialised_) aclFinalize();
    for (const int fd : readers_) close(fd);
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  std::string output() const { return (folder_ / "out").string(); }
  std::vector<std::string> folders() const { return prof_folder_names(output()); }
  std::filesystem::path only_folder() const { return folder_ / "out" / folders().at(0); }

  aclError acl_init(const char* path = nullptr) {
    const aclError result = aclInit(path);
    initialised_ = initialised_ || result == ACL_SUCCESS;
    return result;
  }
  // Calls aclInit with a configuration whose object "profiler" has these keys and the output.
  aclError acl_init_with(const std::string& keys) {
    const auto path = folder_ / "acl.json";
    msprof::test::write_file(path, "{\"profiler\":{" + keys + ",\"output\":\"" + output() + "\"}}");
    return acl_init(path.c_str());
  }
  aclError init() {
    if (!initialised_) acl_init();
    return aclprofInit(output().c_str(), output().size());
  }
  aclprofConfig* config(std::vector<std::uint32_t> devices, std::uint64_t bits,
                        aclprofAicoreMetrics metrics = ACL_AICORE_NONE) {
    aclprofConfig* const made = aclprofCreateConfig(
        devices.data(), static_cast<std::uint32_t>(devices.size()), metrics, nullptr, bits);
    if (made != nullptr) configs_.push_back(made);
    return made;
  }
  // Subscribes to a new pipe; reader() is its read end.
  aclprofSubscribeConfig* subscription(int8_t time_info = 1,
                                       aclprofAicoreMetrics metrics = ACL_AICORE_NONE) {
    int ends[2];
    if (pipe(ends) != 0) return nullptr;
    readers_.push_back(ends[0]);
    aclprofSubscribeConfig* const made = aclprofCreateSubscribeConfig(time_info, metrics, &ends[1]);
    if (made != nullptr) subscriptions_.push_back(made);
    return made;
  }
  int reader() const { return readers_.back(); }

  // Loads a model of two layers.
  std::uint32_t model(std::int32_t device = 0) {
    static const std::string text =
        R"({"format":"msprof-model","version":1,"name":"tiny","inputs":[{"name":"image",)"
        R"("shape":[2,4,4]}],"layers":[{"name":"relu1","type":"Relu","inputs":["image"]},)"
        R"({"name":"relu2","type":"Relu","inputs":["relu1"]}]})";
    std::uint32_t id = 0;
    aclrtSetDevice(device);
    if (aclmdlLoadFromMem(text.data(), text.size(), &id) != ACL_SUCCESS) return 0;
    return id;
  }

 private:
  TempFolder folder_;
  bool initialised_ = false;
  std::vector<const aclprofConfig*> configs_;
  std::vector<const aclprofSubscribeConfig*> subscriptions_;
  std::vector<int> readers_;
};

}  // namespace msprof::acl::test
