#include "analyze/overview.hpp"

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"

namespace msprof {

std::optional<Overview> overview_of(const Database& db) {
  Statement read = db.prepare(
      "SELECT ifnull((SELECT value FROM meta WHERE key = 'chip'), ''),"
      " (SELECT count(*) FROM device),"
      " (SELECT ifnull(sum(last_task_id - first_task_id + 1), 0) FROM task_run)");
  if (!read.step()) return std::nullopt;
  Overview overview{std::string(read.text(0)), read.integer(1), read.integer(2)};
  if (overview.chip.empty() && overview.tasks == 0) return std::nullopt;
  return overview;
}

std::string overview_line(const Overview& overview) {
  return fmt::format("{}, {}, {}",
                     overview.chip.empty() ? "unknown chip" : printable(overview.chip),
                     counted(static_cast<std::uint64_t>(overview.devices), "device"),
                     counted(static_cast<std::uint64_t>(overview.tasks), "task"));
}

}  // namespace msprof
