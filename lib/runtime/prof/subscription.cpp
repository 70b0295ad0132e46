#include "runtime/prof/subscription.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "runtime/engine/blocked_signals.hpp"
#include "runtime/engine/held_descriptor.hpp"
#include "runtime/engine/message.hpp"
#include "runtime/prof/op_record.hpp"
#include "runtime/prof/record_queue.hpp"
#include "runtime/prof/rules.hpp"

namespace msprof::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kSpillBytes = std::uint64_t{1} << 30;
// Time to wait, at the end of a subscription, for a reader that makes no progress.
std::atomic<std::chrono::milliseconds> reader_patience{std::chrono::seconds(10)};
constexpr int kPollMs = 20;
// Writes of up to PIPE_BUF bytes are atomic, so readers get whole records.
constexpr std::size_t kRecordsPerWrite = PIPE_BUF / sizeof(OpRecord);

std::uint64_t spill_bytes() {
  const char* const value = secure_getenv("MSPROF_SUBSCRIBE_SPILL");
  if (value == nullptr || *value == '\0') return kSpillBytes;
  const auto bytes = parse_number(value, 0, kSpillBytes);
  if (!bytes) {
    say("MSPROF_SUBSCRIBE_SPILL must be bytes up to 1073741824, not \"" + std::string(value) +
        "\": 1073741824 is taken");
  }
  return bytes.value_or(kSpillBytes);
}

bool is_same_file(int one, int other) {
  struct stat a = {}, b = {};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

// Sends records to one pipe from its own thread.
class Sender {
 public:
  // Throws if a thread cannot be created. Requires an open pipe.
  explicit Sender(int fd) : fd_(fd), queue_(spill_bytes()) {
    // Duplicated because the application may close its descriptor early and reuse the number for
    // another file.
    const int own = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (own < 0) return;
    own_ = HeldDescriptor(own);
    fcntl(own, F_SETFL, fcntl(own, F_GETFL) | O_NONBLOCK);
    const BlockedSignals inherited;  // mainly SIGPIPE
    thread_ = std::thread([this] { send_all(); });
  }

  ~Sender() {
    if (thread_.joinable()) close_all();
  }
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  bool is_open() const { return own_.get() >= 0; }
  int fd() const { return fd_; }

  void add(const OpRecord& record) {
    const std::lock_guard lock(mutex_);
    if (is_closing_ || is_over_) return;
    if (!queue_.push(record)) {
      ++dropped_;
      return;
    }
    ++added_;
    changed_.notify_all();
  }

  // Returns when all records added before the call are sent, or when the reader has stopped
  // reading.
  void flush() {
    std::unique_lock lock(mutex_);
    const std::uint64_t wanted = added_;
    std::uint64_t seen = sent_;
    while (sent_ < wanted && !is_over_) {
      changed_.wait_for(lock, reader_patience.load(), [&] { return sent_ > seen || is_over_; });
      if (sent_ == seen) return;
      seen = sent_;
    }
  }

  // Sends the remaining records and closes the write end. Call once. Returns the number of records
  // that were not sent.
  std::uint64_t close_all() {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
      progress_ = Clock::now();
      changed_.notify_all();
    }
    thread_.join();
    if (is_same_file(fd_, own_.get())) close(fd_);
    own_.close();
    return is_reader_gone_ ? 0 : dropped_ + queue_.size() + queue_.unreadable();
  }

  // For a forked child, which does not have the sender thread.
  void forget() { own_.close(); }

 private:
  void send_all() {
    std::array<OpRecord, kRecordsPerWrite> batch;
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      changed_.wait(lock, [this] { return is_closing_ || queue_.size() > 0; });
      const std::span<const OpRecord> front = queue_.front(batch.size());
      if (front.empty()) {
        // `front` is also empty if the file cannot be read back.
        if (is_closing_ && queue_.size() == 0) return;
        continue;
      }
      const std::size_t count = front.size();
      std::memcpy(batch.data(), front.data(), front.size_bytes());
      lock.unlock();
      const bool sent = send(reinterpret_cast<const char*>(batch.data()), count * sizeof(OpRecord));
      lock.lock();
      if (sent) {
        queue_.drop(count);
        sent_ += count;
        progress_ = Clock::now();
      } else {
        is_over_ = true;
      }
      changed_.notify_all();
    }
  }

  // Returns false if the subscription is over and sending must stop.
  bool send(const char* bytes, std::size_t size) {
    while (size > 0) {
      const int fd = own_.get();
      const ssize_t written = write(fd, bytes, size);
      if (written > 0) {
        bytes += written;
        size -= static_cast<std::size_t>(written);
        continue;
      }
      if (written < 0 && errno != EAGAIN && errno != EINTR) {
        lose_reader(errno);
        return false;
      }
      if (is_out_of_patience()) return false;
      pollfd room = {fd, POLLOUT, 0};
      // poll() succeeds even if the pipe has room for only a part: pause before retrying.
      if (poll(&room, 1, kPollMs) > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  bool is_out_of_patience() {
    const std::lock_guard lock(mutex_);
    return is_closing_ && Clock::now() - progress_ > reader_patience.load();
  }

  void lose_reader(int error) {
    {
      const std::lock_guard lock(mutex_);
      is_reader_gone_ = true;
    }
    say(error == EPIPE
            ? std::string("the reader of the subscribed models is gone: the subscription has ended")
            : std::string("the pipe of the subscribed models cannot be written (") +
                  strerror(error) + "): the subscription has ended");
  }

  const int fd_;  // the application's descriptor
  HeldDescriptor own_;
  std::mutex mutex_;
  std::condition_variable changed_;
  RecordQueue queue_;
  std::uint64_t added_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t dropped_ = 0;
  bool is_closing_ = false;
  bool is_over_ = false;
  bool is_reader_gone_ = false;
  Clock::time_point progress_;
  std::thread thread_;
};

struct ModelSubscription {
  SubscribeOrder order;
  std::uint16_t device = 0;
  std::shared_ptr<Sender> sender;
};

struct Subscriptions {
  std::shared_mutex mutex;
  std::map<std::uint32_t, ModelSubscription> by_model;
  // The parent's state in a forked child. Left untouched, since its locks may be held by threads
  // that do not exist here.
  const Subscriptions* of_parent = nullptr;

  std::shared_ptr<Sender> find_sender(int fd) const {
    for (const auto& [model, subscription] : by_model)
      if (subscription.sender->fd() == fd) return subscription.sender;
    return nullptr;
  }
};

std::atomic<int> subscribed{0};
// Never destroyed: devices may still run while the process exits.
std::atomic<Subscriptions*> current{new Subscriptions};
std::atomic<void (*)(bool)> watcher{nullptr};

void tell_watcher(bool any) {
  if (const auto changed = watcher.load(); changed != nullptr) changed(any);
}

}  // namespace

bool is_any_model_subscribed() {
  return subscribed.load(std::memory_order_relaxed) > 0;
}

bool is_subscribed(std::uint32_t model) {
  if (!is_any_model_subscribed()) return false;
  Subscriptions& all = *current.load();
  const std::shared_lock lock(all.mutex);
  return all.by_model.count(model) != 0;
}

void send_record(const OpRecord& record) {
  if (!is_any_model_subscribed()) return;
  std::shared_ptr<Sender> sender;
  {
    Subscriptions& all = *current.load();
    const std::shared_lock lock(all.mutex);
    const auto found = all.by_model.find(record.model);
    if (found == all.by_model.end()) return;
    sender = found->second.sender;
  }
  sender->add(record);
}

void set_reader_patience(std::chrono::milliseconds patience) {
  reader_patience.store(patience);
}

void watch_subscriptions(void (*changed)(bool any)) {
  watcher.store(changed);
}

int add_subscription(std::uint32_t model, std::uint16_t device, const SubscribeOrder& order) {
  if (!order.has_time_info && order.metrics == kNoMetrics) return kProfInvalidParam;
  Subscriptions& all = *current.load();
  const std::unique_lock lock(all.mutex);
  if (all.by_model.count(model) != 0) return kProfRepeatSubscribe;
  for (const auto& [other, subscription] : all.by_model) {
    if (subscription.device == device && subscription.order != order) return kProfInvalidConfig;
  }
  std::shared_ptr<Sender> sender = all.find_sender(order.fd);
  if (!sender) sender = std::make_shared<Sender>(order.fd);
  if (!sender->is_open()) return kProfInvalidParam;
  all.by_model[model] = {order, device, sender};
  if (subscribed.fetch_add(1) == 0) tell_watcher(true);
  return kProfSuccess;
}

int end_subscription(std::uint32_t model) {
  std::shared_ptr<Sender> sender;
  bool last = false;
  {
    Subscriptions& all = *current.load();
    const std::unique_lock lock(all.mutex);
    const auto found = all.by_model.find(model);
    if (found == all.by_model.end()) return kProfInvalidModel;
    sender = found->second.sender;
    all.by_model.erase(found);
    last = !all.find_sender(sender->fd());
    if (subscribed.fetch_sub(1) == 1) tell_watcher(false);
  }
  if (!last) {
    sender->flush();
    return kProfSuccess;
  }
  const std::uint64_t lost = sender->close_all();
  if (lost > 0) {
    say(std::to_string(lost) + " records of subscribed model " + std::to_string(model) +
        " were not sent: its reader was too slow");
  }
  return kProfSuccess;
}

void end_all_subscriptions() {
  std::vector<std::uint32_t> models;
  {
    Subscriptions& all = *current.load();
    const std::shared_lock lock(all.mutex);
    for (const auto& [model, subscription] : all.by_model) models.push_back(model);
  }
  for (const std::uint32_t model : models) end_subscription(model);
}

void forget_subscriptions() {
  subscribed.store(0);
  tell_watcher(false);
  auto* const own = new Subscriptions;
  own->of_parent = current.load();
  for (const auto& [model, subscription] : own->of_parent->by_model) subscription.sender->forget();
  current.store(own);
}

}  // namespace msprof::runtime
