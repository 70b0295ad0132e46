#include "import/import_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "base/words.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMaxFindings = 10'000;  // beyond this, findings of different files are merged

std::string_view category_name(Category category) {
  switch (category) {
    case Category::skipped_record:
      return "skipped record";
    case Category::trailing_bytes:
      return "trailing bytes";
    case Category::missing_done:
      return "missing .done";
    case Category::empty_product:
      return "empty product";
    case Category::not_read:
      return "not read";
    case Category::other:
      break;
  }
  return "other";
}

// Returns the name in import_log and in the JSON document.
std::string_view severity_name(Severity severity) {
  if (severity == Severity::partial) return "partial";
  return severity == Severity::without ? "without" : "note";
}

std::string how_often(const Finding& finding) {
  const std::string count = with_thousands(static_cast<std::uint64_t>(finding.count));
  switch (finding.category()) {
    case Category::skipped_record:
      return fmt::format(", {} skipped", count);
    case Category::trailing_bytes:
      return fmt::format(", {} {}", count,
                         word_for(static_cast<std::uint64_t>(finding.count), "byte"));
    default:
      return finding.count > 1 ? fmt::format(", {} times", count) : "";
  }
}

// Findings with the same id, kind and reason; they are printed as one line for all files.
struct Line {
  Finding finding;  // the first finding, with the count of all
  std::vector<std::string_view> files;
};

// Lists up to six files of a kind that is not read; for other findings only the first file.
std::string where(const Line& line) {
  constexpr std::size_t kMaxNamed = 6;
  const auto& [finding, files] = line;
  const bool names_all = finding.id == FindingId::unread_kind;
  std::string text = fmt::format(
      " ({}",
      names_all ? fmt::format("{} file{}: ", files.size(), files.size() == 1 ? "" : "s") : "");
  const std::size_t named = std::min(files.size(), names_all ? kMaxNamed : 1);
  for (std::size_t i = 0; i < named; ++i) text += (i > 0 ? ", " : "") + printable(files[i]);
  if (files.size() > named) text += fmt::format(" and {} more", files.size() - named);
  if (finding.first_offset != kNull)
    text += fmt::format(", first at byte {}", finding.first_offset);
  return text + ")";
}

// Returns a line with event, count and first position. Names and details come from the capture and
// are escaped, so that a newline in them cannot forge a line of this report.
std::string finding_line(const Line& line) {
  const Finding& finding = line.finding;
  const std::string_view head =
      finding.severity() == Severity::partial ? "PARTIAL" : severity_name(finding.severity());
  const bool is_counted = finding.id != FindingId::unread_kind;
  std::string text =
      fmt::format("  {}: {}{}{}", head, finding.kind.empty() ? "" : printable(finding.kind) + ": ",
                  finding.reason, is_counted ? how_often(finding) : "");
  if (!finding.file.empty()) text += where(line);
  if (!finding.detail.empty()) text += ": " + printable(finding.detail);
  return text + "\n";
}

// Sorted by severity, most severe first; stable within one severity.
std::vector<Line> group_lines(const std::vector<Finding>& findings) {
  std::vector<Line> lines;
  std::map<std::tuple<FindingId, std::string_view, std::string_view>, std::size_t> known;
  for (const Finding& finding : findings) {
    const auto [at, is_new] =
        known.try_emplace({finding.id, finding.kind, finding.reason}, lines.size());
    if (is_new) {
      lines.push_back({finding, {finding.file}});
    } else {
      lines[at->second].finding.count += finding.count;
      lines[at->second].files.push_back(finding.file);
    }
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return a.finding.severity() > b.finding.severity();
  });
  return lines;
}

std::string lacking_after(const Finding& finding) {
  if (!finding.lacks.empty()) return finding.lacks;
  if (finding.id == FindingId::unread_records) return "some records of " + finding.kind;
  return std::string(finding_info(finding.id).lacks);
}

}  // namespace

std::string_view verdict_name(Severity verdict) {
  return verdict == Severity::note ? "complete" : severity_name(verdict);
}

std::string verdict_text(Severity verdict, const std::vector<std::string>& lacking) {
  constexpr std::size_t kMaxNamed = 8;
  if (verdict == Severity::partial) return "PARTIAL DATA";
  if (verdict != Severity::without) return "complete";
  const std::size_t named = std::min(lacking.size(), kMaxNamed);
  std::string text = fmt::format(
      "complete without {}",
      fmt::join(lacking.begin(), lacking.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (lacking.size() > named) text += fmt::format(" and {} more", lacking.size() - named);
  return text;
}

void ImportReport::count_file(std::string_view kind, std::uint64_t records) {
  KindTotal& total = kinds_[std::string(kind)];
  ++total.files;
  total.records += records;
}

void ImportReport::add(Finding finding) {
  if (findings_.size() >= kMaxFindings) finding.file.clear();
  const auto [at, is_new] = index_.try_emplace(
      {finding.id, finding.kind, finding.file, finding.reason}, findings_.size());
  if (is_new) {
    mentioned_.insert(finding.file);
    findings_.push_back(std::move(finding));
  } else {
    findings_[at->second].count += finding.count;
  }
}

void ImportReport::add(FindingId id, std::string_view kind, const std::string& file,
                       std::string reason, std::string detail, std::int64_t count) {
  add({id, std::string(kind), file, std::move(reason), count, kNull, std::move(detail), ""});
}

void ImportReport::skip_record(std::string_view kind, const std::string& file,
                               std::string_view reason, std::uint64_t offset) {
  add({FindingId::damaged_record, std::string(kind), file, std::string(reason), 1,
       static_cast<std::int64_t>(offset), "", ""});
}

void ImportReport::add(UnknownLayout unknown) {
  unknown_layouts_.push_back(std::move(unknown));
}

Severity ImportReport::verdict() const {
  Severity gravest = Severity::note;
  for (const Finding& finding : findings_) gravest = std::max(gravest, finding.severity());
  return gravest;
}

std::vector<std::string> ImportReport::lacking() const {
  std::vector<std::string> all;
  std::set<std::string> known;
  for (const Finding& finding : findings_) {
    if (finding.severity() != Severity::without) continue;
    std::string what = lacking_after(finding);
    if (known.insert(what).second) all.push_back(std::move(what));
  }
  return all;
}

bool ImportReport::mentions(const std::string& file) const {
  return mentioned_.contains(file);
}

std::uint64_t ImportReport::files() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, total] : kinds_) sum += total.files;
  return sum;
}

std::uint64_t ImportReport::records() const {
  std::uint64_t sum = 0;
  for (const auto& [kind, total] : kinds_) sum += total.records;
  return sum;
}

void ImportReport::write_log(TraceDbWriter& store) const {
  for (const Finding& finding : findings_) {
    store.add(ImportLogRow{std::string(severity_name(finding.severity())),
                           std::string(category_name(finding.category())), finding.kind,
                           finding.file, finding.reason, finding.count, finding.first_offset,
                           finding.detail, std::string(finding_info(finding.id).id)});
  }
  for (const auto& [kind, total] : kinds_) {
    store.add(ImportLogRow{"note", "imported", kind, "", "records",
                           static_cast<std::int64_t>(total.records), kNull,
                           counted(static_cast<std::uint64_t>(total.files), "file"), ""});
  }
}

std::string ImportReport::text() const {
  std::string text;
  std::size_t width = 10;
  for (const auto& [kind, total] : kinds_) width = std::max(width, kind.size());
  for (const auto& [kind, total] : kinds_) {
    text += fmt::format("  {:<{}} {:>5} file{} {:>12} record{}\n", kind, width, total.files,
                        total.files == 1 ? " " : "s", with_thousands(total.records),
                        total.records == 1 ? "" : "s");
  }
  for (const Line& line : group_lines(findings_)) text += finding_line(line);
  if (unit_loads_ == UnitLoads::modelled) text += fmt::format("  {}\n", kModelledNote);
  if (layout() != nullptr)
    text += fmt::format("  layout: {} ({})\n", printable(layout_.file), layout_.source);
  if (layout_origin_ == LayoutOrigin::inferred) text += fmt::format("  {}\n", kInferredNote);
  text += fmt::format("verdict: {} ({} file{}, {} record{})\n", verdict_text(verdict(), lacking()),
                      files(), files() == 1 ? "" : "s", with_thousands(records()),
                      records() == 1 ? "" : "s");
  return text;
}

nlohmann::ordered_json ImportReport::json() const {
  using nlohmann::ordered_json;
  ordered_json skipped = ordered_json::object();
  ordered_json missing_done = ordered_json::array();
  ordered_json empty_products = ordered_json::array();
  ordered_json not_read = ordered_json::array();
  ordered_json all = ordered_json::array();
  std::int64_t trailing = 0;
  for (const Finding& finding : findings_) {
    const std::string file = valid_utf8(finding.file);
    switch (finding.category()) {
      case Category::skipped_record:
        skipped[finding.reason] = skipped.value(finding.reason, std::int64_t{0}) + finding.count;
        break;
      case Category::trailing_bytes:
        trailing += finding.count;
        break;
      case Category::missing_done:
        missing_done.push_back(file);
        break;
      case Category::empty_product:
        empty_products.push_back(finding.kind);
        break;
      case Category::not_read:
        not_read.push_back(file);
        break;
      case Category::other:
        break;
    }
    ordered_json one = {{"id", finding_info(finding.id).id},
                        {"severity", severity_name(finding.severity())},
                        {"category", category_name(finding.category())},
                        {"kind", valid_utf8(finding.kind)},
                        {"file", file},
                        {"reason", valid_utf8(finding.reason)},
                        {"count", finding.count}};
    if (finding.first_offset != kNull) one["first_offset"] = finding.first_offset;
    if (!finding.detail.empty()) one["detail"] = valid_utf8(finding.detail);
    if (!finding.lacks.empty()) one["lacks"] = valid_utf8(finding.lacks);
    all.push_back(std::move(one));
  }
  ordered_json kinds = ordered_json::object();
  for (const auto& [kind, total] : kinds_) {
    kinds[kind] = {{"files", total.files}, {"records", total.records}};
  }
  ordered_json without = ordered_json::array();
  for (const std::string& what : lacking()) without.push_back(valid_utf8(what));
  return {{"verdict", verdict_name(verdict())},
          {"without", without},
          {"unit_loads", unit_loads_name(unit_loads_)},
          {"layout", layout() != nullptr ? ordered_json{{"file", valid_utf8(layout_.file)},
                                                        {"source", layout_.source}}
                                         : ordered_json()},
          {"layout_origin", layout_origin_name(layout_origin_)},
          {"files", files()},
          {"records", records()},
          {"kinds", kinds},
          {"skipped", skipped},
          {"trailing_bytes", trailing},
          {"missing_done", missing_done},
          {"empty_products", empty_products},
          {"not_read", not_read},
          {"findings", all}};
}

}  // namespace msprof
