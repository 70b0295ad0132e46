// libmsprof_mstx.so: records marks and ranges of a program that uses mstx without the rest of CANN,
// in a host-only PROF folder. The program's first mstx call loads it; a program without such a call
// writes no folder.
#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/acl/prof/recording.hpp"
#include "runtime/engine/message.hpp"
#include "runtime/mstx/injection.hpp"
#include "runtime/mstx/mark_id.hpp"

namespace msprof::mstx {

namespace {

class FolderSink : public TxSink {
 public:
  explicit FolderSink(std::shared_ptr<acl::Recording> recording)
      : recording_(std::move(recording)) {}

  bool is_open() const override { return is_open_.load(std::memory_order_acquire); }
  std::uint64_t next_id() override { return next_mark_id(); }
  std::uint64_t intern(std::string_view domain) override { return recording_->intern(domain); }
  void append(const MsprofTxWire& record) override {
    recording_->append(acl::HostFile::msproftx, &record);
  }
  // Does nothing: without the rest of CANN there are no streams.
  void pass_on_stream(void*, std::uint64_t, StreamTag) override {}

  // In a forked child: the files belong to the parent.
  void close_in_child() { is_open_.store(false, std::memory_order_release); }

  void finish() {
    if (is_open_.exchange(false)) recording_->finish(true);
  }

 private:
  const std::shared_ptr<acl::Recording> recording_;
  std::atomic<bool> is_open_{true};
};

// State created for the first client. Never destroyed: other threads may still be inside the
// interface while the process exits.
struct Process {
  explicit Process(std::shared_ptr<acl::Recording> recording)
      : sink(std::move(recording)), recorder(sink, DomainFilter::from_environment()) {}
  FolderSink sink;
  TxRecorder recorder;
};
std::atomic<Process*> process{nullptr};

std::string output_folder() {
  const char* output = secure_getenv("MSPROF_MSTX_OUTPUT");
  return output == nullptr || *output == '\0' ? "." : output;
}

void leave_to_parent() {
  Process* const started = process.load(std::memory_order_acquire);
  if (started == nullptr) return;
  started->sink.close_in_child();
  started->recorder.forget_ranges();
}

// Prints the reason if recording cannot start.
void start_recording() {
  acl::RecordingOptions options;
  options.output = output_folder();
  options.bits = acl::prof_bits::kMsprofTx;
  std::string why;
  std::shared_ptr<acl::Recording> recording = acl::Recording::start(options, why);
  if (!recording) {
    runtime::say("marks and ranges are not recorded: " + why);
    return;
  }
  process.store(new Process(std::move(recording)), std::memory_order_release);
  pthread_atfork(nullptr, nullptr, leave_to_parent);
}

// Runs at normal process exit; not called if a signal kills the process.
__attribute__((destructor)) void complete_at_exit() {
  if (Process* const started = process.load(std::memory_order_acquire)) started->sink.finish();
}

}  // namespace

}  // namespace msprof::mstx

extern "C" __attribute__((visibility("default"))) int InitInjectionMstx(
    mstxGetModuleFuncTableFunc get_table) try {
  using namespace msprof::mstx;
  static std::once_flag once;
  std::call_once(once, start_recording);
  Process* const started = process.load(std::memory_order_acquire);
  return started == nullptr ? MSTX_FAIL : fill_tables(get_table, started->recorder);
} catch (const std::exception& error) {
  msprof::runtime::say(std::string("marks and ranges are not recorded: ") + error.what());
  return MSTX_FAIL;
}
