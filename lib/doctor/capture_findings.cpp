#include "doctor/capture_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace msprof {

namespace {

constexpr int kMostShown = 160;  // columns of a text from the capture

// '@' in a remedy is the capture's folder. Several rows may fit: the first counts.
struct KnownFinding {
  std::string_view category;  // of import_log; empty: any
  std::string_view reason;    // how it begins; empty: any
  std::string_view cause;     // empty: the detail of the finding says enough
  std::string_view remedy;
};

constexpr std::string_view kCopyAgain =
    "compare sizes with the original and copy the whole folder again (msprof collect does both)";
constexpr std::string_view kWholeRun =
    "let the application end by itself, or with TERM or INT: KILL leaves it no time to save";
constexpr std::string_view kSpace =
    "free space where the run writes, make the folder writable for its account, and run again";

constexpr KnownFinding kKnown[] = {
    {"missing .done", "",
     "the application ended without svp_acl_finalize: up to its last second (2 MB) is lost",
     "call svp_acl_finalize at the end of the application, and end it with TERM or INT, not KILL"},
    {"", "unknown layout", "",
     "describe the board's records: msprof import -dir @ --layout-template layout.json, then "
     "msprof import -dir @ --layout layout.json"},
    {"", "shorter than its .done says", "the disk was full, or the copy is not whole", kCopyAgain},
    {"", "longer than its .done says", "the file was changed after the run", kCopyAgain},
    {"", ".done without file_len", "the disk was full, or the copy is not whole", kCopyAgain},
    {"", "data file is missing", "its .done is there: the copy is not whole", kCopyAgain},
    {"", "empty, as its .done says", "nothing of this kind happened while it was recorded",
     "execute a model between svp_acl_init and svp_acl_finalize"},
    {"", "ring of 512 records is full", "",
     "run fewer executions a model load: the ring holds 510 (255 with CPU layers)"},
    {"", "no host folder", "the disk was full, or the host's part was not copied", kCopyAgain},
    {"", "no data folder", "the disk was full or the folder not writable", kSpace},
    {"", "missing or 0 frequency", "",
     "write the board's frequency in MHz into info.json: {\"DeviceInfo\": [{\"aic_frequency\": "
     "\"1000\"}]}"},
    {"", "missing dictionary", "", kWholeRun},
    {"", "missing or broken", "",
     "copy the whole folder again, or run again and let the application end by itself: KILL leaves "
     "it no time to save"},
    {"", "missing", "", kCopyAgain},
    {"", "unknown chip", "", "a newer msprof may know it; the host's tables are right as they are"},
    {"", "chip not said", "", kCopyAgain},
    {"", "no hwts_frequency", "", kCopyAgain},
    {"", "no clock of the host", "", kCopyAgain},
    {"", "events not said", "", kCopyAgain},
    {"", "not read", "", "what info.json and dev_start.log lack is told in a check of its own"},
    {"", "frequency 0", "", ""},
    {"", "records missing by their counter", "the device had no time to write them",
     "record less: fewer iterations, or --aic-metrics off"},
    {"", "names not in the dictionary", "", kWholeRun},
    {"", "several host records for one task", "", ""},
    {"", "a second folder of one device", "", "keep one folder a device, and import again"},
    {"", "link that leaves the capture", "",
     "copy the file itself into the capture; links that leave it are not followed"},
    {"", "unreadable", "", "chmod -R u+rX @, then msprof doctor -dir @"},
    {"", "not JSON", "the copy is not whole", kCopyAgain},
    {"trailing bytes", "", "the last record was cut: the disk was full, or the copy is not whole",
     kCopyAgain},
    {"skipped record", "", "these records are damaged and left out: a full disk, or a bad copy",
     kCopyAgain},
};

const KnownFinding* known(std::string_view category, std::string_view reason) {
  const auto* found =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const KnownFinding& one) {
        return (one.category.empty() || one.category == category) && reason.starts_with(one.reason);
      });
  return found == std::end(kKnown) ? nullptr : found;
}

std::string with_folder(std::string_view remedy, const std::string& folder) {
  std::string text;
  for (const char c : remedy) c == '@' ? text += folder : text += c;
  return text;
}

std::string shown(std::string_view text) {
  return shorten(printable(text), kMostShown);
}

std::string evidence_of(const Statement& row, std::string_view cause) {
  const std::string reason = shown(row.text(3));
  const std::int64_t count = row.integer(4);
  const std::int64_t files = row.integer(5);
  std::string text = reason;
  if (row.text(1) == "skipped record") text = fmt::format("{} records: {}", count, reason);
  if (row.text(1) == "trailing bytes") text = fmt::format("{} trailing bytes", count);
  if (!row.text(6).empty()) {
    text += fmt::format(" ({}{})", shown(row.text(6)),
                        files > 1 ? fmt::format(" and {} more", files - 1) : "");
  }
  const std::string detail = cause.empty() ? shown(row.text(7)) : std::string(cause);
  if (!detail.empty()) text += ": " + detail;
  return text;
}

}  // namespace

std::vector<CaptureFinding> read_findings(const Database& db, const std::string& folder) {
  std::vector<CaptureFinding> findings;
  Statement read = db.prepare(
      "SELECT severity, category, ifnull(kind, ''), reason, sum(count), count(*),"
      " ifnull(min(file), ''), ifnull(max(detail), '') FROM import_log"
      " WHERE category NOT IN ('imported', 'empty product')"
      " GROUP BY severity, category, kind, reason"
      " ORDER BY severity DESC, category, kind, reason LIMIT 200");
  while (read.step()) {
    CaptureFinding finding;
    finding.partial = read.text(0) == "partial";
    finding.kind = shown(read.text(2));
    const KnownFinding* known_one = known(read.text(1), read.text(3));
    // A note that nobody can do anything about is for the verdict of import alone.
    if (!finding.partial && known_one == nullptr) continue;
    finding.evidence = evidence_of(read, known_one != nullptr ? known_one->cause : "");
    finding.remedy = with_folder(known_one != nullptr ? known_one->remedy : kCopyAgain, folder);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace msprof
