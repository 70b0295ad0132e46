#include "export/old/registry.hpp"

#include <algorithm>
#include <type_traits>

#include "export/old/columns.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"

namespace msprof {

namespace old {

namespace {

constexpr TableEntry kTables[] = {
#define TABLE(topic, age, rows, name) {#topic, Age::age, Rows::rows, make_##name},
#define LAYER(topic, age, rows, name)
#include "export/old/products.def"
};

constexpr LayerEntry kLayers[] = {
#define TABLE(topic, age, rows, name)
#define LAYER(topic, age, rows, name) {#topic, Age::age, Rows::rows, make_##name},
#include "export/old/products.def"
};

template <typename Entries>
auto entries_of(const Entries& entries, Age age) {
  std::vector<std::decay_t<decltype(entries[0])>> chosen;
  for (const auto& entry : entries) {
    if (entry.age > age) continue;
    std::erase_if(chosen, [&](const auto& other) {
      return other.topic == entry.topic && other.age < entry.age;
    });
    chosen.push_back(entry);
  }
  return chosen;
}

}  // namespace

Age to_age(std::string_view generation) {
  if (generation == "classic" || generation == "all") return Age::classic;
  return generation.empty() ? Age::current : Age::cann5;
}

std::vector<TableEntry> tables_of(Age age) {
  return entries_of(kTables, age);
}

std::vector<LayerEntry> layers_of(Age age) {
  return entries_of(kLayers, age);
}

TableEntry find_table(Age age, std::string_view topic) {
  const auto all = tables_of(age);
  return *std::find_if(all.begin(), all.end(),
                       [&](const TableEntry& entry) { return entry.topic == topic; });
}

}  // namespace old

std::vector<std::unique_ptr<SummaryTable>> cann5_tables(std::string_view generation) {
  std::vector<std::unique_ptr<SummaryTable>> all;
  for (const old::TableEntry& entry : old::tables_of(old::to_age(generation))) {
    all.push_back(entry.make());
    if (entry.age == old::Age::current) all.back() = old::make_cann5_table(std::move(all.back()));
  }
  return all;
}

bool is_of_its_time(const Database& db, const TableInfo& table) {
  const old::Age age = old::to_age(read_generation(db));
  return age == old::Age::current || old::find_table(age, table.name).age == age;
}

std::vector<std::string_view> cann5_timelines() {
  std::vector<std::string_view> names;
  for (const old::LayerEntry& entry : old::layers_of(old::Age::current)) {
    if (names.empty() || names.back() != entry.topic) names.push_back(entry.topic);
  }
  return names;
}

}  // namespace msprof
