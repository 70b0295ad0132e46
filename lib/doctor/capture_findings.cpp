#include "doctor/capture_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/findings.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kMostShown = 160;  // columns of a text from the capture

// Our own runtime writes each record at once, and .done files also where finalize is forgotten.
constexpr std::string_view kCutShortHere =
    "the application was killed, or left by _exit: of each file the record being written may be "
    "lost";

std::string with_folder(std::string_view remedy, const std::string& folder) {
  std::string text;
  for (const char c : remedy) c == '@' ? text += shell_word(folder) : text += c;
  return text;
}

std::string shown(std::string_view text) {
  return shorten(printable(text), kMostShown);
}

// Files of a finding, in order.
std::string names_of(const Database& db, const Statement& row, std::int64_t named) {
  Statement read = db.prepare(
      "SELECT file FROM import_log WHERE id = ?1 AND ifnull(kind, '') = ?2 AND reason = ?3"
      " AND file IS NOT NULL ORDER BY file LIMIT ?4");
  read.bind(1, row.text(1)).bind(2, row.text(2)).bind(3, row.text(3)).bind(4, named);
  std::vector<std::string> names;
  while (read.step()) names.push_back(shown(read.text(0)));
  return fmt::format("{}", fmt::join(names, ", "));
}

// A row of read_findings().
std::string evidence_of(const Database& db, const Statement& row, std::optional<FindingId> id,
                        std::string_view cause) {
  constexpr std::int64_t kMaxNamed = 6;
  const std::string reason = shown(row.text(3));
  const std::int64_t count = row.integer(4);
  const std::int64_t files = row.integer(5);
  std::string text = reason;
  if (id == FindingId::damaged_record)
    text = fmt::format("{}: {}", counted(static_cast<std::uint64_t>(count), "record"), reason);
  if (id == FindingId::records_missing)
    text = fmt::format("{} {}", with_thousands(static_cast<std::uint64_t>(count)), reason);
  if (id == FindingId::trailing_bytes)
    text = counted(static_cast<std::uint64_t>(count), "trailing byte");
  if (!row.text(6).empty()) {
    const std::int64_t named = std::min(files, id == FindingId::unread_kind ? kMaxNamed : 1);
    text += fmt::format(" ({}{})", named > 1 ? names_of(db, row, named) : shown(row.text(6)),
                        files > named ? fmt::format(" and {} more", files - named) : "");
  }
  const std::string detail = cause.empty() ? shown(row.text(7)) : std::string(cause);
  if (!detail.empty()) text += ": " + detail;
  return text;
}

}  // namespace

std::vector<CaptureFinding> read_findings(const Database& db, const std::string& folder,
                                          bool is_of_our_runtime) {
  std::vector<CaptureFinding> findings;
  Statement read = db.prepare(
      "SELECT severity, id, ifnull(kind, ''), reason, sum(count), count(*),"
      " ifnull(min(file), ''), ifnull(max(detail), '') FROM import_log"
      " WHERE id NOT IN ('', 'no_product')"
      " GROUP BY severity, id, kind, reason"
      " ORDER BY severity = 'partial' DESC, severity DESC, id, kind, reason LIMIT 200");
  while (read.step()) {
    CaptureFinding finding;
    finding.partial = read.text(0) == "partial";
    finding.kind = shown(read.text(2));
    const auto id = finding_of(read.text(1));
    const FindingInfo& damage = finding_info(FindingId::damaged_record);
    // What only another version knows is damage like any.
    const FindingInfo& info = id ? finding_info(*id) : damage;
    // A note that nobody can do anything about is for the verdict of import alone.
    if (!finding.partial && !(id && info.remedy)) continue;
    std::string_view cause = id ? info.cause : "";
    if (id == FindingId::missing_done && is_of_our_runtime) cause = kCutShortHere;
    finding.id = std::string(read.text(1));
    finding.evidence = evidence_of(db, read, id, cause);
    finding.remedy = with_folder(info.remedy.value_or(*damage.remedy), folder);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace msprof
