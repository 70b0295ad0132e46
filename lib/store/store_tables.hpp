// The tables of a store as SQL declares them: for making a store, for knowing one as ours, and for
// the documentation of what can be asked.
#pragma once

#include <string>
#include <vector>

#include "store/database.hpp"

namespace msprof {

struct StoreTable {
  std::string name;
  std::vector<std::string> columns;  // declarations: "id INTEGER PRIMARY KEY"
};

// The tables of integers first, in the order of BulkRows (schema.hpp), then those with texts.
const std::vector<StoreTable>& store_tables();

// "CREATE TABLE name (…)", as the database keeps it.
std::string creation_of(const StoreTable& table);

// Whether `db` holds these tables, just as they are declared, and indexes, and nothing else. A
// store from elsewhere could have views in their place, which run what they like.
bool has_our_tables(const Database& db);

}  // namespace msprof
