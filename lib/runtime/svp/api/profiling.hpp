// Process-wide state of profiling through calls, used by svp_acl_prof.h, svp_acl_init and
// svp_acl_finalize. The rules are the same for both interfaces (runtime/prof/rules.hpp).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/engine/model/model.hpp"
#include "runtime/prof/rules.hpp"
#include "runtime/prof/subscription.hpp"
#include "runtime/svp/include/svp_acl_base.h"
#include "runtime/svp/profile/profile_config.hpp"

namespace msprof::runtime {

class Profiling {
 public:
  static Profiling& instance();

  // Implement the calls of svp_acl_prof.h that change or query the state. The caller rejects null
  // pointers.
  svp_acl_error init(std::string_view path);
  svp_acl_error start(const ProfConfig& config);
  svp_acl_error stop(const ProfConfig& config);
  svp_acl_error finalize();
  svp_acl_error subscribe_model(uint32_t model_id, const SubscribeOrder& order);
  svp_acl_error unsubscribe_model(uint32_t model_id);
  svp_acl_error refused_by_configuration();

  // For svp_acl_init: starts the profiling requested by acl.json; returns false if it did not
  // start.
  bool begin_configured(const ProfileConfig& config);
  // For svp_acl_finalize, which completes the JOB itself: ends subscriptions and clears the rest.
  void reset();

  void before_fork() { mutex_.lock(); }
  void after_fork(bool child);

 private:
  std::mutex mutex_;
  ProfMode mode_ = ProfMode::off;
  std::string output_;  // as passed to init
  std::optional<ProfConfig> running_;
  uint32_t subscribed_models_ = 0;
};

// Sends the layers of one execution of a subscribed model.
class SubscriptionObserver : public LayerObserver {
 public:
  SubscriptionObserver(uint32_t model_id, const Model& model, uint64_t batch)
      : model_id_(model_id), model_(model), batch_(batch) {}
  void layer_done(std::size_t layer, uint64_t start_ns, uint64_t end_ns) override;

 private:
  const uint32_t model_id_;
  const Model& model_;
  const uint64_t batch_;
};

}  // namespace msprof::runtime
