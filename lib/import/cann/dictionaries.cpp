#include "import/cann/dictionaries.hpp"

#include <utility>

namespace msprof::cann {

void Dictionaries::add_type(std::uint32_t level, std::uint64_t type, std::string name) {
  types_[level].insert_or_assign(type, std::move(name));
}

void Dictionaries::add_hash(std::uint64_t hash, std::string text) {
  hashes_.insert_or_assign(hash, std::move(text));
}

std::optional<std::string_view> Dictionaries::known_type_name(std::uint32_t level,
                                                              std::uint64_t type) const {
  const auto of_level = types_.find(level);
  if (of_level == types_.end()) return std::nullopt;
  const auto found = of_level->second.find(type);
  if (found != of_level->second.end()) return found->second;
  // Two types that older runtimes leave out of their dictionary.
  constexpr std::uint64_t kDynamicEnable = 27;
  constexpr std::uint64_t kDynamicDisable = 28;
  if (type == kDynamicEnable) return "DYNAMIC_ENABLE";
  if (type == kDynamicDisable) return "DYNAMIC_DISABLE";
  return std::nullopt;
}

std::string Dictionaries::type_name(std::uint32_t level, std::uint64_t type) const {
  const auto known = known_type_name(level, type);
  return known ? std::string(*known) : std::to_string(type);
}

std::optional<std::string_view> Dictionaries::known_hash_text(std::uint64_t hash) const {
  const auto found = hashes_.find(hash);
  if (found == hashes_.end()) return std::nullopt;
  return found->second;
}

std::string Dictionaries::hash_text(std::uint64_t hash) const {
  const auto known = known_hash_text(hash);
  return known ? std::string(*known) : std::to_string(hash);
}

std::int64_t Dictionaries::hash_name_id(TraceDbWriter& store, std::uint64_t hash) {
  const auto [at, is_new] = name_ids_.try_emplace(hash, 0);
  if (!is_new) return at->second;
  const auto known = known_hash_text(hash);
  if (!known && hash != 0) ++unknown_hashes_;
  at->second = known ? store.name_id(*known) : store.name_id(std::to_string(hash));
  return at->second;
}

}  // namespace msprof::cann
