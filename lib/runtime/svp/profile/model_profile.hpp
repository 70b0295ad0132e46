// The raw files of one loaded model in a JOB: descriptions, captures and calls. Source: svp_job.md
// 2.1 (names), 5.1 (descriptions), 9.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/engine/model/model.hpp"
#include "runtime/svp/profile/profile_config.hpp"
#include "runtime/svp/profile/record_file.hpp"

namespace msprof::runtime {

// One aicore and one aicpu file. Either is null if its records are off or the model has no such
// layer.
struct RecordFiles {
  std::unique_ptr<RecordFile> core;
  std::unique_ptr<RecordFile> cpu;
  std::atomic<uint64_t> pictures{0};  // of the executions recorded so far

  void finish(bool at_exit);
};

class ModelProfile {
 public:
  // `data_folder` must end in "/data". Writes net.info and layer.info and opens the file of calls.
  ModelProfile(std::string data_folder, const ProfileConfig& config, WriteHealth& health,
               uint32_t model_id, const Model& model);

  // Returns the capture that records execution number `execution`; null if the interval skips that
  // execution.
  std::shared_ptr<RecordFiles> capture(uint64_t execution, uint64_t batch);
  bool makes_one_capture() const { return interval_ == 0; }
  // Numbers executions from 0, in the order in which they start.
  uint64_t next_execution() { return executions_++; }
  // Returns true if an execution was started or refused.
  bool was_executed() const { return executions_ > 0 || is_execute_recorded_; }

  // Records a call that refers to this model; the first model also gets calls that refer to no
  // model.
  void record_call(const AclApiRecord& record);

  void finish_captures(bool at_exit);
  void finish_calls(bool at_exit);
  // Removes the files of a model that was not executed.
  void discard(bool at_exit);

 private:
  std::unique_ptr<RecordFile> open(const char* type, RecordKind kind, uint64_t batch,
                                   uint64_t pictures);

  const std::string data_folder_;
  const std::string stem_;  // "<model>.<model_id>", made safe for a file name
  const uint32_t interval_;
  const bool wants_core_, wants_cpu_;
  const long loader_thread_;
  std::atomic<uint64_t> executions_{0};
  std::atomic<bool> is_execute_recorded_{false};
  WriteHealth& health_;
  std::mutex mutex_;
  std::shared_ptr<RecordFiles> run_capture_;
  bool are_captures_finished_ = false;
  std::unique_ptr<RecordFile> calls_;
};

// Writes the records of one execution while it runs.
class ExecutionRecorder : public LayerObserver {
 public:
  ExecutionRecorder(ModelProfile& profile, const Model& model, uint64_t execution, uint64_t batch);
  ~ExecutionRecorder() override;
  ExecutionRecorder(const ExecutionRecorder&) = delete;
  ExecutionRecorder& operator=(const ExecutionRecorder&) = delete;

  bool has_captured() const { return capture_ != nullptr; }
  void layer_done(std::size_t layer, uint64_t start_ns, uint64_t end_ns) override;

 private:
  const Model& model_;
  const uint64_t execution_, batch_;
  const bool has_own_capture_;
  std::shared_ptr<RecordFiles> capture_;
};

// The model's name as part of a file name: no '/', no control bytes, at most 128 bytes (a longer
// one is cut and gets a hash).
std::string file_name_part(const std::string& model_name);

// Thread id of the calling thread (gettid), cached.
long thread_number();
// Clears the cached id in a forked child, whose only thread has a new one.
void forget_thread_number();

}  // namespace msprof::runtime
