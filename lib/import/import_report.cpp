#include "import/import_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace msprof {

namespace {

constexpr std::size_t kMostFindings = 10'000;  // beyond it files are no longer told apart

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

std::string_view severity_name(Severity severity) {
  return severity == Severity::partial ? "partial" : "note";
}

std::string how_often(const Finding& finding) {
  const std::string count = with_thousands(static_cast<std::uint64_t>(finding.count));
  switch (finding.category) {
    case Category::skipped_record:
      return fmt::format(", {} skipped", count);
    case Category::trailing_bytes:
      return fmt::format(", {} bytes", count);
    default:
      return finding.count > 1 ? fmt::format(", {} times", count) : "";
  }
}

// What happened, how often, and where first. Names and details come from the capture: a newline in
// them must not look like a line of ours.
std::string finding_line(const Finding& finding, std::size_t files) {
  std::string line = fmt::format(
      "  {}: {}{}{}", finding.severity == Severity::partial ? "PARTIAL" : "note",
      finding.kind.empty() ? "" : finding.kind + ": ", finding.reason, how_often(finding));
  if (!finding.file.empty()) {
    line += fmt::format(" ({}", printable(finding.file));
    if (files > 1) line += fmt::format(" and {} more", files - 1);
    if (finding.first_offset != kNull)
      line += fmt::format(", first at byte {}", finding.first_offset);
    line += ")";
  }
  if (!finding.detail.empty()) line += ": " + printable(finding.detail);
  return line + "\n";
}

}  // namespace

void ImportReport::count_file(std::string_view kind, std::uint64_t records) {
  KindTotal& total = kinds_[std::string(kind)];
  ++total.files;
  total.records += records;
}

void ImportReport::add(Finding finding) {
  if (findings_.size() >= kMostFindings) finding.file.clear();
  const auto [at, is_new] =
      index_.try_emplace({finding.kind, finding.file, finding.reason}, findings_.size());
  if (is_new) {
    findings_.push_back(std::move(finding));
  } else {
    findings_[at->second].count += finding.count;
  }
}

void ImportReport::note(std::string_view kind, const std::string& file, std::string reason,
                        std::string detail, std::int64_t count) {
  add({Severity::note, Category::other, std::string(kind), file, std::move(reason), count, kNull,
       std::move(detail)});
}

void ImportReport::damage(std::string_view kind, const std::string& file, std::string reason,
                          std::string detail) {
  add({Severity::partial, Category::other, std::string(kind), file, std::move(reason), 1, kNull,
       std::move(detail)});
}

void ImportReport::skip_record(std::string_view kind, const std::string& file,
                               std::string_view reason, std::uint64_t offset) {
  add({Severity::partial, Category::skipped_record, std::string(kind), file, std::string(reason), 1,
       static_cast<std::int64_t>(offset), ""});
}

void ImportReport::add(UnknownLayout unknown) {
  unknown_layouts_.push_back(std::move(unknown));
}

bool ImportReport::partial() const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [](const Finding& finding) { return finding.severity == Severity::partial; });
}

bool ImportReport::mentions(const std::string& file) const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [&](const Finding& finding) { return finding.file == file; });
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
    store.add(ImportLogRow{std::string(severity_name(finding.severity)),
                           std::string(category_name(finding.category)), finding.kind, finding.file,
                           finding.reason, finding.count, finding.first_offset, finding.detail});
  }
  for (const auto& [kind, total] : kinds_) {
    store.add(ImportLogRow{"note", "imported", kind, "", "records",
                           static_cast<std::int64_t>(total.records), kNull,
                           fmt::format("{} files", total.files)});
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
  // One line a kind and reason, however many files have it.
  std::vector<std::pair<Finding, std::size_t>> lines;
  for (const Finding& finding : findings_) {
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
      return line.first.kind == finding.kind && line.first.reason == finding.reason;
    });
    if (same == lines.end()) {
      lines.emplace_back(finding, 1);
    } else {
      same->first.count += finding.count;
      ++same->second;
    }
  }
  std::stable_partition(lines.begin(), lines.end(),
                        [](const auto& line) { return line.first.severity == Severity::partial; });
  for (const auto& [finding, files] : lines) text += finding_line(finding, files);
  text +=
      fmt::format("verdict: {} ({} file{}, {} records)\n", partial() ? "PARTIAL DATA" : "complete",
                  files(), files() == 1 ? "" : "s", with_thousands(records()));
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
    switch (finding.category) {
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
    ordered_json one = {{"severity", severity_name(finding.severity)},
                        {"category", category_name(finding.category)},
                        {"kind", finding.kind},
                        {"file", file},
                        {"reason", valid_utf8(finding.reason)},
                        {"count", finding.count}};
    if (finding.first_offset != kNull) one["first_offset"] = finding.first_offset;
    if (!finding.detail.empty()) one["detail"] = valid_utf8(finding.detail);
    all.push_back(std::move(one));
  }
  ordered_json kinds = ordered_json::object();
  for (const auto& [kind, total] : kinds_) {
    kinds[kind] = {{"files", total.files}, {"records", total.records}};
  }
  return {{"verdict", partial() ? "partial" : "complete"},
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
