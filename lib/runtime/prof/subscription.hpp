// Subscriptions: every operator of a subscribed model is sent as an 80-byte record to a pipe of the
// application. Rules: docs/host_cann.md; codes: acl/api/README.md.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/prof/op_record.hpp"

namespace msprof::runtime {

// Options of a subscription, as passed to the interface.
struct SubscribeOrder {
  bool has_time_info = false;
  std::uint32_t metrics = 0xFF;  // number of the aicore metrics; 0xFF: no metrics
  int fd = -1;                   // write end of a pipe
  bool operator==(const SubscribeOrder&) const = default;
};

// Costs one atomic load while no model is subscribed.
bool is_any_model_subscribed();
bool is_subscribed(std::uint32_t model);
// The model must be subscribed. Never waits for the reader.
void send_record(const OpRecord& record);

// Sets how long the end of a subscription waits for a reader that reads nothing (default 10 s). For
// tests.
void set_reader_patience(std::chrono::milliseconds patience);

// `changed` is called with true for the first subscription and with false after the last one.
void watch_subscriptions(void (*changed)(bool any));

// For the state machines, which must serialize these calls. The functions return codes of
// rules.hpp.
int add_subscription(std::uint32_t model, std::uint16_t device, const SubscribeOrder& order);
// Sends the remaining records; after the last model of a pipe, closes its write end.
int end_subscription(std::uint32_t model);
// Called when the process stops using the interface.
void end_all_subscriptions();
// For a forked child, which has no sender: forgets the subscriptions of its parent.
void forget_subscriptions();

}  // namespace msprof::runtime
