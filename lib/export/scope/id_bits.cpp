#include "export/scope/id_bits.hpp"

#include "store/row_ids.hpp"

namespace msprof::cann {

IdBits::IdBits(const Database& db, std::string_view table)
    : db_(&db), table_(table), most_(last_id(db, table)) {
  words_.resize(static_cast<std::size_t>(most_ / 64) + 1);
}

std::size_t IdBits::index(std::int64_t id) const {
  if (id < 0 || id > most_) fail_without_row(*db_, table_, id);
  return static_cast<std::size_t>(id / 64);
}

}  // namespace msprof::cann
