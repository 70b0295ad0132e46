#include "runtime/acl/prof/dictionary.hpp"

#include <time.h>

#include <algorithm>
#include <utility>

namespace msprof::acl {

namespace {

constexpr std::size_t kFirstPlaces = 1024;  // a power of 2, like all table sizes

// 0 marks a free slot, so key 0 is replaced.
std::uint64_t as_key(std::uint64_t key) {
  return key == 0 ? 1 : key;
}

std::size_t first_place(std::uint64_t key, std::size_t places) {
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>((key * kSpread) >> 32U) & (places - 1);
}

}  // namespace

std::uint64_t text_hash(std::string_view text) {
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  for (const char c : text) {
    const std::uint32_t value = static_cast<unsigned char>(c);
    high = high * 29 + value;
    low = low * 131 + value;
  }
  return std::uint64_t{high} << 32U | low;
}

Dictionary::Dictionary(std::string path) : file_(std::move(path)) {
  tables_.push_back(std::make_unique<Table>(kFirstPlaces));
  table_.store(tables_.back().get(), std::memory_order_release);
}

bool Dictionary::has(std::uint64_t key) const {
  key = as_key(key);
  const Table& table = *table_.load(std::memory_order_acquire);
  for (std::size_t at = first_place(key, table.places.size());;
       at = (at + 1) & (table.places.size() - 1)) {
    const std::uint64_t there = table.places[at].load(std::memory_order_acquire);
    if (there == key) return true;
    if (there == 0) return false;
  }
}

void Dictionary::add(std::uint64_t key, std::string_view prefix, std::string_view text) {
  if (has(key)) return;
  const std::lock_guard lock(mutex_);
  if (has(key)) return;
  std::string line(prefix);
  line += ':';
  line += text;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  line += '\n';
  if (!file_.append(line)) lost_.fetch_add(1, std::memory_order_relaxed);
  remember(key);
}

void Dictionary::add_lines(const std::string& lines) {
  const std::lock_guard lock(mutex_);
  if (!file_.append(lines))
    lost_.fetch_add(static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n')),
                    std::memory_order_relaxed);
}

void Dictionary::insert(Table& table, std::uint64_t key) {
  std::size_t at = first_place(key, table.places.size());
  while (table.places[at].load(std::memory_order_relaxed) != 0)
    at = (at + 1) & (table.places.size() - 1);
  table.places[at].store(key, std::memory_order_release);
  ++table.used;
}

void Dictionary::remember(std::uint64_t key) {
  Table* table = tables_.back().get();
  if (table->used * 2 >= table->places.size()) {
    auto larger = std::make_unique<Table>(table->places.size() * 2);
    for (const auto& place : table->places) {
      const std::uint64_t old = place.load(std::memory_order_relaxed);
      if (old != 0) insert(*larger, old);
    }
    tables_.push_back(std::move(larger));
    table = tables_.back().get();
  }
  insert(*table, as_key(key));
  table_.store(table, std::memory_order_release);
}

void Dictionary::finish(bool at_exit) {
  std::unique_lock lock(mutex_, std::defer_lock);
  for (int tries = 0; !lock.try_lock(); ++tries) {
    if (at_exit && tries == 50) return;
    const timespec millisecond = {0, 1'000'000};
    nanosleep(&millisecond, nullptr);
  }
  file_.finish();
}

}  // namespace msprof::acl
