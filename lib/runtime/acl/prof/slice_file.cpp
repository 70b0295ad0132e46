#include "runtime/acl/prof/slice_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "runtime/engine/clock.hpp"
#include "runtime/engine/files.hpp"
#include "runtime/engine/mapped_space.hpp"
#include "runtime/engine/undisturbed.hpp"

namespace msprof::acl {

namespace {

constexpr std::uint64_t kSliceBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 10;
// Pages of the first slice that are loaded when it is created, in bytes. When half are written,
// more are requested.
constexpr std::uint64_t kFirstBytes = std::uint64_t{64} << 10;
// Bytes whose pages are loaded at once.
constexpr std::uint64_t kFillBytes = std::uint64_t{256} << 10;
// Bytes per write to a file that is not mapped.
constexpr std::uint64_t kSaveBytes = std::uint64_t{64} << 10;
// Complete but unwritten slices of such a file; beyond this limit the appending thread writes them
// itself.
constexpr std::uint64_t kSlicesBehind = 4;
// Bit of next_: the file accepts no more records.
constexpr std::uint64_t kClosed = std::uint64_t{1} << 62;

using runtime::sleep_a_millisecond;

// The first 8 bytes of a record, with its number filled in.
std::uint64_t numbered_head(const void* record, NumberBits counter, std::uint64_t number) {
  std::uint64_t head = 0;
  std::memcpy(&head, record, sizeof(head));
  if (counter == NumberBits::bits_6_to_9)
    return (head & ~std::uint64_t{0x3C0}) | (number & 0xF) << 6U;
  if (counter == NumberBits::bits_4_to_7)
    return (head & ~std::uint64_t{0xF0}) | (number & 0xF) << 4U;
  return head;
}

// Prefetch memory that will be written soon, because atomic operations wait for earlier stores.
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kRecordsAhead = 4;

// Creates the file and maps `bytes` of it, or allocates memory of that size; null with errno on
// error. The descriptor is not kept, since applications close descriptors they do not know.
std::byte* make_file(const std::string& name, std::uint64_t bytes, std::uint64_t first_bytes,
                     bool is_mapped) {
  const int fd = runtime::open_above_stdio(name, O_RDWR | O_CREAT | O_EXCL);
  if (fd < 0) return nullptr;
  std::byte* const base = runtime::map_space(is_mapped ? fd : -1, 0, bytes, first_bytes);
  const int error = errno;
  ::close(fd);
  if (base == nullptr) unlink(name.c_str());
  errno = error;
  return base;
}

// Writes bytes at an offset of an existing file and returns how many were written; if fewer, errno
// is set. If the file has been removed, its bytes count as written.
std::uint64_t write_at(const std::string& name, const std::byte* bytes, std::uint64_t size,
                       std::uint64_t offset) {
  const std::uint64_t limit = runtime::size_limit();
  const std::uint64_t allowed = limit > offset ? std::min(size, limit - offset) : 0;
  const int fd = runtime::open_above_stdio(name, O_WRONLY);
  if (fd < 0) return errno == ENOENT ? size : 0;
  std::uint64_t done = 0;
  int error = allowed < size ? EFBIG : 0;
  while (done < allowed) {
    const ssize_t written = pwrite(fd, bytes + done, std::min(allowed - done, kSaveBytes),
                                   static_cast<off_t>(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      error = written < 0 ? errno : ENOSPC;
      break;
    }
    done += static_cast<std::uint64_t>(written);
  }
  if (::close(fd) != 0 && error == 0 && errno != EINTR) {  // NFS reports errors here
    error = errno;
    done = 0;
  }
  errno = error;
  return done;
}

}  // namespace

// Small compared to the limit, so that many files have room for their current slices.
std::uint64_t SpaceBudget::slice_bytes() const {
  constexpr std::uint64_t kSlicesInLimit = 1024;
  return limit_ == 0 ? kSliceBytes : std::clamp(limit_ / kSlicesInLimit, kLeastBytes, kSliceBytes);
}

bool SpaceBudget::take(std::uint64_t bytes) {
  bool is_taken = take_if_there(bytes);
  while (!is_taken && remove_oldest()) is_taken = take_if_there(bytes);
  return is_taken;
}

bool SpaceBudget::take_if_there(std::uint64_t bytes) {
  const std::uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
  if (limit_ == 0 || before + bytes <= limit_) return true;
  give_back(bytes);
  return false;
}

void SpaceBudget::offer(Complete slice) {
  const std::lock_guard lock(mutex_);
  complete_.push_back(std::move(slice));
}

bool SpaceBudget::remove_oldest() {
  Complete oldest;
  {
    const std::lock_guard lock(mutex_);
    if (complete_.empty()) return false;
    oldest = std::move(complete_.front());
    complete_.pop_front();
  }
  // A slice that cannot be removed keeps its space.
  if (unlink(oldest.path.c_str()) != 0 && errno != ENOENT) return remove_oldest();
  removed_.fetch_add(oldest.records, std::memory_order_relaxed);
  give_back(oldest.bytes);
  return true;
}

SliceFile::SliceFile(std::string stem, SliceLayout layout, SpaceBudget& budget, SliceWorker* worker,
                     bool is_mapped)
    : stem_(std::move(stem)),
      layout_(layout),
      per_slice_(std::min(budget.slice_bytes(), runtime::size_limit()) / layout.record_bytes),
      is_mapped_(is_mapped),
      step_(std::bit_floor((is_mapped ? kFirstBytes / 2 : kSaveBytes) / layout.record_bytes)),
      stepped_slices_(is_mapped ? 1 : UINT64_MAX),
      budget_(budget),
      worker_(worker) {}

// If the recording was not finished, the files stay as a kill would leave them.
SliceFile::~SliceFile() {
  for (Slot& place : slots_) {
    if (place.number.load(std::memory_order_relaxed) != kFree && place.base != nullptr)
      runtime::unmap_space(place.base, place.capacity * layout_.record_bytes);
  }
}

std::string SliceFile::path(std::uint64_t slice) const {
  return stem_ + ".slice_" + std::to_string(slice);
}

void SliceFile::append(const void* record, std::size_t used_bytes) {
  const std::uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
  if (number >= kClosed) return;
  if (per_slice_ == 0) {
    fail(EFBIG);
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t slice = number / per_slice_;
  const std::uint64_t within = number % per_slice_;
  Slot& place = slot(slice);
  const bool is_there = place.number.load(std::memory_order_acquire) == slice || prepare(slice);
  if (!is_there || within >= place.capacity) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::byte* const at = place.base + within * layout_.record_bytes;
  constexpr std::size_t kHead = sizeof(std::uint64_t);
  const std::size_t bytes = used_bytes == 0 ? layout_.record_bytes : used_bytes;
  // Prefetches a record a few positions ahead; has no effect if its page is not mapped yet.
  for (std::size_t i = 0; i < bytes; i += kCacheLine)
    __builtin_prefetch(at + kRecordsAhead * layout_.record_bytes + i, 1);
  std::memcpy(at + kHead, static_cast<const std::byte*>(record) + kHead, bytes - kHead);
  auto& head = *reinterpret_cast<std::uint64_t*>(at);
  std::atomic_ref(head).store(numbered_head(record, layout_.counter, number),
                              std::memory_order_release);
  if (within == per_slice_ / 2 ||
      (slice < stepped_slices_ && within > 0 && (within & (step_ - 1)) == 0))
    look_ahead(slice, within);
  // seq_cst, ordered with is_save_asked_: a running save sees this record, or another save is
  // requested.
  if (place.written.fetch_add(1, std::memory_order_seq_cst) + 1 == per_slice_) complete(slice);
  if (!is_mapped_ && !is_save_asked_.load(std::memory_order_seq_cst)) save_soon();
}

// Prepares for the next records: requests the next slice when half of this one is full. In the
// first slice, whenever the bytes written have doubled, requests the pages up to four times these
// bytes.
void SliceFile::look_ahead(std::uint64_t slice, std::uint64_t within) {
  if (within == per_slice_ / 2) {
    if (worker_ == nullptr ||
        worker_->ask({this, SliceJob::Kind::make, slice + 1}) == SliceWorker::Answer::do_it)
      prepare(slice + 1);
  } else if (worker_ != nullptr) {
    const std::uint64_t bytes = within * layout_.record_bytes;
    if (slice == 0 && std::has_single_bit(within / step_))
      worker_->ask({this, SliceJob::Kind::fill, slice, 2 * bytes, 4 * bytes});
    if (!is_mapped_) worker_->ask({this, SliceJob::Kind::save});
  }
}

void SliceFile::run(const SliceJob& job) try {
  switch (job.kind) {
    case SliceJob::Kind::make:
      make_ahead(job.slice);
      break;
    case SliceJob::Kind::fill:
      fill(job.slice, job.from, job.to);
      break;
    case SliceJob::Kind::save:
      save_all();
      break;
    case SliceJob::Kind::unmap:
      retire(job.slice);
      break;
  }
} catch (const std::exception&) {
  // Out of memory: the thread that needs the slice tries again.
}

void SliceFile::fill(std::uint64_t slice, std::uint64_t from, std::uint64_t to) {
  // Slices of a mapped file need no lock: only this thread unmaps them.
  std::unique_lock saving(saving_, std::defer_lock);
  if (!is_mapped_) saving.lock();
  const Slot& place = slot(slice);
  if (place.number.load(std::memory_order_acquire) != slice) return;
  const std::uint64_t end = std::min(to, place.capacity * layout_.record_bytes);
  for (; from < end && !worker_->stops(); from += kFillBytes) {
    if (!runtime::load_pages(place.base + from, std::min(end - from, kFillBytes))) return;
  }
}

bool SliceFile::prepare(std::uint64_t slice) try {
  const runtime::Undisturbed undisturbed;
  if (is_full_.load(std::memory_order_relaxed) &&
      slot(slice).number.load(std::memory_order_acquire) != slice)
    return false;
  std::unique_lock lock(mutex_);
  // Slices are created in order. A slice stays mapped until all its records are written.
  if (slice * per_slice_ >= end_) return false;
  if (slice < slices_.size()) return slot(slice).number.load(std::memory_order_acquire) == slice;
  while (slices_.size() <= slice) {
    const std::uint64_t next = slices_.size();
    if (is_full_.load(std::memory_order_relaxed) || !wait_for_slot(next, lock)) return false;
    if (next < slices_.size()) continue;  // created by another thread meanwhile
    if (!allocate(next, lock)) return false;
  }
  return true;
} catch (const std::exception&) {
  return false;  // no memory
}

// The slot of this slice may be held by a thread that stopped while writing a record 64 slices ago.
bool SliceFile::wait_for_slot(std::uint64_t slice, std::unique_lock<std::mutex>& lock) {
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    if (slot(slice).number.load(std::memory_order_acquire) == kFree || slice < slices_.size())
      return true;
    lock.unlock();
    sleep_a_millisecond();
    lock.lock();
  }
  fail(ETIMEDOUT);
  return false;
}

// An appending thread waits only for other appending threads or, if the disk is nearly full, for
// the worker.
bool SliceFile::allocate(std::uint64_t slice, std::unique_lock<std::mutex>& lock) {
  const std::uint64_t bytes = per_slice_ * layout_.record_bytes;
  const std::uint64_t first_bytes = slice == 0 ? kFirstBytes : bytes;
  Made made = make(path(slice), first_bytes, per_slice_);
  if (made.base == nullptr) {
    // The disk may be nearly full. Wait for the worker: it may use the last space to create this
    // slice, or free it again. Then use whatever is left.
    if (wait_for_worker(lock); slices_.size() > slice) return true;
    made = make(path(slice), first_bytes, std::min(kLeastBytes, bytes) / layout_.record_bytes);
  }
  if (made.records < per_slice_) fail(made.error);
  if (made.base == nullptr) return false;
  publish(slice, made);
  return true;
}

void SliceFile::wait_for_worker(std::unique_lock<std::mutex>& lock) const {
  constexpr int kTries = 200;
  lock.unlock();
  for (int i = 0; worker_ != nullptr && worker_->is_busy() && i < kTries; ++i)
    sleep_a_millisecond();
  lock.lock();
}

// Creates the next slice on the worker, without holding the lock. A thread that needs it earlier
// creates it itself; the file made here is then used for the following slice.
void SliceFile::make_ahead(std::uint64_t slice) {
  const auto is_wanted = [this](std::uint64_t next) {
    const std::uint64_t records = next_.load(std::memory_order_relaxed);
    return !is_full_.load(std::memory_order_relaxed) && records < kClosed &&
           next <= records / per_slice_ + 1 &&
           slot(next).number.load(std::memory_order_acquire) == kFree;
  };
  {
    const std::lock_guard lock(mutex_);
    if (slices_.size() > slice || !is_wanted(slices_.size())) return;
  }
  const std::size_t folder = stem_.rfind('/') + 1;
  const std::string name = stem_.substr(0, folder) + "." + stem_.substr(folder) + ".next";
  const Made made = make(name, per_slice_ * layout_.record_bytes, per_slice_);
  if (made.base == nullptr) return;
  std::uint64_t next = 0;
  bool is_used = false;
  {
    const std::lock_guard lock(mutex_);
    next = slices_.size();
    is_used = is_wanted(next) && rename(name.c_str(), path(next).c_str()) == 0;
    if (is_used) publish(next, made);
  }
  if (is_used) return;
  unlink(name.c_str());
  runtime::unmap_space(made.base, made.records * layout_.record_bytes);
  budget_.give_back(made.records * layout_.record_bytes);
}

// Creates a file for as many records as there is space for; `base` is null if there are fewer than
// `least_records`.
SliceFile::Made SliceFile::make(const std::string& name, std::uint64_t first_bytes,
                                std::uint64_t least_records) {
  Made made;
  for (made.records = per_slice_; made.records >= std::max<std::uint64_t>(least_records, 1);
       made.records /= 2) {
    const std::uint64_t bytes = made.records * layout_.record_bytes;
    if (!budget_.take(bytes)) continue;
    made.base = make_file(name, bytes, std::min(bytes, first_bytes), is_mapped_);
    if (made.base != nullptr) return made;
    made.error = errno;
    budget_.give_back(bytes);
    if (made.error != ENOSPC && made.error != EDQUOT) break;
  }
  made.records = 0;
  return made;
}

void SliceFile::publish(std::uint64_t slice, const Made& made) {
  Slot& place = slot(slice);
  slices_.push_back({made.records * layout_.record_bytes, runtime::monotonic_ns(), 0});
  place.base = made.base;
  place.capacity = made.records;
  place.saved = 0;
  place.written.store(0, std::memory_order_relaxed);
  place.number.store(slice, std::memory_order_release);
}

void SliceFile::fail(int error) {
  if (!is_full_.exchange(true, std::memory_order_relaxed))
    error_.store(error, std::memory_order_relaxed);
}

// Called after the last record of a slice is written. If the worker is stopping, finish() does the
// rest.
void SliceFile::complete(std::uint64_t slice) try {
  const runtime::Undisturbed undisturbed;
  slot(slice).end_ns = runtime::monotonic_ns();
  // Not left to the worker: while it is busy, records would be lost although space can be freed.
  if (budget_.is_limited() && !layout_.is_kept) offer(slice);
  if (worker_ == nullptr ||
      worker_->ask({this, SliceJob::Kind::unmap, slice}) == SliceWorker::Answer::do_it)
    retire(slice);
  // If the disk is slower than the records, appending threads wait here instead of using up memory.
  if (!is_mapped_ && slice >= kSlicesBehind) retire(slice - kSlicesBehind);
} catch (const std::exception&) {
  // Out of memory: finish() tries again.
}

void SliceFile::offer(std::uint64_t slice) try {
  budget_.offer({path(slice), per_slice_ * layout_.record_bytes, per_slice_});
} catch (const std::exception&) {
  // Out of memory: the slice keeps its space.
}

// Removes a slice from memory if all its records are written and no other thread has removed it.
void SliceFile::retire(std::uint64_t slice) {
  const std::lock_guard saving(saving_);
  Slot& place = slot(slice);
  if (place.number.load(std::memory_order_acquire) != slice ||
      place.written.load(std::memory_order_acquire) < per_slice_)
    return;
  const std::uint64_t bytes = save_last(slice, per_slice_);
  {
    const std::lock_guard lock(mutex_);
    slices_[slice].end_ns = place.end_ns;
    cut(slice, bytes);
  }
  unmap(slice);
}

void SliceFile::unmap(std::uint64_t slice) {
  Slot& place = slot(slice);
  runtime::unmap_space(std::exchange(place.base, nullptr), place.capacity * layout_.record_bytes);
  place.number.store(kFree, std::memory_order_release);
}

void SliceFile::save_soon() try {
  if (is_save_asked_.exchange(true)) return;
  const runtime::Undisturbed undisturbed;
  const SliceWorker::Answer answer =
      worker_ == nullptr ? SliceWorker::Answer::do_it : worker_->ask_to_save(this);
  if (answer == SliceWorker::Answer::do_it) save_all();
  if (answer == SliceWorker::Answer::leave_it) is_save_asked_.store(false);
} catch (const std::exception&) {
  // Out of memory: the next record requests a save again.
}

void SliceFile::save_all() {
  const std::lock_guard saving(saving_);
  is_save_asked_.store(false, std::memory_order_seq_cst);
  for (const Slot& place : slots_) {
    const std::uint64_t slice = place.number.load(std::memory_order_acquire);
    if (slice == kFree) continue;
    place.written.load(std::memory_order_seq_cst);
    const std::uint64_t next = next_.load(std::memory_order_relaxed);
    // Only before refuse(): later only finish() knows the number of records.
    if (next < kClosed && next > slice * per_slice_)
      save(slice, std::min(next - slice * per_slice_, place.capacity));
  }
}

// Writes the unsaved bytes of the first `records` of a slice. Returns how many of their bytes are
// in the file; if not all, sets errno, and a later call retries the rest. A record that is still
// being written is left as a hole, which reads as zeros, for a later call.
std::uint64_t SliceFile::save(std::uint64_t slice, std::uint64_t records) {
  Slot& place = slot(slice);
  const std::uint64_t end = records * layout_.record_bytes;
  const auto is_whole = [&](std::uint64_t at) {
    auto& head = *reinterpret_cast<std::uint64_t*>(place.base + at);
    return std::atomic_ref(head).load(std::memory_order_acquire) != 0;
  };
  std::uint64_t saved = end;
  for (std::uint64_t from = place.saved; from < end;) {
    std::uint64_t to = from;
    while (to < end && is_whole(to)) to += layout_.record_bytes;
    if (to > from) {
      const std::uint64_t done = write_at(path(slice), place.base + from, to - from, from);
      if (done < to - from) {
        const std::uint64_t bytes = (from + done) / layout_.record_bytes * layout_.record_bytes;
        place.saved = std::min(saved, bytes);
        return bytes;
      }
    }
    if (to < end) saved = std::min(saved, to);
    from = to + layout_.record_bytes;
  }
  place.saved = std::max(place.saved, saved);
  return end;
}

// Like save(), before the slice is removed from memory: what cannot be written now is lost.
std::uint64_t SliceFile::save_last(std::uint64_t slice, std::uint64_t records) {
  const std::uint64_t end = records * layout_.record_bytes;
  if (is_mapped_) return end;
  const std::uint64_t bytes = save(slice, records);
  if (bytes < end) {
    if (lost() == 0) error_.store(errno, std::memory_order_relaxed);
    lost_.fetch_add((end - bytes) / layout_.record_bytes, std::memory_order_relaxed);
  }
  return bytes;
}

// Truncates a file to the size of its records.
void SliceFile::cut(std::uint64_t slice, std::uint64_t bytes) {
  Slice& made = slices_[slice];
  if (is_mapped_ && bytes == made.bytes && bytes > 0) return;
  const std::string name = path(slice);
  if (bytes == 0) unlink(name.c_str());
  // If this fails, a reader finds zeros after the last record, and no `.done`.
  const bool is_cut = bytes > 0 && truncate(name.c_str(), static_cast<off_t>(bytes)) == 0;
  made.bytes = is_cut ? bytes : 0;
}

void SliceFile::refuse() {
  const std::uint64_t end = next_.fetch_or(kClosed, std::memory_order_acq_rel);
  if (end < kClosed) refused_from_ = end;
}

void SliceFile::finish(bool at_exit) {
  refuse();
  if (end_ != UINT64_MAX || per_slice_ == 0) return;
  const std::uint64_t end = refused_from_;
  if (!at_exit) wait_for_records(end);
  std::unique_lock saving(saving_, std::defer_lock);
  std::unique_lock lock(mutex_, std::defer_lock);
  // At exit, a stopped thread may hold a lock forever; a thread that is writing may be waiting for
  // the disk.
  const int tries_at_exit = is_mapped_ ? 50 : 2000;
  for (int tries = 0; std::try_lock(saving, lock) >= 0; ++tries) {
    if (at_exit && tries == tries_at_exit) return;
    sleep_a_millisecond();
  }
  end_ = end;
  for (std::uint64_t slice = 0; slice < slices_.size(); ++slice) close(slice, at_exit);
  // Runs after all files are truncated, which frees space for the `.done` files.
  for (std::uint64_t slice = 0; slice < slices_.size(); ++slice) {
    // No `.done` for a slice that was removed at the storage limit.
    const bool is_there = slices_[slice].bytes > 0 && access(path(slice).c_str(), F_OK) == 0;
    if (is_there) write_done(slice);
  }
}

// Waits for records that are still being written. The wait is limited: a thread may have been
// stopped.
void SliceFile::wait_for_records(std::uint64_t end) {
  constexpr int kTries = 2000;
  int tries = 0;
  for (std::uint64_t slice = 0; slice * per_slice_ < end; ++slice) {
    while (!is_written(slice, std::min(end - slice * per_slice_, per_slice_)) && tries++ < kTries)
      sleep_a_millisecond();
  }
}

bool SliceFile::is_written(std::uint64_t slice, std::uint64_t records) {
  const std::lock_guard lock(mutex_);
  if (slice >= slices_.size()) return is_full_.load(std::memory_order_relaxed);
  const Slot& place = slot(slice);
  return place.number.load(std::memory_order_acquire) != slice ||
         place.written.load(std::memory_order_acquire) >= std::min(records, place.capacity);
}

// Truncates a slice to its records. Requires that no records can be added and that all existing
// ones are below the new end.
void SliceFile::close(std::uint64_t slice, bool at_exit) {
  Slot& place = slot(slice);
  if (place.number.load(std::memory_order_acquire) != slice) return;
  Slice& made = slices_[slice];
  made.end_ns = runtime::monotonic_ns();
  const std::uint64_t from = slice * per_slice_;
  const std::uint64_t records = end_ > from ? std::min(end_ - from, place.capacity) : 0;
  const std::uint64_t bytes = save_last(slice, records);
  // If a thread is still writing, the slice stays mapped; at exit the process unmaps it.
  if (!at_exit && place.written.load(std::memory_order_acquire) >= records) unmap(slice);
  cut(slice, bytes);
}

void SliceFile::write_done(std::uint64_t slice) const {
  const Slice& made = slices_[slice];
  runtime::write_whole_file(path(slice) + ".done",
                            "filesize:" + std::to_string(made.bytes) +
                                "\nstarttime:" + std::to_string(made.begin_ns) +
                                "\nendtime:" + std::to_string(made.end_ns) + "\n");
}

}  // namespace msprof::acl
