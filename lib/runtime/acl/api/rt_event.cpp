// Events.
#include "acl/acl_rt.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/launch.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

namespace {

constexpr std::uint64_t kNanosecondsInMicrosecond = 1000;

// Opens a latch in its destructor, so that waiters continue even if the task that holds it is
// dropped.
class OpensAtEnd {
 public:
  explicit OpensAtEnd(std::shared_ptr<Latch> latch) : latch_(std::move(latch)) {}
  ~OpensAtEnd() {
    if (latch_) latch_->open();
  }
  OpensAtEnd(OpensAtEnd&&) = default;
  OpensAtEnd& operator=(OpensAtEnd&&) = delete;

  void open() const { latch_->open(msprof::runtime::monotonic_ns()); }

 private:
  std::shared_ptr<Latch> latch_;
};

// While it exists, counts as a wait for the event.
class CountedWait {
 public:
  explicit CountedWait(std::shared_ptr<Event> event) : event_(std::move(event)) {
    ++event_->waits_under_way;
  }
  ~CountedWait() {
    if (event_) --event_->waits_under_way;
  }
  CountedWait(CountedWait&&) = default;
  CountedWait& operator=(CountedWait&&) = delete;

 private:
  std::shared_ptr<Event> event_;
};

std::shared_ptr<Event> find_event(const void* handle) {
  Runtime::instance().require_initialised();
  require(handle);
  std::shared_ptr<Event> event = Runtime::instance().events.find(handle);
  if (!event) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
  return event;
}

void create_event(aclrtEvent* event, bool ex) {
  require(event);
  Runtime::instance().current_context();
  auto made = std::make_shared<Event>(ex);
  *event = made.get();
  Runtime::instance().events.add(std::move(made));
}

void wait_event(aclrtStream handle, aclrtEvent event_handle, std::int32_t timeout) {
  const std::shared_ptr<Event> event = find_event(event_handle);
  const std::shared_ptr<Stream> stream = Runtime::instance().stream(handle);
  const std::shared_ptr<Latch> latch = event->awaited();
  if (!latch) return;
  launch_task(*stream, TaskKind::event_wait,
              [latch, timeout, counted = CountedWait(event)](Stream& on) -> int {
                const Latch::End end = on.wait_for(latch, deadline_in(timeout));
                return end == Latch::End::timeout ? ACL_ERROR_RT_WAIT_TIMEOUT : ACL_SUCCESS;
              });
}

aclError synchronize_event(aclrtEvent handle, std::int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const std::shared_ptr<Latch> latch = find_event(handle)->recorded();
  if (!latch) throw Failure(ACL_ERROR_RT_PARAM_INVALID, "the event was never recorded");
  return latch->wait(deadline_in(timeout)) == Latch::End::timeout ? ACL_ERROR_RT_WAIT_TIMEOUT
                                                                  : ACL_SUCCESS;
}

bool complete(aclrtEvent handle) {
  const std::shared_ptr<Latch> latch = find_event(handle)->recorded();
  return latch && latch->is_open();
}

// Returns the time at which the stream passed the event. Throws Failure if it has not.
std::uint64_t passed_at_ns(aclrtEvent handle) {
  const std::shared_ptr<Latch> latch = find_event(handle)->recorded();
  const std::uint64_t at_ns = latch && latch->is_open() ? latch->at_ns() : 0;
  if (at_ns == 0) throw Failure(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  return at_ns;
}

}  // namespace

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* event) {
  return recorded(__func__, Call::aclrtCreateEvent, [&] { create_event(event, false); });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) {
  return recorded(__func__, Call::aclrtCreateEventWithFlag, [&] { create_event(event, false); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t) {
  return recorded(__func__, Call::aclrtCreateEventExWithFlag, [&] { create_event(event, true); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return recorded(__func__, Call::aclrtDestroyEvent, [&] {
    find_event(event);
    Runtime::instance().events.take(event);
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return recorded(__func__, Call::aclrtRecordEvent, [&] {
    const std::shared_ptr<Event> marked = find_event(event);
    const std::shared_ptr<Stream> into = Runtime::instance().stream(stream);
    launch_task(*into, TaskKind::event_record,
                [opens = OpensAtEnd(marked->record())](Stream&) -> int {
                  opens.open();
                  return ACL_SUCCESS;
                });
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return recorded(__func__, Call::aclrtResetEvent, [&] {
    const std::shared_ptr<Event> marked = find_event(event);
    Runtime::instance().stream(stream);
    marked->reset();
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return recorded(__func__, Call::aclrtQueryEvent, [&] {
    require(status);
    *status = complete(event) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return recorded(__func__, Call::aclrtQueryEventStatus, [&] {
    require(status);
    *status =
        complete(event) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return recorded(__func__, Call::aclrtQueryEventWaitStatus, [&] {
    require(status);
    *status = find_event(event)->waits_under_way == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                                      : ACL_EVENT_WAIT_STATUS_NOT_READY;
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return recorded(__func__, Call::aclrtSynchronizeEvent,
                  [&] { return synchronize_event(event, -1); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return recorded(__func__, Call::aclrtSynchronizeEventWithTimeout,
                  [&] { return synchronize_event(event, timeout); });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return recorded(__func__, Call::aclrtEventElapsedTime, [&] {
    require(ms);
    const std::uint64_t start = passed_at_ns(startEvent), end = passed_at_ns(endEvent);
    *ms = static_cast<float>(static_cast<double>(static_cast<std::int64_t>(end - start)) * 1e-6);
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return guarded(__func__, [&] {
    require(timestamp);
    *timestamp = passed_at_ns(event) / kNanosecondsInMicrosecond;
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return recorded(__func__, Call::aclrtStreamWaitEvent, [&] { wait_event(stream, event, -1); });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return recorded(__func__, Call::aclrtStreamWaitEventWithTimeout, [&] {
    if (timeout < -1) throw Failure(ACL_ERROR_INVALID_PARAM);
    wait_event(stream, event, timeout);
  });
}

}  // extern "C"
