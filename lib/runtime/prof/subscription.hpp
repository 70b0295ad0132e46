// Subscribed models: what they ran goes as records of 80 bytes into a pipe of the application.
// Rules: docs/host_cann.md.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/prof/op_record.hpp"

namespace msprof::runtime {

// The order of a subscription, as the interface was given it.
struct SubscribeOrder {
  bool time_info = false;
  std::uint32_t metrics = 0xFF;  // number of aicore metrics; 0xFF: none
  int fd = -1;                   // write end of a pipe
  bool operator==(const SubscribeOrder&) const = default;
};

// One load while nothing is subscribed.
bool any_model_subscribed();
bool is_subscribed(std::uint32_t model);
// Of a model that is subscribed; never waits for the reader.
void send_record(const OpRecord& record);

// How long the end of a subscription waits for a reader that reads nothing; 10 s unless set, for
// tests.
void set_reader_patience(std::chrono::milliseconds patience);

// `changed` is told when there is a first subscription and when there is none any more.
void watch_subscriptions(void (*changed)(bool any));

// For the state machines, which call them one at a time. Codes as in rules.hpp.
int add_subscription(std::uint32_t model, std::uint16_t device, const SubscribeOrder& order);
// Sends what is left, closes the write end with its last model.
int end_subscription(std::uint32_t model);
// At the end of the process's use of the interface.
void end_all_subscriptions();
// A child made by fork has no sender: it forgets what its parent subscribed.
void forget_subscriptions();

}  // namespace msprof::runtime
