// Subscribed models of CANN's interface: decides which tasks become records of a subscription.
#pragma once

#include <cstdint>

#include "runtime/acl/prof/recorder.hpp"
#include "runtime/prof/subscription.hpp"

namespace msprof::acl {

using runtime::is_any_model_subscribed;
using runtime::is_subscribed;
using runtime::SubscribeOrder;

// Sends a record if the task is an operator of a subscribed model, or an execution of it (kind
// step, sent as "keypoint_op" of type "na"). Never waits for the reader. Registered as task
// observer (recorder.hpp) while a model is subscribed.
void send_to_subscriber(const RanTask& task);

// Subscribe to a model, or end it; return codes as in runtime/prof/subscription.hpp.
int subscribe(std::uint32_t model, std::uint16_t device, const SubscribeOrder& order);
int unsubscribe(std::uint32_t model);

}  // namespace msprof::acl
