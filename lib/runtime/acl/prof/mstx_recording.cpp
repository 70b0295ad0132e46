// Marks and ranges of mstx in a program linked to libascendcl.so. Like stamps, they are written to
// every recording with the bit MSPROFTX. No environment variable is needed: an mstx client finds
// InitInjectionMstx in the process. For programs not linked to the library, a collector names it in
// MSTX_INJECTION_PATH.
#include <pthread.h>

#include <atomic>
#include <exception>
#include <string>

#include "runtime/acl/device/lookup.hpp"
#include "runtime/acl/prof/profiler.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "runtime/engine/clock.hpp"
#include "runtime/engine/message.hpp"
#include "runtime/mstx/injection.hpp"
#include "runtime/mstx/mark_id.hpp"

namespace msprof::acl {

namespace {

class RecordingsSink : public mstx::TxSink {
 public:
  bool is_open() const override { return records_stamps(); }
  std::uint64_t next_id() override { return mstx::next_mark_id(); }
  std::uint64_t intern(std::string_view domain) override { return intern_text(domain); }
  void append(const MsprofTxWire& record) override { record_stamp(record); }

  void pass_on_stream(void* stream, std::uint64_t id, mstx::StreamTag tag) override {
    Launch launch;
    launch.begin_ns = runtime::monotonic_ns();
    // If this is not a stream, the mark is recorded on the host only.
    if (!enqueue_step(stream, id, kNoModel, static_cast<std::uint16_t>(tag), launch.ids)) return;
    launch.end_ns = runtime::monotonic_ns();
    record_task_launch(launch, TaskKind::step);
  }
};

mstx::TxRecorder& recorder() {
  // Never destroyed: clients may call it until the process is gone.
  static RecordingsSink* const sink = new RecordingsSink;
  static mstx::TxRecorder* const made =
      new mstx::TxRecorder(*sink, mstx::DomainFilter::from_environment());
  return *made;
}

// A recorder that the program registered to replace this one.
std::atomic<mstxInitInjectionFunc> registered{nullptr};

}  // namespace

}  // namespace msprof::acl

extern "C" {

__attribute__((visibility("default"))) int InitInjectionMstx(
    mstxGetModuleFuncTableFunc get_table) try {
  using namespace msprof;
  if (const mstxInitInjectionFunc other = acl::registered.load()) return other(get_table);
  static const int forks =
      pthread_atfork(nullptr, nullptr, [] { acl::recorder().forget_ranges(); });
  static_cast<void>(forks);
  acl::configure_profiling_of_ranges();
  return mstx::fill_tables(get_table, acl::recorder());
} catch (const std::exception& error) {
  msprof::runtime::say(std::string("marks and ranges are not recorded: ") + error.what());
  return MSTX_FAIL;
}

// For tools that record mstx themselves: later clients get `function` instead of this recorder.
// Null restores this recorder.
__attribute__((visibility("default"))) void ProfRegisterMstxFunc(mstxInitInjectionFunc function,
                                                                 int /*module*/) {
  msprof::acl::registered.store(function);
}

}  // extern "C"
