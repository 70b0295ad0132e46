#include "doctor/capture_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/findings.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kMostShown = 160;  // columns of a text from the capture

// '@' in a remedy is the capture's folder.
struct KnownFinding {
  FindingId id;
  std::string_view cause;  // empty: the detail of the finding says enough
  std::string_view remedy;
};

constexpr std::string_view kCopyAgain =
    "compare sizes with the original and copy the whole folder again (msprof collect does both)";
constexpr std::string_view kWholeRun =
    "let the application end by itself, or with TERM or INT: KILL leaves it no time to save";
constexpr std::string_view kCutShort =
    "the application ended without svp_acl_finalize: up to its last second (2 MB) is lost";
// Our own runtime writes each record at once, and .done files also where finalize is forgotten.
constexpr std::string_view kCutShortHere =
    "the application was killed, or left by _exit: of each file the record being written may be "
    "lost";

// Findings that are not here and not damage are for the verdict of import alone.
constexpr KnownFinding kKnown[] = {
    {FindingId::missing_done, kCutShort,
     "call svp_acl_finalize at the end of the application, and end it with TERM or INT, not KILL"},
    {FindingId::unknown_layout, "",
     "describe the board's records: msprof import -dir @ --layout-template layout.json, then "
     "msprof import -dir @ --layout layout.json"},
    {FindingId::shorter_than_done, "the disk was full, or the copy is not whole", kCopyAgain},
    {FindingId::longer_than_done, "the file was changed after the run", kCopyAgain},
    {FindingId::done_without_length, "the disk was full, or the copy is not whole", kCopyAgain},
    {FindingId::missing_data_file, "its .done is there: the copy is not whole", kCopyAgain},
    {FindingId::empty_data, "nothing of this kind happened while it was recorded",
     "execute a model between svp_acl_init and svp_acl_finalize"},
    {FindingId::full_ring, "",
     "run fewer executions a model load: the ring holds 510 (255 with CPU layers)"},
    {FindingId::missing_folder, "the disk was full, the folder not writable, or it was not copied",
     "copy the whole folder again; else free space where the run writes, make the folder writable "
     "for its account, and run again"},
    {FindingId::no_frequency, "",
     "write the board's frequency in MHz into info.json: {\"DeviceInfo\": [{\"aic_frequency\": "
     "\"1000\"}]}"},
    {FindingId::missing_dictionary, "", kWholeRun},
    {FindingId::missing_info, "",
     "copy the whole folder again, or run again and let the application end by itself: KILL leaves "
     "it no time to save"},
    {FindingId::no_end, "", kWholeRun},
    {FindingId::unknown_chip, "",
     "a newer msprof may know it; the host's tables are right as they are"},
    {FindingId::no_clock, "", kCopyAgain},
    {FindingId::events_not_said, "", kCopyAgain},
    {FindingId::no_tasks, "",
     "what info.json and dev_start.log lack is told in a check of its own"},
    {FindingId::zero_frequency, "", ""},
    {FindingId::records_missing, "the device had no time to write them",
     "record less: fewer iterations, or --aic-metrics off"},
    {FindingId::missing_names, "", kWholeRun},
    {FindingId::ambiguous_tasks, "", ""},
    {FindingId::second_folder, "", "keep one folder a device, and import again"},
    {FindingId::outside_link, "",
     "copy the file itself into the capture; links that leave it are not followed"},
    {FindingId::unreadable_file, "", "chmod -R u+rX @, then msprof doctor -dir @"},
    {FindingId::broken_info, "the copy is not whole", kCopyAgain},
    {FindingId::trailing_bytes,
     "the last record was cut: the disk was full, or the copy is not whole", kCopyAgain},
    {FindingId::damaged_record,
     "these records are damaged and left out: a full disk, or a bad copy", kCopyAgain},
    {FindingId::unread_kind, "", ""},
    {FindingId::unread_records, "", ""},
    {FindingId::sampled_counters, "",
     "record again with --aic-mode=task-based, for counters of each task"},
    {FindingId::unknown_chip_files, "", "a newer msprof may read them"},
};

const KnownFinding* known(std::string_view id) {
  const auto* found =
      std::find_if(std::begin(kKnown), std::end(kKnown),
                   [&](const KnownFinding& one) { return finding_info(one.id).id == id; });
  return found == std::end(kKnown) ? nullptr : found;
}

std::string with_folder(std::string_view remedy, const std::string& folder) {
  std::string text;
  for (const char c : remedy) c == '@' ? text += shell_word(folder) : text += c;
  return text;
}

std::string shown(std::string_view text) {
  return shorten(printable(text), kMostShown);
}

// A row of read_findings().
std::string evidence_of(const Statement& row, std::string_view cause) {
  const std::string_view id = row.text(1);
  const std::string reason = shown(row.text(3));
  const std::int64_t count = row.integer(4);
  const std::int64_t files = row.integer(5);
  std::string text = reason;
  if (id == finding_info(FindingId::damaged_record).id)
    text = fmt::format("{}: {}", counted(static_cast<std::uint64_t>(count), "record"), reason);
  if (id == finding_info(FindingId::records_missing).id)
    text = fmt::format("{} {}", with_thousands(static_cast<std::uint64_t>(count)), reason);
  if (id == finding_info(FindingId::trailing_bytes).id)
    text = counted(static_cast<std::uint64_t>(count), "trailing byte");
  if (!row.text(6).empty()) {
    text += fmt::format(" ({}{})", shown(row.text(6)),
                        files > 1 ? fmt::format(" and {} more", files - 1) : "");
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
      " WHERE category NOT IN ('imported', 'empty product')"
      " GROUP BY severity, id, kind, reason"
      " ORDER BY severity = 'partial' DESC, severity DESC, id, kind, reason LIMIT 200");
  while (read.step()) {
    CaptureFinding finding;
    finding.partial = read.text(0) == "partial";
    finding.kind = shown(read.text(2));
    const KnownFinding* known_one = known(read.text(1));
    // A note that nobody can do anything about is for the verdict of import alone.
    if (!finding.partial && known_one == nullptr) continue;
    std::string_view cause = known_one != nullptr ? known_one->cause : "";
    if (cause == kCutShort && is_of_our_runtime) cause = kCutShortHere;
    finding.id = std::string(read.text(1));
    finding.evidence = evidence_of(read, cause);
    finding.remedy = with_folder(known_one != nullptr ? known_one->remedy : kCopyAgain, folder);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace msprof
