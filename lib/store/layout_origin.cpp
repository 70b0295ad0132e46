#include "store/layout_origin.hpp"

#include "store/schema.hpp"

namespace msprof {

std::string_view layout_origin_name(LayoutOrigin origin) {
  if (origin == LayoutOrigin::inferred) return "inferred";
  return origin == LayoutOrigin::described ? "described" : "known";
}

LayoutOrigin read_layout_origin(const Database& db) {
  const auto origin = read_meta(db, "layout_origin");
  for (const LayoutOrigin one : {LayoutOrigin::inferred, LayoutOrigin::described}) {
    if (origin == layout_origin_name(one)) return one;
  }
  return LayoutOrigin::known;
}

}  // namespace msprof
