// Synchronization of streams other than events: notifies, and values in memory.
#include <algorithm>
#include <atomic>
#include <chrono>

#include "acl/acl_rt.h"
#include "runtime/acl/api/call.hpp"
#include "runtime/acl/device/launch.hpp"
#include "runtime/acl/device/notify.hpp"
#include "runtime/acl/device/runtime.hpp"

using namespace msprof::acl;

namespace {

std::atomic<std::uint32_t> notifies_made{0};

std::shared_ptr<Notify> find_notify(const void* handle) {
  Runtime::instance().require_initialised();
  require(handle);
  std::shared_ptr<Notify> notify = Runtime::instance().notifies.find(handle);
  if (!notify) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
  return notify;
}

int wait_and_reset(Stream& stream, Notify& notify, std::uint32_t seconds) {
  const std::shared_ptr<Latch> turn = notify.take();
  if (turn == nullptr) return ACL_SUCCESS;
  const WaitDeadline deadline =
      seconds == 0 ? WaitDeadline()
                   : WaitDeadline(std::chrono::steady_clock::now() + std::chrono::seconds(seconds));
  const Latch::End end = stream.wait_for(turn, deadline);
  if (end == Latch::End::opened || !notify.give_up(turn)) return ACL_SUCCESS;
  return end == Latch::End::timeout ? ACL_ERROR_RT_WAIT_TIMEOUT : ACL_SUCCESS;
}

std::uint64_t* checked_address(void* address) {
  require(address);
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(std::uint64_t) != 0)
    throw Failure(ACL_ERROR_RT_ADDR_UNALIGNED, "the address is not a multiple of 8");
  return static_cast<std::uint64_t*>(address);
}

bool is_awaited(std::uint64_t have, std::uint64_t value, std::uint32_t flag) {
  switch (flag) {
    case ACL_STREAM_WAIT_VALUE_GEQ:  // correct also if a counter has wrapped around
      return static_cast<std::int64_t>(have - value) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
      return have == value;
    case ACL_STREAM_WAIT_VALUE_AND:
      return (have & value) != 0;
    default:  // ACL_STREAM_WAIT_VALUE_NOR
      return ~(have | value) != 0;
  }
}

// Nothing signals changes of the memory, so it is polled, at most a thousand times per second.
int wait_for_value(Stream& stream, const std::uint64_t* address, std::uint64_t value,
                   std::uint32_t flag) {
  constexpr std::chrono::microseconds kFirst{20}, kLongest{1000};
  const auto never = std::make_shared<Latch>();
  for (auto pause = kFirst;; pause = std::min(pause * 2, kLongest)) {
    if (is_awaited(__atomic_load_n(address, __ATOMIC_ACQUIRE), value, flag)) return ACL_SUCCESS;
    const auto until = std::chrono::steady_clock::now() + pause;
    if (stream.wait_for(never, until) == Latch::End::given_up) return ACL_SUCCESS;
  }
}

}  // namespace

extern "C" {

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  return recorded(__func__, Call::aclrtCreateNotify, [&] {
    require(notify);
    if (flag != ACL_NOTIFY_DEFAULT && flag != ACL_NOTIFY_DEVICE_USE_ONLY)
      throw Failure(ACL_ERROR_INVALID_PARAM);
    Runtime::instance().current_context();
    auto made = std::make_shared<Notify>(notifies_made++);
    *notify = made.get();
    Runtime::instance().notifies.add(std::move(made));
  });
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  return recorded(__func__, Call::aclrtDestroyNotify, [&] {
    find_notify(notify);
    Runtime::instance().notifies.take(notify);
  });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  return recorded(__func__, Call::aclrtRecordNotify, [&] {
    const std::shared_ptr<Notify> recorded = find_notify(notify);
    launch_task(*Runtime::instance().stream(stream), TaskKind::notify_record,
                [recorded](Stream&) -> int {
                  recorded->set();
                  return ACL_SUCCESS;
                });
  });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  return recorded(__func__, Call::aclrtWaitAndResetNotify, [&] {
    const std::shared_ptr<Notify> awaited = find_notify(notify);
    launch_task(*Runtime::instance().stream(stream), TaskKind::notify_wait,
                [=](Stream& on) { return wait_and_reset(on, *awaited, timeout); });
  });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  return guarded(__func__, [&] {
    require(notifyId);
    *notifyId = find_notify(notify)->id();
  });
}

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return recorded(__func__, Call::aclrtValueWrite, [&] {
    std::uint64_t* const address = checked_address(devAddr);
    if (flag != 0) throw Failure(ACL_ERROR_INVALID_PARAM);
    launch_task(*Runtime::instance().stream(stream), TaskKind::value_write, [=](Stream&) -> int {
      __atomic_store_n(address, value, __ATOMIC_RELEASE);
      return ACL_SUCCESS;
    });
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return recorded(__func__, Call::aclrtValueWait, [&] {
    const std::uint64_t* const address = checked_address(devAddr);
    if (flag > ACL_STREAM_WAIT_VALUE_NOR) throw Failure(ACL_ERROR_INVALID_PARAM);
    launch_task(*Runtime::instance().stream(stream), TaskKind::value_wait,
                [=](Stream& on) { return wait_for_value(on, address, value, flag); });
  });
}

}  // extern "C"
