// l2_cache: L2 cache hit rates of the tasks of a device. Source: cann_device.md 9.2 (events per
// rate and chip; a rate without requests is 0; no row if an event was not collected), 21 (columns;
// chips with STARS have no hit rate). Chips with unknown events (platforms 0 and 9) have N/A.
// Records have no time and do not count wraparounds of the task id: if tasks of different operators
// have the same id, the name is N/A. An iteration includes the rows of the stream and task numbers
// that ran in it.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <unordered_map>

#include "base/text.hpp"
#include "export/products.hpp"
#include "export/scope/scoped_rows.hpp"
#include "export/summary/cann_tables.hpp"
#include "store/schema.hpp"

namespace msprof {

namespace {

constexpr int kEvents = 8;

// An event that a rate adds or subtracts.
struct Term {
  std::uint32_t event = 0;
  int sign = 1;
};
using Terms = std::vector<Term>;

struct Rates {
  Terms request;
  Terms hit;
  Terms victim;
};

// Null if unknown.
const Rates* find_rates(std::int64_t platform) {
  static const Rates ascend_910a{{{0x59}}, {{0x5b}}, {{0x5c}}};
  static const Rates ascend_310p{{{0x78}, {0x79}}, {{0x6a}}, {{0x71}}};
  static const Rates stars{{{0xfb}, {0xfc}}, {{0x90}, {0x91}}, {{0x9c}}};
  static const Rates later{{{0x00}},
                           {{0x00}, {0x81, -1}, {0x82, -1}, {0x83, -1}, {0x74, -1}, {0x75, -1}},
                           {{0x74}, {0x75}}};
  switch (platform) {
    case 1:
      return &ascend_910a;
    case 2:
    case 3:
    case 4:
      return &ascend_310p;
    case 5:
    case 7:
    case 8:
    case 11:
      return &stars;
    case 15:
    case 16:
      return &later;
    default:
      return nullptr;
  }
}

// Computes the rates of one device from its events.
class Device {
 public:
  Device(const Database& db, std::int64_t id, std::int64_t platform)
      : rates_(find_rates(platform)), has_hits_(platform >= 1 && platform <= 4) {
    const std::string said = read_meta(db, "l2_cache.events." + std::to_string(id));
    int cell = 0;
    for (const std::string_view word : split(said, ',')) {
      std::uint32_t event = 0;
      if (word.starts_with("0x") && cell < kEvents &&
          std::from_chars(word.data() + 2, word.data() + word.size(), event, 16).ec == std::errc())
        cells_.try_emplace(event, cell);
      ++cell;
    }
  }

  bool is_known() const {
    return rates_ == nullptr || (has(rates_->request) && has(rates_->hit) && has(rates_->victim));
  }
  // `first` is the column of the first event.
  void write(RowBuilder& out, const Statement& row, int first) const {
    if (rates_ == nullptr || !has_hits_) {
      out.missing();
    } else {
      out.number(ratio(row, first, rates_->hit));
    }
    rates_ == nullptr ? out.missing() : out.number(ratio(row, first, rates_->victim));
  }

 private:
  bool has(const Terms& terms) const {
    return std::all_of(terms.begin(), terms.end(),
                       [&](const Term& term) { return cells_.contains(term.event); });
  }
  int128 sum(const Statement& row, int first, const Terms& terms) const {
    int128 sum = 0;
    for (const Term& term : terms) {
      const auto count = static_cast<std::uint64_t>(row.integer(first + cells_.at(term.event)));
      sum += static_cast<int128>(count) * term.sign;
    }
    return sum;
  }
  std::string ratio(const Statement& row, int first, const Terms& part) const {
    const int128 whole = sum(row, first, rates_->request);
    if (whole == 0) return "0";
    std::string digits = fixed(sum(row, first, part), whole, 6);
    while (digits.ends_with('0') && !digits.ends_with(".0")) digits.pop_back();
    return digits;
  }

  const Rates* rates_;
  bool has_hits_;
  std::map<std::uint32_t, int> cells_;  // column of an event
};

class Devices {
 public:
  explicit Devices(const Database& db) {
    Statement read = db.prepare("SELECT id, platform FROM device ORDER BY id");
    while (read.step())
      all_.emplace(read.integer(0),
                   Device(db, read.integer(0), read.maybe_integer(1).value_or(-1)));
  }
  // Returns null for an unknown device or one whose rates cannot be computed.
  const Device* find(std::int64_t id) const {
    const auto at = all_.find(id);
    return at == all_.end() || !at->second.is_known() ? nullptr : &at->second;
  }

 private:
  std::map<std::int64_t, Device> all_;
};

// Operators by device, stream and task number of the records. Size: one entry per distinct key.
class CacheTaskNames {
 public:
  CacheTaskNames(const Database& db, const ExportScope& scope) {
    Statement keys = db.prepare(
        "SELECT DISTINCT device_id, stream_id, task_number FROM l2_cache"
        " ORDER BY device_id, stream_id, task_number");
    while (keys.step()) known_.try_emplace(key(keys));
    cann::OpNames ops(db);
    cann::TaskCursor tasks(
        db, scope,
        {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number, &TaskRow::op_id}, {},
        cann::TaskWindow::any);
    while (tasks.next()) {
      const auto at = known_.find({tasks->device_id, tasks->stream_id, tasks->task_number});
      if (at != known_.end()) at->second.add(ops.find(given(tasks->op_id)));
    }
  }

  struct Name {
    bool has_run = false;
    bool is_unclear = false;
    std::optional<std::int64_t> name_id;
    void add(std::optional<std::int64_t> id) {
      has_run = true;
      if (!id) return;
      is_unclear = is_unclear || (name_id && *name_id != *id);
      name_id = id;
    }
    std::optional<std::int64_t> said() const { return is_unclear ? std::nullopt : name_id; }
  };
  const Name& find(const Statement& row) const { return known_.at(key(row)); }

 private:
  struct CacheTaskKey {
    std::int64_t device, stream, task;
    bool operator==(const CacheTaskKey&) const = default;
  };
  struct CacheTaskKeyHash {
    std::size_t operator()(const CacheTaskKey& key) const {
      std::uint64_t hash = static_cast<std::uint64_t>(key.device);
      for (const std::int64_t part : {key.stream, key.task})
        hash = (hash * 0x9e3779b97f4a7c15u) ^ static_cast<std::uint64_t>(part);
      return static_cast<std::size_t>(hash ^ (hash >> 31));
    }
  };
  static CacheTaskKey key(const Statement& row) {
    return {row.integer(0), row.integer(1), row.integer(2)};
  }
  std::unordered_map<CacheTaskKey, Name, CacheTaskKeyHash> known_;
};

bool has_ops(const Database& db) {
  Statement read = db.prepare("SELECT EXISTS(SELECT 1 FROM op)");
  return read.step() && read.integer(0) != 0;
}

class CannL2Cache : public cann::CannTable {
 public:
  CannL2Cache()
      : CannTable({.name = "l2_cache",
                   .title = "L2 cache",
                   .help = "hit and victim rate of the L2 cache per task",
                   .exists = "SELECT 1 FROM l2_cache",
                   .needs = {"l2_cache"}},
                  {"Device_id", "Stream Id", "Task Id", "Hit Rate", "Victim Rate"}) {}

  std::vector<std::string> columns(const Database& db) const override {
    auto all = CannTable::columns(db);
    if (has_ops(db)) all.emplace_back("Op Name");
    return all;
  }

  std::vector<OutputFile> output_files(const Database& db) const override {
    auto output_files = CannTable::output_files(db);
    if (output_files.empty()) return output_files;
    const Devices devices(db);
    Statement read = db.prepare("SELECT DISTINCT device_id FROM l2_cache ORDER BY device_id");
    while (read.step()) {
      if (devices.find(read.integer(0)) != nullptr) return output_files;
    }
    return {};
  }

  std::vector<TableChunk> chunks(const Database& db, const OutputFile& output_file) const override {
    const auto shared = std::make_shared<const Shared>(db, output_file.scope);
    return cann::chunks_by_id(db, "l2_cache",
                              [shared](const Database& own, IdRange ids, RowBuilder& out) {
                                write_rows(own, *shared, ids, out);
                              });
  }

 private:
  struct Shared {
    Shared(const Database& db, const ExportScope& of)
        : devices(db), scope(of), names(db, of), has_names(has_ops(db)) {}
    Devices devices;
    ExportScope scope;
    CacheTaskNames names;
    bool has_names;
  };

  static void write_rows(const Database& db, const Shared& shared, IdRange ids, RowBuilder& out) {
    cann::Texts texts(db);
    Statement read = db.prepare(
        "SELECT device_id, stream_id, task_number, e0, e1, e2, e3, e4, e5, e6, e7 FROM l2_cache"
        " WHERE id BETWEEN ? AND ? ORDER BY id");
    read.bind(1, ids.first).bind(2, ids.last);
    while (read.step()) {
      const Device* device = shared.devices.find(read.integer(0));
      if (device == nullptr || !shared.scope.takes_device(read.integer(0))) continue;
      const CacheTaskNames::Name& name = shared.names.find(read);
      if (shared.scope.iteration && !name.has_run) continue;
      for (const int id : {0, 1, 2}) out.number(read.integer(id));
      device->write(out, read, 3);
      if (shared.has_names) cann::text_or_missing(out, texts, name.said());
      out.end_row();
    }
  }
};

}  // namespace

std::unique_ptr<SummaryTable> make_cann_l2_cache() {
  return std::make_unique<CannL2Cache>();
}

}  // namespace msprof
