// Streams, and functions of the application that run in them.
#include <pthread.h>

#include <chrono>
#include <cstddef>
#include <new>

#include "acl/acl_rt.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/launch.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

namespace {

void create_stream(aclrtStream* stream, std::uint32_t priority, std::uint32_t flags) {
  require(stream);
  *stream = Runtime::instance().create_stream(priority, flags).get();
}

aclError synchronize(aclrtStream handle, std::int32_t timeout) {
  if (timeout < -1) return ACL_ERROR_INVALID_PARAM;
  const std::shared_ptr<Stream> stream = Runtime::instance().stream(handle);
  if (stream->is_on_worker()) {
    throw Failure(ACL_ERROR_RT_PARAM_INVALID, "a task of a stream would wait for itself");
  }
  return stream->synchronize(deadline_in(timeout));
}

template <typename T>
bool read_option(const void* value, std::size_t size, T& into) {
  if (size != sizeof into) return false;
  into = *static_cast<const T*>(value);
  return true;
}

// Result of one poll of aclrtProcessReport, which lasts at most a tenth of a second.
struct Look {
  bool is_last = true;
  aclError code = ACL_SUCCESS;
};

__attribute__((noinline)) Look look_for_report(std::int32_t timeout, const WaitDeadline& deadline,
                                               bool is_first) {
  constexpr std::chrono::milliseconds kLook{100};
  Look look;
  look.code = guarded("aclrtProcessReport", [&]() -> aclError {
    if (timeout < -1 || timeout == 0) return ACL_ERROR_INVALID_PARAM;
    Runtime::instance().require_initialised();
    const std::shared_ptr<Inbox> inbox =
        Runtime::instance().reports.find_thread_inbox(static_cast<std::uint64_t>(pthread_self()));
    if (!inbox) return is_first ? ACL_ERROR_THREAD_NOT_SUBSCRIBE : ACL_ERROR_WAIT_CALLBACK_TIMEOUT;
    const auto until = std::chrono::steady_clock::now() + kLook;
    const bool is_end = deadline && *deadline <= until;
    const Inbox::Seen seen = inbox->process_one(is_end ? deadline : WaitDeadline(until));
    look.is_last = seen != Inbox::Seen::nothing || is_end;
    const bool goes_on = seen == Inbox::Seen::ran || !look.is_last;
    return goes_on ? ACL_SUCCESS : ACL_ERROR_WAIT_CALLBACK_TIMEOUT;
  });
  return look;
}

__attribute__((noinline)) void end_call(RecordedCall* call) {
  const msprof::runtime::CancellationDisabled no_cancellation;
  call->~RecordedCall();
}

}  // namespace

extern "C" {

aclError aclrtCreateStream(aclrtStream* stream) {
  return recorded(__func__, Call::aclrtCreateStream, [&] { create_stream(stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return recorded(__func__, Call::aclrtCreateStreamWithConfig,
                  [&] { create_stream(stream, priority, flag); });
}

aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle) {
  return recorded(__func__, Call::aclrtCreateStreamWithConfig, [&] {
    require(handle);
    create_stream(stream, handle->priority, static_cast<std::uint32_t>(handle->flag));
  });
}

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle() {
  return new (std::nothrow) aclrtStreamConfigHandle{};
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr,
                                 const void* attrValue, size_t valueSize) {
  return guarded(__func__, [&]() -> aclError {
    require(handle, attrValue);
    bool known = false;
    switch (attr) {
      case ACL_RT_STREAM_WORK_ADDR_PTR:
        known = read_option(attrValue, valueSize, handle->workptr);
        break;
      case ACL_RT_STREAM_WORK_SIZE:
        known = read_option(attrValue, valueSize, handle->workSize);
        break;
      case ACL_RT_STREAM_FLAG:
        known = read_option(attrValue, valueSize, handle->flag);
        break;
      case ACL_RT_STREAM_PRIORITY:
        known = read_option(attrValue, valueSize, handle->priority);
        break;
    }
    return known ? ACL_SUCCESS : ACL_ERROR_INVALID_PARAM;
  });
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
  if (handle == nullptr) return ACL_ERROR_INVALID_PARAM;
  delete handle;
  return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return recorded(__func__, Call::aclrtDestroyStream, [&] {
    require(stream);
    Runtime::instance().destroy_stream(stream, false);
  });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return recorded(__func__, Call::aclrtDestroyStreamForce, [&] {
    require(stream);
    Runtime::instance().destroy_stream(stream, true);
  });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return recorded(__func__, Call::aclrtSynchronizeStream, [&] { return synchronize(stream, -1); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return recorded(__func__, Call::aclrtSynchronizeStreamWithTimeout,
                  [&] { return synchronize(stream, timeout); });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return recorded(__func__, Call::aclrtStreamQuery, [&] {
    require(status);
    *status = Runtime::instance().stream(stream)->state() == Stream::State::idle
                  ? ACL_STREAM_STATUS_COMPLETE
                  : ACL_STREAM_STATUS_NOT_READY;
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return guarded(__func__, [&] {
    require(streamId);
    *streamId = Runtime::instance().stream(stream)->id();
  });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return guarded(__func__, [&] {
    require(priority);
    *priority = Runtime::instance().stream(stream)->priority;
  });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return guarded(__func__, [&] {
    require(flags);
    *flags = Runtime::instance().stream(stream)->flags;
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return guarded(__func__, [&] {
    require(stream);
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE)
      throw Failure(ACL_ERROR_INVALID_PARAM);
    Runtime& runtime = Runtime::instance();
    const std::shared_ptr<Stream> changed = runtime.stream(stream);
    if (changed == runtime.current_context()->default_stream)
      throw Failure(ACL_ERROR_RT_PARAM_INVALID, "the default stream always continues");
    changed->stop_on_failure(mode == ACL_STOP_ON_FAILURE);
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return recorded(__func__, Call::aclrtStreamAbort, [&] {
    require(stream);
    const std::shared_ptr<Stream> aborted = Runtime::instance().stream(stream);
    if (aborted->is_on_worker())
      throw Failure(ACL_ERROR_RT_PARAM_INVALID, "a task of a stream would wait for itself");
    aborted->abort();
  });
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return recorded(__func__, Call::aclrtSubscribeReport, [&]() -> aclError {
    const std::shared_ptr<Stream> served = Runtime::instance().stream(stream);
    const bool first = Runtime::instance().reports.subscribe(threadId, served.get());
    return first ? ACL_SUCCESS : ACL_ERROR_REPEAT_SUBSCRIBE;
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return recorded(__func__, Call::aclrtUnSubscribeReport, [&]() -> aclError {
    Reports& reports = Runtime::instance().reports;
    const std::shared_ptr<Stream> served = Runtime::instance().stream(stream);
    if (reports.unsubscribe(threadId, served.get())) return ACL_SUCCESS;
    return reports.find_stream_inbox(served.get()) ? ACL_ERROR_THREAD_NOT_SUBSCRIBE
                                                   : ACL_ERROR_STREAM_NOT_SUBSCRIBE;
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return recorded(__func__, Call::aclrtLaunchCallback, [&]() -> aclError {
    if (fn == nullptr) return ACL_ERROR_INVALID_PARAM;
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return ACL_ERROR_INVALID_PARAM;
    }
    const std::shared_ptr<Stream> into = Runtime::instance().stream(stream);
    const std::shared_ptr<Inbox> inbox = Runtime::instance().reports.find_stream_inbox(into.get());
    if (!inbox) return ACL_ERROR_STREAM_NOT_SUBSCRIBE;
    launch_task(*into, TaskKind::callback, [=](Stream& on) {
      const auto done = std::make_shared<Latch>();
      inbox->post({[=] { fn(userData); }, done});
      if (blockType == ACL_CALLBACK_BLOCK) on.wait_for(done, std::nullopt);
      return ACL_SUCCESS;
    });
    return ACL_SUCCESS;
  });
}

// May wait indefinitely, so the thread may be cancelled between two polls. The system unwinds a
// cancelled thread, and the library's own copy of the unwinder cannot take part: neither this
// function nor its callers in the library may have objects to destroy.
aclError aclrtProcessReport(int32_t timeout) {
  const WaitDeadline deadline = deadline_in(timeout);
  alignas(RecordedCall) std::byte place[sizeof(RecordedCall)];
  RecordedCall* const call = new (place) RecordedCall(Call::aclrtProcessReport);
  for (bool is_first = true;; is_first = false) {
    const Look look = look_for_report(timeout, deadline, is_first);
    if (look.is_last) {
      end_call(call);
      return look.code;
    }
    pthread_testcancel();
  }
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return recorded(__func__, Call::aclrtLaunchHostFunc, [&]() -> aclError {
    if (fn == nullptr) return ACL_ERROR_INVALID_PARAM;
    launch_task(*Runtime::instance().stream(stream), TaskKind::callback, [=](Stream&) {
      fn(args);
      return ACL_SUCCESS;
    });
    return ACL_SUCCESS;
  });
}

}  // extern "C"
