// State of profiling in this process: whether it is recorded, who requested it, and the active
// recordings. Used by acl_prof.h, aclInit and aclFinalize. Rules:
// docs/host_cann.md; codes: acl/api/README.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/acl/prof/configuration.hpp"
#include "runtime/acl/prof/dynamic_server.hpp"
#include "runtime/acl/prof/prof_config.hpp"
#include "runtime/acl/prof/recording.hpp"
#include "runtime/acl/prof/subscription.hpp"

namespace msprof::acl {

// For aclInit: starts the recording requested by PROFILER_SAMPLECONFIG, else by acl.json
// (`acl_json_path`, which may be null; MSPROF_ACL_JSON overrides it). Returns the result of
// aclInit. A folder that cannot be written is reported on stderr and is not an error.
aclError configure_profiling(const char* acl_json_path);

// For the first mstx call: starts the recording requested by a collector, if it includes ranges. A
// program that only marks ranges never calls aclInit; otherwise aclInit finds the recording already
// started.
void configure_profiling_of_ranges();

// For aclFinalize and for the end of the process: completes every recording and every subscription.
// At exit it does not wait. May be called when nothing is recorded, and repeatedly.
void finish_profiling(bool at_exit = false);

class DelayedRecording;

// The profiling state of this process. It is process-wide because the C interface has no handle
// that could own it.
class Profiler {
 public:
  static Profiler& instance();

  // Implement the calls of acl_prof.h that change or query the state. The caller rejects null
  // pointers.
  aclError init(std::string_view path);
  aclError set_config(std::uint32_t type, std::string_view value);
  // Returns an error of start() that does not depend on active recordings.
  aclError check(const ProfConfig& config);
  aclError start(const ProfConfig& config);
  aclError stop(const ProfConfig& config);
  aclError finalize();
  aclError subscribe_model(std::uint32_t model, const SubscribeOrder& order);
  aclError unsubscribe_model(std::uint32_t model);
  // Returns ACL_ERROR_PROF_ALREADY_RUN while a recording started by a configuration is active, else
  // ACL_SUCCESS. For calls that are otherwise always allowed.
  aclError refused_by_configuration();

  aclError configure(const char* acl_json_path);
  void configure_ranges();
  void finish(bool at_exit);
  // Commands of a collector in dynamic mode; they return a folder or an error.
  DynamicResult start_dynamic(const std::string& config);
  DynamicResult stop_dynamic();
  // Completes every recording without changing the state. For an interrupted application.
  void end_recordings();

  void before_fork();
  void after_fork(bool child);

 private:
  using State = runtime::ProfMode;

  struct Running {
    ProfConfig config;
    std::shared_ptr<Recording> recording;
  };

  Profiler();
  // Configurations of the active recordings.
  std::vector<const ProfConfig*> started() const;
  aclError begin(const ProfConfig& config, const ProfSettings& settings, const std::string& output,
                 bool devices_on_use, std::string& why);
  void open_server();
  void begin(Configuration asked);
  void begin_configured();
  void end(const Running& running, bool at_exit);
  void end_all(bool at_exit);

  std::mutex mutex_;
  State state_ = State::off;
  std::string output_;  // as passed to aclprofInit
  ProfSettings settings_;
  std::vector<Running> running_;
  std::vector<Running> of_parent_;  // kept untouched in a forked child
  std::uint32_t subscribed_models_ = 0;
  Configuration configuration_;
  std::unique_ptr<DelayedRecording> delayed_;
  std::string dynamic_folder_;             // folder of the recording that a collector started and
                                           // did not stop
  std::unique_ptr<DynamicServer> server_;  // created by the first aclInit in dynamic mode
  std::atomic<bool> process_ends_{false};
};

}  // namespace msprof::acl
