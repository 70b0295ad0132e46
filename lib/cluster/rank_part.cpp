#include "cluster/rank_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/number.hpp"
#include "cluster/device_rows.hpp"
#include "cluster/part_streams.hpp"
#include "cluster/rank_set.hpp"
#include "import/importer.hpp"
#include "store/row_ids.hpp"

namespace msprof::cluster {

namespace {

// Number of operators kept by name. The others, those with the least time, are summed up by type
// and unit.
constexpr std::size_t kMaxOperators = 20'000;
constexpr std::string_view kOtherOperators = "(other operators)";

// Collects the texts of a part. Texts from the store keep their ids; new texts get higher ids.
class SummaryTexts {
 public:
  explicit SummaryTexts(const TraceDb& store)
      : store_(store),
        read_(store.prepare("SELECT text FROM name WHERE id = ?")),
        next_(last_id(store.database(), "name") + 1) {}

  // Adds a text that need not be in the store. Returns kNull for an empty text.
  std::int64_t add(std::string_view text) {
    if (text.empty()) return kNull;
    const auto [at, is_new] = added_.try_emplace(std::string(text), next_);
    if (is_new) texts_[next_++] = text;
    return at->second;
  }

  void use(std::int64_t id) {
    if (id == kNull || texts_.count(id) != 0) return;
    read_.reset();
    read_.bind(1, id);
    if (!read_.step()) throw store_.database().damaged("an unknown text id");
    texts_[id] = read_.text(0);
  }

  // Returns the used texts in order. After that, finish() replaces an id by its position in this
  // list, from 1.
  std::vector<std::string> sorted() {
    std::set<std::string> all;
    for (const auto& [id, text] : texts_) all.insert(text);
    std::vector<std::string> names(all.begin(), all.end());
    for (const auto& [id, text] : texts_) {
      final_[id] = std::lower_bound(names.begin(), names.end(), text) - names.begin() + 1;
    }
    return names;
  }

  void finish(std::int64_t& id) const {
    if (id != kNull) id = final_.at(id);
  }

 private:
  const TraceDb& store_;
  Statement read_;
  std::int64_t next_;
  std::map<std::string, std::int64_t, std::less<>> added_;
  std::map<std::int64_t, std::string> texts_;
  std::map<std::int64_t, std::int64_t> final_;
};

struct FoundDevice {
  StoreDevice device;
  MemberRow member;
};

std::optional<std::int64_t> read_first_integer(Statement& read) {
  return read.step() ? read.maybe_integer(0) : std::nullopt;
}

// Sets the core frequency range and the peak device memory.
void add_peaks(const TraceDb& store, std::int64_t device_id, MemberRow& member) {
  Statement tracks = store.prepare(
      "SELECT track.id, track.first_sample_id, track.last_sample_id, track.divisor,"
      " counter.text = 'AI Core Freq' FROM track"
      " JOIN name AS kind ON kind.id = track.kind_name_id"
      " JOIN name AS counter ON counter.id = track.name_id WHERE track.device_id = ?"
      " AND (counter.text = 'AI Core Freq'"
      " OR (kind.text = 'npu_mem' AND counter.text = 'Memory' AND track.number = 1))"
      " ORDER BY track.id");
  tracks.bind(1, device_id);
  while (tracks.step()) {
    Statement read = store.prepare(
        "SELECT min(value), max(value) FROM counter WHERE id BETWEEN ? AND ? AND track_id = ?");
    read.bind(1, tracks.integer(1)).bind(2, tracks.integer(2)).bind(3, tracks.integer(0));
    if (!read.step() || read.is_null(0)) continue;
    if (tracks.integer(4) != 0) {
      const std::int64_t divisor = std::max<std::int64_t>(tracks.integer(3), 1);
      member.min_frequency_mhz = read.integer(0) / divisor;
      member.max_frequency_mhz = read.integer(1) / divisor;
    } else {
      member.memory_peak_bytes = read.integer(1);
    }
  }
  if (member.memory_peak_bytes != kNull) return;
  Statement reserved =
      store.prepare("SELECT max(total_reserved_bytes) FROM memory_event WHERE device_id = ?");
  reserved.bind(1, device_id);
  member.memory_peak_bytes = read_first_integer(reserved).value_or(kNull);
}

std::vector<FoundDevice> read_devices(const TraceDb& store, std::optional<std::int64_t> rank,
                                      SummaryTexts& texts) {
  const Database& db = store.database();
  std::vector<FoundDevice> found;
  Statement read = store.prepare(
      "SELECT device.id, chip_name_id, tick_frequency_hz, min(first_task_id), max(last_task_id)"
      " FROM device LEFT JOIN task_run ON task_run.device_id = device.id"
      " GROUP BY device.id ORDER BY device.id");
  MemberRow common;
  const std::string hostname = store.meta("host.hostname");
  const std::string uid = store.meta("host.uid");
  common.host_name_id = texts.add(uid.empty() ? (hostname.empty() ? "?" : hostname) : uid);
  common.hostname_name_id = texts.add(hostname);
  common.capture_name_id = texts.add(store.meta(meta::kCapture));
  const std::string verdict = store.meta(meta::kVerdict);
  common.verdict = verdict == "partial" ? 2 : verdict == "without" ? 1 : 0;
  common.verdict_text_name_id = texts.add(store.meta(meta::kVerdictText));
  common.is_modelled = read_unit_loads(db) == UnitLoads::modelled ? 1 : 0;
  common.begin_ns = read_meta_integer(db, "window.begin_ns").value_or(kNull);
  common.end_ns = read_meta_integer(db, "window.end_ns").value_or(kNull);
  common.host_frequency_hz = read_meta_integer(db, "host.frequency_hz").value_or(kNull);
  while (read.step()) {
    FoundDevice one{{}, common};
    one.device.id = read.integer(0);
    one.device.first_task_id = read.integer(3);
    one.device.last_task_id =
        read.is_null(4) ? saturating_subtract(one.device.first_task_id, 1) : read.integer(4);
    one.member.device_id = one.device.id;
    one.member.chip_name_id = read.maybe_integer(1).value_or(kNull);
    texts.use(one.member.chip_name_id);
    one.member.tick_frequency_hz = read.maybe_integer(2).value_or(kNull);
    one.member.task_count =
        saturating_add(saturating_subtract(one.device.last_task_id, one.device.first_task_id), 1);
    add_peaks(store, one.device.id, one.member);
    one.device.member_id = one.member.id = static_cast<std::int64_t>(found.size()) + 1;
    found.push_back(one);
  }
  if (found.empty()) {
    throw Error(Exit::nothing_to_do,
                fmt::format("{} has no device data", store.meta(meta::kCapture)));
  }
  const auto own = read_meta_integer(db, "host.rank");
  if (found.size() == 1) {
    if (rank || (own && *own >= 0 && *own <= RankSet::kMaxRank))
      found.front().member.rank = rank ? *rank : *own;
  } else if (rank) {
    throw Error(Exit::usage, fmt::format("{} has {} devices, which cannot all be rank {}",
                                         store.meta(meta::kCapture), found.size(), *rank));
  }
  return found;
}

template <typename Row>
void sort_rows(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return make_key(a) < make_key(b); });
}

template <typename Row>
void finish_names(std::vector<Row>& rows, const SummaryTexts& texts) {
  for (Row& row : rows) {
    texts.finish(row.group_name_id);
    texts.finish(row.operation_name_id);
  }
  sort_rows(rows);
}

// Returns the operators that ran. Beyond kMaxOperators, those with the least time are summed by
// type.
std::vector<OpTotal> list_operators(const std::map<OpKey, OpTotal>& totals, SummaryTexts& texts) {
  std::vector<OpTotal> ops;
  for (const auto& [key, total] : totals)
    if (total.count > 0) ops.push_back(total);
  if (ops.size() > kMaxOperators) {
    std::stable_sort(ops.begin(), ops.end(), [](const OpTotal& a, const OpTotal& b) {
      return a.duration_ns > b.duration_ns;
    });
    std::map<OpKey, OpTotal> rest;
    const std::int64_t name = texts.add(kOtherOperators);
    for (std::size_t i = kMaxOperators; i < ops.size(); ++i) {
      OpTotal& sum =
          rest.try_emplace({name, ops[i].type_name_id, ops[i].unit_name_id}).first->second;
      sum.name_id = name;
      sum.type_name_id = ops[i].type_name_id;
      sum.unit_name_id = ops[i].unit_name_id;
      sum.add(ops[i]);
    }
    ops.resize(kMaxOperators);
    for (auto& [key, sum] : rest) ops.push_back(std::move(sum));
  }
  for (const OpTotal& op : ops)
    for (const std::int64_t id : {op.name_id, op.type_name_id, op.unit_name_id}) texts.use(id);
  return ops;
}

void use_names(const DeviceRows& rows, SummaryTexts& texts) {
  for (const GroupMemberRow& row : rows.groups) texts.use(row.group_name_id);
  for (const RankCollectiveRow& row : rows.collectives) {
    texts.use(row.group_name_id);
    texts.use(row.operation_name_id);
  }
}

}  // namespace

void write_rank_part(const TraceDb& store, const std::filesystem::path& output,
                     std::optional<std::int64_t> rank) {
  if (store.meta(meta::kDialect) != dialect_name(Dialect::cann)) {
    throw Error(Exit::nothing_to_do,
                fmt::format("{} is not a capture of an Atlas machine and has no ranks",
                            store.meta(meta::kCapture)));
  }
  SummaryTexts texts(store);
  const std::vector<FoundDevice> devices = read_devices(store, rank, texts);
  DeviceRows rows;
  std::map<OpKey, OpTotal> totals;
  for (const FoundDevice& one : devices) {
    const std::vector<StepWindow> steps = read_steps(store, one.device.id);
    add_steps(store, one.device, steps, rows);
    add_collectives(store, one.device, steps, rows);
    add_operators(store, one.device, totals);
  }
  std::vector<OpTotal> ops = list_operators(totals, texts);
  use_names(rows, texts);
  const PartTexts names = texts.sorted();

  for (GroupMemberRow& row : rows.groups) texts.finish(row.group_name_id);
  sort_rows(rows.groups);
  sort_rows(rows.steps);
  finish_names(rows.collectives, texts);
  finish_names(rows.packets, texts);
  finish_names(rows.links, texts);
  for (OpTotal& op : ops) {
    texts.finish(op.name_id);
    texts.finish(op.type_name_id);
    texts.finish(op.unit_name_id);
  }
  sort_rows(ops);

  PartWriter out(output, names);
  for (const FoundDevice& one : devices) {
    MemberRow member = one.member;
    for (const auto text :
         {&MemberRow::host_name_id, &MemberRow::hostname_name_id, &MemberRow::capture_name_id,
          &MemberRow::chip_name_id, &MemberRow::verdict_text_name_id}) {
      texts.finish(member.*text);
    }
    out.add(member);
  }
  const auto add_all = [&out](const auto& some) {
    for (const auto& row : some) out.add(row);
  };
  add_all(rows.groups);
  add_all(rows.steps);
  add_all(rows.collectives);
  add_all(rows.packets);
  add_all(rows.links);
  add_all(ops);
  out.publish({});
}

}  // namespace msprof::cluster
