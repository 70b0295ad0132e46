#include "export/unified/unified_writer.hpp"

#include <fmt/format.h>

#include <bit>
#include <set>

#include "base/text.hpp"
#include "export/cann_rules.hpp"
#include "store/schema.hpp"

namespace msprof::unified {

namespace {

std::vector<std::string> split_columns(std::string_view columns) {
  std::vector<std::string> result;
  for (const std::string_view column : split(columns, ',')) result.emplace_back(trim(column));
  return result;
}

}  // namespace

std::int64_t mark_connection(std::int64_t mark_id) {
  constexpr std::uint64_t kFirst = 4'000'000'001;
  return static_cast<std::int64_t>(kFirst + static_cast<std::uint64_t>(mark_id));
}

std::int64_t real_cell(double value) {
  return std::bit_cast<std::int64_t>(value + 0.0);  // -0.0 becomes 0.0
}

Writer::Writer(const Database& store, Database& target)
    : store_(store),
      target_(target),
      tables_(
          (target.execute("CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY, value TEXT)"), target),
          "STRING_IDS"),
      task_ids_(store),
      begin_ns_(cann::window_begin_ns(store)),
      process_id_(read_meta_integer(store, "host.pid").value_or(0)) {
  count_names();
  const std::string usual[] = {"N/A", "",   "static", "dynamic",  "YES",
                               "NO",  "GE", "MsTx",   "allocate", "release"};
  find_texts(usual);
  missing_ = text("N/A");
}

// The ids of the store are the string ids: cells need no translation.
void Writer::count_names() {
  Statement read = store_.prepare("SELECT id FROM name ORDER BY id");
  while (read.step()) {
    if (read.integer(0) != names_ + 1) throw store_.damaged("names that are not numbered in order");
    ++names_;
  }
  next_text_id_ = names_ + 1;
}

void Writer::write_strings() {
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

std::int64_t Writer::thread(std::int64_t thread_id) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(process_id_) << 32 |
                                   static_cast<std::uint64_t>(thread_id));
}

std::int64_t Writer::name(std::optional<std::int64_t> name_id) const {
  if (!name_id) return missing_;
  if (*name_id < 1 || *name_id > names_) throw store_.damaged("a row without its name");
  return *name_id;
}

void Writer::find_texts(std::span<const std::string> texts) {
  const std::set<std::string_view> wanted(texts.begin(), texts.end());
  Statement read = store_.prepare("SELECT id, text FROM name ORDER BY id");
  while (read.step()) {
    if (wanted.count(read.text(1)) != 0)
      texts_.try_emplace(std::string(read.text(1)), read.integer(0));
  }
}

std::int64_t Writer::text(std::string_view text) {
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  const std::int64_t id = next_text_id_++;
  texts_.emplace(text, id);
  return id;
}

Database& Writer::target() {
  tables_.pause();
  return target_;
}

Writer::Made Writer::create(const Table& table) {
  constexpr std::string_view kString = " STRING";
  if (!table.index.empty()) indexes_.emplace_back(table.index);
  Made made;
  auto columns = split_columns(table.columns);
  for (std::size_t column = 0; column < columns.size(); ++column) {
    std::string& declared = columns[column];
    if (!declared.ends_with(kString)) continue;
    declared.replace(declared.size() - kString.size(), kString.size(), " INTEGER");
    made.string_columns.push_back(column);
  }
  made.number = tables_.create(table.name, columns, table.real_columns);
  return made;
}

void Writer::finish() {
  write_strings();
  tables_.drain();
  for (const std::string& index : indexes_) target_.execute(index);
}

}  // namespace msprof::unified
