// The usual life cycle of an application on a board: initialize, load, execute, unload, finalize.
// Every step checks its result; a failed call throws CallFailed with the name of the call.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "svp_acl.h"

namespace demo {

class CallFailed : public std::runtime_error {
 public:
  CallFailed(const char* call, svp_acl_error code)
      : std::runtime_error(std::string(call) + " failed with code " + std::to_string(code)) {}
};

// Throws CallFailed unless `code` is success.
void check(const char* call, svp_acl_error code);

// Calls svp_acl_init and sets the device; the destructor resets the device and calls
// svp_acl_finalize.
class DemoDevice {
 public:
  explicit DemoDevice(const char* acl_json);
  ~DemoDevice();
  DemoDevice(const DemoDevice&) = delete;
  DemoDevice& operator=(const DemoDevice&) = delete;
};

class DemoModel {
 public:
  explicit DemoModel(const std::string& bytes);
  ~DemoModel();
  DemoModel(const DemoModel&) = delete;
  DemoModel& operator=(const DemoModel&) = delete;

  uint32_t id() const { return id_; }
  const svp_acl_mdl_desc* desc() const { return desc_; }

 private:
  uint32_t id_ = 0;
  svp_acl_mdl_desc* desc_ = nullptr;
};

// A dataset with one buffer for every input or output of the model.
class Dataset {
 public:
  enum class Side { kInput, kOutput };
  Dataset(const DemoModel& model, Side side);
  ~Dataset();
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  svp_acl_mdl_dataset* get() const { return dataset_; }
  float* floats(std::size_t buffer) const { return buffers_[buffer]; }
  std::size_t count(std::size_t buffer) const { return counts_[buffer]; }

 private:
  void release();

  svp_acl_mdl_dataset* dataset_ = nullptr;
  std::vector<float*> buffers_;
  std::vector<std::size_t> counts_;
};

// Results of one thread.
struct ThreadOutcome {
  std::vector<double> milliseconds;    // one per execution
  std::vector<uint64_t> class_counts;  // number of images by their highest-scoring class
  double checksum = 0;  // sum of all outputs; independent of batch and threads up to rounding
};

// Processes images from `next` until `images` are done. Image i is independent of the thread.
ThreadOutcome run_images(const DemoModel& model, std::atomic<uint64_t>& next, uint64_t images,
                         uint64_t batch);

}  // namespace demo
