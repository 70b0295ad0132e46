#include "store/unit_loads.hpp"

#include "store/schema.hpp"

namespace msprof {

std::string_view unit_loads_name(UnitLoads unit_loads) {
  return unit_loads == UnitLoads::modelled ? "modelled" : "measured";
}

UnitLoads read_unit_loads(const Database& db) {
  const bool is_modelled = read_meta(db, "unit_loads") == unit_loads_name(UnitLoads::modelled);
  return is_modelled ? UnitLoads::modelled : UnitLoads::measured;
}

}  // namespace msprof
