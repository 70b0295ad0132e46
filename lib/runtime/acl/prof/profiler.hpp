// The state of profiling in this process: whether anything is recorded, by whom it was asked for,
// and the recordings under way. Behind acl_prof.h, aclInit and aclFinalize.
// Source: acl_prof_api.md 2, 3, 9.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/acl/prof/prof_config.hpp"
#include "runtime/acl/prof/recording.hpp"
#include "runtime/acl/prof/subscription.hpp"

namespace msprof::acl {

// For aclInit: starts what acl.json (`acl_json_path` may be null; MSPROF_ACL_JSON takes its place)
// or PROFILER_SAMPLECONFIG, which goes first, asks for. An error is aclInit's result; a folder that
// cannot be written is said and is no error.
aclError configure_profiling(const char* acl_json_path);

// For aclFinalize, and for the end of the process: completes every recording and every
// subscription. At exit nothing is waited for. May be called when nothing runs, and again.
void finish_profiling(bool at_exit = false);

class DelayedStart;

class Profiler {
 public:
  static Profiler& instance();

  // The calls of acl_prof.h that change the state; null pointers and sizes are checked before.
  aclError init(std::string_view path);
  aclError set_config(std::uint32_t type, std::string_view value);
  aclError start(const ProfConfig& config);
  aclError stop(const ProfConfig& config);
  aclError finalize();
  aclError subscribe_model(std::uint32_t model, const SubscribeOrder& order);
  aclError unsubscribe_model(std::uint32_t model);

  // ACL_ERROR_PROF_ALREADY_RUN while a configuration records, else success: for the calls that need
  // no state of their own.
  aclError refused_by_configuration();

  aclError configure(const char* acl_json_path);
  void finish(bool at_exit);

 private:
  enum class State { off, configured, api, subscribed };

  struct Running {
    ProfConfig config;
    std::shared_ptr<Recording> recording;
  };

  Profiler();
  aclError begin(const ProfConfig& config, const std::string& output);
  void end(std::size_t index, bool at_exit);
  void end_all(bool at_exit);
  void after_fork_in_child();

  std::mutex mutex_;
  State state_ = State::off;
  std::string output_;
  ProfSettings settings_;
  std::vector<Running> running_;
  std::uint32_t subscribed_models_ = 0;
  std::unique_ptr<DelayedStart> delayed_;
};

}  // namespace msprof::acl
