// State between svp_acl_init and svp_acl_finalize: loaded models and the JOB. It is process-wide
// because the C interface has no handle that could own it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/cancellation.hpp"
#include "runtime/engine/clock.hpp"
#include "runtime/engine/message.hpp"
#include "runtime/engine/model/model.hpp"
#include "runtime/engine/model/operator.hpp"
#include "runtime/svp/include/svp_acl_base.h"
#include "runtime/svp/include/svp_acl_mdl.h"
#include "runtime/svp/profile/profile_job.hpp"

namespace msprof::runtime {

struct LoadedSvpModel {
  LoadedSvpModel(uint32_t number, Model&& parsed) : id(number), model(std::move(parsed)) {}

  std::unique_ptr<Workspace> take_workspace();
  void give_back(std::unique_ptr<Workspace> workspace);

  const uint32_t id;
  const Model model;
  std::shared_ptr<ModelProfile> profile;  // profile in the current JOB; read by calls that hold the
                                          // JOB
  std::shared_mutex in_use;               // held shared by executions, exclusively by unload
  std::mutex pool_mutex;
  std::vector<std::unique_ptr<Workspace>> pool;
};

// Keeps a JOB from being completed during its lifetime; may be empty.
class JobUse {
 public:
  explicit JobUse(std::shared_ptr<ProfileJob> job) : job_(std::move(job)) {
    if (job_) job_->begin_call();
  }
  ~JobUse() {
    if (job_) job_->end_call();
  }
  JobUse(const JobUse&) = delete;
  JobUse& operator=(const JobUse&) = delete;

  explicit operator bool() const { return job_ != nullptr; }
  ProfileJob* operator->() const { return job_.get(); }

 private:
  const std::shared_ptr<ProfileJob> job_;
};

class RuntimeState {
 public:
  static RuntimeState& instance();

  svp_acl_error init(const char* config_path);
  svp_acl_error finalize();
  bool is_initialised();

  svp_acl_error load(const void* bytes, std::size_t size, uint32_t* model_id);
  svp_acl_error unload(uint32_t model_id);
  std::shared_ptr<LoadedSvpModel> find(uint32_t model_id);

  // Returns the JOB of this process; empty if there is none or if it belongs to a parent.
  JobUse use_job();
  // For svp_acl_prof_start and _stop. begin_job() starts a JOB with the models already loaded;
  // returns false, with a message on stderr, if its folder cannot be created. end_job() completes
  // the JOB after the active calls.
  bool begin_job(const ProfileConfig& config);
  void end_job();
  // True if this process was forked from a profiled one.
  bool is_forked() const { return is_forked_.load(); }
  // Like is_forked(), but false once the child has started its own JOB.
  bool is_unprofiled_child() const { return is_unprofiled_child_.load(); }

  void finish_at_exit();
  void before_fork() { mutex_.lock(); }
  void after_fork(bool child);

 private:
  std::mutex mutex_;
  bool is_initialised_ = false;
  std::atomic<bool> is_forked_{false};
  std::atomic<bool> is_unprofiled_child_{false};
  uint32_t next_model_id_ = 1;
  std::map<uint32_t, std::shared_ptr<LoadedSvpModel>> models_;
  std::shared_ptr<ProfileJob> job_;
  std::vector<std::shared_ptr<ProfileJob>> of_parents_;  // kept untouched in a forked child
};

// Records the call in whose body it is declared.
class RecordedSvpCall {
 public:
  explicit RecordedSvpCall(ApiId api);
  ~RecordedSvpCall();
  RecordedSvpCall(const RecordedSvpCall&) = delete;
  RecordedSvpCall& operator=(const RecordedSvpCall&) = delete;

  void names(const LoadedSvpModel& model) {
    if (job_) model_ = model.profile;
  }
  // The profile of the model passed to names(); null if it is not profiled.
  ModelProfile* profile() const { return model_.get(); }

 private:
  const ApiId api_;
  const JobUse job_;
  const uint64_t start_ns_;
  std::shared_ptr<ModelProfile> model_;
};

// Runs the body of a C function. Converts every exception to an error code and prints a message on
// stderr.
template <typename Body>
svp_acl_error guarded(const char* function, Body body) {
  const CancellationDisabled no_cancellation;
  try {
    return body();
  } catch (const ModelError& error) {
    say(std::string(function) + ": " + error.what());
    return SVP_ACL_ERROR_PARSE_MODEL;
  } catch (const std::bad_alloc&) {
    say(std::string(function) + ": out of memory");
    return SVP_ACL_ERROR_BAD_ALLOC;
  } catch (const std::exception& error) {
    say(std::string(function) + ": " + error.what());
    return SVP_ACL_ERROR_INTERNAL_ERROR;
  }
}

}  // namespace msprof::runtime

// The opaque structures of the C interface.
struct svp_acl_data_buffer {
  void* data;
  std::size_t size;
  std::size_t stride;
};

struct svp_acl_mdl_dataset {
  std::vector<svp_acl_data_buffer*> buffers;  // owned by the application
  uint64_t batch = 0;                         // 0: the model's default
};

struct svp_acl_mdl_desc {
  struct Port {
    std::string name;
    msprof::runtime::TensorShape shape;
    std::size_t buffer_bytes = 0;  // size of a task or work buffer, which has no shape
  };
  std::vector<Port> inputs, outputs;
  int64_t batch = 0;
  int64_t max_batch = 0;
};
