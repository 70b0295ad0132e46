#include "runtime/svp/profile/profile_job.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/engine/clock.hpp"
#include "runtime/engine/files.hpp"
#include "runtime/engine/message.hpp"

namespace msprof::runtime {
namespace {

constexpr std::size_t kMaxEarlyCalls = 4096;
constexpr std::size_t kJobLetters = 29;
constexpr mode_t kFolderMode = 0750;
// 1000 MHz: one cycle is one nanosecond.
constexpr const char* kInfoJson = "{\"DeviceInfo\": [{\"aic_frequency\": \"1000\"}]}";

// Returns "JOB" followed by 29 random letters; empty if no random bytes are available.
std::string job_name() {
  const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::string name = "JOB";
  while (name.size() < 3 + kJobLetters) {
    std::array<unsigned char, 64> bytes;
    const ssize_t got = read(fd, bytes.data(), bytes.size());
    if (got <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) && name.size() < 3 + kJobLetters;
         ++i) {
      // 234 = 9 × 26: larger bytes are skipped because they would make some letters more likely.
      if (bytes[i] < 234) name += static_cast<char>('A' + bytes[i] % 26);
    }
  }
  close(fd);
  return name.size() == 3 + kJobLetters ? name : "";
}

// Makes `path` absolute, since the application may change its working folder.
std::string absolute(const std::string& path) {
  char* const resolved = realpath(path.c_str(), nullptr);
  std::string result = resolved == nullptr ? path : resolved;
  free(resolved);
  return result;
}

AclApiRecord call_record(ApiId api, uint64_t start_ns) {
  return {static_cast<uint32_t>(api), static_cast<uint32_t>(thread_number()), start_ns,
          monotonic_ns(), 0};
}

}  // namespace

ProfileJob::ProfileJob(ProfileConfig config, std::string folder)
    : config_(std::move(config)), folder_(std::move(folder)) {}

std::shared_ptr<ProfileJob> ProfileJob::create(const ProfileConfig& config) {
  const std::string name = job_name();
  const std::string output = absolute(config.output);
  const std::string folder = output + (output.ends_with('/') ? "" : "/") + name;
  if (name.empty() || mkdir(folder.c_str(), kFolderMode) != 0) {
    say((name.empty() ? "/dev/urandom" : folder) +
        (name.empty() ? " cannot be read (" : " cannot be made (") + strerror(errno) +
        "): no profiling");
    return nullptr;
  }
  const std::string info = folder + "/info.json.0", data = folder + "/data";
  if (!write_whole_file(info, kInfoJson) || mkdir(data.c_str(), kFolderMode) != 0) {
    say(folder + " cannot be written (" + strerror(errno) + "): no profiling");
    unlink(info.c_str());
    rmdir(folder.c_str());
    return nullptr;
  }
  return std::shared_ptr<ProfileJob>(new ProfileJob(config, folder));
}

std::shared_ptr<ModelProfile> ProfileJob::add_model(uint32_t model_id, const Model& model,
                                                    std::optional<uint64_t> load_start_ns) {
  const std::lock_guard lock(mutex_);
  if (is_finished_) return nullptr;
  auto profile =
      std::make_shared<ModelProfile>(folder_ + "/data", config_, health_, model_id, model);
  models_.push_back(profile);
  if (load_start_ns) profile->record_call(call_record(ApiId::kLoadFromMem, *load_start_ns));
  if (first_model_) return profile;
  first_model_ = profile;
  for (const AclApiRecord& call : early_calls_) profile->record_call(call);
  early_calls_ = {};
  if (early_calls_lost_ > 0) {
    say(std::to_string(early_calls_lost_) +
        " calls before the first model was loaded are not recorded: at most " +
        std::to_string(kMaxEarlyCalls) + " are kept");
  }
  return profile;
}

void ProfileJob::record_call(ApiId api, uint64_t start_ns, ModelProfile* model) {
  if (!config_.acl_api) return;
  const AclApiRecord call = call_record(api, start_ns);
  if (model != nullptr) {
    model->record_call(call);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (is_finished_) return;
  if (first_model_) {
    first_model_->record_call(call);
  } else if (early_calls_.size() < kMaxEarlyCalls) {
    early_calls_.push_back(call);
  } else {
    ++early_calls_lost_;
  }
}

void ProfileJob::remove_model(const std::shared_ptr<ModelProfile>& model,
                              uint64_t unload_start_ns) {
  model->finish_captures(false);
  model->record_call(call_record(ApiId::kUnload, unload_start_ns));
  const std::lock_guard lock(mutex_);
  std::erase(models_, model);
  was_any_executed_ = was_any_executed_ || model->was_executed();
  // The first model's file stays open: it also receives the calls that refer to no model.
  if (model != first_model_) finish_model(*model, false);
}

void ProfileJob::finish_model(ModelProfile& model, bool at_exit) {
  if (model.was_executed() || (&model == first_model_.get() && was_any_executed_)) {
    model.finish_calls(at_exit);
  } else {
    model.discard(at_exit);
  }
}

void ProfileJob::finish_models(bool at_exit) {
  for (const auto& model : models_) {
    model->finish_captures(at_exit);
    was_any_executed_ = was_any_executed_ || model->was_executed();
    if (model != first_model_) finish_model(*model, at_exit);
  }
  if (first_model_) finish_model(*first_model_, at_exit);
}

void ProfileJob::begin_call() {
  const std::lock_guard lock(calls_mutex_);
  ++calls_in_flight_;
}

void ProfileJob::end_call() {
  const std::lock_guard lock(calls_mutex_);
  if (--calls_in_flight_ == 0) no_calls_.notify_all();
}

void ProfileJob::wait_for_calls() {
  std::unique_lock lock(calls_mutex_);
  no_calls_.wait(lock, [this] { return calls_in_flight_ == 0; });
}

void ProfileJob::finish() {
  const std::lock_guard lock(mutex_);
  if (is_finished_) return;
  is_finished_ = true;
  finish_models(false);
  report_losses();
}

void ProfileJob::finish_at_exit() {
  const std::unique_lock lock = lock_for(mutex_, true);
  if (!lock.owns_lock() || is_finished_) return;
  is_finished_ = true;
  finish_models(true);
  report_losses();
}

void ProfileJob::report_losses() const {
  if (health_.lost_records() == 0) return;
  say(folder_ + ": " + std::to_string(health_.lost_records()) +
      " records were dropped, the profile is partial");
}

}  // namespace msprof::runtime
