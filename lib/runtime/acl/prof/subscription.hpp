// Subscribed models: what devices ran goes as records of 80 bytes into a pipe of the application.
// Rules: docs/host_cann.md.
#pragma once

#include <cstdint>

#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

// The order of a subscription, as aclprofCreateSubscribeConfig was given it.
struct SubscribeOrder {
  bool time_info = false;
  std::uint32_t metrics = 0xFF;  // aclprofAicoreMetrics
  int fd = -1;                   // write end of a pipe
  bool operator==(const SubscribeOrder&) const = default;
};

// One load while nothing is subscribed.
bool any_model_subscribed();
bool is_subscribed(std::uint32_t model);
// The record of what ran, if it is an operator of a subscribed model or one execution of it (kind
// step; "keypoint_op" of type "na"); never waits for the reader. It observes the tasks
// (recorder.hpp) while a model is subscribed.
void send_to_subscriber(const RanTask& task);

// For the state machine, which calls them one at a time. The codes are those of
// aclprofModelSubscribe and aclprofModelUnSubscribe.
aclError subscribe(std::uint32_t model, std::uint16_t device, const SubscribeOrder& order);
// Sends what is left, closes the write end with its last model.
aclError unsubscribe(std::uint32_t model);
// At the end of the process's use of the interface.
void unsubscribe_all();
// A child made by fork has no sender: it forgets what its parent subscribed.
void forget_subscriptions();

}  // namespace msprof::acl
