// Formats a ClusterComparison as text, CSV and HTML.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/cluster/cluster_compare.hpp"
#include "analyze/compare/html_parts.hpp"
#include "analyze/compare/html_table.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "export/table/table_writers.hpp"

namespace msprof {

namespace {

std::string format_us(std::optional<double> us, bool has_sign = false) {
  return has_sign ? html::signed_fixed(us) : html::fixed(us);
}

void put(RowBuilder& out, const std::string& digits) {
  digits == "-" ? out.missing() : out.number(std::string_view(digits));
}

bool is_on_both(const Change& change) {
  return change.base && change.now;
}

std::optional<double> change_percent(const std::optional<Change>& change) {
  return change && is_on_both(*change) ? change->percent() : std::nullopt;
}

std::string_view row_kind(const ClusterChange& row) {
  if (!is_on_both(row.mean)) return "";
  return html::change_class(row.mean.delta(), row.mean.is_noise());
}

std::string verdict_sentence(const ClusterComparison& comparison) {
  const Change& total = comparison.total;
  const std::string times = fmt::format("median {} {} → {} ms", comparison.unit,
                                        html::fixed(total.base.value_or(0) / 1000),
                                        html::fixed(total.now.value_or(0) / 1000));
  if (comparison.verdict == Verdict::noise) return times + ", no change beyond noise";
  return fmt::format("{}, {} % {}", times, html::fixed(std::abs(total.percent().value_or(NAN)), 1),
                     verdict_name(comparison.verdict));
}

enum class OutputReader { terminal, page };

// Writes a table of changes in us, at most `top` rows. For the terminal, writes only changes beyond
// noise, and fewer columns. Returns the number of rows left out.
std::size_t write_changes(const ClusterChanges& changes, RowSink& sink, OutputReader reader,
                          std::size_t top) {
  const bool is_page = reader == OutputReader::page;
  const bool has_quantiles = std::any_of(changes.rows.begin(), changes.rows.end(),
                                         [](const ClusterChange& row) { return row.p95; });
  std::vector<std::string> columns = {std::string(changes.key)};
  if (is_page) columns.insert(columns.end(), {"Base Count", "New Count"});
  columns.insert(columns.end(), {"Base(us)", "New(us)", "Delta(us)", "Change(%)"});
  if (has_quantiles) columns.insert(columns.end(), {"Median(%)", "P95(%)"});
  sink.begin(columns);
  RowBuilder out(sink);
  std::size_t written = 0;
  std::size_t wanted = 0;
  for (const ClusterChange& row : changes.rows) {
    const bool is_change = !is_on_both(row.mean) || !row.mean.is_noise();
    if (!is_page && !is_change && changes.id != "steps") continue;
    ++wanted;
    if (written == top) continue;
    ++written;
    out.text(row.name);
    if (is_page) {
      out.number(row.base_count);
      out.number(row.new_count);
    }
    put(out, format_us(row.mean.base));
    put(out, format_us(row.mean.now));
    put(out, is_on_both(row.mean) ? format_us(row.mean.delta(), true) : "-");
    put(out, html::signed_fixed(change_percent(row.mean), 1));
    if (has_quantiles) {
      put(out, html::signed_fixed(change_percent(row.median), 1));
      put(out, html::signed_fixed(change_percent(row.p95), 1));
    }
    out.end_row();
  }
  sink.end();
  return wanted - written;
}

constexpr std::size_t kMaxComparedRows = 1000;  // per table of the page

std::string comparison_table(const ClusterChanges& changes) {
  TableRows rows;
  const std::size_t more = write_changes(changes, rows, OutputReader::page, kMaxComparedRows);
  if (rows.rows.empty()) return "";
  html::HtmlTable out(std::string(changes.id), std::string(changes.title), "");
  out.hide_caption();
  std::vector<CellKind> kinds(rows.columns.size(), CellKind::number);
  kinds.front() = CellKind::text;
  out.set_kinds(std::move(kinds));
  out.begin(rows.columns);
  constexpr std::size_t kDeltaColumn = 5;
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    out.begin_row(row_kind(changes.rows[r]));
    out.text(cell_text(rows.rows[r][0]));
    for (std::size_t i = 1; i < rows.rows[r].size(); ++i) {
      const Cell& cell = rows.rows[r][i];
      out.cell(cell.is_number() ? cell_text(cell) : "-", i >= kDeltaColumn ? "n change" : "n");
    }
    out.end_row();
  }
  std::string content = out.html(rows.rows.size());
  if (more > 0)
    content +=
        fmt::format("<p class=\"note\">{} more are in the output of --csv and --json.</p>\n", more);
  return html::section(changes.id, changes.title, content);
}

}  // namespace

std::string cluster_comparison_text(const ClusterComparison& comparison, std::size_t top, int width,
                                    bool bold) {
  std::string out = verdict_sentence(comparison) + "\n";
  for (const std::string& warning : comparison.warnings)
    out += "warning: " + printable(warning) + "\n";
  out += fmt::format("BASE  {}: {}\nNEW   {}: {}\nnoise: {}\n", printable(comparison.base.name),
                     comparison.base.line, printable(comparison.now.name), comparison.now.line,
                     comparison.noise_basis);
  for (const ClusterChanges& changes : comparison.sections) {
    TextTable table;
    const std::size_t more = write_changes(changes, table, OutputReader::terminal,
                                           changes.id == "steps" ? SIZE_MAX : top);
    if (table.row_count() == 0) {
      if (!changes.rows.empty())
        out += fmt::format("\n{}: no change beyond noise\n", changes.title);
      continue;
    }
    out += fmt::format("\n{}\n{}", changes.title, table.render(width, bold));
    if (more > 0) out += fmt::format("{} more changes (shown with --top)\n", more);
  }
  return out;
}

std::string cluster_comparison_csv(const ClusterComparison& comparison, bool excel) {
  MemoryOutput out;
  CsvWriter csv(out, Absent::null);
  if (excel) csv.write_for_excel();
  csv.begin(std::vector<std::string>{"Table", "Name", "Figure", "Base Count", "New Count",
                                     "Base(us)", "New(us)", "Delta(us)", "Change(%)", "Noise(us)",
                                     "Is Noise"});
  RowBuilder cells(csv);
  for (const ClusterChanges& changes : comparison.sections) {
    for (const ClusterChange& row : changes.rows) {
      const auto add = [&](std::string_view figure, const std::optional<Change>& change) {
        if (!change) return;
        cells.text(changes.id);
        cells.text(row.name);
        cells.text(figure);
        cells.number(row.base_count);
        cells.number(row.new_count);
        put(cells, format_us(change->base));
        put(cells, format_us(change->now));
        const bool is_pair = is_on_both(*change);
        put(cells, is_pair ? format_us(change->delta()) : "-");
        put(cells, html::fixed(change_percent(change), 3));
        put(cells, is_pair ? format_us(change->noise) : "-");
        cells.text(!is_pair ? "" : change->is_noise() ? "yes" : "no");
        cells.end_row();
      };
      add("mean", row.mean);
      add("median", row.median);
      add("p95", row.p95);
    }
  }
  csv.end();
  return std::move(out.buffer());
}

std::string cluster_comparison_page(const ClusterComparison& comparison) {
  const Change& total = comparison.total;
  std::string page =
      html::page_head(html::escaped(comparison.now.name) + " - msprof compare", {html::kStyle},
                      {html::kScript}) +
      "<body>\n" +
      html::page_header(
          "msprof compare",
          html::name(comparison.base.name) + " <span aria-label=\"to\">→</span> " +
              html::name(comparison.now.name),
          verdict_name(comparison.verdict), html::escaped(verdict_sentence(comparison)),
          html::figure("BASE", comparison.base.line) + html::figure("NEW", comparison.now.line) +
              html::figure("Change", html::signed_fixed(total.percent(), 1) + " %") +
              html::figure("Noise", html::fixed(comparison.noise_percent, 1) + " %")) +
      "<main>\n";
  std::string warnings;
  for (const std::string& warning : comparison.warnings)
    warnings += fmt::format("<li>{}</li>\n", html::escaped(warning, html::kSentenceWidth));
  page += html::warnings_section("Warnings", warnings) +
          html::noise_paragraph(comparison.noise_basis) + html::controls();
  for (const ClusterChanges& changes : comparison.sections) page += comparison_table(changes);
  return page + html::page_end({html::kScript});
}

}  // namespace msprof
