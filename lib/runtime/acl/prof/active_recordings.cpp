#include <time.h>

#include <algorithm>
#include <new>
#include <utility>

#include "runtime/acl/prof/known_models.hpp"
#include "runtime/acl/prof/recording.hpp"

namespace msprof::acl {

std::atomic<std::uint32_t> ActiveRecordings::generation_{0};

// Never destroyed: threads keep running while the process exits.
ActiveRecordings& ActiveRecordings::instance() {
  alignas(ActiveRecordings) static std::byte place[sizeof(ActiveRecordings)];
  static ActiveRecordings* const only = new (place) ActiveRecordings;
  return *only;
}

std::size_t ActiveRecordings::stripe_of_thread() {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number % kStripes;
}

void ActiveRecordings::add(std::shared_ptr<Recording> recording) {
  const std::lock_guard lock(mutex_);
  const List* const old = list_.load(std::memory_order_relaxed);
  record_known_models(*recording);
  auto list = old == nullptr ? std::make_unique<List>() : std::make_unique<List>(*old);
  list->push_back(std::move(recording));
  replace(list.release(), false);
}

void ActiveRecordings::remove(const std::shared_ptr<Recording>& recording, bool at_exit) {
  std::unique_lock lock(mutex_, std::defer_lock);
  // At exit, a stopped thread may hold this lock forever.
  for (int tries = 0; !lock.try_lock(); ++tries) {
    if (at_exit && tries == 50) return;
    const timespec millisecond = {0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }
  const List* const old = list_.load(std::memory_order_relaxed);
  if (old == nullptr || std::find(old->begin(), old->end(), recording) == old->end()) return;
  auto list = std::make_unique<List>(*old);
  std::erase(*list, recording);
  replace(list->empty() ? nullptr : list.release(), at_exit);
}

// Replaces the list for readers, and frees the old list when no thread can be reading it: each
// stripe has had no reader at least once since the replacement.
void ActiveRecordings::replace(const List* list, bool at_exit) {
  std::uint64_t bits = 0;
  if (list != nullptr) {
    for (const auto& recording : *list) bits |= recording->options().bits;
  }
  bits_.store(bits, std::memory_order_relaxed);
  const List* const old = list_.exchange(list, std::memory_order_seq_cst);
  if (old == nullptr) return;
  int tries = 0;
  for (const Stripe& stripe : stripes_) {
    while (stripe.readers.load(std::memory_order_seq_cst) != 0) {
      if (at_exit && ++tries > 50) return;
      const timespec moment = {0, at_exit ? 1'000'000 : 10'000};
      nanosleep(&moment, nullptr);
    }
  }
  delete old;
}

// Resets reader counts: they may include threads of the parent, which do not exist here.
void ActiveRecordings::forget_all() {
  generation_.fetch_add(1, std::memory_order_relaxed);
  list_.store(nullptr, std::memory_order_relaxed);
  bits_.store(0, std::memory_order_relaxed);
  for (Stripe& stripe : stripes_) stripe.readers.store(0, std::memory_order_relaxed);
  new (&mutex_) std::mutex;
  reset_known_models();
}

}  // namespace msprof::acl
