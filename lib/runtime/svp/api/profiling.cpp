#include "runtime/svp/api/profiling.hpp"

#include <pthread.h>

#include <vector>

#include "runtime/engine/message.hpp"
#include "runtime/svp/api/runtime_state.hpp"
#include "runtime/svp/include/svp_acl_prof.h"

namespace msprof::runtime {
namespace {

constexpr uint64_t kSupportedBits = SVP_ACL_PROF_ACL_API | SVP_ACL_PROF_TASK_TIME |
                                    SVP_ACL_PROF_AICORE_METRICS | SVP_ACL_PROF_AICPU_TRACE;
// A host has a single device.
constexpr uint16_t kHostDevice = 0;

static_assert(kProfInvalidParam == SVP_ACL_ERROR_INVALID_PARAM);
static_assert(kProfUninitialized == SVP_ACL_ERROR_UNINITIALIZE);
static_assert(kProfRepeatInitialize == SVP_ACL_ERROR_REPEAT_INITIALIZE);
static_assert(kProfInvalidConfig == SVP_ACL_ERROR_INVALID_PROFILING_CONFIG);
static_assert(kProfInvalidModel == SVP_ACL_ERROR_INVALID_MODEL_ID);
static_assert(kProfAlreadyRun == SVP_ACL_ERROR_PROF_ALREADY_RUN);
static_assert(kProfNotRun == SVP_ACL_ERROR_PROF_NOT_RUN);
static_assert(kProfRepeatSubscribe == SVP_ACL_ERROR_PROF_REPEAT_SUBSCRIBE);
static_assert(kProfApiConflict == SVP_ACL_ERROR_PROF_API_CONFLICT);
static_assert(kProfModulesUnsupported == SVP_ACL_ERROR_PROF_MODULES_UNSUPPORTED);
static_assert(kNoMetrics == SVP_ACL_AICORE_NONE);

bool are_metrics(uint32_t metrics) {
  return metrics == SVP_ACL_AICORE_ARITHMETIC_UTILIZATION || metrics == kNoMetrics;
}

// A layer record contains both time and unit cycles, so either bit enables it.
ProfileConfig make_profile_config(const ProfConfig& config, const std::string& output) {
  ProfileConfig job;
  job.output = output;
  job.aicore = (config.bits & SVP_ACL_PROF_TASK_TIME) != 0 ||
               ((config.bits & SVP_ACL_PROF_AICORE_METRICS) != 0 && config.metrics != kNoMetrics);
  job.aicpu = (config.bits & SVP_ACL_PROF_AICPU_TRACE) != 0;
  job.acl_api = (config.bits & SVP_ACL_PROF_ACL_API) != 0;
  return job;
}

std::vector<const ProfConfig*> listed(const std::optional<ProfConfig>& running) {
  return running ? std::vector<const ProfConfig*>{&*running} : std::vector<const ProfConfig*>{};
}

void before_any_fork() {
  Profiling::instance().before_fork();
  RuntimeState::instance().before_fork();
  OpNameIds::instance().before_fork();
}

void after_any_fork(bool child) {
  OpNameIds::instance().after_fork();
  RuntimeState::instance().after_fork(child);
  Profiling::instance().after_fork(child);
}

}  // namespace

Profiling& Profiling::instance() {
  // Never destroyed: other threads may still be inside the interface while the process exits.
  static Profiling* const profiling = [] {
    auto* const made = new Profiling;
    pthread_atfork([] { before_any_fork(); }, [] { after_any_fork(false); },
                   [] { after_any_fork(true); });
    return made;
  }();
  return *profiling;
}

svp_acl_error Profiling::init(std::string_view path) {
  const bool is_initialized = RuntimeState::instance().is_initialised();
  // Boards accept absolute paths only.
  if (!path.starts_with('/')) path = {};
  const std::lock_guard lock(mutex_);
  const int refusal = refusal_of_init(mode_, path, is_initialized);
  if (refusal == kProfInvalidFile) return SVP_ACL_ERROR_INVALID_PARAM;
  if (refusal != kProfSuccess) return refusal;
  output_ = path;
  mode_ = ProfMode::api;
  return SVP_ACL_SUCCESS;
}

svp_acl_error Profiling::start(const ProfConfig& config) {
  const int content =
      check_bits(config, kSupportedBits, SVP_ACL_PROF_AICORE_METRICS, are_metrics(config.metrics));
  if (content != kProfSuccess) return content;
  const std::lock_guard lock(mutex_);
  const int refusal = refusal_of_start(mode_, listed(running_), config);
  if (refusal != kProfSuccess) return refusal;
  const ProfileConfig job = make_profile_config(config, output_);
  if (!job.aicore && !job.aicpu && !job.acl_api) return SVP_ACL_ERROR_INVALID_PROFILING_CONFIG;
  if (!RuntimeState::instance().begin_job(job)) return SVP_ACL_ERROR_PROFILING_FAILURE;
  running_ = config;
  return SVP_ACL_SUCCESS;
}

svp_acl_error Profiling::stop(const ProfConfig& config) {
  const std::lock_guard lock(mutex_);
  std::size_t found = 0;
  const int refusal = find_started(mode_, listed(running_), config, found);
  if (refusal != kProfSuccess) return refusal;
  RuntimeState::instance().end_job();
  running_.reset();
  return SVP_ACL_SUCCESS;
}

svp_acl_error Profiling::finalize() {
  const std::lock_guard lock(mutex_);
  const int refusal = refusal_of_files(mode_);
  if (refusal != kProfSuccess) return refusal;
  if (running_) RuntimeState::instance().end_job();
  running_.reset();
  mode_ = ProfMode::off;
  return SVP_ACL_SUCCESS;
}

svp_acl_error Profiling::subscribe_model(uint32_t model_id, const SubscribeOrder& order) {
  const std::lock_guard lock(mutex_);
  if (const int refusal = refusal_of_subscription(mode_); refusal != kProfSuccess) return refusal;
  if (!RuntimeState::instance().find(model_id)) return SVP_ACL_ERROR_INVALID_MODEL_ID;
  const int result = add_subscription(model_id, kHostDevice, order);
  if (result != kProfSuccess) return result;
  ++subscribed_models_;
  mode_ = ProfMode::subscribed;
  return SVP_ACL_SUCCESS;
}

svp_acl_error Profiling::unsubscribe_model(uint32_t model_id) {
  {
    const std::lock_guard lock(mutex_);
    if (const int refusal = refusal_of_subscription(mode_); refusal != kProfSuccess) return refusal;
  }
  // Called without the mutex: the pipe's reader may be slow, and other calls must not wait for it.
  if (const int result = end_subscription(model_id); result != kProfSuccess) return result;
  const std::lock_guard lock(mutex_);
  if (subscribed_models_ > 0 && --subscribed_models_ == 0 && mode_ == ProfMode::subscribed)
    mode_ = ProfMode::off;
  return SVP_ACL_SUCCESS;
}

svp_acl_error Profiling::refused_by_configuration() {
  const std::lock_guard lock(mutex_);
  return refusal_by_configuration(mode_);
}

bool Profiling::begin_configured(const ProfileConfig& config) {
  const std::lock_guard lock(mutex_);
  if (mode_ != ProfMode::off || !RuntimeState::instance().begin_job(config)) return false;
  mode_ = ProfMode::configured;
  return true;
}

void Profiling::reset() {
  end_all_subscriptions();
  const std::lock_guard lock(mutex_);
  running_.reset();
  subscribed_models_ = 0;
  mode_ = ProfMode::off;
}

// In the child, files, readers and threads belong to the parent.
void Profiling::after_fork(bool child) {
  if (child) {
    forget_subscriptions();
    running_.reset();
    subscribed_models_ = 0;
    mode_ = ProfMode::off;
  }
  mutex_.unlock();
}

void SubscriptionObserver::layer_done(std::size_t layer, uint64_t start_ns, uint64_t end_ns) {
  const Layer& done = model_.layers()[layer];
  const uint64_t op = OpNameIds::instance().find_or_add(done.name, done.type);
  send_record(make_record(model_id_, kHostDevice, op, start_ns, end_ns,
                          done.operation ? &done.operation->work : nullptr, batch_));
}

}  // namespace msprof::runtime
