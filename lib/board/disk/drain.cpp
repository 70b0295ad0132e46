#include "board/disk/drain.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <csignal>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/words.hpp"
#include "board/disk/drained_folder.hpp"
#include "collect/file_tree.hpp"
#include "collect/run_changes.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr double kBetweenConnectsSeconds = 0.5;
constexpr std::chrono::milliseconds kInterruptPoll{100};

// Disables all prompts: the terminal belongs to the running application.
void ask_nobody(SshLogin& login) {
  login.password.again = {};
  if (login.host_key == HostKeyPolicy::strict) login.host_key = HostKeyPolicy::known_only;
  login.on_step = {};
  for (SshLogin& jump : login.jumps) ask_nobody(jump);
}

std::string time_left(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min", seconds / 60);
}

// Blocks all signals while a thread is started: it inherits the mask, so the main thread handles
// all signals.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_ = {};
};

}  // namespace

BoardDrain::BoardDrain(BoardLink& link, const fs::path& folder, bool is_over)
    : link_(link),
      board_(link.name()),
      output_(link.run_folder() + "/" + std::string(kOutputName)),
      has_stat_(link.info().has_stat),
      reconnect_seconds_(link.reconnect_seconds()),
      is_over_(is_over),
      login_(link.shell().login()),
      drainer_(folder) {}

BoardDrain::BoardDrain(BoardLink& link, const DrainOptions& options)
    : BoardDrain(link, options.output / drained_folder_name(link.run()), false) {
  ask_nobody(login_);
  const BlockedSignals blocked;
  thread_ = std::thread([this] { run(); });
}

BoardDrain::BoardDrain(BoardLink& link, const fs::path& folder) : BoardDrain(link, folder, true) {
  drainer_.keep_what_is_gone();
}

BoardDrain::~BoardDrain() {
  stop();
}

void BoardDrain::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// Returns true if the thread should stop.
bool BoardDrain::pause(double seconds) {
  std::unique_lock lock(mutex_);
  return wake_.wait_for(lock, std::chrono::duration<double>(seconds),
                        [this] { return is_stopping_; });
}

std::unique_ptr<DrainChannel> BoardDrain::open(BoardShell& shell) {
  const bool is_first = !tools_;
  auto channel =
      std::make_unique<DrainChannel>(shell, output_, has_stat_, tools_, drain_place_text(folder()));
  tools_ = channel->tools();
  if (is_first && !is_over_ && !tools_->frees) {
    log::warn(
        "{} cannot free disk space during the run ({}): the recording is downloaded during the "
        "run, but also stays on the board's disk",
        board_,
        tools_->sum == SumTool::none ? "it has neither cksum nor sha256sum"
                                     : "fallocate -p or its file system does not support it");
  }
  return channel;
}

void BoardDrain::warn_of_low_disk() {
  const DrainStatus now = drainer_.status();
  if (!drainer_.rate().is_to_be_said(now.frees)) return;
  if (!now.free_bytes || !now.seconds_left) return;
  log::warn(
      "the disk of {} will be full in about {}: {} free, and the recording grows by {} per "
      "second{}",
      board_, time_left(*now.seconds_left), human_bytes(*now.free_bytes),
      human_bytes(static_cast<std::uint64_t>(now.bytes_per_second)),
      now.frees ? ", faster than it can be downloaded" : "");
}

// Returns false if the thread should stop.
bool BoardDrain::step(BoardShell& shell, std::unique_ptr<DrainChannel>& channel) {
  if (!shell.is_connected()) shell.connect();
  if (!channel) channel = open(shell);
  const bool has_more = drainer_.cycle(*channel);
  note_look();
  warn_of_low_disk();
  return !pause(has_more ? 0 : drainer_.rate().pause_seconds());
}

void BoardDrain::note_look() {
  {
    const std::lock_guard lock(mutex_);
    has_looked_ = true;
  }
  wake_.notify_all();
}

// The first poll must precede the application's start: growth is measured from it.
void BoardDrain::wait_until_it_looks() {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, kInterruptPoll, [this] { return has_looked_; })) return;
    interrupt::check();
  }
}

void BoardDrain::check() {
  const std::lock_guard lock(mutex_);
  if (!stranger_.empty()) throw ConnectFailure(ConnectFailure::Why::host_key, stranger_);
}

void BoardDrain::run() {
  work();
  note_look();
}

void BoardDrain::work() {
  BoardShell shell(login_);
  std::unique_ptr<DrainChannel> channel;
  double away_seconds = 0;
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = step(shell, channel);
      away_seconds = 0;
    } catch (const Error& error) {
      channel.reset();
      shell.disconnect();
      const auto* const failure = dynamic_cast<const ConnectFailure*>(&error);
      const bool is_away =
          failure != nullptr ? failure->may_be_repeated() : error.code() == Exit::board_unreachable;
      if (failure != nullptr && failure->why() == ConnectFailure::Why::host_key) {
        const std::lock_guard lock(mutex_);
        stranger_ = error.what();
        return;
      }
      if (is_away && away_seconds < reconnect_seconds_) {
        log::verbose("drain: {}", error.what());
        away_seconds += kBetweenConnectsSeconds;
        goes_on = !pause(kBetweenConnectsSeconds);
        continue;
      }
      log::warn("the recording is no longer downloaded during the run: {}", error.what());
      return;
    } catch (const std::exception& error) {
      channel.reset();
      shell.disconnect();
      log::warn("the recording is no longer downloaded during the run: {}", error.what());
      return;
    }
  }
}

void BoardDrain::finish() {
  stop();
  link_.with_reconnect([this] {
    const auto channel = open(link_.shell());
    drainer_.finish(*channel);
  });
  const DrainStatus now = drainer_.status();
  if (now.files == 0) return;
  log::info("downloaded during the run: {} of {}, {} of them freed on {}", human_bytes(now.bytes),
            counted(now.files, "file"), human_bytes(now.freed_bytes), board_);
}

void BoardDrain::remove() {
  stop();
  remove_tree(folder());
}

}  // namespace msprof
