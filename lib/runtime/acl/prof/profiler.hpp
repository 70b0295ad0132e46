// The state of profiling in this process: whether anything is recorded, by whom it was asked for,
// and the recordings under way. Behind acl_prof.h, aclInit and aclFinalize.
// Rules: docs/host_cann.md.
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

// For aclInit: starts what acl.json (`acl_json_path` may be null; MSPROF_ACL_JSON takes its place)
// or PROFILER_SAMPLECONFIG, which goes first, asks for. An error is aclInit's result; a folder that
// cannot be written is said and is no error.
aclError configure_profiling(const char* acl_json_path);

// For the first call of mstx: starts what a collector asks for, where that has ranges in it. A
// program that only marks ranges never calls aclInit; in one that does, aclInit finds it started.
void configure_profiling_of_ranges();

// For aclFinalize, and for the end of the process: completes every recording and every
// subscription. At exit nothing is waited for. May be called when nothing runs, and again.
void finish_profiling(bool at_exit = false);

class DelayedRecording;

// The profiling of this process; a C interface without handles leaves no other owner for it.
class Profiler {
 public:
  static Profiler& instance();

  // The calls of acl_prof.h that change or need the state. Null pointers are refused before them.
  aclError init(std::string_view path);
  aclError set_config(std::uint32_t type, std::string_view value);
  // What start() would refuse whatever is recorded already.
  aclError check(const ProfConfig& config);
  aclError start(const ProfConfig& config);
  aclError stop(const ProfConfig& config);
  aclError finalize();
  aclError subscribe_model(std::uint32_t model, const SubscribeOrder& order);
  aclError unsubscribe_model(std::uint32_t model);
  // For the calls that every state but one allows: ACL_ERROR_PROF_ALREADY_RUN while a configuration
  // records, else ACL_SUCCESS.
  aclError refused_by_configuration();

  aclError configure(const char* acl_json_path);
  void configure_ranges();
  void finish(bool at_exit);
  // What a collector asks for in dynamic mode: a folder, or why there is none.
  DynamicResult start_dynamic(const std::string& config);
  DynamicResult stop_dynamic();
  // Completes every recording; the state stays. For an application that is interrupted.
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
  // The configurations of what runs.
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
  std::string output_;  // of aclprofInit
  ProfSettings settings_;
  std::vector<Running> running_;
  std::vector<Running> of_parent_;  // what a child made by fork leaves alone
  std::uint32_t subscribed_models_ = 0;
  Configuration configuration_;
  std::unique_ptr<DelayedRecording> delayed_;
  std::string dynamic_folder_;             // that a collector began and has not stopped
  std::unique_ptr<DynamicServer> server_;  // from the first aclInit in dynamic mode on
  std::atomic<bool> process_ends_{false};
};

}  // namespace msprof::acl
