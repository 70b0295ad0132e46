#include "runtime/mstx/tx_recorder.hpp"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "runtime/engine/clock.hpp"
#include "runtime/mstx/slot_table.hpp"
#include "runtime/mstx/tx_record.hpp"

namespace msprof::mstx {

namespace {

// Bytes per record of a message split over several records; the last byte of each stays NUL.
constexpr std::size_t kSegmentBytes = kTxMessageBytes - 1;

std::uint32_t own_process_id() {
  return static_cast<std::uint32_t>(getpid());
}

// Cached per thread; updated after a fork, when the thread has a new id.
std::uint32_t own_thread_id(std::uint32_t process) {
  thread_local std::uint32_t asked_in = 0, id = 0;
  if (asked_in != process) {
    id = static_cast<std::uint32_t>(gettid());
    asked_in = process;
  }
  return id;
}

// Returns an empty view for a rejected message: null, empty, or one that a spreadsheet would read
// as a formula.
std::string_view checked(const char* message) {
  if (message == nullptr || std::string_view("=+-@").find(*message) != std::string_view::npos)
    return {};
  return {message, strnlen(message, kMaxMessageBytes)};
}

MsprofTxWire make_record(TxEvent event, std::uint64_t id, std::uint32_t process,
                         std::uint32_t thread, std::uint64_t begin_ns, std::uint64_t end_ns) {
  MsprofTxWire record = tx_record(event, process, thread, begin_ns, end_ns);
  record.info_type = static_cast<std::uint16_t>(TxInfo::extended);
  record.mark_id = id;
  return record;
}

}  // namespace

class TxRecorder::Domain {
 public:
  std::string name;
  std::uint64_t hash = 0;
  bool is_recorded = false;
  std::atomic<bool> is_alive{false};
};

struct TxRecorder::Range {
  const Domain* domain = nullptr;
  void* stream = nullptr;
  std::uint64_t begin_ns = 0;
  std::uint32_t thread = 0;
  std::string message;
};

// Stores each range in the first table whose slot for its number is free. Most programs need only
// the first table; the others are created on demand.
struct TxRecorder::Ranges {
  using Place = Range*;

  Ranges() = default;
  ~Ranges() {
    free_table(few_);
    free_table(more_);
    free_table(most_);
  }
  Ranges(const Ranges&) = delete;
  Ranges& operator=(const Ranges&) = delete;

  // Returns false if no table has a free slot for the number.
  bool put(std::uint64_t id, Range* range) {
    return put_in(few_, id, range) || put_in(more_, id, range) || put_in(most_, id, range);
  }

  // Null if `id` is not an open range of the domain.
  std::unique_ptr<Range> take(std::uint64_t id, const Domain& domain) {
    Range* taken = nullptr;
    const auto use = [&](Range* range) {
      if (range->domain != &domain) return false;
      taken = range;
      return true;
    };
    if (id != 0 && !take_from(few_, id, use) && !take_from(more_, id, use))
      take_from(most_, id, use);
    return std::unique_ptr<Range>(taken);
  }

  std::unique_ptr<Ranges> left_behind;  // old tables, kept by forget_ranges()

 private:
  template <std::size_t kSlots>
  using Table = std::atomic<SlotTable<Place, kSlots>*>;

  template <std::size_t kSlots>
  static bool put_in(Table<kSlots>& table, std::uint64_t id, Range* range) {
    auto* there = table.load(std::memory_order_acquire);
    if (there == nullptr) {
      auto* const made = new (std::nothrow) SlotTable<Place, kSlots>;
      if (made == nullptr) return false;
      if (table.compare_exchange_strong(there, made, std::memory_order_acq_rel))
        there = made;
      else
        delete made;
    }
    return there->put(id, [&](Place& place) { place = range; });
  }

  template <std::size_t kSlots, typename Use>
  static bool take_from(Table<kSlots>& table, std::uint64_t id, const Use& use) {
    auto* const there = table.load(std::memory_order_acquire);
    return there != nullptr && there->take(id, use);
  }

  template <std::size_t kSlots>
  static void free_table(Table<kSlots>& table) {
    const std::unique_ptr<SlotTable<Place, kSlots>> there(table.load());
    if (there) there->for_each([](Range* range) { delete range; });
  }

  Table<std::size_t{1} << 12> few_{nullptr};
  Table<std::size_t{1} << 16> more_{nullptr};
  Table<kMaxOpenRanges> most_{nullptr};
};

TxRecorder::TxRecorder(TxSink& sink, DomainFilter filter)
    : sink_(sink),
      filter_(std::move(filter)),
      process_id_(own_process_id()),
      domains_(new Domain[kMaxDomains + 1]),
      ranges_(std::make_unique<Ranges>()) {
  domains_[0].name = "default";
  domains_[0].hash = sink_.intern(domains_[0].name);
  domains_[0].is_recorded = filter_.takes(domains_[0].name);
}

TxRecorder::~TxRecorder() = default;

void TxRecorder::mark(const char* message, void* stream) {
  mark_in(domains_[0], message, stream);
}

std::uint64_t TxRecorder::start_range(const char* message, void* stream) {
  return start_in(domains_[0], message, stream);
}

void TxRecorder::end_range(std::uint64_t id) {
  end_in(domains_[0], id);
}

TxRecorder::Domain* TxRecorder::create_domain(const char* name) try {
  if (name == nullptr) return nullptr;
  const std::string_view text(name, strnlen(name, kDomainNameBytes));
  if (text.empty() || text.size() >= kDomainNameBytes || text == domains_[0].name) return nullptr;
  const std::lock_guard lock(domains_mutex_);
  const std::size_t count = domain_count_.load(std::memory_order_relaxed);
  for (std::size_t i = 1; i < count; ++i) {
    if (domains_[i].name != text) continue;
    domains_[i].is_alive.store(true, std::memory_order_release);
    return &domains_[i];
  }
  if (count > kMaxDomains) return nullptr;
  Domain& made = domains_[count];
  made.name = text;
  made.hash = sink_.intern(text);
  made.is_recorded = filter_.takes(text);
  made.is_alive.store(true, std::memory_order_release);
  domain_count_.store(count + 1, std::memory_order_release);
  return &made;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void TxRecorder::destroy_domain(Domain* domain) {
  if (is_known(domain)) domain->is_alive.store(false, std::memory_order_release);
}

void TxRecorder::mark(Domain* domain, const char* message, void* stream) {
  if (is_known(domain)) mark_in(*domain, message, stream);
}

std::uint64_t TxRecorder::start_range(Domain* domain, const char* message, void* stream) {
  return is_known(domain) ? start_in(*domain, message, stream) : 0;
}

void TxRecorder::end_range(Domain* domain, std::uint64_t id) {
  if (is_known(domain)) end_in(*domain, id);
}

// A handle comes from the program and may be any value; only a valid one is dereferenced.
bool TxRecorder::is_known(const Domain* domain) const {
  const auto address = reinterpret_cast<std::uintptr_t>(domain);
  const auto first = reinterpret_cast<std::uintptr_t>(&domains_[1]);
  const std::size_t created = domain_count_.load(std::memory_order_acquire) - 1;
  if (address < first || (address - first) % sizeof(Domain) != 0 ||
      (address - first) / sizeof(Domain) >= created) {
    return false;
  }
  return domain->is_alive.load(std::memory_order_acquire);
}

void TxRecorder::mark_in(const Domain& domain, const char* message, void* stream) {
  if (!sink_.is_open() || !domain.is_recorded) return;
  const std::uint64_t now_ns = runtime::monotonic_ns();
  const std::string_view text = checked(message);
  if (text.empty()) return;
  MsprofTxWire record = make_record(TxEvent::marker, sink_.next_id(), process_id_,
                                    own_thread_id(process_id_), now_ns, now_ns);
  if (stream != nullptr) sink_.pass_on_stream(stream, record.mark_id, StreamTag::mark);
  write(record, domain, text);
}

std::uint64_t TxRecorder::start_in(const Domain& domain, const char* message, void* stream) try {
  if (!sink_.is_open() || !domain.is_recorded) return 0;
  const std::string_view text = checked(message);
  if (text.empty()) return 0;
  if (open_ranges_.fetch_add(1, std::memory_order_relaxed) >= kMaxOpenRanges) {
    open_ranges_.fetch_sub(1, std::memory_order_relaxed);
    return 0;
  }
  auto range = std::make_unique<Range>(
      Range{&domain, stream, 0, own_thread_id(process_id_), std::string(text)});
  std::uint64_t id = sink_.next_id();
  range->begin_ns = runtime::monotonic_ns();
  // If the slots for this number are taken by other open ranges, skip to the next number.
  for (std::size_t tries = 0; !ranges_->put(id, range.get()); ++tries) {
    if (tries == kMaxOpenRanges) throw std::bad_alloc();
    id = sink_.next_id();
  }
  static_cast<void>(range.release());
  if (stream != nullptr) sink_.pass_on_stream(stream, id, StreamTag::range);
  return id;
} catch (const std::bad_alloc&) {
  open_ranges_.fetch_sub(1, std::memory_order_relaxed);
  return 0;
}

void TxRecorder::end_in(const Domain& domain, std::uint64_t id) {
  if (!sink_.is_open()) return;
  const std::uint64_t now_ns = runtime::monotonic_ns();
  const std::unique_ptr<Range> range = ranges_->take(id, domain);
  if (!range) return;
  open_ranges_.fetch_sub(1, std::memory_order_relaxed);
  if (range->stream != nullptr) sink_.pass_on_stream(range->stream, id, StreamTag::range);
  MsprofTxWire record =
      make_record(TxEvent::start_end, id, process_id_, range->thread, range->begin_ns, now_ns);
  write(record, domain, range->message);
}

void TxRecorder::write(MsprofTxWire& record, const Domain& domain, std::string_view message) {
  const std::size_t bytes = message.size() <= kTxMessageBytes ? kTxMessageBytes : kSegmentBytes;
  record.domain = domain.hash;
  while (!message.empty()) {
    const std::string_view part = message.substr(0, bytes);
    std::fill(std::copy(part.begin(), part.end(), std::begin(record.message)),
              std::end(record.message), '\0');
    sink_.append(record);
    ++record.segment;
    message.remove_prefix(part.size());
  }
}

void TxRecorder::forget_ranges() {
  process_id_ = own_process_id();
  auto* const fresh = new (std::nothrow) Ranges;
  if (fresh == nullptr) return;
  // The old tables are never read again: entries may be half written.
  fresh->left_behind = std::move(ranges_);
  ranges_.reset(fresh);
  open_ranges_ = 0;
  new (&domains_mutex_) std::mutex;
}

}  // namespace msprof::mstx
