#include "export/unified/unified_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "export/scope/cann_rules.hpp"
#include "store/row_cursor.hpp"
#include "store/schema.hpp"

namespace msprof::unified {

namespace {

constexpr std::size_t kBitsPerTask = 16;
constexpr std::size_t kMaxBits = std::size_t{1} << 31;

std::vector<std::string> split_columns(std::string_view columns) {
  std::vector<std::string> result;
  for (const std::string_view column : split(columns, ',')) result.emplace_back(trim(column));
  return result;
}

}  // namespace

TaskKey task_key(const TaskRow& task) {
  return {task.device_id, task.stream_id, task.task_number, task.batch,
          given(task.context).value_or(-1)};
}

TaskKey task_key(const Statement& row, int first_cell) {
  return {row.integer(first_cell), row.integer(first_cell + 1), row.integer(first_cell + 2),
          row.integer(first_cell + 3), row.maybe_integer(first_cell + 4).value_or(-1)};
}

std::size_t UnifiedTaskIds::TaskKeyHash::operator()(const TaskKey& key) const {
  return cann::hash_of({key.device, key.stream, key.number, key.batch, key.context});
}

UnifiedTaskIds::UnifiedTaskIds(const Database& store) {
  Statement read = store.prepare("SELECT count(*), ifnull(max(id), 0) FROM task");
  if (!read.step() || read.integer(0) == 0) return;
  largest_id_ = read.integer(1);
  const auto tasks = static_cast<std::size_t>(read.integer(0));
  mask_ = std::min(std::bit_ceil(tasks * kBitsPerTask), kMaxBits) - 1;
  repeated_.resize(mask_ + 1);
  find_repeated(store);
}

void UnifiedTaskIds::find_repeated(const Database& store) {
  std::vector<bool> seen(mask_ + 1);
  RowCursor<TaskRow> tasks(store,
                           {&TaskRow::device_id, &TaskRow::stream_id, &TaskRow::task_number,
                            &TaskRow::batch, &TaskRow::context},
                           {.not_null = {&TaskRow::device_type_name_id}});
  while (tasks.next()) {
    const std::size_t at = TaskKeyHash()(task_key(*tasks)) & mask_;
    seen[at] ? repeated_[at] = true : seen[at] = true;
  }
}

bool UnifiedTaskIds::may_repeat(const TaskKey& key) const {
  return !repeated_.empty() && repeated_[TaskKeyHash()(key) & mask_];
}

std::int64_t UnifiedTaskIds::find(std::int64_t task_id, const TaskKey& key) {
  return may_repeat(key) ? shared_.try_emplace(key, Shared{task_id}).first->second.first_id
                         : task_id;
}

std::int64_t UnifiedTaskIds::extra(std::int64_t number) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(largest_id_) + 1 +
                                   static_cast<std::uint64_t>(number));
}

bool UnifiedTaskIds::describe(std::int64_t task_id, const TaskKey& key) {
  if (!may_repeat(key)) return true;
  const auto at = shared_.try_emplace(key, Shared{task_id}).first;
  return !std::exchange(at->second.is_described, true);
}

std::int64_t mark_connection(std::int64_t mark_id) {
  constexpr std::uint64_t kFirst = 4'000'000'001;
  return static_cast<std::int64_t>(kFirst + static_cast<std::uint64_t>(mark_id));
}

std::int64_t real_cell(double value) {
  return std::bit_cast<std::int64_t>(value + 0.0);  // -0.0 becomes 0.0
}

UnifiedWriter::UnifiedWriter(const Database& store, Database& target, bool has_cann8_names)
    : store_(store),
      target_(target),
      tables_(
          (target.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)"), target),
          "STRING_IDS"),
      task_ids_(store),
      begin_ns_(cann::window_begin_ns(store)),
      process_id_(read_meta_integer(store, "host.pid").value_or(0)),
      has_cann8_names_(has_cann8_names) {
  count_names();
  const std::string usual[] = {"N/A", "",   "static", "dynamic",  "YES",
                               "NO",  "GE", "MsTx",   "allocate", "release"};
  find_texts(usual);
  missing_ = text("N/A");
}

// Ids of the store's names are used as string ids, so cells need no translation.
void UnifiedWriter::count_names() {
  Statement read = store_.prepare("SELECT id FROM name ORDER BY id");
  while (read.step()) {
    if (read.integer(0) != names_ + 1) throw store_.damaged("names are not numbered in order");
    ++names_;
  }
  next_text_id_ = names_ + 1;
}

void UnifiedWriter::write_strings() {
  const auto is_used = [this](std::int64_t id) {
    return static_cast<std::size_t>(id) < used_.size() && used_[static_cast<std::size_t>(id)];
  };
  Statement read = store_.prepare("SELECT id, text FROM name ORDER BY id");
  while (read.step()) {
    if (is_used(read.integer(0))) tables_.add_text(read.integer(0), read.text(1));
  }
  std::map<std::int64_t, std::string_view> others;
  for (const auto& [text, id] : texts_) {
    if (id > names_ && is_used(id)) others[id] = text;
  }
  for (const auto& [id, text] : others) tables_.add_text(id, text);
}

std::int64_t UnifiedWriter::thread(std::int64_t thread_id) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(process_id_) << 32 |
                                   static_cast<std::uint64_t>(thread_id));
}

std::int64_t UnifiedWriter::name(std::optional<std::int64_t> name_id) const {
  if (!name_id) return missing_;
  if (*name_id < 1 || *name_id > names_) throw store_.damaged("a row without its name");
  return *name_id;
}

void UnifiedWriter::find_texts(std::span<const std::string> texts) {
  const std::set<std::string_view> wanted(texts.begin(), texts.end());
  Statement read = store_.prepare("SELECT id, text FROM name ORDER BY id");
  while (read.step()) {
    if (wanted.count(read.text(1)) != 0)
      texts_.try_emplace(std::string(read.text(1)), read.integer(0));
  }
}

std::int64_t UnifiedWriter::text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const std::int64_t id = next_text_id_++;
  texts_.emplace(text, id);
  return id;
}

Database& UnifiedWriter::target() {
  tables_.pause();
  return target_;
}

UnifiedWriter::Made UnifiedWriter::create(const UnifiedTable& table) {
  constexpr std::string_view kString = " STRING";
  if (!table.index.empty()) indexes_.emplace_back(table.index);
  Made made;
  auto columns = split_columns(table.columns);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::string& declared = columns[column];
    constexpr std::string_view kNumericString = " STRING NUMERIC";
    const bool is_numeric = declared.ends_with(kNumericString);
    if (!is_numeric && !declared.ends_with(kString)) continue;
    declared.resize(declared.size() - (is_numeric ? kNumericString : kString).size());
    declared += is_numeric ? " NUMERIC" : " INTEGER";
    made.string_columns.push_back(column);
  }
  made.number = tables_.create(table.name, columns, table.real_columns);
  return made;
}

void UnifiedWriter::finish() {
  write_strings();
  tables_.drain();
  for (const std::string& index : indexes_) tables_.execute(index);
}

}  // namespace msprof::unified
