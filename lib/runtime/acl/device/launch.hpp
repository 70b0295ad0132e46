// Launches one task and records it.
#pragma once

#include <memory>
#include <utility>

#include "acl/acl_base.h"
#include "runtime/acl/device/failure.hpp"
#include "runtime/acl/device/stream.hpp"
#include "runtime/acl/prof/recorder.hpp"

namespace msprof::acl {

// Queues `body`, an int(Stream&), on the stream. `record_launch`, a void(const Launch&), is called
// here or, if recording starts only later, when the task runs. `ran` describes the task; its ids
// and times are filled in.
template <typename Body, typename RecordLaunch>
void launch_task(Stream& stream, RanTask ran, RecordLaunch record_launch, Body body) {
  const bool recorded = is_recording();
  const std::uint64_t begin = recorded ? runtime::monotonic_ns() : 0;
  Stream::Launching launching(stream);
  ran.ids = launching.reserve(1);
  const bool known = recorded && records_tasks(ran.ids.device);
  if (recorded) record_launch(Launch{ran.ids, begin, runtime::monotonic_ns()});
  const bool pushed = launching.push(make_task(
      [=, body = std::move(body), record_launch = std::move(record_launch)](Stream& on) mutable {
        if (!records_tasks(ran.ids.device)) return body(on);
        if (!known) {
          const std::uint64_t now = runtime::monotonic_ns();
          record_launch(Launch{ran.ids, now, now});
        }
        ran.begin_ns = runtime::monotonic_ns();
        const int code = body(on);
        ran.end_ns = runtime::monotonic_ns();
        record_task(ran);
        return code;
      }));
  if (!pushed) throw Failure(ACL_ERROR_RT_INVALID_HANDLE);
}

// The same for tasks that are neither operators nor copies.
template <typename Body>
void launch_task(Stream& stream, TaskKind kind, Body body) {
  RanTask ran;
  ran.kind = kind;
  launch_task(
      stream, ran, [kind](const Launch& launch) { record_task_launch(launch, kind); },
      std::move(body));
}

}  // namespace msprof::acl
