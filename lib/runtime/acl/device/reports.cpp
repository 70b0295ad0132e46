#include "runtime/acl/device/reports.hpp"

#include <algorithm>
#include <utility>

namespace msprof::acl {

void Inbox::post(Report report) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_closed_) {
      reports_.push_back(std::move(report));
      changed_.notify_one();
      return;
    }
  }
  report.done->open();
}

Inbox::Seen Inbox::process_one(const WaitDeadline& deadline) {
  Report report;
  {
    std::unique_lock lock(mutex_);
    const auto ready = [this] { return !reports_.empty() || is_closed_; };
    if (!deadline) {
      changed_.wait(lock, ready);
    } else if (!changed_.wait_until(lock, *deadline, ready)) {
      return Seen::nothing;
    }
    if (reports_.empty()) return Seen::closed;
    report = std::move(reports_.front());
    reports_.pop_front();
  }
  // Opens the latch however the callback ends, so that the stream continues.
  struct Opens {
    Latch& latch;
    ~Opens() { latch.open(); }
  } const opens{*report.done};
  report.run();
  return Seen::ran;
}

void Inbox::close() {
  std::deque<Report> dropped;
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    dropped.swap(reports_);
  }
  changed_.notify_all();
  for (const Report& report : dropped) report.done->open();
}

bool Reports::subscribe(std::uint64_t thread, const Stream* stream) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Inbox> inbox;
  for (const auto& [served, subscription] : subscriptions_) {
    if (served == stream) return false;
    if (subscription.thread == thread) inbox = subscription.inbox;
  }
  if (!inbox) inbox = std::make_shared<Inbox>();
  subscriptions_.emplace(stream, Subscription{thread, std::move(inbox)});
  return true;
}

bool Reports::unsubscribe(std::uint64_t thread, const Stream* stream) {
  const std::lock_guard lock(mutex_);
  const auto it = subscriptions_.find(stream);
  if (it == subscriptions_.end() || it->second.thread != thread) return false;
  erase_locked(it);
  return true;
}

void Reports::forget_stream(const Stream* stream) {
  const std::lock_guard lock(mutex_);
  const auto it = subscriptions_.find(stream);
  if (it != subscriptions_.end()) erase_locked(it);
}

void Reports::erase_locked(std::map<const Stream*, Subscription>::iterator subscription) {
  const Subscription leaving = std::move(subscription->second);
  subscriptions_.erase(subscription);
  const bool last =
      std::none_of(subscriptions_.begin(), subscriptions_.end(),
                   [&](const auto& other) { return other.second.thread == leaving.thread; });
  if (last) leaving.inbox->close();
}

std::shared_ptr<Inbox> Reports::find_stream_inbox(const Stream* stream) const {
  const std::lock_guard lock(mutex_);
  const auto it = subscriptions_.find(stream);
  return it == subscriptions_.end() ? nullptr : it->second.inbox;
}

std::shared_ptr<Inbox> Reports::find_thread_inbox(std::uint64_t thread) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [stream, subscription] : subscriptions_) {
    if (subscription.thread == thread) return subscription.inbox;
  }
  return nullptr;
}

}  // namespace msprof::acl
