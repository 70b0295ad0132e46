#include "runtime/acl/prof/profiler.hpp"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/acl/device/lookup.hpp"
#include "runtime/acl/prof/delayed_recording.hpp"
#include "runtime/acl/prof/interrupt.hpp"
#include "runtime/acl/prof/op_record.hpp"
#include "runtime/acl/prof/roomy_stack.hpp"
#include "runtime/acl/prof/stamps.hpp"
#include "runtime/engine/files.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::acl {
namespace {

using runtime::say;

// An application may exit without any of the closing calls.
__attribute__((destructor)) void complete_at_exit() {
  finish_profiling(true);
}

}  // namespace

aclError configure_profiling(const char* acl_json_path) {
  return Profiler::instance().configure(acl_json_path);
}

void configure_profiling_of_ranges() {
  Profiler::instance().configure_ranges();
}

void finish_profiling(bool at_exit) {
  Profiler::instance().finish(at_exit);
}

Profiler::Profiler() = default;

Profiler& Profiler::instance() {
  // Never destroyed: other threads may still be inside the interface while the process exits.
  static Profiler* const profiler = [] {
    auto* const made = new Profiler;
    pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork(false); },
                   [] { instance().after_fork(true); });
    return made;
  }();
  return *profiler;
}

aclError Profiler::init(std::string_view path) {
  if (is_dynamic_mode()) return ACL_ERROR_FEATURE_UNSUPPORTED;
  const std::lock_guard lock(mutex_);
  if (const aclError result = runtime::refusal_of_init(state_, path, acl_is_initialised());
      result != ACL_SUCCESS)
    return result;
  output_ = absolute_path(path);
  state_ = State::api;
  return ACL_SUCCESS;
}

aclError Profiler::set_config(std::uint32_t type, std::string_view value) {
  const std::lock_guard lock(mutex_);
  ProfSettings changed = settings_;
  const aclError set = changed.set(type, value);
  const SettingInfo* const info = find_setting_info(type);
  if (info == nullptr) return set;
  if (set == ACL_ERROR_INVALID_PROFILING_CONFIG) {
    say("aclprofSetConfig: " + std::string(info->name) + " must be " + info->expected + ", not \"" +
        std::string(value.substr(0, 80)) + "\"");
    return set;
  }
  if (const aclError result = runtime::refusal_by_configuration(state_); result != ACL_SUCCESS)
    return result;
  if (set == ACL_ERROR_FEATURE_UNSUPPORTED) {
    say("aclprofSetConfig: " + std::string(info->name) +
        " requires counters of a card, which a host does not have: remove it");
    return ACL_ERROR_INVALID_PROFILING_CONFIG;
  }
  settings_ = std::move(changed);
  return ACL_SUCCESS;
}

aclError Profiler::check(const ProfConfig& config) {
  const std::lock_guard lock(mutex_);
  const aclError result = check_content(config, settings_);
  return result == ACL_SUCCESS ? runtime::refusal_by_configuration(state_) : result;
}

aclError Profiler::start(const ProfConfig& config) {
  const std::lock_guard lock(mutex_);
  if (const aclError result = check_content(config, settings_); result != ACL_SUCCESS)
    return result;
  // After aclprofSetConfig has set a path, aclprofInit need not be called.
  const bool is_init = state_ == State::off && !settings_.path().empty() && acl_is_initialised() &&
                       !is_dynamic_mode();
  const State state = is_init ? State::api : state_;
  if (const aclError result = runtime::refusal_of_start(state, started(), config);
      result != ACL_SUCCESS)
    return result;
  std::string why;
  const aclError result =
      begin(config, settings_, settings_.path().empty() ? output_ : settings_.path(), false, why);
  if (!why.empty()) say(why + ": nothing is recorded");
  if (result == ACL_SUCCESS) state_ = state;
  return result;
}

std::vector<const ProfConfig*> Profiler::started() const {
  std::vector<const ProfConfig*> configs;
  for (const Running& running : running_) configs.push_back(&running.config);
  return configs;
}

aclError Profiler::stop(const ProfConfig& config) {
  std::size_t found = 0;
  {
    const std::lock_guard lock(mutex_);
    const aclError result = runtime::find_started(state_, started(), config, found);
    if (result != ACL_SUCCESS) return result;
  }
  // Tasks launched before this call belong to the recording. Waits without the mutex, since streams
  // may call the profiler.
  wait_for_launched(config.devices);
  const std::lock_guard lock(mutex_);
  const aclError result = runtime::find_started(state_, started(), config, found);
  if (result != ACL_SUCCESS) return result;
  const Running ending = std::move(running_[found]);
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(found));
  end(ending, false);
  return ACL_SUCCESS;
}

aclError Profiler::finalize() {
  std::vector<std::uint16_t> devices;
  {
    const std::lock_guard lock(mutex_);
    if (const aclError result = runtime::refusal_of_files(state_); result != ACL_SUCCESS)
      return result;
    for (const Running& running : running_) {
      const std::vector<std::uint16_t>& more = running.config.devices;
      devices.insert(devices.end(), more.begin(), more.end());
    }
  }
  wait_for_launched(devices);
  const std::lock_guard lock(mutex_);
  if (const aclError result = runtime::refusal_of_files(state_); result != ACL_SUCCESS)
    return result;
  end_all(false);
  settings_ = {};
  state_ = State::off;
  return ACL_SUCCESS;
}

aclError Profiler::subscribe_model(std::uint32_t model, const SubscribeOrder& order) {
  const std::lock_guard lock(mutex_);
  if (const aclError result = runtime::refusal_of_subscription(state_); result != ACL_SUCCESS)
    return result;
  std::uint16_t device = 0;
  if (!find_model_device(model, device)) return ACL_ERROR_INVALID_MODEL_ID;
  if (const aclError result = subscribe(model, device, order); result != ACL_SUCCESS) return result;
  ++subscribed_models_;
  state_ = State::subscribed;
  return ACL_SUCCESS;
}

aclError Profiler::unsubscribe_model(std::uint32_t model) {
  {
    const std::lock_guard lock(mutex_);
    if (const aclError result = runtime::refusal_of_subscription(state_); result != ACL_SUCCESS)
      return result;
  }
  // Called without the mutex: the pipe's reader may be slow, and other calls must not wait for it.
  if (const aclError result = unsubscribe(model); result != ACL_SUCCESS) return result;
  const std::lock_guard lock(mutex_);
  if (subscribed_models_ > 0 && --subscribed_models_ == 0 && state_ == State::subscribed)
    state_ = State::off;
  return ACL_SUCCESS;
}

aclError Profiler::refused_by_configuration() {
  const std::lock_guard lock(mutex_);
  return runtime::refusal_by_configuration(state_);
}

aclError Profiler::configure(const char* acl_json_path) {
  Configuration asked;
  const aclError result =
      on_roomy_stack([&] { return read_configuration(acl_json_path, device_count(), asked); });
  if (result != ACL_SUCCESS) return result;
  const std::lock_guard lock(mutex_);
  if (asked.is_dynamic) open_server();
  if (asked.wanted && !asked.is_dynamic && state_ == State::off) begin(std::move(asked));
  return ACL_SUCCESS;
}

void Profiler::configure_ranges() {
  if (!has_collector() || is_dynamic_mode()) return;
  Configuration asked;
  const aclError result =
      on_roomy_stack([&] { return read_configuration(nullptr, device_count(), asked); });
  if (result != ACL_SUCCESS || (asked.config.bits & ACL_PROF_MSPROFTX) == 0) return;
  const std::lock_guard lock(mutex_);
  // If `wanted` is set, aclFinalize has already ended the configured recording.
  if (state_ == State::off && !configuration_.wanted) begin(std::move(asked));
}

void Profiler::begin(Configuration asked) {
  configuration_ = std::move(asked);
  if (configuration_.delay_s == 0 && configuration_.duration_s == 0) return begin_configured();
  state_ = State::configured;
  const auto begin_it = [this] {
    const std::lock_guard own(mutex_);
    if (state_ == State::configured) begin_configured();
  };
  const auto end_it = [this] { end_recordings(); };
  delayed_ = std::make_unique<DelayedRecording>(configuration_.delay_s, configuration_.duration_s,
                                                begin_it, end_it);
}

// The application must run even if the folder cannot be created. If it was named by acl.json, the
// application's own folder is used instead; a collector would not look there.
void Profiler::begin_configured() {
  std::string why;
  aclError result =
      begin(configuration_.config, configuration_.settings, configuration_.output, true, why);
  const std::string folder = runtime::executable_folder();
  if (result == ACL_ERROR_INVALID_FILE && configuration_.collector.empty() &&
      configuration_.output != folder) {
    std::string ignored;
    result = begin(configuration_.config, configuration_.settings, folder, true, ignored);
    if (result == ACL_SUCCESS) say(std::exchange(why, "") + ": recorded in " + folder);
  }
  if (!why.empty()) say(why + ": nothing is recorded");
  state_ = result == ACL_SUCCESS ? State::configured : State::off;
  if (result == ACL_SUCCESS) tell_collector(configuration_, running_.back().recording->folder());
}

// If the socket cannot be created, the application runs unrecorded.
void Profiler::open_server() {
  if (server_ != nullptr) return;
  std::string why;
  server_ = DynamicServer::open(
      socket_home(),
      {[](const std::string& config) { return instance().start_dynamic(config); },
       [] { return instance().stop_dynamic(); }},
      {}, why);
  if (server_ == nullptr) say(why + ": no collector can reach this process");
}

DynamicResult Profiler::start_dynamic(const std::string& config) {
  Configuration asked;
  std::string why;
  if (read_collector_config(config, device_count(), asked, why) != ACL_SUCCESS || !asked.wanted)
    return {false, why};
  const std::lock_guard lock(mutex_);
  if (process_ends_.load()) return {false, "the application ends"};
  if (!acl_is_initialised()) return {false, "the application has called aclFinalize"};
  if (state_ == State::subscribed)
    return {false, "the application profiles a model by itself (aclprofModelSubscribe)"};
  if (state_ != State::off) return {false, "the application is recorded already"};
  configuration_ = std::move(asked);
  const aclError result =
      begin(configuration_.config, configuration_.settings, configuration_.output, true, why);
  if (result != ACL_SUCCESS) return {false, why};
  state_ = State::configured;
  dynamic_folder_ = running_.back().recording->folder();
  return {true, dynamic_folder_};
}

// Also succeeds if Ctrl-C or aclFinalize has already ended the recording.
DynamicResult Profiler::stop_dynamic() {
  std::vector<std::uint16_t> devices;
  {
    const std::lock_guard lock(mutex_);
    for (const Running& running : running_) devices = running.config.devices;
  }
  wait_for_launched(devices);
  const std::lock_guard lock(mutex_);
  if (dynamic_folder_.empty()) return {false, "the application is not recorded"};
  if (state_ == State::configured) {
    end_all(false);
    state_ = State::off;
  }
  return {true, std::exchange(dynamic_folder_, "")};
}

aclError Profiler::begin(const ProfConfig& config, const ProfSettings& settings,
                         const std::string& output, bool devices_on_use, std::string& why) {
  const std::optional<int> chip = host_chip(why);
  if (!chip) return ACL_ERROR_INVALID_PROFILING_CONFIG;
  RecordingOptions options;
  options.output = output;
  options.devices = config.devices;
  options.devices_on_use = devices_on_use;
  options.bits = config.bits;
  if ((config.bits & ACL_PROF_AICORE_METRICS) != 0) options.metrics = config.metrics;
  options.chip = *chip;
  options.storage_limit_bytes = settings.storage_limit_bytes();
  options.host_usage = settings.host_usage();
  options.parameters = settings.parameters();
  if (is_dynamic_mode()) options.parameters.emplace_back("dynamic", "on");
  std::shared_ptr<Recording> recording = Recording::start(options, why);
  if (!recording) return ACL_ERROR_INVALID_FILE;
  give_texts(*recording);
  running_.push_back({config, recording});
  ActiveRecordings::instance().add(std::move(recording));
  watch_interrupts([] { instance().end_recordings(); });
  return ACL_SUCCESS;
}

void Profiler::end(const Running& running, bool at_exit) {
  ActiveRecordings::instance().remove(running.recording, at_exit);
  running.recording->finish(at_exit);
  if (running_.empty()) ignore_interrupts();
}

void Profiler::end_all(bool at_exit) {
  std::vector<Running> ending;
  ending.swap(running_);
  for (const Running& running : ending) end(running, at_exit);
}

void Profiler::end_recordings() {
  const std::lock_guard lock(mutex_);
  end_all(false);
}

void Profiler::finish(bool at_exit) {
  if (at_exit) {
    process_ends_.store(true);
    // A thread may have ended the process while another holds the lock.
    std::unique_lock lock(mutex_, std::try_to_lock);
    for (int tries = 0; !lock.owns_lock() && tries < 50; ++tries) {
      const timespec millisecond = {0, 1'000'000};
      nanosleep(&millisecond, nullptr);
      lock.try_lock();
    }
    if (lock.owns_lock()) end_all(true);
    // The server's thread may run until the process ends, which closes the connection.
    if (server_ != nullptr) server_.release()->leave();
    return;
  }
  std::unique_ptr<DelayedRecording> delayed;
  {
    const std::lock_guard lock(mutex_);
    delayed.swap(delayed_);
  }
  delayed.reset();
  runtime::end_all_subscriptions();
  const std::lock_guard lock(mutex_);
  end_all(false);
  settings_ = {};
  subscribed_models_ = 0;
  state_ = State::off;
}

// Locks the mutex, so that no other thread holds it in the child forever.
void Profiler::before_fork() {
  mutex_.lock();
  lock_texts();
  OpNameIds::instance().before_fork();
  if (server_ != nullptr) server_->before_fork();
}

void Profiler::after_fork(bool child) {
  if (server_ != nullptr) server_->after_fork(child);
  OpNameIds::instance().after_fork();
  unlock_texts();
  if (child) {
    // Files, readers and threads belong to the parent.
    ActiveRecordings::instance().forget_all();
    runtime::forget_subscriptions();
    forget_stamps();
    ignore_interrupts();
    for (Running& running : running_) of_parent_.push_back(std::move(running));
    running_.clear();
    static_cast<void>(delayed_.release());
    static_cast<void>(server_.release());
    dynamic_folder_.clear();
    settings_ = {};
    subscribed_models_ = 0;
    state_ = State::off;
  }
  mutex_.unlock();
}

}  // namespace msprof::acl
