// One JOB folder, started by svp_acl_init and completed by svp_acl_finalize. Source: svp_job.md 2,
// 3, 9.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/svp/profile/model_profile.hpp"
#include "runtime/svp/profile/profile_config.hpp"
#include "runtime/svp/profile/record_file.hpp"

namespace msprof::runtime {

class ProfileJob {
 public:
  // Creates the folder with info.json.0 and data/. Null, with a message on stderr, on failure.
  static std::shared_ptr<ProfileJob> create(const ProfileConfig& config);

  // Starts the files of a loaded model, and records its load call unless it was loaded before the
  // JOB. The first model also receives the calls made before it. The files of a model that is never
  // executed are removed at its end, but those of the first only if no model is executed.
  std::shared_ptr<ModelProfile> add_model(uint32_t model_id, const Model& model,
                                          std::optional<uint64_t> load_start_ns);
  // Records a call that just ended; `model` is the model it refers to, or null.
  void record_call(ApiId api, uint64_t start_ns, ModelProfile* model);
  void remove_model(const std::shared_ptr<ModelProfile>& model, uint64_t unload_start_ns);

  // Enclose a call that may still record something. finish() must not run before all of them have
  // ended.
  void begin_call();
  void end_call();
  void wait_for_calls();

  // Completes every file. finish_at_exit() never waits long; see RecordFile::finish.
  void finish();
  void finish_at_exit();

  const std::string& folder() const { return folder_; }

 private:
  ProfileJob(ProfileConfig config, std::string folder);
  void finish_model(ModelProfile& model, bool at_exit);
  void finish_models(bool at_exit);
  void report_losses() const;

  const ProfileConfig config_;
  const std::string folder_;
  WriteHealth health_;
  std::mutex calls_mutex_;
  std::condition_variable no_calls_;
  uint64_t calls_in_flight_ = 0;
  std::mutex mutex_;
  std::vector<std::shared_ptr<ModelProfile>> models_;
  std::shared_ptr<ModelProfile> first_model_;
  bool was_any_executed_ = false;  // of the unloaded models; of all after finish_models()
  std::vector<AclApiRecord> early_calls_;
  uint64_t early_calls_lost_ = 0;
  bool is_finished_ = false;
};

}  // namespace msprof::runtime
