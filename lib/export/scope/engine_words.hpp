// Texts for engines of V6 chips, shared by tables, layers and the unified database. Source:
// cann_new_kinds.md 4.
#pragma once

#include <cstdint>
#include <string_view>

namespace msprof::cann {

// Returns "SUM", …; empty if unknown (cann_host.md 1.9).
constexpr std::string_view reduce_text(std::int64_t type) {
  constexpr std::string_view kNames[] = {"SUM", "MUL", "MAX", "MIN"};
  return type >= 0 && type < 4 ? kNames[type] : std::string_view();
}

// Returns the name of FusionPartRow::engine, such as "AICORE"; empty if no bit is known.
constexpr std::string_view fusion_engine_text(std::int64_t engine) {
  if ((engine & 1) != 0) return "CPU";
  if ((engine & 2) != 0) return "AICPU";
  if ((engine & 4) != 0) return "AICORE";
  return (engine & 24) != 0 ? "CCU" : std::string_view();
}
// Returns the die of a CCU; -1 for another engine.
constexpr std::int64_t fusion_die(std::int64_t engine) {
  if ((engine & 7) != 0 || (engine & 24) == 0) return -1;
  return (engine & 8) != 0 ? 0 : 1;
}

// Converts the runtime's types, "KERNEL_AICPU" to "AI_CPU"; keeps other types.
constexpr std::string_view kernel_type_text(std::string_view type) {
  if (type == "KERNEL_AICORE") return "AI_CORE";
  if (type == "KERNEL_AICPU") return "AI_CPU";
  if (type == "KERNEL_AIVEC") return "AI_VECTOR_CORE";
  if (type == "KERNEL_MIX_AIC") return "MIX_AIC";
  if (type == "KERNEL_MIX_AIV") return "MIX_AIV";
  return type;
}

}  // namespace msprof::cann
