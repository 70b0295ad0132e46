#include "runtime/svp/api/runtime_state.hpp"

#include <stdlib.h>

#include <utility>

#include "runtime/svp/api/profiling.hpp"

namespace msprof::runtime {
namespace {

// MSPROF_ACL_JSON overrides the configuration file of the application, except in privileged
// (setuid) programs.
std::string config_path_or_environment(const char* path) {
  const char* replacement = secure_getenv("MSPROF_ACL_JSON");
  if (replacement != nullptr && *replacement != '\0') return replacement;
  return path == nullptr ? "" : path;
}

// An application may exit without calling svp_acl_finalize. Not called if a signal kills the
// process.
__attribute__((destructor)) void complete_at_exit() {
  RuntimeState::instance().finish_at_exit();
}

}  // namespace

std::unique_ptr<Workspace> LoadedSvpModel::take_workspace() {
  const std::lock_guard lock(pool_mutex);
  if (pool.empty()) return std::make_unique<Workspace>();
  std::unique_ptr<Workspace> workspace = std::move(pool.back());
  pool.pop_back();
  return workspace;
}

void LoadedSvpModel::give_back(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(pool_mutex);
  pool.push_back(std::move(workspace));
}

RuntimeState& RuntimeState::instance() {
  // Never destroyed: other threads may still be inside the interface while the process exits.
  static RuntimeState* const state = new RuntimeState;
  return *state;
}

svp_acl_error RuntimeState::init(const char* config_path) {
  const uint64_t start_ns = monotonic_ns();
  {
    const std::lock_guard lock(mutex_);
    if (is_initialised_) return SVP_ACL_ERROR_REPEAT_INITIALIZE;
    is_initialised_ = true;
  }
  const std::string path = config_path_or_environment(config_path);
  if (path.empty()) return SVP_ACL_SUCCESS;
  const std::optional<ProfileConfig> config = read_profile_config(path);
  if (!config || !Profiling::instance().begin_configured(*config)) return SVP_ACL_SUCCESS;
  if (const JobUse job = use_job()) job->record_call(ApiId::kInit, start_ns, nullptr);
  return SVP_ACL_SUCCESS;
}

JobUse RuntimeState::use_job() {
  const std::lock_guard lock(mutex_);
  return JobUse(job_);
}

bool RuntimeState::begin_job(const ProfileConfig& config) {
  std::shared_ptr<ProfileJob> made = ProfileJob::create(config);
  if (!made) return false;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, model] : models_) model->profile = made->add_model(id, model->model, {});
  job_ = std::move(made);
  is_unprofiled_child_ = false;
  return true;
}

void RuntimeState::end_job() {
  std::shared_ptr<ProfileJob> ending;
  {
    const std::lock_guard lock(mutex_);
    ending.swap(job_);
  }
  if (!ending) return;
  ending->wait_for_calls();
  ending->finish();
}

svp_acl_error RuntimeState::finalize() {
  const uint64_t start_ns = monotonic_ns();
  std::map<uint32_t, std::shared_ptr<LoadedSvpModel>> models;
  std::shared_ptr<ProfileJob> ending;
  bool child = false;
  {
    const std::lock_guard lock(mutex_);
    if (!is_initialised_) return SVP_ACL_ERROR_UNINITIALIZE;
    is_initialised_ = false;
    models.swap(models_);
    ending.swap(job_);
    child = is_forked_.exchange(false);
    is_unprofiled_child_ = false;
  }
  // In a forked child, executions of the parent's threads never end: do not wait.
  if (!child) {
    for (const auto& [id, model] : models)
      const std::unique_lock wait_for_executions(model->in_use);
  }
  if (ending) {
    ending->wait_for_calls();
    ending->record_call(ApiId::kFinalize, start_ns, nullptr);
    ending->finish();
  }
  Profiling::instance().reset();
  return SVP_ACL_SUCCESS;
}

bool RuntimeState::is_initialised() {
  const std::lock_guard lock(mutex_);
  return is_initialised_;
}

svp_acl_error RuntimeState::load(const void* bytes, std::size_t size, uint32_t* model_id) {
  const uint64_t start_ns = monotonic_ns();
  const JobUse profiling = use_job();
  std::shared_ptr<LoadedSvpModel> loaded;
  try {
    Model parsed = Model::parse({static_cast<const char*>(bytes), size});
    const std::lock_guard lock(mutex_);
    loaded = std::make_shared<LoadedSvpModel>(next_model_id_, std::move(parsed));
    ++next_model_id_;
  } catch (...) {
    if (profiling) profiling->record_call(ApiId::kLoadFromMem, start_ns, nullptr);
    throw;
  }
  if (profiling) loaded->profile = profiling->add_model(loaded->id, loaded->model, start_ns);
  const std::lock_guard lock(mutex_);
  if (!is_initialised_) return SVP_ACL_ERROR_UNINITIALIZE;
  // A JOB may have started in the meantime.
  if (job_ && !profiling) loaded->profile = job_->add_model(loaded->id, loaded->model, {});
  models_.emplace(loaded->id, loaded);
  *model_id = loaded->id;
  return SVP_ACL_SUCCESS;
}

svp_acl_error RuntimeState::unload(uint32_t model_id) {
  const uint64_t start_ns = monotonic_ns();
  std::shared_ptr<LoadedSvpModel> leaving;
  {
    const std::lock_guard lock(mutex_);
    const auto it = models_.find(model_id);
    if (it == models_.end()) return SVP_ACL_ERROR_INVALID_MODEL_ID;
    leaving = std::move(it->second);
    models_.erase(it);
  }
  // In a forked child, executions of the parent's threads never end: do not wait.
  if (is_forked()) return SVP_ACL_SUCCESS;
  const std::unique_lock wait_for_executions(leaving->in_use);
  const JobUse profiling = use_job();
  if (profiling && leaving->profile) profiling->remove_model(leaving->profile, start_ns);
  return SVP_ACL_SUCCESS;
}

std::shared_ptr<LoadedSvpModel> RuntimeState::find(uint32_t model_id) {
  const std::lock_guard lock(mutex_);
  const auto it = models_.find(model_id);
  return it == models_.end() ? nullptr : it->second;
}

void RuntimeState::finish_at_exit() {
  const std::unique_lock lock = lock_for(mutex_, true);
  if (!lock.owns_lock() || !job_) return;
  job_->finish_at_exit();
}

void RuntimeState::after_fork(bool child) {
  // The files belong to the parent. A child that wants a profile calls svp_acl_finalize and
  // svp_acl_init, or svp_acl_prof_init.
  if (child && job_) {
    is_forked_ = true;
    is_unprofiled_child_ = true;
    of_parents_.push_back(std::move(job_));
    job_.reset();
  }
  if (child) forget_thread_number();
  mutex_.unlock();
}

RecordedSvpCall::RecordedSvpCall(ApiId api)
    : api_(api), job_(RuntimeState::instance().use_job()), start_ns_(job_ ? monotonic_ns() : 0) {}

RecordedSvpCall::~RecordedSvpCall() {
  try {
    if (job_) job_->record_call(api_, start_ns_, model_.get());
  } catch (const std::bad_alloc&) {
    // The record is lost; the application continues.
  }
}

}  // namespace msprof::runtime
