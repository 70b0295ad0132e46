// The usual life of an application on a board: initialise, load, execute, unload, finalize.
// Every step checks its code; a failed one throws CallFailed with the name of the call.
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

// Throws CallFailed unless the code is success.
void check(const char* call, svp_acl_error code);

// svp_acl_init … svp_acl_finalize, and the device between them.
class Device {
 public:
  explicit Device(const char* acl_json);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
};

class LoadedModel {
 public:
  explicit LoadedModel(const std::string& bytes);
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

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
  Dataset(const LoadedModel& model, Side side);
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
struct Outcome {
  std::vector<double> milliseconds;    // one an execution
  std::vector<uint64_t> class_counts;  // images by their strongest output
  double checksum = 0;  // sum of all outputs; independent of batch and threads up to rounding
};

// Takes images from `next` until `images` are done; image number i is the same on any thread.
Outcome run_images(const LoadedModel& model, std::atomic<uint64_t>& next, uint64_t images,
                   uint64_t batch);

}  // namespace demo
